//! Datagrams over the network: delay, loss, jitter and deadlines where they can be computed, and
//! what long connections get beside them.

use crate::outcome::{column, group, simulate, table};
use aqmlab_sim::{Outcome, Scenario};
use record::{Column, Summary};
use serde_json::{Value, json};

fn of<'a>(outcome: &'a Outcome, name: &str) -> &'a Summary {
    group(group(&outcome.summary, "datagrams"), name)
}

/// 972 B of payload make packets of 1,000 B: 8 ms at 1 Mbit/s.
fn scenario(rate: &str, traffic: Value) -> Value {
    json!({
        "duration": "60 s", "warmup": "10 s",
        "network": {"rtt": "100 ms"},
        "link": [{"rate": rate, "delay": "5 ms", "forward": {"aqm": "droptail", "limit": 10}}],
        "traffic": traffic,
    })
}

fn cbr(rate: &str) -> Value {
    json!({"name": "voice", "app": "cbr", "flows": 1, "rate": rate, "packet": 972})
}

#[test]
fn an_empty_network_delays_by_transmission_and_half_a_round_trip() {
    let outcome = simulate(&scenario("1 Mbit/s", json!([cbr("100 kbit/s")])));
    let voice = of(&outcome, "voice");
    assert_eq!((voice.number("lost"), voice.number("jitter_mean_s")), (0.0, 0.0));
    for figure in ["delay_mean_s", "delay_p50_s", "delay_max_s"] {
        assert!((voice.number(figure) - 0.063).abs() < 1e-9, "{figure}"); // 8 + 5 + 50 ms
    }
    assert_eq!(voice.number("share_in_time"), 1.0);
    let sent = voice.number("sent"); // 50 s of 100 kbit/s in 972 B
    assert!((sent - 643.0).abs() <= 1.0, "{sent}");
}

#[test]
fn an_unresponsive_sender_loses_its_excess_and_fills_the_queue() {
    // Payload at 1.458 Mbit/s is 1.5 Mbit/s of packets: a third is lost, never two in a row, and
    // who gets in finds nine or ten others and the rest of one on the line.
    let outcome = simulate(&scenario("1 Mbit/s", json!([cbr("1.458 Mbit/s")])));
    let voice = of(&outcome, "voice");
    assert!((voice.number("loss_share") - 1.0 / 3.0).abs() < 1e-3);
    assert_eq!(voice.number("loss_distance_p50"), 3.0);
    assert_eq!(voice.number("share_neighbours_lost"), 0.0);
    assert!(voice.number("delay_max_s") <= 0.055 + 11.0 * 0.008 + 1e-9);
    assert!(voice.number("delay_p5_s") >= 0.055 + 10.0 * 0.008 - 1e-9);
    // At the end 18 packets of 8 ms are within the delay of 143 ms.
    let on_the_way = voice.number("sent") - voice.number("received") - voice.number("lost");
    assert!((17.0..=19.0).contains(&on_the_way), "{on_the_way}");
}

#[test]
fn a_deadline_counts_losses_as_late() {
    let mut late = scenario("1 Mbit/s", json!([cbr("1.458 Mbit/s")]));
    let share = |scenario: &Value| of(&simulate(scenario), "voice").number("share_in_time");
    assert!((share(&late) - 2.0 / 3.0).abs() < 1e-3); // at most 143 ms, of 200 allowed
    late["record"] = json!({"deadline": "100 ms"});
    assert_eq!(share(&late), 0.0);
}

#[test]
fn the_log_has_a_row_for_every_datagram() {
    let outcome = simulate(&scenario("1 Mbit/s", json!([cbr("1.458 Mbit/s")])));
    let log = table(&outcome, "datagrams");
    let Column::U64(delays) = &log.columns[2].1 else { panic!() };
    let lost = delays.iter().filter(|d| **d == u64::MAX).count() as f64;
    assert!((lost / delays.len() as f64 - 1.0 / 3.0).abs() < 2e-3); // the whole run
    let mut quiet = scenario("1 Mbit/s", json!([cbr("1.458 Mbit/s")]));
    quiet["record"] = json!({"datagrams": false});
    assert!(simulate(&quiet).tables.iter().all(|t| t.name != "datagrams"));
}

