//! Scenarios: what is refused and how, and that what is written reads back.

mod written;

use aqmlab_sim::{Run, Scenario, run};
use serde_json::{Value, json};

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
        ("/link/0/forward/min_th", json!(90), "link.0.forward.min_th"),
        (
            "/link/0/forward/max_pp",
            json!(0.1),
            "link.0.forward.max_pp: unknown field \"max_pp\"; did you mean \"max_p\"?",
        ),
        ("/traffic", json!([]), "traffic: there is none"),
        ("/traffic/0/users", json!(null), "gives neither users nor a load"),
        ("/traffic/0/load", json!("98%"), "gives both users and a load"),
        // What the file calls flows is never called users, and flows are among what is known.
        ("/traffic/0/flow", json!(5), "unknown field \"flow\"; did you mean \"flows\"?"),
        ("/traffic", json!([{"app": "bulk", "flows": -1}]), "traffic.0.flows: "),
        (
            "/traffic",
            json!([{"app": "bulk", "flows": 1, "load": "98%"}]),
            "gives both flows and a load",
        ),
        (
            "/traffic/0/app",
            json!("wbe"),
            "traffic.0.app: unknown app \"wbe\"; did you mean \"web\"?",
        ),
        ("/traffic/0/via", json!(["nowhere"]), "traffic.0.via: unknown link \"nowhere\""),
        (
            "/traffic/0/tcp",
            json!("freebsd"),
            "traffic.0.tcp.profile: unknown profile \"freebsd\"; did you mean \"freebsd-2.2.8\"?",
        ),
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
fn profiles_and_what_they_let_choose_are_distinguished() {
    for control in tcp::controls() {
        let name = control.name;
        let line = format!("write tcp = {{ profile = \"linux\", congestion = \"{name}\" }}");
        for given in [
            json!(name),
            json!({"profile": name}),
            json!({"congestion": name}),
            json!({"congestion": {"name": name}}),
        ] {
            let why = refused("/traffic/0/tcp", given.clone());
            assert!(why.starts_with("traffic.0.tcp") && why.ends_with(&line), "{given}: {why}");
        }
    }
    let cases = [
        (json!("bbrr"), "for the congestion control bbr write tcp = { profile = \"linux\""),
        (
            json!("newreno"),
            "is a value of recovery, not a profile; write tcp = { profile = \"linux\", rec",
        ),
        (
            json!({"profile": "linux", "congestion": "ns2"}),
            "tcp.congestion: \"ns2\" is a profile, not a congestion control; write tcp = \"ns2\"",
        ),
        (
            json!({"profile": "ns2", "congestion": "nonsense"}),
            "tcp.congestion: unknown value \"nonsense\"",
        ),
        (
            json!({"profile": "plain", "congestion": {"name": "cubic", "bta": 0.7}}),
            "tcp.congestion.bta: unknown field \"bta\"; did you mean \"beta\"?",
        ),
        (json!("nonsense"), "traffic.0.tcp.profile: unknown profile \"nonsense\" (known: "),
    ];
    for (given, expected) in cases {
        let why = refused("/traffic/0/tcp", given.clone());
        assert!(why.contains(expected), "{given}: {why}");
    }
}

