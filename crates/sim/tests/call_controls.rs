//! The congestion controls of video calls side by side, on paths of RFC 8867's shape: NADA's own
//! tests are in `video_calls.rs`.

use crate::outcome::simulate;
use crate::video_calls::{drop_tail, path, received};
use record::Summary;
use serde_json::{Value, json};

/// SCReAM without its compensation for competing flows.
fn scream_alone() -> Value {
    json!({"name": "scream", "qdelay_target_hi": "100 ms"})
}

/// One call with this control over this link, 100 ms of round trip, measured between two instants, s.
fn call(control: Value, mut link: Value, more: &[Value], span: [u32; 2]) -> Summary {
    let mut traffic = vec![json!({
        "name": "call", "app": "rtc-video", "flows": 1, "both_ways": false, "start_within": "0 s",
        "ecn": true, "congestion": control,
    })];
    traffic.extend_from_slice(more);
    let forward = link["forward"].take();
    path(link, forward, json!(traffic), span)
}

fn queue_ms(summary: &Summary) -> f64 {
    1e3 * summary.number("queue_delay_mean_s")
}

#[test]
fn alone_each_fills_the_line_to_its_own_queue() {
    let alone = |control: Value, kbit_s: u64| {
        let link = json!({"rate": format!("{kbit_s} kbit/s"), "forward": drop_tail(kbit_s)});
        call(control, link, &[], [60, 120])
    };
    for kbit_s in [600, 1_000] {
        let gcc = alone(json!("gcc"), kbit_s);
        assert!(gcc.number("utilisation") > 0.85, "{}", gcc.number("utilisation"));
        // It backs off as soon as the delay grows, and never sees a full buffer.
        assert!(queue_ms(&gcc) < 60.0, "{}", queue_ms(&gcc));
        assert_eq!(gcc.number("rtc_lost_share"), 0.0);
        let scream = alone(scream_alone(), kbit_s);
        assert!(scream.number("utilisation") > 0.85, "{}", scream.number("utilisation"));
        // The encoder stays below the window, so that the queue stays below its target of 100 ms.
        assert!(queue_ms(&scream) < 80.0, "{}", queue_ms(&scream));
        assert!(scream.number("rtc_frame_delay_p95_s") < 0.3);
    }
}

#[test]
fn after_a_step_down_the_rate_is_there_within_seconds() {
    // 2.5 to 0.6 Mbit/s at 40 s. No text at hand gives a time; these are ours.
    let link = || {
        json!({"rate_steps": [["0 s", "2.5 Mbit/s"], ["40 s", "0.6 Mbit/s"]],
                         "forward": drop_tail(1_000)})
    };
    for (control, after_s, delay_s) in
        [(json!("gcc"), 45, 0.3), (scream_alone(), 45, 0.4), (json!("nada"), 50, 0.3)]
    {
        let run = call(control.clone(), link(), &[], [after_s, after_s + 10]);
        assert!((380.0..600.0).contains(&received(&run)), "{control}: {}", received(&run));
        let late = run.number("rtc_frame_delay_p95_s");
        assert!(late < delay_s, "{control}: {late} s");
    }
}

#[test]
fn beside_a_long_tcp_flow_in_a_deep_buffer() {
    let long = json!({"name": "long", "app": "bulk", "flows": 1});
    let rate = |control: Value| {
        let link = json!({"rate": "2 Mbit/s", "forward": drop_tail(2_000)});
        received(&call(control, link, std::slice::from_ref(&long), [60, 180]))
    };
    // GCC's threshold follows the delay that TCP makes. SCReAM's target does as well, and holds a
    // part; without that, and with NADA, TCP has nearly all.
    let (gcc, scream, fixed) = (rate(json!("gcc")), rate(json!("scream")), rate(scream_alone()));
    assert!((600.0..1_500.0).contains(&gcc), "{gcc}");
    assert!((180.0..1_000.0).contains(&scream) && fixed < 160.0, "{scream} {fixed}");
    assert!(rate(json!("nada")) < 200.0);
}

#[test]
fn scream_heeds_marks_and_gcc_does_not() {
    let codel = |ecn: bool| json!({"rate": "1 Mbit/s", "forward": {"aqm": "codel", "ecn": ecn}});
    let scream = call(json!("scream"), codel(true), &[], [40, 120]);
    assert!(scream.number("rtc_marked_share") > 0.0);
    assert_eq!(scream.number("rtc_lost_share"), 0.0);
    assert!(received(&scream) > 650.0 && queue_ms(&scream) < 40.0, "{}", queue_ms(&scream));
    // Marks that nobody heeds change nothing but what is marked.
    let gcc = call(json!("gcc"), codel(true), &[], [40, 120]);
    let unmarked = call(
        json!("gcc"),
        json!({"rate": "1 Mbit/s", "forward": drop_tail(1_000)}),
        &[],
        [40, 120],
    );
    assert!(gcc.number("rtc_marked_share") > 0.0);
    assert_eq!(received(&gcc), received(&unmarked));
}

#[test]
fn on_a_line_below_the_least_rate_scream_gives_up_what_waits_too_long() {
    let line = json!({"rate": "100 kbit/s", "forward": drop_tail(100)});
    let run = call(json!("scream"), line, &[], [20, 80]);
    assert!(run.number("rtc_frame_delay_p99_s") < 1.7);
    assert!(run.number("rtc_frames_lost_share") > 0.2);
    // A line that is gone for 3 s: the call is back, and not for ever silent.
    let gone = json!({"forward": drop_tail(2_000),
        "rate_steps": [["0 s", "2 Mbit/s"], ["40 s", "0 bit/s"], ["43 s", "2 Mbit/s"]]});
    for control in ["gcc", "scream"] {
        let run = call(json!(control), gone.clone(), &[], [60, 80]);
        assert!(received(&run) > 500.0, "{control}: {}", received(&run));
    }
}

#[test]
fn the_same_seed_gives_the_same_calls_in_both_engines() {
    for control in ["gcc", "scream"] {
        let run = |engine: &str| {
            let outcome = simulate(&json!({
                "duration": "40 s", "warmup": "5 s", "engine": engine, "network": {"rtt": "40 ms"},
                "link": [{"rate": "2 Mbit/s", "delay": "5 ms", "forward": {"aqm": "red", "ecn": true}}],
                "traffic": [{"app": "rtc-video", "flows": 3, "ecn": true, "congestion": control}],
            }));
            outcome.summary.get("fingerprint").cloned()
        };
        assert_eq!(run("folded"), run("explicit"), "{control}");
        assert_eq!(run("folded"), run("folded"), "{control}");
    }
}
