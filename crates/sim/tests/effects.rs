//! Effects of links in whole runs: both engines agree, one effect moves no draw of another, and what
//! happens to packets is what the list says.

use crate::engines;
use crate::outcome::{column, group, simulate, table};
use aqmlab_sim::effect::EFFECTS;
use aqmlab_sim::{Outcome, Scenario, run, summary_json};
use packet::Rng;
use record::Figure;
use serde_json::{Value, json};

/// An effect of each kind, some of them at random.
fn effect(kind: &str, rng: &mut Rng) -> Value {
    let mut of = match kind {
        "loss" => json!({"share": 0.02}),
        "gilbert-elliott" => json!({"p": 0.01, "r": 0.4}),
        "loss-steps" => json!({"steps": [["0 s", 0], ["1 s", "10 %"]], "repeat": "2 s"}),
        "delay" => json!({"delay": "5 ms", "jitter": "4 ms", "distribution": "pareto",
                          "correlation": 0.2, "keep_order": rng.below(2) == 0}),
        "delay-steps" => json!({"steps": [["0 s", "5 ms"], ["1 s", "40 ms"]], "repeat": "1.5 s",
                                "keep_order": rng.below(2) == 0}),
        "delay-walk" => json!({"max": "30 ms", "keep_order": rng.below(2) == 0}),
        "netem-slot" => json!({"min_delay": "1 ms", "max_delay": "6 ms", "packets": 5}),
        "policer" => json!({"rate": "1 Mbit/s", "burst": 20_000,
                            "action": if rng.below(2) == 0 { "mark" } else { "drop" }}),
        "slots" => json!({"period": "4 ms", "longest_period": "9 ms", "share": 0.3}),
        "outages" => json!({"every": "2 s", "length": "0.2 s", "drawn": "exponential"}),
        _ => json!({"share": 0.02}),
    };
    of["kind"] = json!(kind);
    of["direction"] = json!(["both", "forward", "reverse"][rng.below(3) as usize]);
    of
}

/// A random scenario of the engines' test with effects on its links.
fn scenario(seed: u64) -> Value {
    let mut scenario = engines::scenario(seed);
    let mut rng = Rng::indexed(seed, "effects", 0);
    for link in scenario["link"].as_array_mut().unwrap() {
        let trace = ["", "reverse_"].iter().any(|p| link.get(format!("{p}rate_trace")).is_some());
        let mut effects = Vec::new();
        for _ in 0..1 + rng.below(4) {
            let kind = EFFECTS[rng.below(EFFECTS.len() as u64) as usize];
            if !(trace && kind.acts == "on the line") {
                effects.push(effect(kind.about.name, &mut rng));
            }
        }
        link["effects"] = json!(effects);
    }
    scenario
}

fn comparable(outcome: &Outcome) -> Value {
    let mut json = summary_json(&outcome.summary);
    json.as_object_mut().unwrap().remove("events");
    json
}

#[test]
fn both_engines_agree_with_effects_on() {
    let mut counts = [0.0; 6];
    for seed in 0..40 {
        let [folded, explicit] = ["folded", "explicit"].map(|engine| {
            let mut scenario = scenario(seed);
            scenario["engine"] = json!(engine);
            scenario["duration"] = json!("5 s");
            simulate(&scenario)
        });
        assert_eq!(comparable(&folded), comparable(&explicit), "{seed}: {}", scenario(seed));
        let Some(Figure::Group(effects)) = folded.summary.get("effects") else { continue };
        for (_, effect) in &effects.0 {
            let Figure::Group(effect) = effect else { panic!() };
            let names = ["packets", "lost", "marked", "copied", "corrupted", "held"];
            names.iter().zip(&mut counts).for_each(|(name, sum)| *sum += effect.number(name));
        }
    }
    assert!(counts.iter().all(|count| *count > 10.0), "all of it happens: {counts:?}");
}

fn bulk(link: Value) -> Value {
    let mut all = json!({"rate": "8 Mbit/s", "forward": "droptail"});
    all.as_object_mut().unwrap().extend(link.as_object().unwrap().clone());
    json!({
        "duration": "10 s", "warmup": "1 s", "network": {"rtt": "30 ms"}, "link": [all],
        "traffic": [{"app": "bulk", "flows": 3, "tcp": "linux"}],
    })
}

fn fingerprint(scenario: &Value) -> String {
    match simulate(scenario).summary.get("fingerprint") {
        Some(Figure::Text(print)) => print.clone(),
        other => panic!("{other:?}"),
    }
}