#[test]
fn a_refusal_is_one_line_whatever_it_quotes() {
    let why = Scenario::from_json(r#"{"dur\nation\u0007": 1}"#).unwrap_err().to_string();
    assert!(why.contains(r#"unknown field "dur\nation\u{7}""#), "{why}");
}

#[test]
fn names_are_given_once() {
    let mut links = good();
    let link = json!({"name": "a", "rate": "1 Mbit/s"});
    links["link"] = json!([link, link]);
    let mut groups = good();
    let group = json!({"name": "w", "app": "web", "users": 5});
    groups["traffic"] = json!([group, group]);
    for (scenario, expected) in [
        (links, "link.1.name: \"a\" is taken already"),
        (groups, "traffic.1.name: \"w\" is taken already"),
    ] {
        let why = Scenario::from_json(&scenario.to_string()).unwrap_err().to_string();
        assert!(why.contains(expected), "{why}");
    }
}

#[test]
fn what_does_not_fit_is_refused() {
    let mut pairs = good();
    pairs["network"] = json!({"clients": 65_535, "servers": 65_535});
    let mut samples = good();
    samples["record"] = json!({"queue_every": "1 ns"});
    for (scenario, expected) in [
        (pairs, "network.rtt: 65535 clients and 65535 servers make too many pairs"),
        (samples, "record.queue_every: 10000000000 samples are too many"),
    ] {
        let why = Scenario::from_json(&scenario.to_string()).unwrap_err().to_string();
        assert!(why.contains(expected), "{why}");
    }
}

#[test]
fn the_studied_queue_is_where_the_first_groups_data_goes() {
    let studied = |group: Value| {
        let mut scenario = good();
        scenario["traffic"] = json!([group]);
        Scenario::from_json(&scenario.to_string()).unwrap().queues
    };
    let web = |side: &str| studied(json!({"app": "web", "users": 5, "side": side}));
    assert_eq!(web("clients"), ["bottleneck.forward"]);
    assert_eq!(web("servers"), ["bottleneck.reverse"]);
    assert_eq!(studied(json!({"app": "bulk", "flows": 5})), ["bottleneck.forward"]);
    assert_eq!(
        studied(json!({"app": "bulk", "flows": 5, "side": "clients"})),
        ["bottleneck.reverse"]
    );
}

#[test]
fn every_group_may_give_a_load_but_none_runs_with_one() {
    let mut scenario = good();
    let group = json!({"app": "web", "load": 0.5});
    scenario["traffic"] = json!([group, group]);
    let read = Scenario::from_json(&scenario.to_string()).unwrap();
    assert!(read.traffic.iter().all(|t| t.sources().is_none()));
    let why = Run::new(read).err().expect("no users yet").to_string();
    assert!(why.starts_with("traffic web0: load has not been calibrated"), "{why}");
}

#[test]
fn an_open_loop_is_given_by_its_rate_or_a_load() {
    let refused = |group: Value| {
        let mut scenario = good();
        scenario["traffic"] = json!([group]);
        let read = Scenario::from_json(&scenario.to_string());
        read.and_then(Run::new).err().unwrap().to_string()
    };
    for (group, expected) in [
        (
            json!({"app": "packmime", "users": 5}),
            "traffic.0.users: packmime has no users or flows; give connections_per_s or a load",
        ),
        (
            json!({"app": "packmime", "flows": 5, "connections_per_s": 3}),
            "traffic.0.flows: packmime has no users or flows; give connections_per_s or a load",
        ),
        (
            json!({"app": "packmime", "load": 0.5, "connections_per_s": 3}),
            "traffic.0: gives both connections_per_s and a load, which is turned into it; give one of them",
        ),
        (
            json!({"app": "packmime"}),
            "traffic.0: gives neither connections_per_s nor a load; write for example load = \"98%\"",
        ),
        (json!({"app": "packmime", "load": 0.5}), "has not been calibrated into its size"),
        (
            json!({"app": "web", "connections_per_s": 3, "users": 5}),
            "traffic.0.connections_per_s: unknown field \"connections_per_s\"",
        ),
    ] {
        let why = refused(group);
        assert!(why.contains(expected), "{why}");
    }
    let mut scenario = good();
    scenario["traffic"] = json!([{"app": "packmime", "load": "98%"}]);
    let estimate = aqmlab_sim::estimate(&Scenario::from_json(&scenario.to_string()).unwrap());
    let per_connection = estimate.unwrap().unwrap();
    assert!((per_connection - 8_860.0).abs() < 45.0, "{per_connection} IP bytes a connection");
}

#[test]
fn bad_traffic_descriptions_are_one_sentence() {
    let pareto = |shape: f64| json!({"dist": "pareto", "shape": shape, "mean": "12 kB"});
    let table = |text: &str| json!({"dist": "table", "file": "my.csv", "text": text});
    let probs = json!({"dist": "discrete", "values": [1, 2, 5], "probs": [0.5, 0.3, 0.3]});
    for (field, value, expected) in [
        ("files", probs, "files.probs: the probabilities sum to 1.1, not to 1"),
        (
            "reply",
            table("p,b,k\n0,9,1\n0.5,8,1\n1,20,1\n"),
            "reply.file: my.csv, line 3: the value must not decrease, but 8 follows 9",
        ),
        ("reply", pareto(0.9), "reply.shape: 0.9 has no mean; give a shape above 1, or min"),
        (
            "parallel",
            json!(65),
            "traffic.0.parallel: 65 is out of range: it must lie between 1 and 64",
        ),
        (
            "persistent_parallel",
            json!(5),
            "5 persistent connections are more than the 4 that parallel allows",
        ),
        ("think", json!(15), "think: 15 has no unit"),
        ("think", json!(true), "traffic.0.think: true is not a distribution"),
        (
            "think",
            json!({"dist": "expo", "mean": "3 s"}),
            "think.dist: unknown distribution \"expo\"",
        ),
    ] {
        let mut scenario = good();
        scenario["traffic"] = json!([{"app": "unc", "users": 9}]);
        scenario["traffic"][0][field] = value;
        let read = Scenario::from_json(&scenario.to_string());
        let why = read.and_then(|s| s.check_parameters().map(|()| s)).err().unwrap().to_string();
        assert!(why.contains(expected) && !why.contains('\n'), "{why}");
    }
}
