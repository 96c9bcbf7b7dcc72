//! Scenarios with more links, routes, machines and groups than 16 bits count: each packet goes its
//! own way, or one sentence says what is too much.

use aqmlab_sim::{Scenario, run};
use record::{Figure, Summary};
use serde_json::{Value as Json, json};

fn links(count: usize) -> Json {
    (0..count).map(|i| json!({"name": format!("l{i}"), "rate": "10 Mbit/s"})).collect()
}

/// One flow of a few packets.
fn few(via: Json) -> Json {
    json!({"app": "burst", "flows": 1, "bytes": 4_000, "via": via})
}

fn scenario(links: Json, traffic: Json) -> Json {
    json!({
        "duration": "0.2 s",
        "network": {"rtt": "10 ms"},
        "link": links,
        "traffic": traffic,
        "record": {"samples": false},
    })
}

/// Names of the ports that packets have left.
fn used(scenario: &Json) -> Vec<String> {
    let outcome = run(Scenario::from_json(&scenario.to_string()).unwrap()).unwrap();
    let Some(Figure::Group(Summary(ports))) = outcome.summary.get("ports") else { panic!() };
    let busy = ports.iter().filter(|(_, port)| match port {
        Figure::Group(port) => port.number("departures") > 0.0,
        _ => panic!("a port has figures"),
    });
    busy.map(|(name, _)| name.clone()).collect()
}

fn refusal(scenario: &Json) -> String {
    let refused = Scenario::from_json(&scenario.to_string()).err();
    refused.expect("it is too large").to_string()
}

#[test]
fn packets_cross_their_own_link_among_33_000() {
    // Its ports are numbers 32,999 and 65,999: with 16 bits the way back led over link 462.
    let far = scenario(links(33_000), json!([few(json!(["l32999"]))]));
    assert_eq!(used(&far), ["l32999.forward", "l32999.reverse"]);
}

#[test]
fn packets_go_their_own_way_among_84_000_routes() {
    let ways = [json!(["l0"]), json!(["l1"]), json!(["l0", "l1"]), json!(["l0", "l2"])];
    let ways = ways.into_iter().chain([json!(["l1", "l2"]), json!(["l2"])]);
    // Only the last group sends within the run.
    let groups: Vec<Json> = ways
        .enumerate()
        .map(|(i, via)| {
            let mut group = few(via);
            group["start_at"] = json!(if i == 5 { "0 s" } else { "1 h" });
            group
        })
        .collect();
    let mut wide = scenario(links(3), json!(groups));
    wide["network"]["clients"] = json!(14_000);
    wide["network"]["access_rate"] = json!("1 Gbit/s");
    assert_eq!(used(&wide), ["l2.forward", "l2.reverse"]);
}

#[test]
fn the_last_machine_of_a_side_is_itself() {
    let mut many = scenario(links(1), json!([few(json!(["l0"]))]));
    many["network"]["clients"] = json!(65_535);
    assert_eq!(used(&many), ["l0.forward", "l0.reverse"]);
    many["network"]["clients"] = json!(65_536);
    let why = refusal(&many);
    assert!(why.starts_with("network.clients: 65536 is out of range"), "{why}");
}

#[test]
fn what_is_too_much_is_refused_in_a_sentence() {
    let why = refusal(&scenario(links(65_001), json!([few(json!(["l0"]))])));
    assert_eq!(why, "link: 65001 links are too many; at most 65000");

    let groups: Vec<Json> = (0..65_536)
        .map(|i| json!({"app": "cbr", "name": format!("g{i}"), "flows": 1, "rate": "1 Mbit/s"}))
        .collect();
    let why = refusal(&scenario(links(1), json!(groups)));
    assert!(why.starts_with("traffic: 65536 groups are too many; give at most 65535"), "{why}");

    let crowds: Vec<Json> = (0..41).map(|_| json!({"app": "bulk", "flows": 100_000_000})).collect();
    let why = refusal(&scenario(links(1), json!(crowds)));
    assert!(why.contains("4100000000 users and flows together are too many"), "{why}");

    let mut wide = scenario(links(33_000), json!([{"app": "bulk", "flows": 1}]));
    wide["network"]["clients"] = json!(14_000);
    wide["network"]["access_rate"] = json!("1 Gbit/s");
    let why = refusal(&wide);
    // 33,000 links and the machine's own line, for each machine; the group's links and its routes.
    let hops = 33_001 * 14_007 + 33_000 + 14_007;
    let said = format!("14007 machines with lines of their own make routes of {hops} ports");
    assert!(why.contains(&said), "{why}");
}
