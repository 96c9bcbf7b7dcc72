//! Every listed discipline on one dumbbell: ten long transfers, and web users at overload.
//!
//! A readable table of what each does to queue, loss and delay, to the packet. A newcomer is in
//! it the day it is listed. Written anew as the golden table is (`AQMLAB_BLESS=1`).

use std::fmt::Write;
use std::path::Path;

use aqmlab_sim::{Scenario, run};
use record::{Figure, Summary};
use serde_json::{Value, json};

fn bulk(aqm: &str) -> Value {
    json!({
        "duration": "60 s", "warmup": "10 s",
        "network": {"rtt": {"min": "20 ms", "max": "140 ms", "draw": "source"}},
        "link": [{"rate": "10 Mbit/s", "forward": aqm}],
        "traffic": [{"app": "bulk", "flows": 10, "tcp": "plain"}],
    })
}

fn web(aqm: &str) -> Value {
    json!({
        "duration": "120 s", "warmup": "20 s",
        "link": [{"rate": "2 Mbit/s", "framing": "ethernet", "forward": aqm}],
        "traffic": [{"app": "web", "users": 600, "start": "stationary", "tcp": "freebsd-2.2.8"}],
    })
}

fn row(name: &str, traffic: &str, s: &Summary) -> String {
    let Some(Figure::Text(fingerprint)) = s.get("fingerprint") else { panic!("no fingerprint") };
    format!(
        "{name:<14} {traffic:<5} {:>8} {:>7} {:>9.2} {:>9.2} {:>8.2} {:>9} {fingerprint}\n",
        s.number("arrivals"),
        s.number("drops"),
        s.number("queue_time_mean_packets"),
        s.number("queue_delay_mean_s") * 1e3,
        s.number("utilisation") * 100.0,
        s.number("responses"),
    )
}

#[test]
fn every_discipline_gives_its_golden_row() {
    let mut table = String::new();
    writeln!(
        table,
        "{:<14} {:<5} {:>8} {:>7} {:>9} {:>9} {:>8} {:>9} fingerprint",
        "discipline", "users", "arrivals", "drops", "mean q", "wait ms", "util %", "responses"
    )
    .unwrap();
    for entry in aqm::ALGORITHMS {
        for (traffic, scenario) in
            [("bulk", bulk(entry.about.name)), ("web", web(entry.about.name))]
        {
            let outcome = run(Scenario::from_json(&scenario.to_string()).unwrap()).unwrap();
            table += &row(entry.about.name, traffic, &outcome.summary);
        }
    }
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden/disciplines.txt");
    if std::env::var_os("AQMLAB_BLESS").is_some() {
        std::fs::write(&file, &table).unwrap();
    }
    let expected = std::fs::read_to_string(&file).unwrap_or_default();
    assert!(
        table == expected,
        "the table of disciplines has changed; a new discipline adds its rows with AQMLAB_BLESS=1; it is now\n{table}"
    );
}
