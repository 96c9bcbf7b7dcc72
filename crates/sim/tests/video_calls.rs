//! Video calls over the network: the test cases of RFC 8867 in shape, ECN, both ways, both engines.
//!
//! RFC 8867's paths have 50 ms one way and a drop-tail queue of 300 ms (section 4, recalled).

use crate::outcome::{column, simulate, table};
use record::Summary;
use serde_json::{Value, json};

fn calls(flows: u32, more: &[(&str, Value)]) -> Value {
    let mut group = json!({
        "name": "calls", "app": "rtc-video", "flows": flows, "both_ways": false,
        "start_within": "0 s",
    });
    for (field, value) in more {
        group[field] = value.clone();
    }
    group
}

/// A path of RFC 8867 with this link and traffic, measured between two instants, s.
pub fn path(mut link: Value, forward: Value, traffic: Value, [from, to]: [u32; 2]) -> Summary {
    link["delay"] = json!("1 ms");
    link["forward"] = forward;
    simulate(&json!({
        "duration": format!("{to} s"), "warmup": format!("{from} s"),
        "network": {"rtt": "98 ms"}, "link": [link], "traffic": traffic,
    }))
    .summary
}

/// 300 ms at `kbit_s`.
pub fn drop_tail(kbit_s: u64) -> Value {
    json!({"aqm": "droptail", "limit_bytes": format!("{} B", kbit_s * 300 / 8)})
}

pub fn received(summary: &Summary) -> f64 {
    summary.number("rtc_received_bits_per_s") / 1e3
}

#[test]
fn case_5_1_the_rate_follows_the_capacity_from_below() {
    let steps =
        [["0 s", "1 Mbit/s"], ["40 s", "2.5 Mbit/s"], ["60 s", "0.6 Mbit/s"], ["80 s", "1 Mbit/s"]];
    // Kbit/s and p95 of the frames' delay, ms, once each step has been there for a while.
    let expected = [
        ([25, 40], [850.0, 1_000.0], 250.0),
        ([52, 60], [1_250.0, 1_520.0], 300.0),
        ([72, 80], [480.0, 600.0], 250.0),
        ([92, 100], [700.0, 1_000.0], 250.0),
    ];
    for (span, [least, most], delay_ms) in expected {
        let link = json!({"rate_steps": steps});
        let run = path(link, drop_tail(1_000), json!([calls(1, &[])]), span);
        let (rate, delay) = (received(&run), 1e3 * run.number("rtc_frame_delay_p95_s"));
        assert!((least..=most).contains(&rate), "{span:?}: {rate} kbit/s");
        assert!(delay < delay_ms, "{span:?}: {delay} ms");
    }
}

#[test]
fn alone_it_keeps_the_queue_of_its_equilibrium() {
    // x = XREF * RMAX / rate (RFC 8698 section 4.3): 15 ms at 1 Mbit/s, 25 ms at 0.6, where frames
    // do not vary. The smallest of 15 packets' delays is less than their mean; of the delays, that of
    // a packet's own transmission is in NADA's (up to 16 ms), and not in the queue's.
    for (kbit_s, equilibrium_ms) in [(1_000, 15.0), (600, 25.0)] {
        let steady = [("size_scale", json!(0)), ("interval_scale", json!(0))];
        let link = json!({"rate": format!("{kbit_s} kbit/s")});
        let run = path(link, drop_tail(kbit_s), json!([calls(1, &steady)]), [60, 180]);
        let queue_ms = 1e3 * run.number("queue_delay_mean_s");
        assert!((equilibrium_ms - 8.0..equilibrium_ms + 30.0).contains(&queue_ms), "{queue_ms} ms");
        assert!(run.number("utilisation") > 0.95, "{}", run.number("utilisation"));
        assert_eq!(run.number("rtc_lost_share"), 0.0);
    }
}

#[test]
fn case_5_4_three_calls_share_fairly() {
    let link = json!({"rate": "3.5 Mbit/s"});
    let outcome = simulate(&json!({
        "duration": "180 s", "warmup": "60 s", "network": {"rtt": "98 ms"},
        "link": [{"rate": link["rate"], "delay": "1 ms", "forward": drop_tail(3_500)}],
        "traffic": [calls(3, &[])],
    }));
    let rates = column(table(&outcome, "video_calls"), "received_bits_per_s");
    let (sum, squares): (f64, f64) = rates.iter().fold((0.0, 0.0), |(s, q), r| (s + r, q + r * r));
    assert!(sum * sum / (3.0 * squares) > 0.95, "{rates:?}"); // Jain
    assert!((2.8e6..3.5e6).contains(&sum), "{rates:?}");
}

