//! The upstream of a cable modem: how long requests and grants take, what the contract lets through, how flows share it.

use crate::outcome::{group, simulate};
use aqmlab_sim::{Outcome, Scenario};
use serde_json::{Value, json};

/// A modem whose clients send `traffic` upstream; the queue is a FIFO.
fn modem(duration: &str, docsis: Value, more: Value, traffic: Value) -> Value {
    let mut link = json!({"name": "cable", "rate": "100 Mbit/s", "reverse_rate": "10 Mbit/s", "framing": "docsis",
        "docsis": docsis, "reverse": {"aqm": "droptail", "limit": 1000}});
    link.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    json!({"duration": duration, "warmup": "1 s", "seed": 3, "network": {"rtt": "2 ms", "clients": 1, "servers": 1},
           "link": [link], "traffic": traffic, "record": {"samples": false, "datagrams": false}})
}

fn upstream(outcome: &Outcome) -> &record::Summary {
    group(group(&outcome.summary, "ports"), "cable.reverse")
}

fn counted(outcome: &Outcome) -> &record::Summary {
    group(group(&outcome.summary, "docsis"), "cable")
}

fn datagrams(rate: &str, bytes: u32) -> Value {
    json!([{"app": "cbr", "flows": 1, "side": "clients", "rate": rate, "packet": bytes, "start_within": "0.1 s"}])
}

/// A packet that finds the modem at rest waits for an opportunity (a uniform time of this interval or else of the next: 7/12 of an
/// interval in the mean), for the request (0.45 ms), for the next MAP (half an interval), from there for its interval (1.12 ms), and in it
/// for the grant (half an interval). 100 B of IP, 118 of Ethernet and 10 of MAC header take 10 us.
#[test]
fn a_lone_packet_waits_for_its_grant_as_arithmetic_says() {
    // A packet every 47.3 ms, which comes at all phases of 2 ms.
    let outcome = simulate(&modem("1800 s", json!({}), json!({}), datagrams("16913.32 bit/s", 72)));
    let interval = 2e-3;
    let expected = interval * (7.0 / 12.0 + 0.5) + 0.45e-3 + 1.12e-3 + (interval - 10e-6) / 2.0;
    let waited = upstream(&outcome).number("queue_delay_mean_s");
    // 38,000 packets whose waits differ by 1.3 ms: 0.007 ms.
    assert!((waited - expected).abs() < 0.04e-3, "{waited} s, not {expected}");
    let most = upstream(&outcome).number("queue_delay_max_s");
    assert!(most > 7e-3 && most <= 9.7e-3, "{most} s");
    assert_eq!(
        counted(&outcome).number("grants"),
        counted(&outcome).number("requests_in_contention")
    );
}

#[test]
fn a_saturated_modem_gets_its_contract_s_rate_in_a_grant_of_every_interval() {
    let flood = datagrams("14 Mbit/s", 1472);
    let outcome = simulate(&modem("20 s", json!({}), json!({}), flood.clone()));
    let line = 8.0 * upstream(&outcome).number("throughput_bytes_per_s") * 1518.0 / 1500.0;
    assert!((line / 10e6 - 1.0).abs() < 0.002, "{line} bit/s");
    assert!((upstream(&outcome).number("utilisation") - 1.0).abs() < 0.002);
    let grant = counted(&outcome).number("granted_mean_bytes");
    // Headers are granted as well: 10 B of 1,528.
    assert!((grant / (2500.0 * 1528.0 / 1518.0) - 1.0).abs() < 0.01, "{grant} B");
    assert!(counted(&outcome).number("requests_in_contention") < 10.0, "requests go with grants");
    // A quarter of a channel of 20 Mbit/s bounds it, headers included.
    let docsis = json!({"channel": "20 Mbit/s", "free": 0.25, "free_varies": 0.8});
    let bound = simulate(&modem("20 s", docsis, json!({}), flood));
    let line = 8.0 * upstream(&bound).number("throughput_bytes_per_s") * 1528.0 / 1500.0;
    assert!((line / 5e6 - 1.0).abs() < 0.03, "{line} bit/s");
}

/// With half of the requests lost, the first try costs an interval or more.
#[test]
fn requests_that_collide_are_sent_again() {
    let wait = |collisions: f64| {
        let docsis = json!({"collisions": collisions});
        let outcome = simulate(&modem("200 s", docsis, json!({}), datagrams("16913.32 bit/s", 72)));
        let of = counted(&outcome);
        let share = of.number("requests_collided") / of.number("requests_in_contention");
        assert!((share - collisions).abs() < 0.03, "{share}");
        assert_eq!(upstream(&outcome).number("drops"), 0.0);
        upstream(&outcome).number("queue_delay_mean_s")
    };
    assert!(wait(0.5) > wait(0.0) + 4e-3);
}

#[test]
fn what_is_no_modem_is_refused_in_a_sentence() {
    let traffic = datagrams("1 Mbit/s", 100);
    let why = |docsis: Value, more: Value| {
        let scenario = modem("2 s", docsis, more, traffic.clone());
        Scenario::from_json(&scenario.to_string()).unwrap_err().to_string()
    };
    let both = why(json!({}), json!({"wifi": {"rates": ["9 Mbit/s"]}}));
    assert!(both.starts_with("link.0.docsis: the link is wifi already"), "{both}");
    let late = why(json!({"lead": "0.1 ms"}), json!({}));
    assert!(late.starts_with("link.0.docsis.lead: "), "{late}");
    let text = modem("2 s", json!({"burst": 9000}), json!({}), traffic.clone()).to_string();
    let read = Scenario::from_json(&text).unwrap().to_json();
    assert_eq!(Scenario::from_json(&read.to_string()).unwrap().to_json(), read, "as it is written");
}
