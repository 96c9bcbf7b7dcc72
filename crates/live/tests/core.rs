//! The core against the simulator: the packets of a simulated run, told by their headers alone, must
//! meet the same decisions at the same nanoseconds, so that every figure and every sample is the same.

use aqmlab_live::router::Router;
use packet::Instant;
use record::{Figure, Summary, Table};
use serde_json::{Value, json};

use crate::simulated::{arrivals, offer, scenario};

/// The figures of both ports of the link but those by groups of traffic, which no header names.
fn ports(summary: &Summary) -> String {
    let Some(Figure::Group(ports)) = summary.get("ports") else { panic!("no ports") };
    let mut ports = sim::summary_json(ports);
    for port in ports.as_object_mut().expect("ports").values_mut() {
        port.as_object_mut().expect("a port").remove("queue_delay_by_group");
    }
    ports.to_string()
}

/// What each effect did; hosts that discard are the kernel's in a live run.
fn effects(summary: &Summary) -> String {
    let Some(Figure::Group(effects)) = summary.get("effects") else { return String::new() };
    let mut effects = sim::summary_json(effects);
    effects.as_object_mut().expect("effects").remove("discarded");
    effects.to_string()
}

fn queue(tables: &[Table]) -> String {
    let queue = tables.iter().find(|table| table.name == "queue").expect("samples");
    format!("{:?}", queue.columns)
}

fn agree(json: &Value) {
    let (simulated, packets) = arrivals(json);
    assert!(packets.len() > 500, "{} packets", packets.len());
    let scenario = scenario(json);
    let end = Instant::ZERO + scenario.params.time("duration");
    let mut live = Router::new(&scenario, 0).expect("a router");
    offer(&mut live, &packets, 0);
    let outcome = live.finish(end).of_ports(&scenario);
    assert_eq!(ports(&outcome.summary), ports(&simulated.summary), "{json}");
    assert_eq!(effects(&outcome.summary), effects(&simulated.summary), "{json}");
    assert_eq!(queue(&outcome.tables), queue(&simulated.tables), "{json}");
}

fn bulk(queue: Value, rate: &str) -> Value {
    // A capture has the bytes of SACK blocks, which the simulator does not count.
    let without = json!({"profile": "plain", "recovery": "newreno"});
    json!({
        "duration": "8 s", "warmup": "1 s",
        "network": {"rtt": {"min": "20 ms", "max": "140 ms", "draw": "source"}},
        "link": [{"rate": rate, "framing": "ethernet", "forward": queue.clone(), "reverse": queue}],
        "traffic": [
            {"app": "bulk", "flows": 8, "tcp": {"profile": "plain", "recovery": "newreno", "ecn": true}},
            {"app": "bulk", "flows": 3, "tcp": without, "side": "clients", "dscp": "ef"},
            {"app": "cbr", "flows": 1, "rate": "300 kbit/s", "packet": 500},
        ],
    })
}

#[test]
fn every_discipline_decides_as_in_the_simulator() {
    for entry in aqm::ALGORITHMS {
        agree(&bulk(json!(entry.about.name), "10 Mbit/s"));
    }
}

#[test]
fn marks_are_decided_as_in_the_simulator() {
    for name in ["red", "codel", "fq_codel", "pie"] {
        agree(&bulk(json!({"aqm": name, "ecn": true}), "5 Mbit/s"));
    }
}

#[test]
fn lines_whose_rate_changes_send_as_in_the_simulator() {
    let changing = |link: Value| {
        let mut json = bulk(json!("codel"), "10 Mbit/s");
        json["link"] = json!([link]);
        json
    };
    agree(&changing(json!({
        "rate": "10 Mbit/s", "rate_steps": [["0 s", "10 Mbit/s"], ["2 s", "3 Mbit/s"], ["5 s", "6 Mbit/s"]],
    })));
    agree(&changing(json!({"rate": "5 Mbit/s", "ring": 16, "forward": "red"})));
}

#[test]
fn copies_and_corrupted_packets_are_those_of_the_simulator() {
    let mut json = bulk(json!("codel"), "10 Mbit/s");
    json["link"][0]["effects"] = json!([
        {"kind": "duplicate", "share": 0.02}, {"kind": "corrupt", "bit_error_rate": 1e-6},
        {"kind": "loss", "share": 0.001},
    ]);
    agree(&json);
}

#[test]
fn web_users_meet_the_same_queue() {
    agree(&json!({
        "duration": "40 s", "warmup": "5 s",
        "link": [{"rate": "2 Mbit/s", "framing": "ethernet", "forward": "red"}],
        "traffic": [{"app": "web", "users": 600, "start": "stationary", "tcp": "freebsd-2.2.8"}],
    }));
}
