//! A law over the whole registry: an overloaded line does not rest.
//!
//! One sender at a constant rate above the line's, alone, answers to nothing. Whatever a discipline
//! drops of it, enough must be left to keep the line busy. A discipline whose state follows only
//! what it lets through can fail that for ever: it drops everything, and never learns that the queue
//! has long been empty.

use aqm::Entry;
use aqmlab_sim::{Scenario, run};
use packet::params::Kind;
use serde_json::{Value, json};

/// Who rests all the same, by what is published of it.
struct Exception {
    name: &'static str,
    /// Under which settings.
    where_set: fn(&Value) -> bool,
    /// The least share of the line that it keeps busy.
    least: f64,
    why: &'static str,
}

const EXCEPTIONS: &[Exception] = &[
    Exception {
        name: "avq",
        where_set: |setting| setting["profile"] != "ns2",
        least: 0.0,
        why: "the paper charges the virtual capacity with every arrival, dropped or not: above \
              gamma of the line, arrivals that do not give way use it up",
    },
    Exception {
        name: "dcn",
        where_set: |setting| setting["probability"] == "count-weighted",
        least: 0.1,
        why: "the probability grows with the packets that the flow has sent, without end while it \
              does not give way",
    },
    Exception {
        name: "green",
        where_set: |_| true,
        least: 0.0,
        why: "the probability steps up as long as packets arrive faster than the target rate, dropped \
              or not: arrivals that do not give way bring it to 1",
    },
    Exception {
        name: "red_pd",
        where_set: |_| true,
        least: 0.5,
        why: "the pre-filter drops of a flow that does not respond more than would fill the line, \
              and lets go of it in steps",
    },
];

/// Above this the line does not rest.
const BUSY: f64 = 0.9;

/// The same where the average outlives the queue: it must come back.
const BACK: f64 = 0.5;

/// The defaults, every choice, and thresholds far below the limit; the least utilisation of each.
fn settings(entry: &Entry) -> Vec<(Value, f64)> {
    let mut all = vec![(json!({}), BUSY)];
    for field in entry.about.fields {
        if let Kind::Choice(names) = field.kind {
            all.extend(names.iter().map(|name| (json!({(field.name): name}), BUSY)));
        }
    }
    let has = |name| entry.about.fields.iter().any(|field| field.name == name);
    if has("min_th") && has("max_th") {
        all.push((json!({"min_th": 2, "max_th": 4}), BACK));
    }
    all
}

fn scenario(entry: &Entry, setting: &Value, load: f64) -> String {
    let mut queue = json!({"aqm": entry.about.name});
    queue.as_object_mut().unwrap().extend(setting.as_object().unwrap().clone());
    let rate = format!("{} kbit/s", 2_000.0 * load);
    json!({
        "duration": "60 s", "warmup": "15 s",
        "link": [{"rate": "2 Mbit/s", "forward": queue}],
        "traffic": [{"app": "cbr", "flows": 1, "rate": rate, "packet": 1000,
                     "start_within": "0 s"}],
    })
    .to_string()
}

/// The share of the line in use; none where the setting needs others beside it.
fn utilisation(entry: &Entry, setting: &Value, load: f64) -> Option<f64> {
    let scenario = Scenario::from_json(&scenario(entry, setting, load)).ok()?;
    Some(run(scenario).unwrap().summary.number("utilisation"))
}

#[test]
fn an_overloaded_line_does_not_rest() {
    let mut resting = Vec::new();
    for entry in aqm::ALGORITHMS {
        let mut ran = false;
        for (setting, least) in settings(entry) {
            let of = |e: &&Exception| e.name == entry.about.name && (e.where_set)(&setting);
            let least = EXCEPTIONS.iter().find(of).map_or(least, |exception| exception.least);
            for load in [1.2, 2.0, 10.0] {
                let Some(utilisation) = utilisation(entry, &setting, load) else { continue };
                ran = true;
                if utilisation < least {
                    resting.push(format!(
                        "{} {setting} at {load}: {utilisation:.3}",
                        entry.about.name
                    ));
                }
            }
        }
        assert!(ran, "{} ran under no setting", entry.about.name);
    }
    assert!(resting.is_empty(), "the line rests:\n{}", resting.join("\n"));
}

#[test]
fn every_exception_is_one() {
    for exception in EXCEPTIONS {
        let entry = aqm::find(exception.name).unwrap();
        let mut settings = settings(entry);
        settings.retain(|(setting, _)| (exception.where_set)(setting));
        let rests = settings.iter().any(|(setting, _)| {
            utilisation(entry, setting, 10.0).is_some_and(|utilisation| utilisation < BUSY)
        });
        assert!(rests, "{} is no exception any more: {}", exception.name, exception.why);
    }
}
