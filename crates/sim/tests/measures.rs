//! The registry of measures and what runs print are the same.

use std::collections::BTreeSet;

use aqmlab_sim::{Scenario, measures, run, summary_json};
use serde_json::{Value, json};

/// A bit of everything that is measured.
fn everything() -> Value {
    let group = |name: &str, app: &str, more: Value| {
        let mut group = json!({"name": name, "app": app});
        group.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        group
    };
    json!({
        "duration": "12 s", "warmup": "1 s", "seed": 1,
        "link": [{
            "rate": "5 Mbit/s", "delay": "5 ms", "forward": "red",
            "effects": [{"kind": "loss", "share": "0.1%"}],
        }, {"name": "home", "rate": "50 Mbit/s", "clients_per_link": 3}, {
            "name": "air", "rate": "50 Mbit/s", "wifi": {"rates": ["100 Mbit/s", "20 Mbit/s"]},
        }, {"name": "modem", "rate": "50 Mbit/s", "docsis": {}}, {"name": "phone", "rate": "50 Mbit/s", "cell": {}}],
        "traffic": [
            group("web", "web", json!({"users": 20})),
            group("more", "web", json!({"users": 20})),
            group("long", "bulk", json!({"flows": 2, "script": [{"drop": [9]}, {"mark": [12]}]})),
            group("short", "burst", json!({"flows": 2})),
            group("l4s", "bulk", json!({"flows": 1, "tcp": {"profile": "linux", "congestion": "prague"}})),
            group("film", "video", json!({"users": 1})),
            group("other", "video", json!({"users": 1})),
            group("talk", "voip", json!({"flows": 1})),
            group("quiet", "voip", json!({"flows": 1})),
            group("face", "rtc-video", json!({"flows": 1})),
            group("faces", "rtc-video", json!({"flows": 1})),
            group("echo", "ping", json!({"flows": 1})),
            group("noise", "cbr", json!({"flows": 1, "rate": "200 kbit/s", "dscp": "ef"})),
        ],
        "record": {"gauges": true, "sources": true},
    })
}

/// Names of the numbers and words of a summary, groups joined with dots.
fn leaves(prefix: &str, of: &Value, out: &mut BTreeSet<String>) {
    match of.as_object() {
        None => drop(out.insert(prefix.to_owned())),
        Some(group) => group.iter().for_each(|(name, value)| {
            let dot = if prefix.is_empty() { "" } else { "." };
            leaves(&format!("{prefix}{dot}{name}"), value, out);
        }),
    }
}

/// Whether a name is `pattern` with something in place of each `<...>`.
fn fits(pattern: &str, name: &str) -> bool {
    let Some((before, rest)) = pattern.split_once('<') else { return pattern == name };
    let (_, after) = rest.split_once('>').expect("closes what it opens");
    let Some(left) = name.strip_prefix(before) else { return false };
    (1..=left.len()).any(|n| left.is_char_boundary(n) && fits(after, &left[n..]))
}

#[test]
fn every_number_of_a_run_is_registered_and_every_measure_is_in_some_run() {
    let mut printed = BTreeSet::new();
    let outcome = run(Scenario::from_json(&everything().to_string()).unwrap()).unwrap();
    leaves("", &summary_json(&outcome.summary), &mut printed);
    let listed = measures();
    let names: Vec<String> = listed
        .iter()
        .flat_map(|m| m.places.iter().map(|place| format!("{place}{}", m.about.name)))
        .collect();
    let unknown: Vec<_> =
        printed.iter().filter(|name| !names.iter().any(|n| fits(n, name))).collect();
    assert!(unknown.is_empty(), "in no table of measures: {unknown:?}");
    let unseen: Vec<_> =
        names.iter().filter(|n| !printed.iter().any(|name| fits(n, name))).collect();
    assert!(unseen.is_empty(), "measures of no run: {unseen:?}");
    assert_eq!(names.iter().collect::<BTreeSet<_>>().len(), names.len(), "a name is given twice");
}

#[test]
fn every_measure_says_what_it_is() {
    for listed in measures() {
        let about = listed.about;
        assert!(!about.title.is_empty() && !about.meaning.is_empty(), "{about:?}");
        assert!(!about.meaning.ends_with('.'), "{}: a phrase, no sentence", about.name);
        let (unit, scale) = (about.unit, about.unit.scale);
        assert_eq!(unit.name == unit.shown, scale == 1.0, "{}: {unit:?}", about.name);
        let ending = [("_s", "s"), ("_bytes", "bytes"), ("_packets", "packets")];
        for (end, name) in ending.iter().filter(|(end, _)| about.name.ends_with(end)) {
            // A rate in bits or bytes a second, or a share with a time in its name.
            if !about.name.ends_with("_per_s") && !about.name.starts_with("share_") {
                assert!(
                    unit.name.contains(name),
                    "{} ends with {end} and has {unit:?}",
                    about.name
                );
            }
        }
    }
}

/// The name of a link decides nothing: "access" is what machines' own lines begin with, too.
#[test]
fn a_link_of_any_name_has_its_delays() {
    let delays = |name: &str| {
        let scenario = json!({
            "duration": "2 s", "link": [{"name": name, "rate": "5 Mbit/s"}],
            "network": {"rtt": "20 ms", "clients": 1, "access_rate": "1 Gbit/s"},
            "traffic": [{"app": "bulk", "flows": 1, "tcp": "plain"}],
        });
        let outcome = run(Scenario::from_json(&scenario.to_string()).unwrap()).unwrap();
        let summary = summary_json(&outcome.summary);
        (summary["queue_delay_mean_s"].clone(), summary["queue_delay_p99_s"].clone())
    };
    assert!(delays("line").0.as_f64().unwrap() > 1e-3);
    assert_eq!(delays("access"), delays("line"));
}