#[test]
fn effects_that_do_nothing_move_nothing() {
    let without = fingerprint(&bulk(json!({})));
    for effects in [
        json!([]),
        json!([{"kind": "loss", "share": 0}]),
        json!([{"kind": "delay"}, {"kind": "corrupt"}, {"kind": "duplicate", "share": 0}]),
        json!([{"kind": "policer", "rate": "1 Gbit/s"}, {"kind": "reorder", "share": 0}]),
        json!([{"kind": "slots", "share": 1}]),
        json!([{"kind": "outages", "first": "100 s"}]),
    ] {
        assert_eq!(fingerprint(&bulk(json!({"effects": effects}))), without, "{effects}");
    }
}

/// Which datagrams of a stream were lost.
fn lost(effects: Value) -> Vec<usize> {
    let scenario = json!({
        "duration": "20 s", "network": {"rtt": "0 s"},
        "link": [{"rate": "100 Mbit/s", "effects": effects}],
        "traffic": [{"app": "cbr", "flows": 1, "rate": "800 kbit/s", "packet": 100,
                     "start_within": "0 s"}],
    });
    let outcome = simulate(&scenario);
    let delays = column(table(&outcome, "datagrams"), "delay_ns");
    // The last ones may be under way at the end.
    let lost = delays.iter().enumerate().take(15_000).filter(|(_, d)| **d > 1e18);
    lost.map(|(i, _)| i).collect()
}

#[test]
fn one_more_effect_moves_no_draw_of_another() {
    let loss = json!({"kind": "loss", "share": 0.02});
    let alone = lost(json!([loss]));
    assert!(alone.len() > 200, "{}", alone.len());
    let delay = json!({"kind": "delay", "delay": "3 ms", "jitter": "1 ms"});
    assert_eq!(lost(json!([delay, loss])), alone);
    assert_eq!(lost(json!([loss, delay, {"kind": "slots", "period": "2 ms"}])), alone);
    let twice = lost(json!([loss, loss]));
    assert!(alone.iter().all(|number| twice.contains(number)) && twice.len() > alone.len());
    let reverse = json!({"kind": "loss", "share": 0.02, "direction": "reverse"});
    assert_eq!(lost(json!([reverse])), Vec::<usize>::new(), "the datagrams go forward");
}

#[test]
fn effects_in_a_chain_act_in_its_order() {
    // All are lost from 10 s on; a delay of 4 s before that moves those of 6 s there.
    let steps = json!({"kind": "loss-steps", "steps": [["0 s", 0], ["10 s", 1]]});
    let delay = json!({"kind": "delay", "delay": "4 s"});
    let first = |effects: Value| lost(effects)[0];
    assert_eq!(first(json!([steps, delay])), 10_000);
    assert_eq!(first(json!([delay, steps])), 6_000);
}

#[test]
fn held_packets_are_overtaken_by_as_many() {
    let scenario = json!({
        "duration": "20 s", "network": {"rtt": "0 s"},
        "link": [{"rate": "100 Mbit/s",
                  "effects": [{"kind": "reorder", "share": 0.01, "distance": 4, "at_most": "2 s"}]}],
        "traffic": [{"app": "cbr", "flows": 1, "rate": "800 kbit/s", "packet": 100,
                     "start_within": "0 s"}],
    });
    let outcome = simulate(&scenario);
    let rows = table(&outcome, "datagrams");
    let (sent, delay) = (column(rows, "sent_ns"), column(rows, "delay_ns"));
    // Four packets, a millisecond each: it goes on behind the fourth.
    let held: Vec<f64> = delay.iter().copied().filter(|d| *d > 1e6 && *d < 1e18).collect();
    assert!(held.len() > 100 && sent.len() > 19_000, "{}", held.len());
    let four = |d: &&f64| (**d - 4e6).abs() < 1e5;
    assert!(held.iter().filter(four).count() as f64 > 0.9 * held.len() as f64);
    let counts = group(group(&outcome.summary, "effects"), "bottleneck.forward.reorder");
    assert!(counts.number("held") >= held.len() as f64);
}

#[test]
fn corrupted_packets_take_their_place_in_later_queues_and_are_lost_at_the_end() {
    let scenario = json!({
        "duration": "10 s", "network": {"rtt": "0 s"},
        "link": [{"name": "first", "rate": "1 Mbit/s",
                  "effects": [{"kind": "corrupt", "share": 0.5}]},
                 {"name": "second", "rate": "1 Mbit/s"}],
        "traffic": [{"app": "cbr", "flows": 1, "rate": "400 kbit/s", "packet": 1000,
                     "start_within": "0 s"}],
    });
    let outcome = simulate(&scenario);
    let effects = group(&outcome.summary, "effects");
    let corrupted = group(effects, "first.forward.corrupt").number("corrupted");
    let discarded = group(effects, "discarded").number("lost");
    assert!(corrupted > 200.0 && (corrupted - discarded).abs() <= 1.0, "{corrupted}, {discarded}");
    let ports = group(&outcome.summary, "ports");
    let through = |name| group(ports, name).number("arrivals");
    assert!((through("first.forward") - through("second.forward")).abs() <= 1.0);
}

