//! A discipline that holds packets back although the line is idle: the simulator calls it again at
//! the time that it requests, and measures it as any other discipline.

use aqmlab_sim::{Scenario, run};
use record::Summary;
use serde_json::{Value, json};

fn measure(rate: &str, traffic: Value) -> Summary {
    let scenario = json!({
        "duration": "60 s", "warmup": "10 s",
        "network": {"rtt": "50 ms"},
        "link": [{"rate": "10 Mbit/s", "forward": {"aqm": "cake", "rate": rate}}],
        "traffic": [traffic],
    });
    run(Scenario::from_json(&scenario.to_string()).unwrap()).unwrap().summary
}

#[test]
fn a_shaped_queue_sends_at_its_own_rate() {
    let s = measure("4 Mbit/s", json!({"app": "bulk", "flows": 4, "tcp": "plain"}));
    let utilisation = s.number("utilisation");
    // A flow's last signals may let the queue run dry for a moment, but never the rate be passed.
    assert!((0.39..=0.4001).contains(&utilisation), "{utilisation}");
}

#[test]
fn little_holds_where_packets_wait_for_a_resting_line() {
    // The queue is far from full, and nine tenths of the time the line rests.
    let s = measure(
        "1 Mbit/s",
        json!({"app": "web", "users": 60, "start": "stationary", "tcp": "plain"}),
    );
    let by_waiting = s.number("queue_delay_mean_s") * s.number("departures");
    let by_queue = s.number("queue_time_mean_packets") * 50.0;
    assert!(by_queue > 5.0, "{by_queue}");
    // Packets dropped at the head waited too, and are few.
    let more = by_queue / by_waiting - 1.0;
    assert!((0.0..0.15).contains(&more), "{by_waiting} against {by_queue}");
}
