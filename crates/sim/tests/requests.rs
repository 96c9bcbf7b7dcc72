//! Users who make given requests.

use crate::outcome::{column, simulate, table};
use aqmlab_sim::{Run, Scenario};
use serde_json::{Value, json};

const HEAD: &str = "user,think_s,request_bytes,reply_bytes";

/// A network without transmission times, 100 ms there and back.
fn scenario(text: &str, group: &Value) -> Value {
    let mut group = group.clone();
    group["app"] = json!("requests");
    group["requests"] = json!({"file": "ours.csv", "text": text});
    json!({
        "duration": "20 s", "network": {"rtt": "100 ms"},
        "link": [{"rate": "100 Gbit/s"}], "traffic": [group],
    })
}

/// User's request (ms), response time (ms) and reply of each row, in order of replies.
fn rows(scenario: &Value) -> Vec<[u64; 3]> {
    let outcome = simulate(scenario);
    let log = table(&outcome, "responses");
    let [ended, took, bytes] =
        ["end_ns", "duration_ns", "reply_bytes"].map(|name| column(log, name));
    let ms = |ns: f64| (ns / 1e6).floor() as u64; // transmission times are some nanoseconds
    let row = |i: usize| [ms(ended[i] - took[i]), ms(took[i]), bytes[i] as u64];
    (0..ended.len()).map(row).collect()
}

#[test]
fn requests_are_those_of_the_file() {
    // A handshake and a reply of one flight are two round trips; thinking begins with the reply.
    let text = format!("{HEAD}\n0,1,100,1000\n1,1.5,200,1400\n0,0.25,300,700\n0,0,400,500\n");
    let users = json!({"users": 2});
    let expected = [[1_000, 200, 1_000], [1_450, 200, 700], [1_500, 200, 1_400], [1_650, 200, 500]];
    assert_eq!(rows(&scenario(&text, &users)), expected);
    // Whatever the seed: nothing is drawn.
    let mut other = scenario(&text, &users);
    other["seed"] = json!(2);
    assert_eq!(rows(&other), expected);
    let one = rows(&scenario(&text, &json!({"users": 1})));
    assert_eq!(one, [expected[0], expected[1], expected[3]]);
}

#[test]
fn a_user_may_begin_anew() {
    let text = format!("{HEAD},server\n0,0.3,100,1000,12\n0,0.5,100,800,3\n");
    let requested: Vec<u64> =
        rows(&scenario(&text, &json!({"users": 1, "repeat": true}))).iter().map(|r| r[0]).collect();
    assert_eq!(requested[..5], [300, 1_000, 1_500, 2_200, 2_700]);
    assert_eq!(requested.len(), 33);
}

#[test]
fn what_is_wrong_is_one_sentence() {
    let refused = |text: &str, users: u32| {
        let scenario = scenario(text, &json!({"users": users}));
        let read = Scenario::from_json(&scenario.to_string());
        match read.and_then(|s| s.check_parameters().map(|()| s)).and_then(Run::new) {
            Ok(_) => panic!("{text} was accepted"),
            Err(why) => why.to_string(),
        }
    };
    let good = format!("{HEAD}\n0,1,2,3");
    assert_eq!(
        refused(&good, 2),
        "traffic requests0: requests: ours.csv has the requests of 1 users, not of 2; write users = 1"
    );
    let why = refused(&format!("{good}\n0,1,2"), 1);
    assert!(why.starts_with("traffic requests0: requests: ours.csv, line 3: 3 values"), "{why}");
    let mut missing = scenario(&good, &json!({"users": 1}));
    missing["traffic"][0].as_object_mut().unwrap().remove("requests");
    let read = Scenario::from_json(&missing.to_string()).unwrap();
    let why = read.check_parameters().unwrap_err().to_string();
    assert!(why.contains("requests: is missing; give the name of a CSV file"), "{why}");
}

#[test]
fn a_response_says_what_was_sent_again_for_it() {
    let class = |script: Value| {
        let scenario = json!({
            "duration": "30 s", "network": {"rtt": "50 ms"}, "link": [{"rate": "10 Mbit/s"}],
            "traffic": [{"app": "loop", "users": 1, "reply": 1_000, "request": 100, "think": "60 s",
                         "start_within": "0 s", "tcp": "plain", "script": script}],
        });
        column(table(&simulate(&scenario), "responses"), "class")
    };
    let lost = |from: &str, packet: u32| {
        class(json!([{"drop": packet, "count": "packets", "from": from}]))
    };
    assert_eq!(lost("clients", 1), [1.0], "a SYN");
    assert_eq!(lost("servers", 1), [1.0], "a SYN-ACK");
    assert_eq!(lost("clients", 3), [3.0], "the request");
    assert_eq!(lost("servers", 2), [3.0], "the reply");
    assert_eq!(lost("servers", 3), [2.0], "the acceptor's FIN");
    assert_eq!(lost("clients", 5), [2.0], "the acknowledgement of it");
}

/// Nine of a hundred connections carry more than one request, some of them at once.
#[test]
fn who_closes_last_answers_all_before() {
    let outcome = simulate(&json!({
        "duration": "30 s", "network": {"rtt": "20 ms"}, "link": [{"rate": "1 Gbit/s"}],
        "traffic": [{"app": "packmime", "connections_per_s": 30, "http": "http11-pipelined"}],
    }));
    let [connections, requests, responses, open, failed] =
        ["connections", "requests", "responses", "requests_open_at_end", "responses_failed"]
            .map(|name| outcome.summary.number(name));
    assert!(requests > 1.1 * connections, "{requests} on {connections} connections");
    assert_eq!((responses + open, failed), (requests, 0.0));
    assert!(open < 0.01 * requests, "{open} open at the end");
}

#[test]
fn a_second_visit_by_quic_saves_its_round_trip_and_no_other_does() {
    // Two users of one machine; each has tickets of his own, for the servers that he has visited.
    let text = format!(
        "{HEAD},server\n0,1,100,1000,0\n0,1,100,1000,0\n0,1,100,1000,1\n0,1,100,1000,0\n1,4,100,1000,0\n1,1,100,1000,0\n"
    );
    let took = |tickets: bool| {
        let tcp = json!({"profile": "quic", "tickets": tickets});
        let mut scenario = scenario(&text, &json!({"users": 2, "tcp": tcp}));
        scenario["network"]["servers"] = json!(2);
        let mut rows = rows(&scenario);
        rows.sort_unstable();
        rows.into_iter().map(|[at, took, _]| (at, took)).collect::<Vec<_>>()
    };
    assert_eq!(
        took(false),
        [(1000, 200), (2200, 200), (3400, 200), (4000, 200), (4600, 200), (5200, 200)]
    );
    assert_eq!(
        took(true),
        [(1000, 200), (2200, 100), (3300, 200), (4000, 200), (4500, 100), (5200, 100)]
    );
}
