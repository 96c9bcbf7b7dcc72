//! A mobile cell: what its slots carry, HARQ, who is served, requests upstream, marks.

use crate::outcome::{group, simulate};
use aqmlab_sim::{Outcome, Scenario};
use serde_json::{Value, json};

fn cell(duration: &str, own: Value, forward: Value, traffic: Value) -> Value {
    let clients = own.get("quality").and_then(Value::as_array).map_or(3, Vec::len);
    json!({"duration": duration, "warmup": "1 s", "seed": 4, "network": {"rtt": "2 ms", "clients": clients, "servers": 3},
        "link": [{"name": "air", "rate": "100 Mbit/s", "cell": own, "forward": forward,
                  "reverse": {"aqm": "droptail", "limit": 2000}}],
        "traffic": traffic, "record": {"samples": false, "datagrams": false}})
}

fn fifo() -> Value {
    json!({"aqm": "droptail", "limit": 2000})
}

fn ue<'a>(outcome: &'a Outcome, port: &str, number: usize) -> &'a record::Summary {
    group(group(group(&outcome.summary, "cell"), port), &number.to_string())
}

fn port<'a>(outcome: &'a Outcome, name: &str) -> &'a record::Summary {
    group(group(&outcome.summary, "ports"), name)
}

fn flood(side: &str, flows: u32, rate: &str) -> Value {
    json!([{"app": "cbr", "flows": flows, "side": side, "rate": rate, "packet": 1472, "start_within": "0.1 s"}])
}

/// 106 blocks of 12 subcarriers and 14 symbols, 14 % overhead, two layers, CQI 11 (5.1152 bit/s/Hz): 156.7 kbit a slot. 2,000
/// slots a second, of which DDDSU has 3 and 10/14 of five downstream; of their parts 1/(1 + 0.1 + 0.001) carry what is new.
#[test]
fn a_saturated_cell_carries_what_arithmetic_says() {
    let own = json!({"quality": [11], "moves": 0});
    let outcome = simulate(&cell("11 s", own.clone(), fifo(), flood("servers", 30, "10 Mbit/s")));
    let slot = 106.0 * 12.0 * 14.0 * 0.86 * 2.0 * 5.1152;
    let expected = slot * 2_000.0 * (3.0 + 10.0 / 14.0) / 5.0 / 1.101;
    let said = 8.0 * port(&outcome, "air.forward").number("throughput_bytes_per_s");
    assert!((said / expected - 1.0).abs() < 0.01, "{said} bit/s, not {expected}");
    let of = ue(&outcome, "air.forward", 0);
    let again = of.number("blocks_repeated_share");
    // 15,000 blocks: five standard deviations of 0.0026.
    assert!((again - 0.101).abs() < 0.013, "{again}");
    assert!((of.number("efficiency_mean") - 5.1152).abs() < 1e-9);
    // Upstream one layer, a slot of five and 2/14 of another.
    let up = simulate(&cell("11 s", own, fifo(), flood("clients", 6, "10 Mbit/s")));
    let expected = slot / 2.0 * 2_000.0 * (1.0 + 2.0 / 14.0) / 5.0 / 1.101;
    let said = 8.0 * port(&up, "air.reverse").number("throughput_bytes_per_s");
    assert!((said / expected - 1.0).abs() < 0.02, "{said} bit/s, not {expected}");
}

/// An idle UE's packet upstream waits for its opportunity (half a period), for the grant (8 ms), for the next subframe (half of one).
#[test]
fn a_lone_packet_waits_for_its_grant() {
    let own = json!({"profile": "lte", "quality": [9], "moves": 0, "error": 0});
    let lone = json!([{"app": "cbr", "flows": 1, "side": "clients", "rate": "16913.32 bit/s", "packet": 72, "start_within": "0.1 s"}]);
    let outcome = simulate(&cell("600 s", own, fifo(), lone));
    let waited = port(&outcome, "air.reverse").number("queue_delay_mean_s");
    // The opportunities of a UE have one phase: from one to the next subframe is up to 1 ms.
    assert!((waited - 0.0135).abs() < 0.6e-3, "{waited} s");
    assert!(port(&outcome, "air.reverse").number("queue_delay_max_s") <= 0.0191);
}

/// Bytes that CoDel dropped upstream are no longer waited for: once a flood is over, a lone packet needs a grant again.
#[test]
fn the_scheduler_forgets_what_was_dropped() {
    let own = json!({"profile": "lte", "quality": [9], "moves": 0, "error": 0});
    let traffic = json!([
        {"app": "cbr", "flows": 4, "side": "clients", "rate": "20 Mbit/s", "packet": 1472, "start_within": "0.1 s", "lasts": "3 s"},
        {"app": "cbr", "flows": 1, "side": "clients", "rate": "16913.32 bit/s", "packet": 72, "start": "20 s", "start_within": "0.1 s"},
    ]);
    let mut scenario = cell("600 s", own, fifo(), traffic);
    scenario["warmup"] = json!("19 s");
    scenario["link"][0]["reverse"] = json!({"aqm": "codel"});
    let outcome = simulate(&scenario);
    let waited = port(&outcome, "air.reverse").number("queue_delay_mean_s");
    assert!((waited - 0.0135).abs() < 0.6e-3, "{waited} s");
}

