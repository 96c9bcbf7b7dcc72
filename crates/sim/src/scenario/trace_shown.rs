//! A description of a trace's file for people: its kind, means, and a curve of each of its columns.

use serde_json::{Value as Json, json};

use super::recording::{Recording, is_recording};
use crate::error::ScenarioError;
use crate::port::capacity::{Listed, OPPORTUNITY_BYTES};

/// Number of points of a curve.
const POINTS: usize = 60;

/// A trace's file, as JSON: `format` (`opportunities` or `table`), `rows`, `lasts_s`, and in `series`
/// for each column `name`, `unit`, `min`, `mean`, `max` and a `curve` of 60 means over equal times.
///
/// # Errors
/// A sentence: what is wrong with the file and where.
pub fn trace_shown(text: &str) -> Result<Json, ScenarioError> {
    if is_recording(text) {
        let recording = Recording::parse(text).map_err(ScenarioError)?;
        let mut series = Vec::new();
        for (name, unit, of) in [
            ("rate", "bit/s", &recording.rate),
            ("delay", "s", &recording.delay),
            ("loss", "", &recording.loss),
        ] {
            if let Some(values) = of {
                series.push(one(name, unit, &recording.times, values, recording.period));
            }
        }
        return Ok(json!({
            "format": "table", "rows": recording.times.len(),
            "lasts_s": recording.period as f64 / 1e9, "series": series,
        }));
    }
    let milliseconds = super::changes::opportunities(text).map_err(ScenarioError)?;
    // A file that a run would refuse is refused here too.
    Listed::new(&milliseconds).map_err(ScenarioError)?;
    let last = milliseconds.last().copied().unwrap_or(1).max(1);
    // The rate over each millisecond that has an opportunity, 0 between them.
    let (mut times, mut rates): (Vec<u64>, Vec<f64>) = (vec![0], vec![0.0]);
    for ms in &milliseconds {
        let begin = ms.saturating_sub(1) * 1_000_000;
        if times.last() != Some(&begin) {
            if times.last().is_some_and(|last| last + 1_000_000 < begin) {
                times.push(times[times.len() - 1] + 1_000_000);
                rates.push(0.0);
            }
            times.push(begin);
            rates.push(0.0);
        }
        if let Some(rate) = rates.last_mut() {
            *rate += (OPPORTUNITY_BYTES * 8) as f64 * 1e3;
        }
    }
    let rate = one("rate", "bit/s", &times, &rates, last * 1_000_000);
    Ok(json!({
        "format": "opportunities", "rows": milliseconds.len(), "lasts_s": last as f64 / 1e3,
        "series": [rate],
    }))
}

/// A column as JSON: its extremes, its mean over time, and its curve.
fn one(name: &str, unit: &str, times: &[u64], values: &[f64], end: u64) -> Json {
    // Integral of the values over time, from 0 to each instant of `times`.
    let mut before = vec![0.0];
    for (place, value) in values.iter().enumerate() {
        let next = times.get(place + 1).copied().unwrap_or(end);
        before.push(before[place] + value * (next - times[place]) as f64);
    }
    let until = |at: u64| {
        let place = times.partition_point(|time| *time <= at).max(1) - 1;
        before[place] + values[place] * (at.min(end) - times[place]) as f64
    };
    let at = |point: usize| (u128::from(end) * point as u128 / POINTS as u128) as u64;
    let mean = |from: u64, to: u64| match to > from {
        true => (until(to) - until(from)) / (to - from) as f64,
        false => 0.0,
    };
    let curve: Vec<f64> = (0..POINTS).map(|point| mean(at(point), at(point + 1))).collect();
    json!({
        "name": name, "unit": unit, "mean": mean(0, end), "curve": curve,
        "min": values.iter().copied().fold(f64::INFINITY, f64::min),
        "max": values.iter().copied().fold(0.0, f64::max),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_table_has_means_over_time() {
        let shown = trace_shown("time_s,rate_mbps,loss_pct\n0,10,0\n1,30,2\n3,10,0\n").unwrap();
        assert_eq!([&shown["format"], &shown["rows"]], [&json!("table"), &json!(3)]);
        assert_eq!(shown["lasts_s"], 5.0);
        let rate = &shown["series"][0];
        assert_eq!([&rate["mean"], &rate["max"]], [&json!(18e6), &json!(30e6)]);
        let curve = rate["curve"].as_array().unwrap();
        assert_eq!(
            (curve[0].as_f64(), curve[30].as_f64(), curve[59].as_f64()),
            (Some(10e6), Some(30e6), Some(10e6))
        );
        assert!((shown["series"][1]["mean"].as_f64().unwrap() - 0.008).abs() < 1e-12);
    }

    #[test]
    fn opportunities_have_the_mean_that_the_line_offers() {
        let shown = trace_shown("1\n2\n2\n60\n").unwrap();
        assert_eq!(shown["format"], "opportunities");
        let mean = shown["series"][0]["mean"].as_f64().unwrap();
        assert!((mean - 4.0 * 12_000.0 / 0.06).abs() < 1e-3, "{mean}");
        for (text, why) in [("x\n", "whole number"), ("", "no length"), ("9\n3\n", "sort them")] {
            let sentence = trace_shown(text).unwrap_err().0;
            assert!(sentence.contains(why), "{text:?}: {sentence}");
        }
    }
}
