//! Hosts on an empty network: response times are whole round trips, as the timed dialogues of the
//! TCP crate have them.

use record::{Column, Table};
use serde_json::json;
use sim::{Outcome, Scenario, run};

fn empty_network(tcp: &str) -> Outcome {
    let scenario = json!({
        "duration": "300 s",
        "network": {"rtt": "100 ms"},
        // So fast that transmission times vanish: 1,500 bytes take 120 ns.
        "link": [{"rate": "100 Gbit/s", "forward": {"aqm": "droptail", "limit": 1000},
                  "reverse": {"aqm": "droptail", "limit": 1000}}],
        "traffic": [{"app": "web", "users": 300, "tcp": tcp, "start": "stationary"}],
    });
    run(Scenario::from_json(&scenario.to_string()).unwrap()).unwrap()
}

fn column<'a>(table: &'a Table, name: &str) -> &'a Column {
    &table.columns.iter().find(|(n, _)| n == name).unwrap().1
}

/// Reply sizes and response times in ns.
fn responses(outcome: &Outcome) -> Vec<(u32, u64)> {
    let table = outcome.tables.iter().find(|t| t.name == "responses").unwrap();
    let Column::U32(bytes) = column(table, "reply_bytes") else { panic!() };
    let Column::U64(ns) = column(table, "duration_ns") else { panic!() };
    assert!(bytes.len() > 1_000, "{} responses", bytes.len());
    bytes.iter().copied().zip(ns.iter().copied()).collect()
}

/// Nothing but a few transmission times may come on top of `ns`.
fn assert_about(ns: u64, expected_ms: u64, what: &str) {
    let expected = expected_ms * 1_000_000;
    assert!((expected..expected + 20_000).contains(&ns), "{what}: {ns} ns, not {expected_ms} ms");
}

#[test]
fn a_freebsd_reply_of_two_segments_takes_two_round_trips() {
    // Connect, then request and reply; a first flight of two segments.
    for (bytes, ns) in responses(&empty_network("freebsd-2.2.8")) {
        match bytes {
            ..=2_920 => assert_about(ns, 200, &format!("{bytes} B")),
            // Three segments follow the first acknowledgement (dialogue B2), three more each of
            // the next ones.
            2_921..=7_300 => assert_about(ns, 300, &format!("{bytes} B")),
            7_301..=11_680 => assert_about(ns, 400, &format!("{bytes} B")),
            // A tick of the 200 ms clock may acknowledge a lone segment early and save a part of
            // the fifth round trip.
            _ => assert!(ns > 400_000_000, "{bytes} B in {ns} ns"),
        }
    }
}

#[test]
fn a_plain_reply_of_three_segments_takes_two_round_trips() {
    for (bytes, ns) in responses(&empty_network("plain")) {
        match bytes {
            ..=4_380 => assert_about(ns, 200, &format!("{bytes} B")),
            4_381..=8_760 => assert_about(ns, 300, &format!("{bytes} B")),
            _ => assert!(ns > 390_000_000, "{bytes} B in {ns} ns"),
        }
    }
}

#[test]
fn an_empty_network_loses_and_repeats_nothing() {
    let outcome = empty_network("freebsd-2.2.8");
    assert_eq!(outcome.summary.number("drops"), 0.0);
    let Some(record::Figure::Group(classes)) = outcome.summary.get("retransmission_classes") else {
        panic!()
    };
    assert_eq!(classes.number("none"), outcome.summary.number("connections"));
}

#[test]
fn one_window_limited_flow_gets_a_window_a_round_trip() {
    let scenario = json!({
        "duration": "30 s", "warmup": "10 s", "network": {"rtt": "100 ms"},
        "link": [{"rate": "1 Gbit/s", "forward": {"aqm": "droptail", "limit": 1000}}],
        "traffic": [{"app": "bulk", "flows": 1, "tcp": "freebsd-2.2.8"}],
    });
    let outcome = run(Scenario::from_json(&scenario.to_string()).unwrap()).unwrap();
    // Twelve segments of 1,460 B (1,500 at IP level) every 100 ms and a few transmission times.
    let rate = outcome.summary.number("throughput_bytes_per_s");
    assert!((178_000.0..=180_000.0).contains(&rate), "{rate} B/s");
}
