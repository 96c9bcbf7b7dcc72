//! Scenarios that are written back: they read as they were.

use super::*;

#[test]
fn distributions_are_written_back_as_they_were_read() {
    let mut scenario = good();
    let reply = json!({"dist": "mixture", "weights": [0.5, 0.5],
                       "parts": ["4 kB", {"dist": "exponential", "mean": "9 kB"}]});
    scenario["traffic"] = json!([{"app": "unc", "users": 9, "reply": reply, "think": "le1000",
                                  "files": 3}]);
    let first = Scenario::from_json(&scenario.to_string()).unwrap().to_json();
    let group = &first["traffic"][0];
    assert_eq!(group["reply"], reply);
    assert_eq!((&group["think"], &group["files"]), (&json!("le1000"), &json!(3.0)));
    assert!(group.get("pages").is_none(), "the model's own are not written out");
    assert_eq!(Scenario::from_json(&first.to_string()).unwrap().to_json(), first);
}

#[test]
fn an_uncalibrated_load_does_not_run() {
    let mut scenario = good();
    scenario["traffic"] = json!([{"app": "web", "load": "98%"}]);
    let scenario = Scenario::from_json(&scenario.to_string()).unwrap();
    let estimate = aqmlab_sim::estimate(&scenario).unwrap().unwrap();
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

#[test]
fn what_is_written_for_a_discipline_constructs_it_again() {
    let mut requested = vec![
        json!({"aqm": "red", "preset": "edge-hred"}),
        json!({"aqm": "pi", "n_min": 60, "r_max": "250 ms", "T": "2 ms"}),
        json!({"aqm": "ared", "target_delay": "3.7 ms", "automatic_w_q": "ten-rtt"}),
    ];
    for entry in aqm::ALGORITHMS {
        requested.push(json!(entry.about.name));
        for field in entry.about.fields {
            let packet::params::Kind::Choice(names) = field.kind else { continue };
            requested.extend(
                names.iter().map(|name| json!({"aqm": entry.about.name, field.name: name})),
            );
        }
    }
    for queue in requested {
        let mut scenario = good();
        scenario["link"][0]["rate"] = json!("7 Mbit/s");
        scenario["link"][0]["forward"] = queue.clone();
        let first = Scenario::from_json(&scenario.to_string()).unwrap();
        if first.check_parameters().is_err() {
            continue; // a choice that needs another parameter
        }
        let first = first.to_json();
        let second = Scenario::from_json(&first.to_string()).expect("it was checked");
        second.check_parameters().unwrap_or_else(|why| panic!("{queue}: {why}"));
        assert_eq!(first, second.to_json());
    }
}

#[test]
fn effective_values_are_written() {
    let mut scenario = good();
    scenario["link"][0]["forward"] = json!({"aqm": "red", "profile": "ns2"});
    let mut forward = |rate: &str| {
        scenario["link"][0]["rate"] = json!(rate);
        Scenario::from_json(&scenario.to_string()).unwrap().to_json()["link"][0]["forward"].clone()
    };
    assert_eq!(forward("10 Mbit/s")["min_th"], json!(6.25));
    let fast = forward("100 Mbit/s");
    assert_eq!((&fast["min_th"], &fast["max_th"]), (&json!(62.5), &json!(187.5)));
    assert_eq!((&fast["gentle"], &fast["limit"]), (&json!(true), &json!(50)));
    assert!(fast.get("max_packet_bytes").is_none(), "it has no effect there");
}

#[test]
fn connections_of_an_open_loop_model_draw_from_a_list_or_the_suite_s_round_trips() {
    // Response times in ms; without queues a request takes at least two round trips.
    let times = |rtt: Value| -> Vec<u64> {
        let mut scenario = good();
        scenario["duration"] = json!("60 s");
        scenario["network"] = json!({"rtt": rtt});
        scenario["link"] = json!([{"rate": "1 Gbit/s"}]);
        scenario["traffic"] =
            json!([{"app": "packmime", "connections_per_s": 20, "http": "http10"}]);
        let written = Scenario::from_json(&scenario.to_string()).unwrap().to_json();
        assert_eq!(written["network"]["rtt"], rtt);
        let outcome = run(Scenario::from_json(&written.to_string()).unwrap()).unwrap();
        let table = outcome.tables.iter().find(|t| t.name == "responses").unwrap();
        let (_, column) = table.columns.iter().find(|(name, _)| name == "duration_ns").unwrap();
        let record::Column::U64(times) = column else { panic!() };
        times.iter().map(|ns| ns / 1_000_000).collect()
    };
    let share = |times: &[u64], is: &dyn Fn(u64) -> bool| {
        times.iter().filter(|&&ms| is(ms)).count() as f64 / times.len() as f64
    };
    let two = times(json!(["0.01 s", "1 s"]));
    let far = share(&two, &|ms| ms >= 2_000);
    assert!((0.4..0.6).contains(&far), "{far} of the connections are 1 s away");
    let nine = times(json!("tcpeval"));
    assert_eq!(share(&nine, &|ms| ms < 8), 0.0);
    assert!(share(&nine, &|ms| ms < 56) > 0.04, "some are 4 ms away");
    assert!(share(&nine, &|ms| ms >= 400) > 0.08, "some are 200 ms away");
}

#[test]
fn a_model_without_users_has_no_distance_of_each() {
    let mut scenario = good();
    scenario["traffic"] = json!([{"app": "packmime", "connections_per_s": 20}]);
    let range = json!({"min": "10 ms", "max": "20 ms", "draw": "source"});
    for (section, named) in [("/network", "network.rtt.draw"), ("/traffic/0", "traffic.0.rtt.draw")]
    {
        let mut changed = scenario.clone();
        changed["network"] = json!({});
        changed.pointer_mut(section).unwrap()["rtt"] = range.clone();
        let why = Scenario::from_json(&changed.to_string()).unwrap_err().to_string();
        assert!(why.starts_with(named) && why.contains("draw = \"connection\""), "{why}");
    }
}

#[test]
fn a_complete_scenario_can_be_run_again_whatever_the_end_systems() {
    for profile in tcp::PROFILES {
        let mut bulk = good();
        bulk["traffic"] = json!([{"app": "bulk", "flows": 1, "tcp": profile.about.name}]);
        let complete = Scenario::from_json(&bulk.to_string()).unwrap().to_json();
        let again = Scenario::from_json(&complete.to_string()).unwrap();
        if let Err(why) = again.check_parameters() {
            panic!("{}: {why}", profile.about.name);
        }
    }
}

#[test]
fn a_link_without_an_access_is_written_without_what_it_does_not_have() {
    let written = Scenario::from_json(&good().to_string()).unwrap().to_json();
    assert!(written["link"][0].get("rate_trace").is_none(), "{}", written["link"][0]);
}

/// The `tcp` of a group, read, written, and read again.
fn tcp_again(tcp: Value) -> Value {
    let mut scenario = good();
    scenario["traffic"][0]["tcp"] = tcp;
    let read = Scenario::from_json(&scenario.to_string()).unwrap().to_json();
    assert_eq!(Scenario::from_json(&read.to_string()).unwrap().to_json(), read);
    read["traffic"][0]["tcp"].clone()
}

#[test]
fn every_profile_reads_back() {
    for profile in tcp::PROFILES {
        assert_eq!(tcp_again(json!(profile.about.name))["profile"], profile.about.name);
    }
}

#[test]
fn who_never_waits_acknowledges_every_segment() {
    let of = |delay: &str| tcp_again(json!({"profile": "plain", "delayed_ack": delay}));
    assert_eq!(["0 s", "100 ms"].map(|delay| of(delay)["ack_every"].clone()), [1, 2]);
}

#[test]
fn round_trips_are_a_list_of_some_or_a_range_that_may_be_one_value() {
    let why = refused("/network", json!({"rtt": []}));
    assert!(why.contains("the list is empty"), "{why}");
    let mut one = good();
    one["network"] = json!({"rtt": {"min": "10 ms", "max": "10 ms"}});
    assert!(Scenario::from_json(&one.to_string()).is_ok());
}

#[test]
fn an_unknown_field_of_a_group_is_reported_with_the_known_ones() {
    let why = refused("/traffic/0/nonesuch", json!(1));
    for known in ["nonesuch", "users", "start", "via", "think"] {
        assert!(why.contains(known), "{known}: {why}");
    }
}
