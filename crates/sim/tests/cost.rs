//! What a simulation costs, counted in events and never in seconds.

use aqmlab_sim::{Scenario, run};
use record::{Figure, Summary};
use serde_json::{Value, json};

fn web(users: u32, duration: &str) -> Value {
    json!({
        "duration": duration,
        "link": [{"rate": "100 Mbit/s", "forward": {"aqm": "droptail", "limit": 500}}],
        "traffic": [{"app": "web", "users": users, "tcp": "freebsd-2.2.8", "start": "stationary"}],
        "record": {"samples": false, "responses": false},
    })
}

fn bulk(duration: &str) -> Value {
    json!({
        "duration": duration, "network": {"rtt": "100 ms"},
        "link": [{"rate": "100 Mbit/s",
                  "forward": {"aqm": "red", "profile": "ns2-fixed", "min_th": 60, "max_th": 180,
                              "limit": 300, "mean_packet_bytes": 1500}}],
        "traffic": [{"app": "bulk", "flows": 50, "tcp": "plain"}],
    })
}

fn summary(scenario: &Value) -> Summary {
    run(Scenario::from_json(&scenario.to_string()).unwrap()).unwrap().summary
}

fn events_per_data_packet(scenario: &Value) -> f64 {
    let s = summary(scenario);
    s.number("events") / s.number("data_packets")
}

#[test]
fn an_idle_user_costs_one_event_for_each_time_it_wakes() {
    // In 20 s a user of mah-fit wakes 20/72 times and then fetches 2.8 files of some 7 packets.
    let s = summary(&web(20_000, "20 s"));
    let per_request = s.number("events") / s.number("requests");
    assert!(per_request < 40.0, "{per_request} events a request, so idle users cost some");
    let alone = summary(&web(1, "1 ms"));
    assert!(alone.number("events") <= 2.0, "{}", alone.number("events"));
}

#[test]
fn the_cost_of_a_packet_does_not_grow_with_time() {
    let (short, long) =
        (events_per_data_packet(&bulk("20 s")), events_per_data_packet(&bulk("200 s")));
    assert!(long < 1.05 * short, "{short} events a packet in 20 s, {long} in 200 s");
}

#[test]
fn a_data_packet_costs_less_than_two_events() {
    // Its arrival, and half an acknowledgement's; timers and access lines add little.
    let events = events_per_data_packet(&bulk("60 s"));
    assert!((1.4..1.7).contains(&events), "{events}");
}

#[test]
fn a_linux_host_costs_hardly_more_events_and_fills_its_link() {
    // Its timers move back with every acknowledgement, which costs no event; one that waits for more to
    // report (comp_sack_nr) does. How many acknowledgements there are is a rule of the host (0.59 for
    // each data packet here, 0.52 of plain), so they are counted.
    let mut scenario = bulk("60 s");
    scenario["traffic"][0]["tcp"] = json!("linux");
    let s = summary(&scenario);
    let Some(Figure::Group(ports)) = s.get("ports") else { panic!("no ports") };
    let Some(Figure::Group(back)) = ports.get("bottleneck.reverse") else { panic!("one link") };
    let packets = s.number("data_packets") + back.number("arrivals");
    let events = s.number("events") / packets;
    assert!((1.0..1.16).contains(&events), "{events} events for each packet on its way");
    let seen = s.number("utilisation");
    assert!(seen > 0.9, "{seen}");
}