#[test]
fn copies_reach_tcp_and_not_the_receivers_of_datagrams() {
    let twice = json!([{"kind": "duplicate", "share": 1}]);
    assert_eq!(lost(twice.clone()), Vec::<usize>::new());
    let outcome = simulate(&bulk(json!({"effects": twice})));
    let copied = group(group(&outcome.summary, "effects"), "bottleneck.forward.duplicate");
    assert!(copied.number("copied") > 1_000.0);
    assert!(outcome.summary.number("utilisation") > 0.8, "TCP lives with them");
}

#[test]
fn a_policer_and_slots_are_felt() {
    let limited = simulate(&bulk(json!({"effects": [
        {"kind": "policer", "rate": "2 Mbit/s", "burst": 30_000, "direction": "forward"}]})));
    let used = limited.summary.number("utilisation");
    assert!((0.15..0.26).contains(&used), "a quarter of 8 Mbit/s at most: {used}");
    assert_eq!(limited.summary.number("drops"), 0.0, "the policer's drops are not the queue's");
    let slots = simulate(&bulk(json!({"effects": [
        {"kind": "slots", "period": "8 ms", "share": 0.25}]})));
    assert!((slots.summary.number("capacity_mean_bits_per_s") / 8e6 - 1.0).abs() < 1e-3);
    assert!(slots.summary.number("utilisation") > 0.9);
}

#[test]
fn slots_are_steps_of_a_rate() {
    // What the first look at bursty lines wrote by hand: 32 Mbit/s for a quarter of the time.
    let steps = json!({"rate": "8 Mbit/s", "rate_repeat": "8 ms",
                       "rate_steps": [["0 s", "32 Mbit/s"], ["2 ms", "0 bit/s"]]});
    let slots = json!({"effects": [{"kind": "slots", "period": "8 ms", "share": 0.25}]});
    assert_eq!(fingerprint(&bulk(steps)), fingerprint(&bulk(slots)));
}

#[test]
fn a_written_scenario_is_the_same_one() {
    for seed in 0..10 {
        let text = scenario(seed).to_string();
        let read = Scenario::from_json(&text).unwrap();
        let again = Scenario::from_json(&read.to_json().to_string()).unwrap();
        assert_eq!(read.to_json(), again.to_json());
    }
    let one = Scenario::from_json(&scenario(3).to_string()).unwrap();
    let again = Scenario::from_json(&one.to_json().to_string()).unwrap();
    let print = |scenario| summary_json(&run(scenario).unwrap().summary)["fingerprint"].clone();
    assert_eq!(print(one), print(again));
}

#[test]
fn mistakes_are_one_sentence_with_the_path() {
    for (effects, why) in [
        (json!({"kind": "loss"}), "link.0.effects: must be a list of tables"),
        (json!([{"share": 0.1}]), "link.0.effects.0: kind is missing"),
        (json!([{"kind": "los"}]), "link.0.effects.0.kind: "),
        (json!([{"kind": "loss", "share": 2}]), "link.0.effects.0.share: "),
        (json!([{"kind": "loss", "direction": "up"}]), "link.0.effects.0.direction: "),
        (json!([{"kind": "delay-steps"}]), "link.0.effects.0.steps: missing"),
        (json!([{"kind": "delay-steps", "steps": [["1 s", "1 ms"]]}]), "say what holds from"),
        (
            json!([{"kind": "delay-steps", "steps": [["0 s", 3]]}]),
            "link.0.effects.0.steps.0: 3 has no unit",
        ),
        (json!([{"kind": "delay-walk", "min": "1 s", "max": "1 ms"}]), "link.0.effects.0.max: "),
        (json!([{"kind": "slots", "share": 0.5, "bytes": 3}]), "exclude each other"),
        (
            json!([{"kind": "slots", "bytes": 10_000}]),
            "link.0.effects.0.bytes: the slot takes 10 ms",
        ),
        (json!([{"kind": "outages", "length": "20 s"}]), "link.0.effects.0.length: "),
        (json!([{"kind": "loss-steps", "steps": {"file": "x"}}]), "has no text"),
    ] {
        let text = bulk(json!({"effects": effects})).to_string();
        let refused = match Scenario::from_json(&text) {
            Err(refused) => refused.to_string(),
            Ok(scenario) => scenario.check_parameters().unwrap_err().to_string(),
        };
        assert!(refused.contains(why) && !refused.contains('\n'), "{effects}: {refused}");
    }
}
