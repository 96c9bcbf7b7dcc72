//! A discipline or congestion control that somebody hands in is used as one of ours is, and its source stays
//! part of the scenario.

use aqm::{Entry, Registry};
use aqmlab_sim::{Scenario, run};
use packet::About;
use packet::params::Params;
use serde_json::{Value as Json, json};
use tcp::{Controls, OwnControl};

/// Drop-tail under another name, as a user's own would be.
fn registry() -> Registry {
    let ours = aqm::find("droptail").unwrap();
    let about = About { name: "mine", ..ours.about };
    let mine: &'static Entry = Box::leak(Box::new(Entry { about, ..*ours }));
    Registry::with(&[mine]).unwrap()
}

fn scenario(aqm: &Json) -> String {
    json!({
        "duration": "10 s",
        "link": [{"rate": "2 Mbit/s", "access": "dsl", "forward": {"aqm": aqm}}],
        "traffic": [{"app": "bulk", "flows": 3}],
    })
    .to_string()
}

#[test]
fn it_runs_as_ours_does_and_keeps_its_source() {
    let as_written = json!({"name": "mine", "file": "mine.py", "text": "class Mine: ..."});
    let mine = Scenario::read(&scenario(&as_written), &registry()).unwrap();
    let written = mine.to_json();
    assert_eq!(written["link"][0]["forward"]["aqm"], as_written);
    let again = Scenario::read(&written.to_string(), &registry()).unwrap();
    assert_eq!(again.to_json(), written, "what is written reads back");
    let ours = Scenario::from_json(&scenario(&json!("droptail"))).unwrap();
    let fingerprint = |scenario| run(scenario).unwrap().summary.get("fingerprint").cloned();
    assert_eq!(fingerprint(mine), fingerprint(ours));
}

#[test]
fn without_it_its_name_is_unknown() {
    let why = |aqm| Scenario::from_json(&scenario(&aqm)).unwrap_err().0;
    let sentence = why(json!({"name": "mine", "file": "mine.py"}));
    assert!(sentence.starts_with("link.0.forward.aqm: unknown aqm \"mine\""), "{sentence}");
    assert!(why(json!({"file": "mine.py"})).starts_with("link.0.forward.aqm: must be text"));
}

#[test]
fn a_name_that_is_taken_is_refused() {
    let droptail = aqm::find("droptail").unwrap();
    assert_eq!(Registry::with(&[droptail]).unwrap_err(), "droptail");
}

/// Reno under another name, as a user's own would be.
fn controls() -> Controls {
    let make = |_: &Params| Controls::ours().make("reno", &Params::defaults(&[]));
    let ours = tcp::controls().find(|about| about.name == "reno").unwrap();
    let about = About { name: "mine", ..*ours };
    Controls::with(&[Box::leak(Box::new(OwnControl { about, make: Box::new(make) }))]).unwrap()
}

#[test]
fn a_control_that_is_handed_in_runs_as_ours_does_and_keeps_its_source() {
    let scenario = |control: Json| {
        json!({
            "duration": "10 s",
            "link": [{"rate": "5 Mbit/s", "forward": {"aqm": "red"}}],
            "traffic": [{"app": "bulk", "flows": 3, "tcp": {"profile": "linux", "congestion": control}}],
        })
        .to_string()
    };
    let as_written =
        json!({"name": {"name": "mine", "file": "mine.py", "text": "class Mine: ..."}});
    let read = |text: &str| Scenario::read_with(text, &Registry::ours(), &controls());
    let mine = read(&scenario(as_written.clone())).unwrap();
    let written = mine.to_json();
    assert_eq!(written["traffic"][0]["tcp"]["congestion"], as_written);
    assert_eq!(
        read(&written.to_string()).unwrap().to_json(),
        written,
        "what is written reads back"
    );
    let ours = Scenario::from_json(&scenario(json!("reno"))).unwrap();
    let fingerprint = |scenario| run(scenario).unwrap().summary.get("fingerprint").cloned();
    assert_eq!(fingerprint(mine), fingerprint(ours));
    let why = Scenario::from_json(&scenario(as_written)).unwrap_err().0;
    assert!(why.starts_with("traffic.0.tcp.congestion: unknown value \"mine\""), "{why}");
}
