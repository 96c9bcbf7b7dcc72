//! Tests of responsiveness: what probes measure on an idle and on a busy line.

use crate::outcome::{column, simulate, table};
use serde_json::{Value, json};

/// A test on a line of this rate, 40 ms there and back, with room for 50 packets.
fn run(rate: &str, group: &Value) -> Vec<[f64; 5]> {
    let mut group = group.clone();
    group["app"] = json!("responsiveness");
    group["users"] = json!(1);
    group["tcp"] = json!("linux");
    let scenario = json!({
        "duration": "4 s", "network": {"rtt": "40 ms"}, "traffic": [group],
        "link": [{"rate": rate, "forward": {"aqm": "droptail", "limit": 50},
                  "reverse": {"aqm": "droptail", "limit": 50}}],
    });
    let outcome = simulate(&scenario);
    let log = table(&outcome, "probes");
    let columns = ["begun_ns", "self", "tcp_s", "tls_s", "http_s"].map(|name| column(log, name));
    (0..columns[0].len()).map(|i| [0, 1, 2, 3, 4].map(|c| columns[c][i])).collect()
}

/// Whether a time in seconds is some whole number of milliseconds, transmission times left out.
fn is_ms(seconds: f64, ms: f64) -> bool {
    (seconds * 1e3 - ms).abs() < 0.5
}

#[test]
fn a_foreign_probe_times_each_of_its_round_trips() {
    for tls in ["1.3", "1.2", "none"] {
        let group =
            json!({"connections": 0, "probes": "foreign", "tls": tls, "probe_every": "100 ms"});
        let rows = run("100 Gbit/s", &group);
        assert!((40..=41).contains(&rows.len()), "{}", rows.len());
        for [begun, own, tcp, handshake, http] in &rows[..38] {
            assert!(
                is_ms(*tcp, 40.0) && is_ms(*http, 40.0) && *own == 0.0,
                "{begun}: {tcp} {http}"
            );
            // A round trip of the handshake, however many there are.
            assert!(if tls == "none" { handshake.is_nan() } else { is_ms(*handshake, 40.0) });
        }
    }
}

#[test]
fn a_self_probe_waits_as_the_load_of_its_connection_does() {
    // 50 packets of 1500 B at 10 Mbit/s: up to 60 ms more; and what waits at its own end.
    for direction in ["download", "upload"] {
        let group = json!({"connections": 1, "probes": "self", "direction": direction,
                           "probe_every": "50 ms", "frame_bytes": 1_439});
        let rows = run("10 Mbit/s", &group);
        let late = |row: &&[f64; 5]| row[0] > 2e9 && row[0] < 3.8e9;
        let took: Vec<f64> = rows.iter().filter(late).map(|row| row[4]).collect();
        assert!(took.len() > 30 && took.iter().all(|t| (0.04..0.115).contains(t)), "{took:?}");
        let mean = took.iter().sum::<f64>() / took.len() as f64;
        assert!((0.06..0.105).contains(&mean), "{direction}: {mean}");
    }
}

#[test]
fn both_kinds_take_turns_and_the_test_ends() {
    let group =
        json!({"connections": 3, "interval": "500 ms", "probe_every": "100 ms", "lasts": "2 s"});
    let rows = run("10 Mbit/s", &group);
    let kinds: Vec<f64> = rows.iter().filter(|row| row[0] > 5e8).map(|row| row[1]).collect();
    assert!(kinds.windows(2).all(|pair| pair[0] != pair[1]), "{kinds:?}");
    assert!(rows.iter().all(|row| row[0] < 2e9) && rows.len() >= 36, "{}", rows.len());
    // The line is idle again: the last probes on new connections still run out.
    assert!(rows.iter().rev().find(|row| row[1] == 0.0).unwrap()[4] > 0.0);
}

/// A connection is added at each second: it has its handshakes after 80 ms and the first bytes of its load
/// after 120. Self probes begin 120 ms after their foreign ones, 7 ms apart.
#[test]
fn a_self_probe_follows_its_foreign_one_and_may_find_no_answer_yet() {
    let group = json!({"connections": 4, "interval": "1 s", "probe_every": "7 ms",
                       "self_probes": "after_foreign"});
    let rows = run("100 Gbit/s", &group);
    let (own, foreign): (Vec<[f64; 5]>, Vec<[f64; 5]>) =
        rows.iter().copied().partition(|row| row[1] == 1.0);
    let ends: Vec<f64> =
        foreign.iter().map(|row| row[0] + 1e9 * (row[2] + row[3] + row[4])).collect();
    assert!(own.len() > 30);
    for row in &own {
        assert!(
            ends.iter().any(|end| (end - row[0]).abs() < 10.0),
            "begins at no answer: {}",
            row[0]
        );
        let since_added = row[0] % 1e9;
        // What begins in the last round trip of the run has no answer either.
        let left_out = row[4].is_nan() && row[0] < 3.9e9;
        assert!(!left_out || since_added < 121e6, "no answer {since_added} ns after");
    }
    let met = own.iter().any(|row| row[4].is_nan() && row[0] < 3.9e9 && row[0] % 1e9 > 85e6);
    assert!(met, "none met a connection that had requested its load and had no answer");
}
