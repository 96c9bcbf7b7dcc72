//! Packets dropped and marked by their numbers (`script` of a traffic group), in both engines.

use crate::outcome::{column, simulate, table};
use aqmlab_sim::{Outcome, Scenario};
use serde_json::{Value, json};

/// Transfers of 60 segments of 1,448 B, one after the other, over an empty line.
fn scenario(tcp: Value, script: Value) -> Value {
    json!({
        "duration": "20 s",
        "network": {"rtt": "100 ms"},
        "link": [{"rate": "100 Mbit/s"}],
        "traffic": [{"app": "bulk", "flows": 2, "bytes": 86_880, "start_within": "0 s",
                     "tcp": tcp, "script": script}],
    })
}

fn both(scenario: &Value) -> Outcome {
    let [folded, explicit] = ["folded", "explicit"].map(|engine| {
        let mut scenario = scenario.clone();
        scenario["engine"] = json!(engine);
        simulate(&scenario)
    });
    let print = |o: &Outcome| aqmlab_sim::summary_json(&o.summary)["fingerprint"].clone();
    assert_eq!(print(&folded), print(&explicit), "{scenario}");
    folded
}

fn figures(outcome: &Outcome, names: &[&str]) -> Vec<f64> {
    names.iter().map(|name| outcome.summary.number(name)).collect()
}

const LOSSES: &[&str] = &[
    "drops_scripted",
    "segments_lost",
    "retransmissions_lost",
    "loss_episodes",
    "fast_retransmits",
    "timeouts",
    "drops",
];

#[test]
fn data_packets_are_dropped_once_each_of_every_flow() {
    let outcome = both(&scenario(json!("linux"), json!([{"drop": [15, 17]}])));
    assert_eq!(figures(&outcome, LOSSES), [4.0, 4.0, 0.0, 2.0, 2.0, 0.0, 0.0]);
}

#[test]
fn a_flow_and_a_transmission_are_chosen_by_their_numbers() {
    // Both transmissions of packet 15 of the second flow.
    let rules = json!([{"drop": 15, "sent": [1, 2], "flows": [2]}]);
    let outcome = both(&scenario(json!("linux"), rules));
    assert_eq!(figures(&outcome, LOSSES)[..5], [2.0, 2.0, 1.0, 1.0, 1.0]);
    // The first retransmission, whatever it repeats, is the same packet.
    let rules = json!([{"drop": [15], "flows": [2]}, {"drop": 1, "count": "resent", "flows": [2]}]);
    let other = both(&scenario(json!("linux"), rules));
    let print = |o: &Outcome| aqmlab_sim::summary_json(&o.summary)["fingerprint"].clone();
    assert_eq!(print(&outcome), print(&other));
}

#[test]
fn any_packet_of_either_side_can_be_dropped() {
    // The SYN of each flow, and the second SYN-ACK.
    let rules = json!([{"drop": 1, "count": "packets"},
                       {"drop": 1, "count": "packets", "from": "clients"}]);
    let outcome = both(&scenario(json!("linux"), rules));
    assert_eq!(outcome.summary.number("drops_scripted"), 4.0);
    assert_eq!(outcome.summary.number("segments_lost"), 0.0, "they carry no data");
    assert_eq!(outcome.summary.number("data_packets_sent"), 120.0);
}

#[test]
fn marks_reach_the_receiver_if_the_packet_can_carry_them() {
    for (ecn, marks) in [(true, 2.0), (false, 0.0)] {
        let tcp = json!({"profile": "linux", "ecn": ecn});
        let outcome = both(&scenario(tcp, json!([{"mark": 12}])));
        let seen = figures(&outcome, &["marks_scripted", "ecn_reductions", "drops_scripted"]);
        assert_eq!(seen, [marks, marks, 0.0], "ecn {ecn}");
    }
}

#[test]
fn datagrams_are_dropped_by_their_numbers() {
    let scenario = json!({
        "duration": "2 s",
        "network": {"rtt": "100 ms"},
        "link": [{"rate": "10 Mbit/s"}],
        "traffic": [{"app": "cbr", "rate": "80 kbit/s", "packet": 500, "flows": 3, "start_within": "0 s",
                     "script": [{"drop": [2, 3, 5], "flows": [1, 3]}]}],
    });
    let outcome = both(&scenario);
    assert_eq!(outcome.summary.number("drops_scripted"), 6.0);
    let lost = column(table(&outcome, "streams"), "lost");
    assert_eq!(lost, [3.0, 0.0, 3.0]);
}

#[test]
fn flows_are_numbered_within_their_group_and_data_without_the_rest() {
    let group = |tcp: Value, script: Value| {
        let mut group = scenario(tcp, script)["traffic"][0].clone();
        group["bytes"] = json!(10_000);
        group
    };
    let script = json!([{"drop": 1, "flows": [2]}]);
    let mut two = scenario(json!("linux"), json!([]));
    two["traffic"] = json!([group(json!("linux"), json!([])), group(json!("linux"), script)]);
    let outcome = both(&two);
    assert_eq!(figures(&outcome, &["drops_scripted", "segments_lost"]), [1.0, 1.0]);
}

#[test]
fn without_a_script_nothing_is_said_of_it() {
    let mut plain = scenario(json!("linux"), json!([]));
    let empty = simulate(&plain);
    plain["traffic"][0].as_object_mut().unwrap().remove("script");
    assert!(empty.summary.get("drops_scripted").is_none());
    assert_eq!(figures(&empty, LOSSES[1..].as_ref()), figures(&simulate(&plain), &LOSSES[1..]));
}