#[test]
fn a_code_point_buys_its_group_a_band_of_its_own() {
    // One queue for each band, so that nothing but the code point tells voice from the flood.
    let flood =
        json!({"name": "flood", "app": "cbr", "flows": 1, "rate": "2 Mbit/s", "packet": 972});
    let mut scenario = scenario("1 Mbit/s", json!([cbr("100 kbit/s"), flood]));
    scenario["link"][0]["forward"] = json!({
        "aqm": "cake", "rate": "900 kbit/s", "isolation": "flowblind", "memory_limit": 100_000,
    });
    let with = |scenario: &mut Value, dscp: &str| {
        scenario["traffic"][0]["dscp"] = json!(dscp);
        let outcome = simulate(scenario);
        let voice = of(&outcome, "voice");
        (voice.number("loss_share"), voice.number("delay_p50_s"))
    };
    let (lost, apart) = with(&mut scenario, "ef");
    assert!(lost < 0.01 && apart < 0.1, "{lost} lost, {apart} s");
    // Among the flood it shares its fate: 2.16 of 0.9 Mbit/s, 58 % too many.
    let (lost, among) = with(&mut scenario, "default");
    assert!((0.5..0.65).contains(&lost) && among > apart, "{lost} lost, {among} s");
    scenario["traffic"][0]["dscp"] = json!("urgent");
    let error = Scenario::from_json(&scenario.to_string()).unwrap_err().0;
    assert!(error.starts_with("traffic.0.dscp: unknown value \"urgent\""), "{error}");
}

#[test]
fn long_flows_share_the_line_and_jains_index_says_how() {
    let bulk = json!([{"app": "bulk", "flows": 8}]);
    let mut scenario = scenario("10 Mbit/s", bulk);
    scenario["link"][0]["forward"] = json!({"aqm": "drr", "limit": 100});
    let outcome = simulate(&scenario);
    let summary = &outcome.summary;
    assert_eq!(summary.number("long_flows"), 8.0);
    assert!(summary.number("jain_index") > 0.98, "{}", summary.number("jain_index"));
    // Payload is 1,460 of 1,500 B.
    let goodput = summary.number("long_flow_goodput_mean_bits_per_s") * 8.0;
    let sent = summary.number("utilisation") * 1e7 * 1460.0 / 1500.0;
    assert!((goodput / sent - 1.0).abs() < 0.02, "{goodput} of {sent}");
    let rates = column(table(&outcome, "flows"), "goodput_bits_per_s");
    assert_eq!(rates.len(), 8);
    assert!(summary.number("fast_retransmits") > 0.0);
}

#[test]
fn unequal_round_trips_are_unfair_behind_a_common_queue() {
    let bulk = json!([{"app": "bulk", "flows": 8}]);
    let mut scenario = scenario("10 Mbit/s", bulk);
    scenario["network"] = json!({"rtt": ["10 ms", "200 ms"]});
    scenario["duration"] = json!("120 s");
    scenario["link"][0]["forward"] = json!({"aqm": "droptail", "limit": 50});
    let outcome = simulate(&scenario);
    let rates = column(table(&outcome, "flows"), "goodput_bits_per_s");
    // Flows take the list in turn: even ones are near.
    let near: f64 = rates.iter().step_by(2).sum();
    let far: f64 = rates.iter().skip(1).step_by(2).sum();
    assert!(near > 2.0 * far, "{near} near, {far} far");
    assert!(outcome.summary.number("jain_index") < 0.9);
}

#[test]
fn each_direction_has_its_own_rate() {
    let mut scenario = scenario("10 Mbit/s", json!([cbr("100 kbit/s")]));
    scenario["link"][0]["reverse_rate"] = json!("1 Mbit/s");
    let late = |scenario: &Value| of(&simulate(scenario), "voice").number("delay_p50_s");
    assert!((late(&scenario) - 0.0558).abs() < 1e-9); // 0.8 ms to send, 5 and 50 ms to travel
    scenario["traffic"][0]["side"] = json!("clients");
    assert!((late(&scenario) - 0.063).abs() < 1e-9); // 8 ms to send
}

