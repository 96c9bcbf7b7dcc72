//! Readable golden tables: what every golden scenario gives, to the packet.
//!
//! A change of behaviour shows as a change of numbers a person can read. The fingerprints must
//! be the same in debug and release builds and on every machine; the Python tests compare the
//! release build with this very file. After a change that is meant, write the table anew with
//! `AQMLAB_BLESS=1 cargo test -p aqmlab-sim --test all golden::` and say in the commit why it changed.

use std::fmt::Write;
use std::path::Path;

use aqmlab_sim::{Scenario, run};
use record::{Figure, Summary};

fn row(name: &str, summary: &Summary) -> String {
    let whole = |name: &str| summary.number(name) as u64;
    let hundredths = |name: &str| summary.number(name) * 100.0;
    let Some(Figure::Text(fingerprint)) = summary.get("fingerprint") else { panic!() };
    let mut row = format!("{name:<22}");
    for count in ["arrivals", "drops", "responses", "queue_max_packets"] {
        write!(row, " {:>9}", whole(count)).unwrap();
    }
    for (number, digits) in [("queue_mean_packets", 2), ("queue_delay_mean_s", 5)] {
        write!(row, " {:>9.digits$}", summary.number(number)).unwrap();
    }
    write!(row, " {:>8.2} {fingerprint}", hundredths("utilisation")).unwrap();
    row
}

#[test]
fn golden_scenarios_give_the_golden_table() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden");
    let mut names: Vec<String> = std::fs::read_dir(&folder)
        .unwrap()
        .filter_map(|f| Some(f.unwrap().file_name().to_str()?.strip_suffix(".json")?.to_owned()))
        .collect();
    names.sort();
    assert!(names.len() >= 12, "{names:?}");
    let mut table = format!(
        "{:<22} {:>9} {:>9} {:>9} {:>9} {:>9} {:>9} {:>8} {}\n",
        "scenario",
        "arrivals",
        "drops",
        "responses",
        "queue max",
        "mean",
        "wait s",
        "util %",
        "fingerprint"
    );
    for name in &names {
        let text = std::fs::read_to_string(folder.join(format!("{name}.json"))).unwrap();
        let outcome = run(Scenario::from_json(&text).unwrap()).unwrap();
        writeln!(table, "{}", row(name, &outcome.summary)).unwrap();
    }
    let file = folder.join("table.txt");
    if std::env::var_os("AQMLAB_BLESS").is_some() {
        std::fs::write(&file, &table).unwrap();
    }
    let expected = std::fs::read_to_string(&file).unwrap_or_default();
    assert!(table == expected, "the golden table has changed; it is now\n{table}");
}
