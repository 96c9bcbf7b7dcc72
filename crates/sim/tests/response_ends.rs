//! When a reply has come: with its last byte, or at the end of file.

use crate::outcome::{column, simulate, table};
use serde_json::{Value, json};

/// Users far from each other on a quiet line: response times, ns, by reply size.
fn replies(tcp: &str, ends: &str) -> Vec<(f64, f64)> {
    let outcome = simulate(&quiet(tcp, ends));
    let responses = table(&outcome, "responses");
    let (bytes, ns) = (column(responses, "reply_bytes"), column(responses, "duration_ns"));
    assert!(bytes.len() > 200, "{} replies", bytes.len());
    bytes.into_iter().zip(ns).collect()
}

fn quiet(tcp: &str, ends: &str) -> Value {
    json!({
        "duration": "100 s", "network": {"rtt": "100 ms", "clients": 1},
        "link": [{"rate": "1 Mbit/s", "forward": {"aqm": "droptail", "limit": 1000},
                  "reverse": {"aqm": "droptail", "limit": 1000}}],
        "traffic": [{"app": "web", "users": 1, "tcp": {"profile": tcp, "delayed_ack": "0 s"},
                     "files": 1, "think": "1 ms", "request": 300, "response_ends": ends,
                     "reply": {"dist": "discrete", "values": [1000, 20000], "probs": [0.5, 0.5]},
                     "reply_scale": 1}],
        "record": {"responses": true},
    })
}

#[test]
fn a_bare_fin_is_waited_for() {
    let [byte, file] = ["last byte", "end of file"].map(|ends| replies("freebsd-2.2.8", ends));
    // Its FIN follows a reply of one segment in the same instant: 40 B at 1 Mbit/s.
    let short = |of: &[(f64, f64)]| of.iter().find(|(bytes, _)| *bytes == 1_000.0).unwrap().1;
    assert_eq!(short(&file) - short(&byte), 320_000.0);
    // It rides on the last segment of a long one.
    let long = |of: &[(f64, f64)]| of.iter().find(|(bytes, _)| *bytes == 20_000.0).unwrap().1;
    assert_eq!(long(&file), long(&byte));
}

#[test]
fn a_fin_on_the_last_segment_makes_no_difference() {
    let [byte, file] = ["last byte", "end of file"].map(|ends| replies("plain", ends));
    assert_eq!(byte, file);
}

#[test]
fn a_kept_connection_has_no_end_of_file() {
    for http in ["http11", "http11-pipelined", "http2"] {
        let mut scenario = quiet("plain", "end of file");
        scenario["traffic"][0]["http"] = json!(http);
        let why = aqmlab_sim::Scenario::from_json(&scenario.to_string())
            .and_then(|scenario| aqmlab_sim::run(scenario).map(|_| ()))
            .unwrap_err()
            .to_string();
        assert!(why.contains("response_ends") && why.contains("http = \"http10\""), "{why}");
    }
}