#[test]
fn a_clock_that_delays_lets_packets_go_on_its_ticks() {
    let mut scenario = scenario("1 Mbit/s", json!([cbr("100 kbit/s")]));
    scenario["network"]["delay_tick"] = json!("20 ms");
    let outcome = simulate(&scenario);
    let log = table(&outcome, "datagrams");
    let (Column::U64(sent), Column::U64(delay)) = (&log.columns[1].1, &log.columns[2].1) else {
        panic!()
    };
    let arrived = sent.iter().zip(delay).filter(|(_, d)| **d < u64::MAX - 1);
    // Half of 100 ms is two whole ticks, from the tick before; ticks lie where the one receiving
    // machine was booted.
    let mut phases = Vec::new();
    for (sent, delay) in arrived {
        phases.push((sent + delay) % 20_000_000);
        assert!((13_000_000 + 20_000_000..=13_000_000 + 40_000_000).contains(delay), "{delay}");
    }
    assert!(phases[0] > 0 && phases.iter().all(|phase| *phase == phases[0]), "{phases:?}");
}

#[test]
fn machines_that_delay_by_a_clock_do_not_let_packets_go_together() {
    // Two senders to two clients and one of each client to the servers: the client's machine delays
    // both ways, so that each client's packets share one phase.
    let sender =
        |name: &str, side: &str| json!({"name": name, "app": "cbr", "users": 2, "side": side});
    let traffic = json!([sender("down", "servers"), sender("up", "clients")]);
    let mut scenario = scenario("10 Mbit/s", traffic);
    scenario["network"]["delay_tick"] = json!("20 ms");
    scenario["network"]["clients"] = json!(2);
    scenario["network"]["servers"] = json!(1);
    let outcome = simulate(&scenario);
    let log = table(&outcome, "datagrams");
    let (stream, sent) = (column(log, "stream"), column(log, "sent_ns"));
    let delays = column(log, "delay_ns");
    let mut phases = [const { Vec::new() }; 4];
    for ((stream, sent), delay) in stream.iter().zip(sent).zip(delays).filter(|(_, d)| *d < 1e18) {
        phases[*stream as usize].push((sent + delay) % 20e6);
    }
    assert!(phases.iter().all(|p| !p.is_empty() && p.iter().all(|x| *x == p[0])), "{phases:?}");
    let mut seen: Vec<f64> = phases.iter().map(|p| p[0]).collect();
    seen.sort_by(f64::total_cmp);
    assert!(seen[0] == seen[1] && seen[2] == seen[3] && seen[1] < seen[2], "{seen:?}");
}

#[test]
fn acknowledgements_are_thinned_where_a_later_one_says_all() {
    // 65,535 bytes in 110 ms are 400 acknowledgements a second, twice what the line carries. The
    // filter takes out those that a later one makes unnecessary before the queue must drop any.
    let bulk = json!([{"app": "bulk", "flows": 1, "tcp": {"profile": "plain", "ack_every": 1}}]);
    let mut scenario = scenario("10 Mbit/s", bulk);
    scenario["link"][0]["reverse_rate"] = json!("60 kbit/s");
    let with = |scenario: &mut Value, filter: &str| {
        scenario["link"][0]["reverse"] = json!({"aqm": "cake", "ack_filter": filter});
        let outcome = simulate(scenario);
        let port = group(group(&outcome.summary, "ports"), "bottleneck.reverse");
        let superseded = port.number("drops_superseded");
        (superseded, port.number("drops") - superseded)
    };
    let (none, others) = with(&mut scenario, "no");
    let (some, few) = with(&mut scenario, "aggressive");
    assert!(none == 0.0 && some > 5_000.0, "{some} superseded");
    assert!(few < others / 10.0, "{few} others with the filter, {others} without");
}

