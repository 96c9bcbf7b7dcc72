//! Facts that the recorder is told from outside a simulation, as of live runs, and what describes
//! distributions to Python.

use aqmlab_sim::{Ended, Recorder, Reports, Scenario, catalogue, parts, run, table, variables};
use record::Recoveries;
use serde_json::json;

#[test]
fn what_is_recorded_of_connections_adds_up() {
    let text = json!({
        "duration": "10 s", "link": [{"rate": "1 Mbit/s"}],
        "traffic": [{"app": "bulk", "flows": 1}],
    });
    let scenario = Scenario::from_json(&text.to_string()).unwrap();
    let parts = parts(&scenario).unwrap();
    let mut recorder = Recorder::new(&scenario, std::iter::once(1), None);
    let of = |timeouts, fast_retransmits| Recoveries {
        timeouts,
        fast_retransmits,
        ..Recoveries::default()
    };
    recorder.recovered(of(2, 3));
    recorder.recovered(of(1, 0));
    recorder.data_segments_sent(5);
    recorder.data_segments_sent(7);
    let names = parts.names.iter().map(String::as_str);
    let ended = Ended {
        scenario: &scenario,
        ports: names.zip(parts.network.ports().iter().map(|port| port.meter())).collect(),
        effects: Vec::new(),
        channels: Vec::new(),
        reports: Reports::default(),
        users: 1,
        events: 0,
        open_requests: 0,
    };
    let summary = recorder.outcome(&ended).summary;
    let told = ["timeouts", "fast_retransmits", "data_packets_sent"];
    assert_eq!(told.map(|name| summary.number(name)), [3.0, 3.0, 12.0]);
}

#[test]
fn the_variables_of_a_model_are_described() {
    let found = variables("mah").unwrap();
    let all = found.as_array().unwrap();
    assert!(all.len() > 3);
    for variable in all {
        assert!(variable["name"].is_string());
        let curve = variable["curve"].as_array().unwrap();
        let shares: Vec<f64> = curve.iter().map(|point| point[1].as_f64().unwrap()).collect();
        assert!(shares.is_sorted() && shares.last() > Some(&0.999), "{}", variable["name"]);
        assert_eq!(variable["capped_mean"].is_number(), variable["unit"] == "bytes");
    }
    let units: Vec<_> = all.iter().map(|variable| variable["unit"].as_str().unwrap()).collect();
    assert!(units.contains(&"bytes") && units.contains(&"time"), "{units:?}");
    let why = variables("mahh").unwrap_err().to_string();
    assert!(why.contains("mahh") && why.contains("mah"), "{why}");
}

#[test]
fn a_table_is_described_in_its_unit() {
    let text = "value,prob\n10,0.25\n30,0.75\n";
    let of = |unit: &str| table("size", text, unit).unwrap();
    for unit in ["bytes", "time", "count", ""] {
        let found = of(unit);
        assert_eq!((&found["name"], &found["unit"]), (&json!("size"), &json!(unit)));
        assert_eq!(found["mean"], 25.0);
        assert_eq!(found["capped_mean"].is_number(), unit == "bytes");
    }
    assert_eq!(of("furlongs")["unit"], "");
    let why = table("size", "value,prob\n10,-1\n", "").unwrap_err().to_string();
    assert!(why.contains("negative"), "{why}");
}

#[test]
fn what_is_lost_in_the_warm_up_is_no_recovery_of_the_measured_interval() {
    let names = [
        "timeouts",
        "fast_retransmits",
        "spurious_timeouts",
        "ecn_reductions",
        "segments_retransmitted",
    ];
    let figures = |warmup: &str| {
        // A lost segment, one lost twice, a mark, and a line that stands still for two seconds.
        let text = json!({
            "duration": "16 s", "warmup": warmup, "network": {"rtt": "50 ms"},
            "link": [{"rate_steps": [["0 s", "2 Mbit/s"], ["5 s", "0 bit/s"], ["7 s", "2 Mbit/s"]]}],
            "traffic": [{"app": "bulk", "flows": 1, "tcp": {"profile": "linux", "ecn": true, "window": 20_000},
                         "script": [{"drop": 20}, {"drop": 60, "sent": [1, 2]}, {"mark": 150}]}],
        });
        let outcome = run(Scenario::from_json(&text.to_string()).unwrap()).unwrap();
        names.map(|name| outcome.summary.number(name))
    };
    let all = figures("0 s");
    assert!(all.iter().all(|&n| n > 0.0), "{all:?}");
    assert_eq!(figures("15 s"), [0.0; 5]);
}

#[test]
fn requests_that_wait_for_their_reply_are_open() {
    let text = json!({
        "duration": "5 s", "link": [{"rate": "1 Mbit/s"}],
        "traffic": [{"app": "loop", "users": 3, "reply": 10_000_000, "request": 100, "think": "1 s"}],
    });
    let outcome = run(Scenario::from_json(&text.to_string()).unwrap()).unwrap();
    assert_eq!(outcome.summary.number("requests_open_at_end"), 3.0);
}

#[test]
fn the_catalogue_reports_what_every_entry_is() {
    let all = catalogue();
    let named = |list: &str, name: &str| {
        let found = all[list].as_array().unwrap().iter().find(|entry| entry["name"] == name);
        found.unwrap_or_else(|| panic!("no {name}")).clone()
    };
    let web = named("traffic", "web");
    assert!(web["models"].as_array().unwrap().contains(&json!("mah")), "{}", web["models"]);
    assert!(!web["models"].as_array().unwrap().contains(&json!("packmime-http10")));
    let cable = named("access", "cable");
    let fields = cable["fields"].as_array().unwrap();
    assert!(fields.iter().any(|field| field["name"] == "rate" && field["default"].is_string()));
    let drops = named("measures", "drop_rate");
    assert!(drops["title"].is_string() && drops["also"].is_array());
    let top = all["scenario"][""].as_array().unwrap();
    let field = |name: &str| top.iter().find(|field| field["name"] == name).unwrap();
    assert_eq!(field("warmup")["default"], 0.0);
    assert!(!field("link")["meaning"].as_str().unwrap().is_empty());
}
