//! Hosts on an empty network: response times are whole round trips, as the timed dialogues of the
//! TCP crate have them.

use aqmlab_sim::{Outcome, Scenario, run};
use record::{Column, Table};
use serde_json::json;

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

/// A scenario on an empty network with a round-trip time of 100 ms.
fn outcome(group: serde_json::Value) -> Outcome {
    let scenario = json!({
        "duration": "300 s",
        "network": {"rtt": "100 ms"},
        "link": [{"rate": "100 Gbit/s", "forward": {"aqm": "droptail", "limit": 10000},
                  "reverse": {"aqm": "droptail", "limit": 10000}}],
        "traffic": [group],
    });
    run(Scenario::from_json(&scenario.to_string()).unwrap()).unwrap()
}

/// Users of pages with four files of 1,000 B each.
fn small_pages(http: &str) -> serde_json::Value {
    json!({"app": "http", "users": 50, "http": http, "files": 4, "pages": 1, "reply": 1000,
           "think": "5 s", "start": "stationary", "tcp": "freebsd-2.2.8", "parallel": 2})
}

#[test]
fn a_request_on_an_open_connection_takes_one_round_trip() {
    // Of four files the first and the first on the second connection take two, two take one.
    let log = outcome(small_pages("http11"));
    let mut times: Vec<u64> = responses(&log).iter().map(|&(_, ns)| ns / 1_000_000).collect();
    times.sort_unstable();
    assert!(times.iter().all(|&ms| ms == 100 || ms == 200), "{times:?}");
    let long = times.iter().filter(|&&ms| ms == 200).count() as f64;
    assert!((long / times.len() as f64 - 0.5).abs() < 0.02);
    let per_connection = log.summary.number("requests") / log.summary.number("connections");
    assert!((per_connection - 2.0).abs() < 0.1, "{per_connection}");
    // HTTP/1.0: two each, and a connection each.
    let log = outcome(small_pages("http10"));
    assert!(responses(&log).iter().all(|&(_, ns)| ns / 1_000_000 == 200));
    assert!(
        (log.summary.number("requests") / log.summary.number("connections") - 1.0).abs() < 0.05
    );
}

#[test]
fn pipelined_requests_are_answered_in_order_and_timed_from_their_own_write() {
    let group = |http: &str| {
        let mut group = small_pages(http);
        group["persistent_parallel"] = json!(1);
        group["service"] = json!("300 ms");
        group
    };
    let times = |http: &str| {
        let log = outcome(group(http));
        let mut times: Vec<u64> = responses(&log).iter().map(|&(_, ns)| ns / 1_000_000).collect();
        times.sort_unstable();
        times.dedup();
        times
    };
    // The server works for 300 ms on one after the other. Alone: 100 ms beside, 200 with the
    // handshake. All at once: the second and third wait for the one before.
    assert_eq!(times("http11"), [400, 500]);
    assert_eq!(times("http11-pipelined"), [400, 500, 700, 1_000]);
    // On all of them at once where replies share the connection.
    let mut group = group("http2");
    group["tcp"] = json!("plain"); // HTTP/2 is not for Nagle's rule
    group.as_object_mut().unwrap().retain(|field, _| !field.ends_with("parallel"));
    let mut times: Vec<u64> =
        responses(&outcome(group)).iter().map(|(_, ns)| ns / 1_000_000).collect();
    times.sort_unstable();
    times.dedup();
    assert_eq!(times, [400, 500]);
}

#[test]
fn a_packmime_server_closes_with_the_last_reply() {
    let log = outcome(json!({"app": "packmime", "connections_per_s": 40, "tcp": "plain"}));
    let s = &log.summary;
    assert_eq!((s.number("drops"), s.number("responses_failed")), (0.0, 0.0));
    let per_connection = s.number("requests") / s.number("connections");
    // 9 % of the connections carry 3.2 requests: 1.2 in all; 12,000 connections, five standard
    // errors 0.04, and those that are in a gap at the end.
    assert!((per_connection - 1.2).abs() < 0.05, "{per_connection}");
    // Server delay: at least the two round trips, on average 22 ms more.
    let shortest = responses(&log).iter().map(|&(_, ns)| ns).min().unwrap();
    assert!((100_000_000..=200_500_000).contains(&shortest), "{shortest}");
}

#[test]
fn a_burst_lasts_from_the_first_syn_to_the_last_acknowledgement() {
    let log = outcome(json!({"app": "burst", "flows": 6, "bytes": "20 kB", "start_at": "5 s",
                             "tcp": "freebsd-2.2.8"}));
    let Some(record::Figure::Group(bursts)) = log.summary.get("transfers") else { panic!() };
    let Some(record::Figure::Group(burst)) = bursts.get("burst0") else { panic!() };
    assert_eq!((burst.number("finished"), burst.number("failed")), (6.0, 0.0));
    // SYN; then 1, 2, 3 … segments a round trip: 14 segments take five, and a tick of the 200 ms
    // clock acknowledges the first.
    let elapsed = burst.number("elapsed_s");
    assert!((0.5..0.9).contains(&elapsed), "{elapsed}");
    let table = log.tables.iter().find(|t| t.name == "transfers").unwrap();
    let Column::U64(starts) = column(table, "start_ns") else { panic!() };
    let Column::U64(ends) = column(table, "end_ns") else { panic!() };
    let Column::U64(bytes) = column(table, "bytes") else { panic!() };
    assert_eq!(starts, &[5_000_000_000; 6]);
    assert_eq!(bytes, &[20_000; 6]);
    let last = ends.iter().max().unwrap() - 5_000_000_000;
    assert!((last as f64 / 1e9 - elapsed).abs() < 1e-9);
}

#[test]
fn users_survive_a_network_that_loses_almost_everything() {
    // Connections fail in every state; whoever uses them goes on, and every byte that arrives
    // arrives once (asserted when a connection is over).
    for group in [
        json!({"app": "unc", "users": 60, "http": "http11", "persistent": 1.0, "think": "2 s"}),
        json!({"app": "unc", "users": 60, "http": "http11-pipelined", "think": "2 s",
               "page_servers": "unc_servers_per_page"}),
        json!({"app": "unc", "users": 60, "http": "http2", "think": "2 s",
               "page_servers": "unc_servers_per_page"}),
        json!({"app": "packmime", "connections_per_s": 20}),
        json!({"app": "webtraf", "users": 40, "session_gap": "0 s", "files": 4, "think": "1 s"}),
        json!({"app": "burst", "flows": 30, "bytes": "50 kB"}),
    ] {
        let scenario = json!({
            "duration": "4000 s", "network": {"rtt": "50 ms"},
            "link": [{"rate": "20 kbit/s", "forward": {"aqm": "droptail", "limit": 2},
                      "reverse": {"aqm": "droptail", "limit": 1}}],
            "traffic": [group],
        });
        let s = run(Scenario::from_json(&scenario.to_string()).unwrap()).unwrap().summary;
        if scenario["traffic"][0]["app"] == "burst" {
            let Some(record::Figure::Group(bursts)) = s.get("transfers") else { panic!() };
            let Some(record::Figure::Group(burst)) = bursts.get("burst0") else { panic!() };
            assert_eq!(burst.number("finished") + burst.number("failed"), 30.0);
            continue;
        }
        assert!(s.number("responses_failed") > 50.0, "{}", s.number("responses_failed"));
        assert!(s.number("responses") > s.number("responses_failed") + 100.0);
    }
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