#[test]
fn acknowledgements_with_blocks_or_echoes_are_thinned_too() {
    // While holes are repaired every acknowledgement carries blocks. sch_cake compares what they
    // cover, so that hardly more wait than without losses; with none of these thinned up to 425 do.
    let flows = |tcp: Value| json!([{"app": "bulk", "flows": 4, "tcp": tcp}]);
    let run = |tcp: Value, aqm: Value, reverse_rate: &str| {
        let mut scenario = scenario("100 Mbit/s", flows(tcp));
        scenario["link"][0]["reverse_rate"] = json!(reverse_rate);
        scenario["link"][0]["forward"] = aqm;
        scenario["link"][0]["reverse"] =
            json!({"aqm": "cake", "rate": reverse_rate, "ack_filter": "aggressive"});
        let outcome = simulate(&scenario);
        let port = group(group(&outcome.summary, "ports"), "bottleneck.reverse");
        (port.number("drops_superseded"), port.number("queue_peak_packets"))
    };
    let linux = |ecn: bool| json!({"profile": "linux", "ecn": ecn});
    let (superseded, longest) = run(linux(false), json!({"aqm": "fq_codel"}), "1 Mbit/s");
    assert!(superseded > 5_000.0 && longest < 100.0, "SACK: {superseded}, at most {longest} wait");
    let (superseded, longest) = run(linux(true), json!({"aqm": "red", "ecn": true}), "1 Mbit/s");
    assert!(superseded > 5_000.0 && longest < 100.0, "ECE: {superseded}, at most {longest} wait");
}

#[test]
fn the_code_point_of_a_transfer_travels_on_its_segments() {
    let bulk = |name: &str, dscp: &str| json!({"name": name, "app": "bulk", "flows": 1, "dscp": dscp, "start_within": "0 s"});
    let traffic = json!([bulk("usual", "default"), bulk("scavenger", "cs1")]);
    let mut scenario = scenario("2 Mbit/s", traffic);
    scenario["link"][0]["forward"] = json!({"aqm": "cake", "rate": "1.9 Mbit/s"});
    let outcome = simulate(&scenario);
    let rates = column(table(&outcome, "flows"), "goodput_bits_per_s");
    // Bulk's share of three tins is a sixteenth; alike, both would get a half.
    assert!(rates[1] < rates[0] / 4.0, "{rates:?}");
}

#[test]
fn what_users_keep_open_is_not_a_long_flow() {
    let users = json!({"app": "unc", "users": 800, "start": "stationary"});
    let traffic = json!([users, {"app": "bulk", "flows": 3}]);
    let outcome = simulate(&scenario("10 Mbit/s", traffic));
    assert!(outcome.summary.number("responses") > 50.0);
    assert_eq!(outcome.summary.number("long_flows"), 3.0);
    let Column::U32(owners) = &table(&outcome, "flows").columns[1].1 else { panic!() };
    assert_eq!(owners, &[800, 801, 802]);
}

#[test]
fn datagrams_have_no_tcp_and_a_complete_scenario_says_none() {
    let mut scenario = scenario("1 Mbit/s", json!([cbr("100 kbit/s")]));
    let complete = Scenario::from_json(&scenario.to_string()).unwrap().to_json();
    assert!(complete["traffic"][0].get("tcp").is_none());
    assert!(Scenario::from_json(&complete.to_string()).is_ok());
    scenario["traffic"][0]["tcp"] = json!("plain");
    let error = Scenario::from_json(&scenario.to_string()).unwrap_err().0;
    assert_eq!(error, "traffic.0.tcp: cbr sends datagrams, which have no TCP; leave it out");
}

#[test]
fn a_complete_scenario_has_the_values_of_each_directions_own_line() {
    let mut scenario = scenario("100 Mbit/s", json!([cbr("100 kbit/s")]));
    scenario["link"][0]["reverse_rate"] = json!("1 Mbit/s");
    let red = json!({"aqm": "red", "profile": "ns2"});
    scenario["link"][0]["forward"] = red.clone();
    scenario["link"][0]["reverse"] = red;
    let complete = Scenario::from_json(&scenario.to_string()).unwrap().to_json();
    let link = &complete["link"][0];
    // Half of what the line sends in 5 ms, at least 5: packets of 500 bytes.
    assert_eq!(
        (&link["forward"]["min_th"], &link["reverse"]["min_th"]),
        (&json!(62.5), &json!(5.0))
    );
}

