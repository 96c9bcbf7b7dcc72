//! Groups beside each other: what one is does not change what another is.

use crate::outcome::{column, simulate, table};
use aqmlab_sim::{Run, Scenario};
use serde_json::{Value, json};

#[test]
fn a_group_takes_its_round_trips_from_the_first_whatever_stands_before_it() {
    // An ideal line and a window of 65,535 B: a flow's goodput tells its round trip.
    let goodputs = |groups: Value| {
        let scenario = json!({
            "duration": "12 s", "warmup": "2 s", "traffic": groups,
            "link": [{"rate": "1 Gbit/s", "forward": {"aqm": "droptail", "limit": 1000}}],
        });
        column(table(&simulate(&scenario), "flows"), "goodput_bits_per_s")
    };
    let flow = |name: &str, flows: u32, rtt: Value| {
        json!({"name": name, "app": "bulk", "flows": flows, "rtt": rtt, "start_within": "0 s",
               "tcp": {"profile": "plain", "window": 65_535}})
    };
    let list = flow("x", 2, json!(["100 ms", "200 ms"]));
    let alone = goodputs(json!([list]));
    assert!((alone[0] / alone[1] / 2.0 - 1.0).abs() < 0.02, "{alone:?}");
    for before in [1, 2, 3] {
        let behind = goodputs(json!([flow("a", before, json!("300 ms")), list]));
        for (met, expected) in behind[before as usize..].iter().zip(&alone) {
            assert!((met / expected - 1.0).abs() < 0.02, "behind {before}: {met} for {expected}");
        }
    }
}

/// When the first datagram or request of each of these groups was sent, s.
fn starts(traffic: Value) -> Vec<f64> {
    let names = traffic.as_array().unwrap().len();
    let outcome = simulate(&json!({
        "duration": "40 s", "network": {"rtt": "20 ms"}, "link": [{"rate": "100 Mbit/s"}],
        "traffic": traffic, "record": {"datagrams": true},
    }));
    let mut first = vec![f64::INFINITY; names];
    if let Some(log) = outcome.tables.iter().find(|t| t.name == "datagrams") {
        // Streams are numbered by their first datagram, one to a group here.
        let order = column(log, "stream").into_iter().zip(column(log, "sent_ns"));
        order
            .for_each(|(stream, at)| first[stream as usize] = first[stream as usize].min(at / 1e9));
    }
    first
}

fn voice(name: &str, after: Option<(&str, &str)>) -> Value {
    let mut group = json!({"name": name, "app": "cbr", "flows": 1, "start_within": "0 s"});
    if let Some((leader, delay)) = after {
        group["start_after"] = json!({"group": leader, "delay": delay});
    }
    group
}

#[test]
fn a_group_begins_after_the_start_of_another() {
    let mut first = voice("a", None);
    first["start"] = json!("2 s");
    // Whatever the order in the file; its own start counts from there.
    let mut last = voice("c", Some(("b", "3 s")));
    last["start"] = json!("0.5 s");
    let starts = starts(json!([last, voice("b", Some(("a", "1500 ms"))), first]));
    assert_eq!(starts, [2.0, 3.5, 7.0]);
}

#[test]
fn a_start_that_is_drawn_moves_those_after_it() {
    let mut first = voice("a", None);
    first["start_within"] = json!("20 s");
    let starts = starts(json!([first, voice("b", Some(("a", "4 s")))]));
    assert!(starts[0] > 0.0 && (starts[1] - starts[0] - 4.0).abs() < 1e-9, "{starts:?}");
}

#[test]
fn every_application_may_begin_late() {
    // 5 s after the first page or packet of a user of its own; nothing may be scheduled for the past.
    let recording = "recording 9000000 2\n\
        0 40 0 1 2 fin epochs 1,2,3,4\n\
        9000 - 1 2 1 fin epochs 1,2,3,4";
    let requests = "user,think_s,request_bytes,reply_bytes\n0,1,2,3\n";
    for entry in traffic::registry::APPS {
        let mut late = json!({"app": entry.about.name, "name": "late",
                              "start_after": {"group": "early", "delay": "5 s"}});
        match entry.about.name {
            "replay" => late["model"] = json!({"file": "small", "text": recording}),
            "requests" => late["requests"] = json!({"file": "one", "text": requests}),
            _ => {}
        }
        match entry.is_open_loop() {
            true if entry.is_recorded() => {}
            true => late["connections_per_s"] = json!(5),
            false => late["users"] = json!(if entry.about.name == "requests" { 1 } else { 30 }),
        }
        let outcome = simulate(&json!({
            "duration": "15 s", "warmup": "4 s", "network": {"rtt": "20 ms"},
            "link": [{"rate": "20 Mbit/s"}], "traffic": [voice("early", None), late],
            "record": {"trace": true},
        }));
        let trace = table(&outcome, "trace");
        let rows = column(trace, "group").into_iter().zip(column(trace, "time_ns"));
        let first = rows.filter(|(group, _)| *group == 1.0).map(|(_, at)| at).fold(1e12, f64::min);
        // Who only fetches shows here when the first reply comes.
        assert!(first >= 5e9, "{} begins at {first} ns", entry.about.name);
        assert!(first < 15e9, "{} never begins", entry.about.name);
    }
}

