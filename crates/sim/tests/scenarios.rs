//! Scenarios: what is refused and how, and that what is written reads back.

use serde_json::{Value, json};
use sim::{Run, Scenario};

fn good() -> Value {
    json!({
        "duration": "10 s",
        "link": [{"rate": "10 Mbit/s", "forward": {"aqm": "red", "profile": "altq",
                  "min_th": 30, "max_th": 90, "w_q": "1/512", "max_p": "1/10", "limit": 480}}],
        "traffic": [{"app": "web", "users": 10, "tcp": "freebsd-2.2.8"}],
    })
}

/// The scenario with `path` set (or removed, for null), and the sentence it is answered with.
fn refused(path: &str, value: Value) -> String {
    let mut scenario = good();
    let (section, field) = path.rsplit_once('/').unwrap();
    let section = scenario.pointer_mut(section).unwrap().as_object_mut().unwrap();
    if value.is_null() {
        section.remove(field);
    } else {
        section.insert(field.to_owned(), value);
    }
    let read = Scenario::from_json(&scenario.to_string());
    let why = match read.and_then(|s| s.check_parameters().map(|()| s)).and_then(Run::new) {
        Ok(_) => panic!("{path} was accepted"),
        Err(why) => why.to_string(),
    };
    assert!(!why.contains('\n'), "one line: {why}");
    why
}

#[test]
fn mistakes_are_named_by_path_with_a_remedy() {
    let cases = [
        (
            "/duratoin",
            json!("1 s"),
            "duratoin: unknown field \"duratoin\"; did you mean \"duration\"?",
        ),
        ("/duration", json!(null), "duration: missing"),
        ("/duration", json!("10 Mbit/s"), "duration: \"10 Mbit/s\" is not a time"),
        ("/duration", json!(10), "duration: 10 has no unit"),
        ("/warmup", json!("10 s"), "warmup: 10 s is not shorter than the duration"),
        ("/link", json!([]), "link: there is none"),
        ("/link/0/rate", json!("0 bit/s"), "link.0.rate: \"0 bit/s\" is out of range"),
        ("/link/0/rate", json!("-5 Mbit/s"), "link.0.rate: \"-5 Mbit/s\" is out of range"),
        (
            "/link/0/rate",
            json!("20 ms"),
            "link.0.rate: \"20 ms\" is not a rate: its unit measures time",
        ),
        ("/link/0/rate", json!(null), "link.0.rate: missing"),
        (
            "/link/0/forward",
            json!("rde"),
            "link.0.forward.aqm: unknown aqm \"rde\"; did you mean \"red\"?",
        ),
        ("/link/0/forward/min_th", json!(90), "min_th"),
        (
            "/link/0/forward/max_pp",
            json!(0.1),
            "link.0.forward.max_pp: unknown field \"max_pp\"; did you mean \"max_p\"?",
        ),
        ("/traffic", json!([]), "traffic: there is none"),
        ("/traffic/0/users", json!(null), "gives neither users nor a load"),
        ("/traffic/0/load", json!("98%"), "gives both users and a load"),
        (
            "/traffic/0/app",
            json!("wbe"),
            "traffic.0.app: unknown app \"wbe\"; did you mean \"web\"?",
        ),
        ("/traffic/0/via", json!(["nowhere"]), "traffic.0.via: unknown link \"nowhere\""),
        ("/traffic/0/tcp", json!("freebsd"), "traffic.0.tcp.profile: unknown profile"),
        (
            "/traffic/0/tcp",
            json!({"profile": "plain", "initial_windw": 3}),
            "did you mean \"initial_window\"?",
        ),
        (
            "/record",
            json!({"queues": ["bottleneck.forwards"]}),
            "did you mean \"bottleneck.forward\"?",
        ),
        ("/network", json!({"rtt": "fast"}), "network.rtt: \"fast\" is not a time"),
        (
            "/network",
            json!({"rtt": {"min": "2 s", "max": "1 s"}}),
            "network.rtt: min (2 s) is larger than max (1 s)",
        ),
    ];
    for (path, value, expected) in cases {
        let why = refused(path, value.clone());
        assert!(why.contains(expected), "{path} = {value}: {why}");
    }
}

#[test]
fn two_loads_are_refused() {
    let mut scenario = good();
    let group = json!({"app": "web", "load": 0.5});
    scenario["traffic"] = json!([group, group]);
    let why = Scenario::from_json(&scenario.to_string()).unwrap_err().to_string();
    assert!(why.contains("more than one group gives a load"), "{why}");
}

#[test]
fn an_uncalibrated_load_does_not_run() {
    let mut scenario = good();
    scenario["traffic"] = json!([{"app": "web", "load": "98%"}]);
    let scenario = Scenario::from_json(&scenario.to_string()).unwrap();
    let estimate = sim::estimate(&scenario).unwrap().unwrap();
    assert!((estimate - 411.0).abs() < 2.0, "mah-fit asks for about 411 IP B/s: {estimate}");
    let why = Run::new(scenario).err().unwrap().to_string();
    assert!(why.contains("has not been calibrated"), "{why}");
}

#[test]
fn a_scenario_written_back_reads_the_same() {
    let first = Scenario::from_json(&good().to_string()).unwrap().to_json();
    let second = Scenario::from_json(&first.to_string()).unwrap().to_json();
    assert_eq!(first, second);
    assert_eq!(first["link"][0]["forward"]["w_q"], json!(1.0 / 512.0));
    assert_eq!(first["network"]["rtt"]["draw"], json!("pair"));
}