#[test]
fn case_5_6_beside_a_long_tcp_flow() {
    let traffic = || json!([calls(1, &[]), {"name": "long", "app": "bulk", "flows": 1}]);
    let run = |forward: Value| path(json!({"rate": "2 Mbit/s"}), forward, traffic(), [60, 180]);
    let (deep, fair) = (run(drop_tail(2_000)), run(json!("fq_codel")));
    // TCP fills 300 ms of buffer; the call lives on and shows its frames late.
    assert!((145.0..1_000.0).contains(&received(&deep)), "{}", received(&deep));
    assert!(deep.number("rtc_frame_delay_p50_s") > 0.2);
    // A queue of its own gives the call its share, and the call's packets do not wait behind TCP's.
    assert!(received(&fair) > 2.0 * received(&deep), "{}", received(&fair));
    assert!(fair.number("rtc_frame_delay_p50_s") < 0.13);
}

#[test]
fn case_5_7_beside_short_tcp_flows_it_keeps_a_rate() {
    let short = json!({"name": "short", "app": "loop", "flows": 10, "model": "ftp",
        "request": {"dist": "constant", "value": "1 kB"},
        "reply": {"dist": "constant", "value": "100 kB"},
        "think": {"dist": "exponential", "mean": "10 s"}});
    let traffic = json!([calls(2, &[]), short]);
    let run = path(json!({"rate": "2 Mbit/s"}), drop_tail(2_000), traffic, [60, 300]);
    assert!((200.0..1_000.0).contains(&received(&run)), "{}", received(&run));
    assert!(run.number("rtc_frame_delay_p95_s") < 0.8);
    assert!(run.number("rtc_lost_share") < 0.05);
}

#[test]
fn marks_slow_it_down_in_place_of_losses() {
    let codel = json!({"aqm": "codel", "ecn": true});
    let link = || json!({"rate": "1 Mbit/s"});
    let run = |ecn: bool| {
        path(link(), codel.clone(), json!([calls(1, &[("ecn", json!(ecn))])]), [40, 160])
    };
    let (marked, dropped) = (run(true), run(false));
    assert!(marked.number("rtc_marked_share") > 0.0 && marked.number("rtc_lost_share") == 0.0);
    assert!(dropped.number("rtc_lost_share") > 0.0 && dropped.number("rtc_marked_share") == 0.0);
    for (run, name) in [(marked, "marks"), (dropped, "drops")] {
        assert!((500.0..1_000.0).contains(&received(&run)), "{name}: {}", received(&run));
    }
}

#[test]
fn an_outage_freezes_the_picture_and_a_call_that_ends_is_silent() {
    // 3 s without a line: one freeze, longer by what was under way, and what waited comes late.
    let steps = json!([["0 s", "2 Mbit/s"], ["40 s", "0 bit/s"], ["43 s", "2 Mbit/s"]]);
    let one = || json!([calls(1, &[])]);
    let run = path(json!({"rate_steps": steps}), drop_tail(2_000), one(), [20, 80]);
    let frozen_s = 60.0 * run.number("rtc_frozen_share");
    assert_eq!(run.number("rtc_freezes_per_min"), 1.0);
    assert!((3.0..3.3).contains(&frozen_s), "{frozen_s}");
    assert!(run.number("rtc_frame_delay_p99_s") > 1.0);
    // 150 kbit/s at least, over 100 kbit/s: a third is lost.
    let run = path(json!({"rate": "100 kbit/s"}), drop_tail(100), one(), [20, 80]);
    assert!(received(&run) < 100.0 && run.number("rtc_lost_share") > 0.3);
    let lasts = calls(1, &[("lasts", json!("10 s"))]);
    let run = path(json!({"rate": "1 Mbit/s"}), drop_tail(1_000), json!([lasts]), [20, 80]);
    assert!(run.get("rtc_viewers").is_none());
    assert_eq!(run.number("arrivals"), 0.0);
}

#[test]
fn both_engines_give_the_same_call_both_ways() {
    let run = |engine: &str| {
        let outcome = simulate(&json!({
            "duration": "60 s", "warmup": "5 s", "engine": engine, "network": {"rtt": "40 ms"},
            "link": [{"rate": "2 Mbit/s", "delay": "5 ms", "forward": {"aqm": "red", "ecn": true},
                "reverse": "droptail"}],
            "traffic": [calls(3, &[("both_ways", json!(true)), ("ecn", json!(true))])],
        }));
        let table = table(&outcome, "video_calls").clone();
        assert_eq!(column(&table, "back"), [0.0, 1.0, 0.0, 1.0, 0.0, 1.0]);
        (outcome.summary.get("fingerprint").cloned(), format!("{table:?}"))
    };
    assert_eq!(run("folded"), run("explicit"));
}
