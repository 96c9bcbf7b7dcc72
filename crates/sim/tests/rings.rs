//! The ring of a device below a queue: packets wait in both, and the discipline sees one of them.

use crate::outcome::{group, simulate};
use record::Summary;
use serde_json::{Value, json};

/// A flood of 1,000 B packets, one every 0.5 ms, before a line that sends one in 1 ms.
fn flooded(ring: u64, queue: &Value, engine: &str) -> Summary {
    simulate(&json!({
        "duration": "4 s", "warmup": "2 s", "engine": engine, "network": {"rtt": "0 s"},
        "link": [{"rate": "8 Mbit/s", "ring": ring, "forward": queue}],
        "traffic": [{"name": "flood", "app": "cbr", "flows": 1, "rate": "15.552 Mbit/s",
                     "packet": 972, "start_within": "0 s"}],
        "record": {"queue_every": "0.1 ms"},
    }))
    .summary
}

fn both_engines(ring: u64, queue: &Value) -> Summary {
    let [folded, explicit] = ["folded", "explicit"].map(|engine| flooded(ring, queue, engine));
    let text = |summary: &Summary| match summary.get("fingerprint") {
        Some(record::Figure::Text(text)) => text.clone(),
        other => panic!("{other:?}"),
    };
    assert_eq!(text(&folded), text(&explicit), "ring {ring}, {queue}");
    assert_eq!(folded.number("queue_delay_mean_s"), explicit.number("queue_delay_mean_s"));
    folded
}

#[test]
fn packets_wait_in_the_queue_and_in_the_ring() {
    // A queue of five is always full when the line takes one; behind it wait ring - 1 more, each of
    // which adds a millisecond to what it takes to get through.
    let queue = json!({"aqm": "droptail", "limit": 5});
    let longest =
        |summary: &Summary| group(group(summary, "datagrams"), "flood").number("delay_max_s") * 1e3;
    let alone = both_engines(1, &queue);
    for ring in [2, 3, 17] {
        let ringed = both_engines(ring, &queue);
        let added = longest(&ringed) - longest(&alone);
        assert!((added - (ring - 1) as f64).abs() < 1e-6, "ring {ring}: {added} ms more");
        assert_eq!(ringed.number("queue_max_packets"), 5.0, "what the discipline holds");
        assert_eq!(ringed.number("departures"), alone.number("departures"));
        assert_eq!(ringed.number("utilisation"), 1.0);
    }
}

#[test]
fn the_discipline_sees_what_the_ring_does_not_hold() {
    // A burst of 40 packets, 8 us apart: what a ring of 64 takes at once has never waited in the
    // queue, so that a queue of ten loses nothing.
    let burst = |ring: u64, queue: Value| {
        let outcome = simulate(&json!({
            "duration": "4 s", "network": {"rtt": "0 s"},
            "link": [{"rate": "8 Mbit/s", "ring": ring, "forward": queue}],
            "traffic": [{"app": "cbr", "flows": 1, "rate": "972 Mbit/s", "packet": 972,
                         "start_within": "0 s", "lasts": "0.319 ms"}],
        }));
        (outcome.summary.number("drops"), outcome.summary.number("queue_peak_packets"))
    };
    let (drops, peak) = burst(1, json!({"aqm": "droptail", "limit": 10}));
    assert!(drops > 0.0 && peak == 10.0, "{drops} drops, {peak} in the queue");
    assert_eq!(burst(64, json!({"aqm": "droptail", "limit": 10})), (0.0, 0.0));
}

#[test]
fn gates_above_a_ring_decide_alike_in_both_engines() {
    // RED's average must age on a queue that is idle while the device works; the others look at the
    // queue's length, which the ring makes short.
    let red = json!({"aqm": "red", "profile": "linux", "min_th": 2, "max_th": 6, "w_q": 0.25,
                     "max_p": 0.5, "limit": 20});
    let summary = both_engines(40, &red);
    assert!(summary.number("drops_early") + summary.number("drops_forced") > 0.0);
    for aqm in ["pi", "rem", "blue", "avq"] {
        both_engines(7, &json!({"aqm": aqm}));
    }
}
