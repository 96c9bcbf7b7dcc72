//! Damaged scenarios: whatever the text, reading answers with a scenario or with one sentence.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use crate::read::numbers::{NUMBERS, Place, places, read_as_number};
use crate::read::read;
use aqmlab_sim::{Run, Scenario};
use packet::Rng;
use serde_json::{Value, json};

/// The examples that fuzzing begins with, and what it found.
fn seeds() -> Vec<String> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/seeds/scenario");
    let mut files: Vec<_> = fs::read_dir(folder).unwrap().map(|f| f.unwrap().path()).collect();
    files.sort();
    files.iter().map(|file| fs::read_to_string(file).unwrap()).collect()
}

fn pick<'a, T>(rng: &mut Rng, from: &'a [T]) -> &'a T {
    &from[rng.below(from.len() as u64) as usize]
}

/// One byte is lost, doubled or replaced, or the rest is cut off.
fn damage(text: &str, rng: &mut Rng) -> String {
    let mut bytes = text.as_bytes().to_vec();
    for _ in 0..=rng.below(3) {
        let at = rng.below(bytes.len().max(1) as u64) as usize;
        match rng.below(4) {
            _ if bytes.is_empty() => {}
            0 => drop(bytes.remove(at)),
            1 => bytes.insert(at, bytes[at]),
            2 => bytes[at] = *pick(rng, b"0129-+.eE\"{}[],: \n\\ua\xc3"),
            _ if rng.below(20) == 0 => bytes.truncate(at),
            _ => {}
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

fn odd_value(rng: &mut Rng) -> Value {
    if rng.below(3) == 0 {
        let number = pick(rng, NUMBERS);
        let unit = pick(rng, &["", " s", " ns", "h", " bit/s", "Gbps", " kB", " packets", "%"]);
        return json!(format!("{number}{unit}"));
    }
    let odd = [
        json!(null),
        json!(true),
        json!(0),
        json!(-1),
        json!(1),
        json!(0.5),
        json!(1e308),
        json!(-1e-308),
        json!(u64::MAX),
        json!(i64::MIN),
        json!(2),
        json!(100_000),
        json!([]),
        json!([[]]),
        json!({}),
        json!({"": 1}),
        json!([1, "a"]),
        json!(""),
        json!("0 s"),
        json!("1 ns"),
        json!("1e300 s"),
        json!("-1 s"),
        json!("1 Mbit/s"),
        json!("0 bit/s"),
        json!("1e30 bit/s"),
        json!("1/0"),
        json!("1/512"),
        json!("nan"),
        json!("inf s"),
        json!("red"),
        json!("droptail"),
        json!("bulk"),
        json!("web"),
        json!("a\nb"),
        json!({"min": "1 ms", "max": "1 s"}),
        json!({"aqm": "wred"}),
        json!({"app": "bulk"}),
    ];
    pick(rng, &odd).clone()
}

/// Somewhere in it a value is replaced, a field is lost or another one comes in.
fn distort(value: &mut Value, names: &[String], rng: &mut Rng) {
    match value {
        Value::Object(fields) if rng.below(5) > 0 => {
            let keys: Vec<String> = fields.keys().cloned().collect();
            match (rng.below(6), keys.is_empty()) {
                (0, _) | (_, true) => {
                    let name = if rng.below(9) == 0 { "x\ny" } else { pick(rng, names) };
                    fields.insert(name.to_string(), odd_value(rng));
                }
                (1, _) => drop(fields.remove(pick(rng, &keys))),
                _ => distort(&mut fields[pick(rng, &keys).as_str()], names, rng),
            }
        }
        Value::Array(items) if !items.is_empty() && rng.below(5) > 0 => {
            if rng.below(6) == 0 {
                items.push(items[0].clone());
            }
            let at = rng.below(items.len() as u64) as usize;
            distort(&mut items[at], names, rng);
        }
        other => *other = odd_value(rng),
    }
}

/// Every name that the catalogue knows a field by.
fn names(json: &Value, found: &mut Vec<String>) {
    match json {
        Value::Object(fields) => {
            found.extend(fields.get("name").and_then(Value::as_str).map(str::to_string));
            fields.values().for_each(|value| names(value, found));
        }
        Value::Array(items) => items.iter().for_each(|value| names(value, found)),
        _ => {}
    }
}

fn damaged(seed: u64, rounds: u64) -> u64 {
    let (seeds, mut known, mut accepted) = (seeds(), Vec::new(), 0);
    names(&aqmlab_sim::catalogue(), &mut known);
    for n in 0..rounds {
        let mut rng = Rng::indexed(seed, "damage", n);
        let text = pick(&mut rng, &seeds).clone();
        let damaged = if n % 3 == 0 {
            damage(&text, &mut rng)
        } else {
            let mut json: Value = serde_json::from_str(&text).expect("a seed is JSON");
            for _ in 0..=rng.below(3) {
                distort(&mut json, &known, &mut rng);
            }
            json.to_string()
        };
        accepted += u64::from(read(&damaged));
    }
    accepted
}

#[test]
fn damaged_scenarios_are_read_or_refused_with_a_sentence() {
    let accepted = damaged(1, 12_000);
    assert!((500..11_500).contains(&accepted), "{accepted} of 12000: hardly a test");
}

#[test]
#[ignore = "a minute: `make validate` runs it"]
fn many_more_damaged_scenarios() {
    damaged(2, 1_000_000);
}

#[test]
fn the_seeds_are_scenarios() {
    let seeds = seeds();
    assert!(seeds.len() > 3);
    for seed in seeds {
        assert!(read(&seed), "{seed}");
    }
}

#[test]
fn every_number_in_every_place_is_read_or_refused_with_a_sentence() {
    let places = places();
    let (mut taken, mut units) = (0, BTreeMap::<&str, u32>::new());
    for (p, place) in places.iter().enumerate() {
        *units.entry(&place.unit).or_default() += 1;
        // Tables of sixteen million entries take their time.
        let large = place.ends[1] == Some(16_777_216.0);
        let try_one = |(n, number): (usize, &&str)| {
            // Each number is tried in every second field, and in every way of writing in some
            // fields.
            let written = place.written(number);
            (n + p).is_multiple_of(2)
                && read(&place.with(written[(n + p / 2) % written.len()].clone()).to_string())
        };
        let ends = place.ends.iter().flatten().filter(|_| !large);
        let ends = ends.filter(|end| read(&place.with(place.plain(**end)).to_string()));
        let of_place = ends.count() + NUMBERS.iter().enumerate().filter(|n| try_one(*n)).count();
        assert!(of_place > 0, "{} takes no number at all", place.name);
        taken += of_place;
    }
    let kinds = ["time", "rate", "bytes", "packets", "count", ""];
    assert!(kinds.iter().all(|unit| units.contains_key(unit)), "{units:?}");
    assert!(places.len() > 400 && taken > 1_000, "{} places take {taken}", places.len());
}

#[test]
fn damaged_numbers_are_read_or_refused_with_a_sentence() {
    let mut rng = Rng::named(3, "damaged numbers");
    for _ in 0..2_000 {
        let number = pick(&mut rng, NUMBERS);
        read_as_number(&damage(number, &mut rng));
    }
}

/// Runs the scenario of a field with this value, if it is accepted. Returns whether the run
/// completed.
fn run(place: &Place, value: f64) -> bool {
    let scenario = Scenario::from_json(&place.with(place.plain(value)).to_string());
    let run = scenario.and_then(Run::new);
    run.is_ok_and(|run| run.complete(&mut |_| true).is_some())
}

#[test]
fn the_ends_of_every_range_run() {
    // Nothing overflows there: this build checks. So many users need more memory than there may be,
    // and these rates more events than a test should have.
    let most = |place: &Place| match place.name.rsplit('.').next() {
        Some("users") => 1e3,
        Some("connections_per_s") => 1e5,
        _ if place.name == "traffic.pulse.rate" => 1e11,
        _ => f64::INFINITY,
    };
    let mut runs = 0;
    for place in places() {
        let ends = place.ends.into_iter().flatten().map(|end| end.min(most(&place)));
        runs += ends.filter(|end| run(&place, *end)).count();
    }
    assert!(runs > 500, "{runs} runs are hardly a test");
}
