//! A complete scenario is one that can be read: a law over everything that the registries offer. Results are kept
//! and shared as complete scenarios, and repeated from them.

use aqmlab_sim::{Scenario, run};
use packet::params::{Field, Kind, Value};
use record::Figure;
use serde_json::{Map, Value as Json, json};

fn scenario(group: &Json, queue: &Json) -> Json {
    json!({
        "duration": "1 s", "seed": 3, "network": {"rtt": "20 ms"},
        "link": [{"name": "line", "rate": "1 Mbit/s", "forward": queue}],
        "traffic": [group],
    })
}

fn bulk(tcp: &Json) -> Json {
    scenario(&json!({"app": "bulk", "flows": 1, "tcp": tcp}), &json!("droptail"))
}

/// The complete scenario, where the one that is given is accepted.
fn complete(json: &Json) -> Option<Json> {
    let read = Scenario::from_json(&json.to_string()).ok()?;
    read.check_parameters().ok()?;
    Some(read.to_json())
}

/// Whether it was accepted; if so, what is written of it must be accepted as well, and say as much.
fn holds(given: &Json) -> bool {
    let Some(written) = complete(given) else { return false };
    let again =
        Scenario::from_json(&written.to_string()).unwrap_or_else(|e| panic!("{given}: {e:?}"));
    again.check_parameters().unwrap_or_else(|e| panic!("{given}: {e:?}"));
    assert_eq!(again.to_json(), written, "{given}");
    true
}

/// Every value of a choice or a switch, and the ends of a number's range.
fn values(field: &Field) -> Vec<Json> {
    match field.kind {
        Kind::Switch => vec![json!(false), json!(true)],
        Kind::Choice(names) => names.iter().map(|name| json!(name)).collect(),
        Kind::Variant(known) => known.iter().map(|about| json!(about.name)).collect(),
        Kind::Whole { min, max, .. } => vec![json!(min), json!(max)],
        _ => Vec::new(),
    }
}

/// The base, and the base with each value of each of these fields.
fn each_change(base: &Json, fields: &[Field]) -> Vec<Json> {
    let with = |name: &str, value: Json| {
        let mut changed = base.clone();
        changed[name] = value;
        changed
    };
    let changes = fields.iter().flat_map(|f| values(f).into_iter().map(|v| with(f.name, v)));
    std::iter::once(base.clone()).chain(changes).collect()
}

/// Profile × recovery × congestion control × ECN, nothing else set.
fn senders() -> Vec<Json> {
    let mut found = Vec::new();
    for entry in tcp::PROFILES {
        let of = |name: &str| {
            let field = entry.about.fields.iter().find(|field| field.name == name);
            let named = field.map(values).unwrap_or_default().into_iter().map(Some);
            std::iter::once(None).chain(named).collect::<Vec<_>>()
        };
        for recovery in of("recovery") {
            for congestion in of("congestion") {
                for ecn in [None, Some(json!(true))] {
                    let said =
                        [("recovery", &recovery), ("congestion", &congestion), ("ecn", &ecn)];
                    let mut tcp = json!({"profile": entry.about.name});
                    for (name, value) in said {
                        if let Some(value) = value {
                            tcp[name] = value.clone();
                        }
                    }
                    found.push(tcp);
                }
            }
        }
    }
    found
}

#[test]
fn every_sender_with_every_recovery_and_control_reads_back() {
    let accepted = senders().iter().filter(|tcp| holds(&bulk(tcp))).count();
    assert!(accepted > 700, "{accepted}");
}

#[test]
fn every_choice_of_every_sender_reads_back() {
    for entry in tcp::PROFILES {
        let recoveries = entry.about.fields.iter().find(|f| f.name == "recovery").map(values);
        let mut bases = vec![json!({"profile": entry.about.name})];
        for recovery in recoveries.unwrap_or_default() {
            bases.push(json!({"profile": entry.about.name, "recovery": recovery}));
        }
        for base in bases {
            let cases = each_change(&base, entry.about.fields);
            let accepted = cases.iter().filter(|tcp| holds(&bulk(tcp))).count();
            assert!(accepted > 0, "{base}");
        }
    }
}

#[test]
fn every_parameter_of_every_control_reads_back() {
    for profile in ["plain", "linux"] {
        for about in tcp::controls() {
            for table in each_change(&json!({"name": about.name}), about.fields) {
                holds(&bulk(&json!({"profile": profile, "congestion": table})));
            }
        }
    }
}

#[test]
fn every_choice_of_every_discipline_reads_back() {
    for entry in aqm::ALGORITHMS {
        let base = json!({"aqm": entry.about.name});
        for queue in each_change(&base, entry.about.fields) {
            let given = scenario(&json!({"app": "bulk", "flows": 1}), &queue);
            assert!(queue != base || holds(&given), "{queue}");
            holds(&given);
        }
    }
}

#[test]
fn every_choice_of_every_application_reads_back() {
    for entry in traffic::APPS {
        let mut base = Map::new();
        base.insert("app".into(), json!(entry.about.name));
        let tries =
            [json!({}), json!({"users": 1}), json!({"flows": 1}), json!({"session_rate": 1.0})];
        let first = tries.iter().find_map(|more| {
            let mut group = Json::Object(base.clone());
            more.as_object()?.iter().for_each(|(name, value)| group[name] = value.clone());
            // A field without a default gets its smallest value.
            for field in entry.about.fields.iter().filter(|f| f.default == Value::Unset) {
                let whole = complete(&scenario(&group, &json!("droptail"))).is_some();
                if let (false, Some(least)) = (whole, values(field).first()) {
                    group[field.name] = least.clone();
                }
            }
            complete(&scenario(&group, &json!("droptail"))).map(|_| group)
        });
        // Of a recording or a list of requests there is nothing without a file.
        let Some(base) = first else { continue };
        for group in each_change(&base, entry.about.fields) {
            let given = scenario(&group, &json!("droptail"));
            if holds(&given) {
                repeats(&given);
            }
        }
    }
}

fn fingerprint(json: &Json) -> String {
    let done = run(Scenario::from_json(&json.to_string()).expect("read")).expect("run");
    match done.summary.get("fingerprint") {
        Some(Figure::Text(print)) => print.clone(),
        other => panic!("{other:?}"),
    }
}

/// The complete scenario is another text of the run that was asked for.
fn repeats(given: &Json) {
    if let Some(written) = complete(given) {
        assert_eq!(fingerprint(given), fingerprint(&written), "{given}");
    }
}

#[test]
fn a_run_repeated_from_its_complete_scenario_comes_out_the_same() {
    for tcp in senders() {
        repeats(&bulk(&tcp));
    }
}
