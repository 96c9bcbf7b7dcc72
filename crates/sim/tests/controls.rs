//! Today's congestion controls, one flow each on an otherwise idle line.

use aqmlab_sim::{Scenario, run};
use record::Summary;
use serde_json::{Value, json};

fn summary(scenario: &Value) -> Summary {
    run(Scenario::from_json(&scenario.to_string()).unwrap()).unwrap().summary
}

/// A line: Mbit/s, base round trip in ms, room of its drop-tail queue in bandwidth-delay products.
type Line = (f64, f64, f64);

/// One endless flow with this control.
fn alone(control: &str, (megabits, trip_ms, products): Line) -> Summary {
    let packets = (products * megabits * trip_ms * 125.0 / 1_500.0).ceil();
    summary(&json!({
        "duration": "40 s", "warmup": "10 s", "seed": 1,
        "network": {"rtt": format!("{trip_ms} ms")},
        "link": [{"rate": format!("{megabits} Mbit/s"),
                  "forward": {"aqm": "droptail", "limit": packets}}],
        "traffic": [{"app": "bulk", "flows": 1,
                     "tcp": {"profile": "linux", "congestion": control}}],
    }))
}

#[test]
fn a_bbr3_flow_fills_the_line_in_less_than_two_round_trips() {
    for megabits in [10.0, 50.0, 100.0] {
        for trip_ms in [20.0, 100.0] {
            for products in [1.0, 5.0] {
                let line = (megabits, trip_ms, products);
                let s = alone("bbr3", line);
                let used = s.number("utilisation");
                let trips = 1.0 + s.number("queue_delay_mean_s") * 1e3 / trip_ms;
                assert!(used >= 0.95, "{line:?}: {used}");
                assert!(trips < 2.0, "{line:?}: {trips} round trips");
            }
        }
    }
}

#[test]
fn bbr_flows_of_short_round_trips_share_the_line() {
    // At 200 ms version 3 does not: there each visit to ProbeRTT, which the flows make together every
    // five seconds, ends a probe before its rates count (docs/end-systems.md).
    for (control, trip) in [("bbr", 20), ("bbr", 200), ("bbr3", 20)] {
        let room = trip * 5_000_000 / 8 / 1_000 / 1_500;
        let s = summary(&json!({
            "duration": "300 s", "warmup": "30 s", "seed": 3,
            "network": {"rtt": format!("{trip} ms")},
            "link": [{"rate": "10 Mbit/s", "forward": {"aqm": "droptail", "limit": 10 * room}}],
            "traffic": [{"app": "bulk", "flows": 5, "start_within": "1 s",
                         "tcp": {"profile": "linux", "congestion": control}}],
        }));
        let jain = s.number("jain_index");
        assert!(jain > 0.98, "{control} {trip} ms: {jain}");
    }
}

#[test]
fn a_bbr3_flow_learns_what_a_shallow_queue_holds() {
    // A fifth of a bandwidth-delay product: what was in flight when segments were lost bounds the
    // flight of the next cycles.
    let s = alone("bbr3", (50.0, 40.0, 0.2));
    let (used, lost) = (s.number("utilisation"), s.number("drop_rate"));
    assert!(used > 0.95, "{used}");
    // Not told of lost segments it loses 0.7 %.
    assert!(lost < 0.003, "{lost}");
}

#[test]
fn a_vegas_flow_keeps_two_to_four_segments_in_the_queue() {
    for line in [(4.0, 50.0, 5.0), (10.0, 20.0, 2.0), (50.0, 40.0, 2.0), (100.0, 100.0, 5.0)] {
        let s = alone("vegas", line);
        // What lies there beside it: the pair of an acknowledgement arrives at once.
        let queued = s.number("queue_time_mean_packets");
        assert!((2.0..=5.0).contains(&queued), "{line:?}: {queued} packets");
        assert!(s.number("utilisation") > 0.99, "{line:?}");
        assert_eq!(s.number("drops"), 0.0, "{line:?}");
    }
}

#[test]
fn a_cubic_flow_fills_line_and_queue() {
    for line in [(10.0, 50.0, 1.0), (100.0, 20.0, 1.0), (50.0, 100.0, 0.5)] {
        let s = alone("cubic", line);
        let used = s.number("utilisation");
        // 0.7 of 1.5 products is a full line; so less than half a product empties the queue.
        assert!(used > 0.99, "{line:?}: {used}");
        assert!(s.number("drops") > 0.0 && s.number("timeouts") == 0.0, "{line:?}");
        assert!(s.number("drop_rate") < 0.01, "{line:?}");
    }
}

#[test]
fn a_ledbat_flow_leaves_the_line_to_others_and_takes_it_when_they_are_gone() {
    // Beside CUBIC on a line with room for half a second it gets next to nothing, and CUBIC as good as
    // all; alone nine tenths.
    let line = |traffic: Value| {
        json!({
            "duration": "120 s", "warmup": "40 s", "seed": 1,
            "network": {"rtt": "40 ms"},
            "link": [{"rate": "10 Mbit/s", "forward": {"aqm": "droptail", "limit": 400}}],
            "traffic": traffic,
        })
    };
    let flow = |name: &str, control: &str| {
        json!({"name": name, "app": "bulk", "flows": 1,
               "tcp": {"profile": "linux", "congestion": control}})
    };
    let alone = summary(&line(json!([flow("background", "ledbat++")])));
    assert!(alone.number("utilisation") > 0.9, "{}", alone.number("utilisation"));
    assert_eq!(alone.number("drops"), 0.0);
    let wait = alone.number("queue_delay_mean_s");
    assert!((0.03..0.07).contains(&wait), "{wait}");
    let both = summary(&line(json!([flow("background", "ledbat++"), flow("foreground", "cubic")])));
    let least = both.number("long_flow_goodput_min_bits_per_s");
    assert!(least < 0.02 * both.number("long_flow_goodput_max_bits_per_s"), "{least}");
    assert!(both.number("utilisation") > 0.99);
}
