//! The law of shares: whatever is a part of something lies between nothing and all of it.
//!
//! Random scenarios with short warm-ups before deep queues on slow lines, where numerator and
//! denominator of different packets would show. `AQMLAB_SHARES=5000` tries so many.

use packet::Rng;
use record::{Figure, Summary};
use serde_json::{Value, json};

use crate::engines::scenario;
use crate::outcome::simulate;

/// Scenarios tried by every run of the tests.
const TRIED: u64 = 60;

/// A scenario of the engines' test, with a warm-up that ends anywhere, and often with queues that
/// are still full when it does.
fn overloaded(seed: u64) -> Value {
    let mut rng = Rng::indexed(seed, "shares", 0);
    let mut scenario = scenario(seed);
    let seconds = 3 + rng.below(10);
    scenario["duration"] = json!(format!("{seconds} s"));
    scenario["warmup"] = json!(format!("{} ms", rng.below(1_000 * seconds)));
    for link in scenario["link"].as_array_mut().unwrap() {
        if rng.below(2) == 0 && link.get("rate_steps").is_none() && link.get("rate_trace").is_none()
        {
            link["rate"] = json!(format!("{} kbit/s", 20 + rng.below(200)));
        }
    }
    if rng.below(2) == 0 {
        let pulse = json!({"app": "pulse", "flows": 1 + rng.below(3), "name": "pulses"});
        scenario["traffic"].as_array_mut().unwrap().push(pulse);
    }
    if rng.below(2) == 0 {
        let app = ["voip", "rtc-video", "video"][rng.below(3) as usize];
        let what = json!({"app": app, "name": "media", "flows": 1 + rng.below(3)});
        scenario["traffic"].as_array_mut().unwrap().push(what);
    }
    scenario
}

/// Calls `see` with every number of a summary and its name.
fn numbers(summary: &Summary, see: &mut dyn FnMut(&str, f64)) {
    for (name, figure) in &summary.0 {
        match figure {
            Figure::Group(group) => numbers(group, see),
            Figure::Real(value) => see(name, *value),
            _ => {}
        }
    }
}

#[test]
fn every_share_lies_between_nothing_and_all() {
    let tried = std::env::var("AQMLAB_SHARES").map_or(TRIED, |text| text.parse().unwrap());
    let shares: Vec<&str> = record::measures()
        .iter()
        .filter(|measure| measure.about.unit.name == "share")
        .map(|measure| measure.about.name)
        .collect();
    let mut seen = 0;
    let mut wrong = Vec::new();
    for seed in 0..tried {
        let outcome = simulate(&overloaded(seed));
        numbers(&outcome.summary, &mut |name, value| {
            if shares.iter().any(|share| name.ends_with(share)) && !value.is_nan() {
                seen += 1;
                if !(0.0..=1.0).contains(&value) {
                    wrong.push(format!("{name} = {value} of scenario {seed}"));
                }
            }
        });
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(seen > 10 * tried, "{seen} shares of {tried} runs");
}