/// Three UEs of unlike quality under saturation get equal parts of the slots, and unlike rates.
#[test]
fn proportional_fairness_gives_equal_time() {
    let own = json!({"quality": [14, 10, 5]});
    let outcome = simulate(&cell("11 s", own, fifo(), flood("servers", 60, "10 Mbit/s")));
    let slots = [0, 1, 2].map(|n| ue(&outcome, "air.forward", n).number("slots_per_s"));
    let total: f64 = slots.iter().sum();
    for share in slots.map(|slots| slots / total) {
        assert!((share - 1.0 / 3.0).abs() < 0.03, "{slots:?}");
    }
    let efficiency = [0, 1, 2].map(|n| ue(&outcome, "air.forward", n).number("efficiency_mean"));
    assert!(efficiency[0] > efficiency[1] && efficiency[1] > 1.5 * efficiency[2], "{efficiency:?}");
}

#[test]
fn what_harq_gives_up_comes_late_or_not_at_all() {
    let run = |rlc: &str| {
        let own = json!({"quality": [9], "error": 0.5, "retransmission_error": 0.5, "tries": 2, "rlc": rlc});
        let bulk = json!([{"app": "bulk", "flows": 2, "start_within": "0 s", "tcp": {"profile": "plain"}}]);
        simulate(&cell("6 s", own, fifo(), bulk))
    };
    let [am, um] = ["am", "um"].map(run);
    let given_up = |outcome: &Outcome| ue(outcome, "air.forward", 0).number("blocks_given_up");
    assert!(given_up(&am) > 20.0 && given_up(&um) > 0.0, "{} {}", given_up(&am), given_up(&um));
    let sent = |outcome: &Outcome| port(outcome, "air.forward").number("throughput_bytes_per_s");
    assert!(
        sent(&am) > 3.0 * sent(&um),
        "{} {}: TCP takes losses for congestion",
        sent(&am),
        sent(&um)
    );
}

/// Blocks fail independently: of two tries at a half, a quarter is given up; of three, an eighth.
#[test]
fn a_block_is_sent_as_often_as_it_may_be() {
    for (tries, expected) in [(2, 0.25), (3, 0.125)] {
        let own = json!({"quality": [9], "moves": 0, "error": 0.5, "retransmission_error": 0.5, "tries": tries, "rlc": "um"});
        let outcome = simulate(&cell("11 s", own, fifo(), flood("servers", 30, "10 Mbit/s")));
        let of = ue(&outcome, "air.forward", 0);
        let (given_up, blocks) = (of.number("blocks_given_up"), of.number("blocks"));
        let share = given_up / blocks;
        let sd = (expected * (1.0 - expected) / blocks).sqrt();
        assert!((share - expected).abs() < 5.0 * sd, "{tries}: {share} of {blocks}");
    }
}

/// L4Span keeps a Prague sender's queue short at nearly the rate of the cell.
#[test]
fn marks_in_the_access_network_keep_the_queue_short() {
    let run = |marking: &str| {
        let own = json!({"quality": [10], "marking": marking});
        let bulk = json!([{"app": "bulk", "flows": 1, "start_within": "0 s",
                           "tcp": {"profile": "linux", "congestion": "prague", "ecn": true}}]);
        simulate(&cell("12 s", own, json!({"aqm": "droptail", "limit": 4000}), bulk))
    };
    let [none, marked] = ["none", "l4span"].map(run);
    let of = |outcome: &Outcome, name: &str| port(outcome, "air.forward").number(name);
    assert!(of(&marked, "marks") > 100.0 && of(&none, "marks") == 0.0);
    let waits = |outcome: &Outcome| of(outcome, "queue_delay_p50_s");
    assert!(
        waits(&marked) < 0.02 && waits(&none) > 5.0 * waits(&marked),
        "{} {}",
        waits(&none),
        waits(&marked)
    );
    let rate = |outcome: &Outcome| of(outcome, "throughput_bytes_per_s");
    assert!(rate(&marked) > 0.8 * rate(&none), "{} {}", rate(&marked), rate(&none));
}

#[test]
fn what_is_no_cell_is_refused_in_a_sentence() {
    let scenario =
        |own: Value| cell("2 s", own, fifo(), flood("servers", 1, "1 Mbit/s")).to_string();
    let why = Scenario::from_json(&scenario(json!({"quality": [17]}))).unwrap_err().to_string();
    assert!(why.starts_with("link.0.cell.quality: [17] is no list of channel qualities"), "{why}");
    let text = scenario(json!({"profile": "lte", "quality": [3, 12], "rlc": "um"}));
    let read = Scenario::from_json(&text).unwrap().to_json();
    assert_eq!(Scenario::from_json(&read.to_string()).unwrap().to_json(), read, "as it is written");
}
