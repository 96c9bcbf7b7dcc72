//! Facts that the recorder is told from outside a simulation, as of live runs, and what describes
//! distributions to Python.

use aqmlab_sim::{Ended, Recorder, Reports, Scenario, parts, table, variables};
use record::Recoveries;
use serde_json::json;

#[test]
fn what_is_told_of_connections_adds_up() {
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
