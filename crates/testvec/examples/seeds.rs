//! Searches for seeds with which each case of a discipline (those named as arguments, or all) shows
//! every behaviour that a run with forty times as many packets shows. For each case that does not,
//! it prints the best seed and the behaviours still missing. To run it:
//! `cargo run --release -p aqmlab-testvec --example seeds -- red`

use std::collections::BTreeSet;
use std::path::Path;

use aqmlab_testvec::coverage::{longer, shown};
use aqmlab_testvec::{Case, suite};
use serde_json::Value as Json;

const SEEDS: u64 = 3_000;

/// The behaviours of `all` that `case` does not show with `seed`.
fn missing(case: &Case, seed: u64, all: &BTreeSet<String>) -> Vec<String> {
    let trial = Case { seed, ..case.clone() }.run().expect("the case runs");
    all.difference(&shown(&trial)).cloned().collect()
}

fn main() -> Result<(), String> {
    let names: Vec<String> = std::env::args().skip(1).collect();
    let wanted = |name: &str| names.is_empty() || names.iter().any(|n| n == name);
    for entry in aqm::ALGORITHMS.iter().filter(|e| wanted(e.about.name)) {
        let file = format!("cases/{}.json", entry.about.name);
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(file);
        let text = std::fs::read_to_string(path).unwrap_or_else(|_| "{}".into());
        let json: Json = serde_json::from_str(&text).map_err(|e| e.to_string())?;
        for case in suite::cases(entry, Some(&json))? {
            let all = shown(&longer(&case).run()?);
            if missing(&case, case.seed, &all).is_empty() {
                continue;
            }
            let tried = (1..=SEEDS).map(|seed| (missing(&case, seed, &all), seed));
            let best = tried.min_by_key(|(missing, seed)| (missing.len(), *seed));
            let (missing, seed) = best.expect("at least one seed");
            println!(
                "{}, {}: seed {seed}, still not shown: {missing:?}",
                entry.about.name, case.title
            );
        }
    }
    Ok(())
}