#[test]
fn circles_and_strangers_are_refused() {
    let refused = |traffic: Value| {
        let scenario = json!({
            "duration": "1 s", "link": [{"rate": "1 Mbit/s"}], "traffic": traffic,
        });
        match Scenario::from_json(&scenario.to_string()).and_then(Run::new) {
            Ok(_) => panic!("{traffic} was accepted"),
            Err(why) => why.to_string(),
        }
    };
    let why = refused(json!([voice("a", None), voice("b", Some(("aa", "1 s")))]));
    assert!(
        why.starts_with("traffic.1.start_after.group: unknown group \"aa\"; did you mean"),
        "{why}"
    );
    let why = refused(json!([voice("a", Some(("a", "1 s")))]));
    assert!(why.starts_with("traffic.0.start_after.group: \"a\" itself waits for \"a\""), "{why}");
    let after = |name: &str, leader: &str| voice(name, Some((leader, "1 s")));
    let why = refused(json!([voice("a", None), after("b", "d"), after("c", "b"), after("d", "c")]));
    assert!(why.contains("so that neither would ever start"), "{why}");
    let why = refused(json!([{"app": "bulk", "flows": 1, "start_after": {"delay": "1 s"}}]));
    assert!(why.starts_with("traffic.0.start_after.group: missing"), "{why}");
    let why = refused(json!([after("b", "b"), {"app": "bulk", "flows": 1, "start_after": "b"}]));
    assert!(why.starts_with("traffic.1.start_after: must be a table"), "{why}");
}

#[test]
fn what_is_written_of_a_start_reads_back() {
    let scenario = json!({
        "duration": "1 s", "link": [{"rate": "1 Mbit/s"}],
        "traffic": [voice("a", None), voice("b", Some(("a", "250 ms")))],
    });
    let written = Scenario::from_json(&scenario.to_string()).unwrap().to_json();
    assert_eq!(written["traffic"][1]["start_after"], json!({"group": "a", "delay": "0.25 s"}));
    assert_eq!(Scenario::from_json(&written.to_string()).unwrap().to_json(), written);
}

#[test]
fn distances_of_a_groups_sources_do_not_depend_on_other_groups() {
    let delays = |others: u32| {
        let scenario = json!({
            "duration": "2 s",
            "network": {"rtt": {"min": "10 ms", "max": "400 ms", "draw": "source"}},
            "link": [{"rate": "1 Gbit/s"}],
            "traffic": [{"app": "cbr", "name": "late", "flows": others, "rate": "80 kbit/s", "start_after": {"group": "here", "delay": "1 h"}},
                        {"app": "cbr", "name": "here", "flows": 3, "rate": "80 kbit/s", "start_within": "0 s"}],
        });
        let outcome = simulate(&scenario);
        let streams = table(&outcome, "streams");
        let here = column(streams, "group").into_iter().zip(column(streams, "delay_mean_s"));
        here.filter(|&(group, _)| group == 1.0).map(|(_, mean)| mean).collect::<Vec<_>>()
    };
    let [one, three] = [delays(1), delays(3)];
    assert_eq!((one.len(), three.len()), (3, 3));
    for (one, three) in one.iter().zip(&three) {
        assert!((one - three).abs() < 1e-4, "{one} {three}");
    }
}

#[test]
fn the_former_word_for_a_distance_of_each_source_is_read() {
    let written = |draw: &str| {
        let scenario = json!({
            "duration": "1 s", "link": [{"rate": "1 Mbit/s"}],
            "network": {"rtt": {"min": "10 ms", "max": "400 ms", "draw": draw}},
            "traffic": [{"app": "cbr", "flows": 3, "rate": "80 kbit/s"}],
        });
        Scenario::from_json(&scenario.to_string()).unwrap().to_json()
    };
    assert_eq!(written("member"), written("source"));
}
