//! Disciplines that hash flows: every replication and every queue has a hash of its own.

use crate::outcome::{column, simulate, table};
use aqmlab_sim::Scenario;
use serde_json::{Value, json};

/// Eight equal constant senders at 1.6 times the line's rate, and nothing drawn at random.
fn scenario(queue: Value, seed: u64) -> Value {
    json!({
        "duration": "2 s", "seed": seed, "network": {"rtt": "10 ms"},
        "link": [{"rate": "1 Mbit/s", "forward": queue}],
        "traffic": [{"app": "cbr", "users": 8, "rate": "200 kbit/s", "packet": 200,
                     "start_within": "0 s"}],
    })
}

/// What each of the eight got through, which shows who shares a queue with whom.
fn received(queue: &Value, seed: u64) -> Vec<f64> {
    column(table(&simulate(&scenario(queue.clone(), seed)), "streams"), "received")
}

/// Disciplines that draw nothing else at random.
fn hashing() -> [Value; 2] {
    [
        json!({"aqm": "sfq", "queues": 8, "limit": 40}),
        json!({"aqm": "fq_codel", "flows": 8, "limit": 40}),
    ]
}

#[test]
fn every_replication_has_a_hash_of_its_own() {
    for queue in hashing() {
        let runs: Vec<_> = (1..=6).map(|seed| received(&queue, seed)).collect();
        let differ = runs.iter().filter(|run| **run != runs[0]).count();
        // Eight flows have 8^8 ways into eight queues: six seeds do not draw one.
        assert!(differ >= 4, "{queue}: {runs:?}");
    }
}

#[test]
fn a_given_seed_of_the_hash_holds_in_every_replication() {
    for mut queue in hashing() {
        queue["hash_seed"] = json!(5);
        let runs: Vec<_> = (1..=4).map(|seed| received(&queue, seed)).collect();
        assert!(runs.iter().all(|run| *run == runs[0]), "{queue}: {runs:?}");
    }
}

#[test]
fn the_mean_over_replications_is_that_of_a_random_hash() {
    // Of 8 flows in 8 queues, 8 (1 - (7/8)^8) = 5.25 queues are in use on average, with a standard
    // deviation of 0.88; the mean of 40 seeds is within 0.6 but once in 10^5 times.
    let queue = json!({"aqm": "sfq", "queues": 8, "limit": 40});
    let used = |received: Vec<f64>| {
        // A flow that shares its queue with k - 1 others gets 1/k of a queue's share, which is the
        // line over the number of queues in use: the least loaded queue shows it.
        received.iter().sum::<f64>() / received.iter().cloned().fold(0.0, f64::max)
    };
    let mean = (1..=40).map(|seed| used(received(&queue, seed))).sum::<f64>() / 40.0;
    assert!((mean - 5.25).abs() < 0.6, "{mean}");
}

#[test]
fn a_complete_scenario_leaves_the_seed_of_the_hash_to_the_run() {
    let written = |queue: Value| {
        let scenario = scenario(queue, 1).to_string();
        Scenario::from_json(&scenario).unwrap().to_json()["link"][0]["forward"].clone()
    };
    for name in ["sfq", "fq_codel", "fq_pie", "cake", "sfb", "dcn"] {
        assert_eq!(written(json!(name))["hash_seed"], Value::Null, "{name}");
        assert_eq!(written(json!({"aqm": name, "hash_seed": 0}))["hash_seed"], json!(0), "{name}");
    }
}