#[test]
fn goodput_counts_what_reaches_the_programs_once_and_waits_are_those_of_the_queue() {
    // Eight flows of 60 kB lose segments at a queue of ten packets; every byte arrives once.
    let burst = json!({"name": "files", "app": "burst", "flows": 8, "bytes": 60_000});
    let mut both = scenario("1 Mbit/s", json!([burst, cbr("300 kbit/s")]));
    let without = simulate(&both);
    both["warmup"] = json!("0 s");
    both["record"] = json!({"goodput": true});
    let outcome = simulate(&both);
    let text = |outcome: &Outcome, name| match outcome.summary.get(name) {
        Some(record::Figure::Text(text)) => text.clone(),
        _ => panic!("no {name}"),
    };
    let prints = [&without, &outcome].map(|outcome| text(outcome, "fingerprint"));
    assert_eq!(prints[0], prints[1], "counting changes nothing");
    assert!(outcome.summary.number("segments_retransmitted") > 0.0);
    let seconds = table(&outcome, "seconds");
    let sum = |name: &str| column(seconds, name).iter().sum::<f64>();
    assert_eq!(sum("files.goodput_bytes"), 8.0 * 60_000.0);
    let received = of(&outcome, "voice").number("received");
    assert_eq!(sum("voice.goodput_bytes"), 972.0 * received);
    let port = text(&outcome, "studied_port");
    let waits = column(seconds, &format!("{port}.queue_delay_mean_s"));
    let departures = column(seconds, &format!("{port}.departures"));
    let waited: f64 = waits.iter().zip(&departures).map(|(wait, n)| wait * n).sum();
    let mean = waited / departures.iter().sum::<f64>();
    assert!((mean - outcome.summary.number("queue_delay_mean_s")).abs() < 1e-9, "{mean}");
}

#[test]
fn a_flow_that_stops_sends_nothing_new_and_delivers_the_rest() {
    let flow = json!({"name": "flow", "app": "bulk", "flows": 1, "start": "10 s",
                      "start_within": "0 s", "lasts": "20 s"});
    for profile in ["plain", "freebsd-2.2.8", "ns2"] {
        let mut stopping = scenario("1 Mbit/s", json!([flow]));
        stopping["traffic"][0]["tcp"] = json!(profile);
        stopping["record"] = json!({"goodput": true});
        let outcome = simulate(&stopping);
        let received = column(table(&outcome, "seconds"), "flow.goodput_bytes");
        assert!(received[..10].iter().all(|&bytes| bytes == 0.0), "{profile}");
        let busy = received[15..29].iter().sum::<f64>() / 14.0;
        assert!((100_000.0..125_000.0).contains(&busy), "{profile}: {busy} B/s of 125,000");
        assert!(received[33..].iter().all(|&bytes| bytes == 0.0), "{profile}: {received:?}");
        let bytes = column(table(&outcome, "transfers"), "bytes");
        assert_eq!(bytes, [received.iter().sum::<f64>()], "{profile}: all that was sent arrived");
    }
}

#[test]
fn groups_are_numbered_as_in_the_scenario_in_every_order_of_sending() {
    let sender = |name: &str, start: &str| {
        json!({
            "app": "cbr", "name": name, "flows": 1, "rate": "64 kbit/s",
            "start": start, "start_within": "0 s",
        })
    };
    let traffic = json!([sender("late", "1 s"), sender("early", "0 s"), sender("mute", "1 h")]);
    let outcome = simulate(&scenario("1 Mbit/s", traffic));
    assert_eq!(outcome.groups, ["late", "early", "mute"]);
    let streams = table(&outcome, "streams");
    assert_eq!(column(streams, "group"), [1.0, 0.0]);
    assert_eq!(column(streams, "user"), [1.0, 0.0]);
    let groups = group(&outcome.summary, "datagrams");
    let names: Vec<&str> = groups.0.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(names, ["late", "early"], "in the scenario's order, without who sent nothing");
}