#[test]
fn mistakes_are_one_sentence() {
    for (rule, words) in [
        (json!({"drop": [0]}), "script.0.drop: 0 is not a whole number from 1"),
        (json!({"drop": [1.5]}), "1.5 is not a whole number"),
        (json!({"drop": []}), "has 0 numbers"),
        (json!({"drop": [1], "mark": [1]}), "gives both drop and mark"),
        (json!({"flows": [1]}), "gives neither drop nor mark"),
        (json!({"drop": 1, "flows": 3}), "there is no flow 3; the group has 2"),
        (json!({"drop": 1, "count": "resent", "sent": 2}), "leave sent out"),
        (json!({"drop": 1, "form": "clients"}), "from"),
    ] {
        let text = scenario(json!("linux"), json!([rule])).to_string();
        let why = Scenario::from_json(&text).expect_err(&text).to_string();
        assert!(why.contains(words), "{why}");
    }
}

#[test]
fn a_group_without_users_has_none_to_name() {
    let text = json!({
        "duration": "20 s", "link": [{"rate": "100 Mbit/s"}],
        "traffic": [{"app": "packmime", "connections_per_s": 10, "script": [{"drop": 1, "flows": 1}]}],
    });
    let why = Scenario::from_json(&text.to_string()).unwrap_err().to_string();
    assert!(why.contains("script.0.flows: the group has no users to number"), "{why}");
}

#[test]
fn a_script_is_written_as_it_was_read() {
    for rule in [
        json!({"drop": [3, 7]}),
        json!({"mark": [3], "sent": [1, 2], "flows": [2]}),
        json!({"drop": [1], "count": "resent", "flows": [1, 2]}),
        json!({"drop": [1], "count": "packets", "from": "clients"}),
    ] {
        let text = scenario(json!("linux"), json!([rule])).to_string();
        let read = Scenario::from_json(&text).unwrap();
        let written = read.to_json()["traffic"][0]["script"][0].clone();
        for (name, value) in rule.as_object().unwrap() {
            assert_eq!(&written[name], value, "{written}");
        }
        // What a rule does not say is not written, but for the first transmission of data.
        assert_eq!(written.get("flows").is_some(), rule.get("flows").is_some(), "{written}");
        let data = rule.get("count").is_none();
        assert_eq!(written.get("sent").is_some(), data, "{written}");
        if data && rule.get("sent").is_none() {
            assert_eq!(written["sent"], json!([1]));
        }
        let again = Scenario::from_json(&read.to_json().to_string()).unwrap();
        assert_eq!(again.to_json(), read.to_json());
    }
}

/// One flow of `bytes` for an hour; from one side these packets are lost.
fn cut_off(bytes: Option<u32>, from: &str, lost: std::ops::Range<u32>) -> Outcome {
    let lost: Vec<u32> = lost.collect();
    let rules = json!([{"drop": lost, "count": "packets", "from": from}]);
    let mut scenario = scenario(json!("linux"), rules);
    scenario["duration"] = json!("1 h");
    scenario["traffic"][0]["flows"] = json!(1);
    match bytes {
        Some(bytes) => scenario["traffic"][0]["bytes"] = json!(bytes),
        None => drop(scenario["traffic"][0].as_object_mut().unwrap().remove("bytes")),
    }
    both(&scenario)
}

/// Of each transfer told of: when it ended, in seconds, and whether it failed.
fn ends(outcome: &Outcome) -> Vec<(f64, f64)> {
    let transfers = table(outcome, "transfers");
    let seconds = column(transfers, "end_ns").into_iter().map(|ns| (ns / 1e9).floor());
    seconds.zip(column(transfers, "failed")).collect()
}

/// What Linux gives up: a SYN after six more in 131 s; data, whichever side the acknowledgements
/// are missing from, after `tcp_retries2` (RFC 9293 section 3.8.3: R2).
#[test]
fn a_transfer_that_is_given_up_has_failed_once() {
    let size = Some(86_880);
    for (from, first, at) in [
        ("servers", 1, 131.0),
        ("clients", 1, 131.0),
        ("servers", 10, 993.0),
        ("clients", 5, 993.0),
    ] {
        let outcome = cut_off(size, from, first..first + 200);
        assert_eq!(ends(&outcome), [(at, 1.0)], "{from} from packet {first} on");
        assert_eq!(outcome.summary.number("connections"), 1.0);
    }
    let endless = cut_off(None, "servers", 10..210);
    assert!(
        endless.tables.iter().all(|table| table.name != "transfers"),
        "it has no end to tell of"
    );
    assert_eq!(endless.summary.number("timeouts"), 16.0, "but is given up");
}

/// All is acknowledged before the last packet, which acknowledges the acceptor's FIN.
#[test]
fn a_connection_lives_until_both_ends_are_through() {
    let outcome = cut_off(Some(86_880), "servers", 63..263);
    assert_eq!(
        figures(&outcome, &["drops_scripted", "timeouts"]),
        [17.0, 16.0],
        "the FIN goes again"
    );
    assert_eq!(ends(&outcome), [(0.0, 0.0)], "its end is told of once, and it had not failed then");
}

/// The server's packets are lost from its reply on: it gives up, and the user hears of it.
#[test]
fn a_server_that_gives_up_ends_the_request() {
    let lost: Vec<u32> = (10..210).collect();
    let outcome = simulate(&json!({
        "duration": "1 h", "network": {"rtt": "100 ms"}, "link": [{"rate": "100 Mbit/s"}],
        "traffic": [{"app": "loop", "users": 1, "reply": 100_000, "request": 100, "think": "2 h",
                     "start_within": "0 s", "tcp": "linux",
                     "script": [{"drop": lost, "count": "packets", "from": "servers"}]}],
    }));
    let responses = table(&outcome, "responses");
    assert_eq!(column(responses, "failed"), [1.0]);
    assert_eq!((column(responses, "end_ns")[0] / 1e9).floor(), 993.0);
}
