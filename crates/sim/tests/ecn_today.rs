//! ECN of today in the simulator: what receivers that ignore it gain, DCTCP behind a step, Prague
//! beside a classic flow through DualPI2. The seeds are fixed, so a failure means that the code
//! changed.

use crate::outcome::{column, simulate, table};
use record::Summary;
use serde_json::{Value, json};

/// Long transfers, one group for each of `senders`, through one queue.
fn transfers(rate: &str, rtt: &str, queue: &Value, seed: u64, senders: &[Value]) -> Value {
    let group = |tcp: &Value| json!({"app": "bulk", "flows": 1, "tcp": tcp});
    json!({
        "duration": "80 s", "warmup": "20 s", "seed": seed,
        "network": {"rtt": rtt},
        "link": [{"rate": rate, "forward": queue}],
        "traffic": senders.iter().map(group).collect::<Vec<_>>(),
    })
}

fn linux(congestion: &str) -> Value {
    json!({"profile": "linux", "congestion": congestion})
}

/// Goodputs of the groups, bits per second, and all else.
fn goodputs(scenario: &Value) -> (Vec<f64>, Summary) {
    let outcome = simulate(scenario);
    (column(table(&outcome, "flows"), "goodput_bits_per_s"), outcome.summary)
}

#[test]
fn a_receiver_that_ignores_marks_takes_the_link_from_honest_ones() {
    let red = json!({"aqm": "red", "profile": "ns2-fixed", "min_th": 15, "max_th": 45, "w_q": 0.002,
                     "max_p": 0.1, "limit": 150, "gentle": true, "ecn": true});
    // What the second gets for each bit of the first: with a window of 64 KiB, and of 6 MiB.
    for (profile, least) in [("plain", 2.0), ("linux", 10.0)] {
        let honest = json!({"profile": profile, "ecn": true});
        let ignores = json!({"profile": profile, "ecn": true, "ecn_receiver": "ignores"});
        let share = |second: &Value| {
            let pair = [honest.clone(), second.clone()];
            let (rates, _) = goodputs(&transfers("10 Mbit/s", "60 ms", &red, 1, &pair));
            rates[1] / rates[0]
        };
        let (fair, unfair) = (share(&honest), share(&ignores));
        assert!((0.8..1.25).contains(&fair), "{profile}: {fair}");
        assert!(unfair > least, "{profile}: {unfair}");
    }
}

#[test]
fn dctcp_keeps_the_queue_near_the_step() {
    // 100 Mbit/s, 20 ms: 167 packets on the path, with K = 40 waiting and one on the wire 208:
    // alpha, the fraction marked, is sqrt(2/208) = 0.098, and the queue swings by 208 alpha/2 = 10
    // packets below K (Alizadeh et al. 2010, section 3.3), a mean of 35.
    let step = json!({"aqm": "dctcp_step", "K": 40});
    let every = json!({"profile": "plain", "congestion": "dctcp", "delayed_ack": "0 s",
                       "window_bytes": 4_000_000});
    let (_, s) = goodputs(&transfers("100 Mbit/s", "20 ms", &step, 1, &[every]));
    let (alpha, queue) = (s.number("mark_rate"), s.number("queue_time_mean_packets"));
    assert!((alpha / 0.098 - 1.0).abs() < 0.10, "alpha {alpha}");
    assert!((queue - 35.0).abs() < 1.5, "{queue} packets");
    assert!(s.number("queue_max_packets") <= 42.0 && s.number("utilisation") > 0.999);
    assert_eq!(s.number("drops"), 0.0);
    // Linux leads the window down for a round trip: fewer marks, the same queue. And acknowledgements of
    // two segments send pairs, of which only the second finds K waiting at first.
    let (_, s) = goodputs(&transfers("100 Mbit/s", "20 ms", &step, 1, &[linux("dctcp")]));
    let (alpha, queue) = (s.number("mark_rate"), s.number("queue_time_mean_packets"));
    assert!((0.05..0.098).contains(&alpha), "alpha {alpha}");
    assert!((queue - 36.0).abs() < 2.0, "{queue} packets");
}

#[test]
fn prague_alone_fills_the_link_with_a_millisecond_of_queue() {
    for rtt in ["10 ms", "40 ms"] {
        let queue = json!({"aqm": "dualpi2"});
        let (_, s) = goodputs(&transfers("40 Mbit/s", rtt, &queue, 1, &[linux("prague")]));
        assert!(s.number("utilisation") > 0.98, "{rtt}: {}", s.number("utilisation"));
        assert!(
            s.number("queue_delay_mean_s") < 0.001,
            "{rtt}: {} s",
            s.number("queue_delay_mean_s")
        );
        assert_eq!((s.number("drops"), s.number("timeouts")), (0.0, 0.0), "{rtt}");
    }
}

#[test]
fn prague_and_cubic_share_a_dualpi2_link_within_a_factor_of_two() {
    share_within_a_factor_of_two(&["rfc9332"], &["10 ms", "50 ms"]);
    share_within_a_factor_of_two(&["linux"], &["10 ms"]);
}

#[test]
#[ignore = "ten seconds, the ends of the range stay: `make validate` runs it"]
fn prague_and_cubic_share_a_dualpi2_link_at_every_round_trip_between() {
    share_within_a_factor_of_two(&["rfc9332", "linux"], &["20 ms", "30 ms", "40 ms"]);
    share_within_a_factor_of_two(&["linux"], &["50 ms"]);
}

fn share_within_a_factor_of_two(queues: &[&str], rtts: &[&str]) {
    // RFC 9332 section 2.1: the coupling is there for equal rates. 32 seeds give 1.12 at 10 ms and
    // 1.79 to 1.88 above, each within 1 % of it. Linux's discipline draws its signals at random: 1.31
    // at 10 ms, 1.84 to 1.92 above, each seed 7 to 10 % off (the standard deviation of the logarithm), so
    // that the mean of 24 (of 4 at 10 ms) passes 2 by chance in less than one of a hundred sets of seeds.
    let cases = [("rfc9332", false), ("rfc9332", true), ("linux", false)];
    for (queue, ecn) in cases.into_iter().filter(|(queue, _)| queues.contains(queue)) {
        for rtt in rtts {
            let seeds = if queue == "linux" && *rtt != "10 ms" { 24 } else { 4 };
            let logarithms = (1..=seeds).map(|seed| share_of_prague(queue, ecn, rtt, seed).ln());
            let mean = (logarithms.sum::<f64>() / seeds as f64).exp();
            assert!((0.5..2.0).contains(&mean), "{queue} {rtt} ecn {ecn}: {mean}");
        }
    }
}

/// Prague's goodput for each bit of CUBIC's at 40 Mbit/s.
fn share_of_prague(queue: &str, ecn: bool, rtt: &str, seed: u64) -> f64 {
    let queue = json!({"aqm": "dualpi2", "profile": queue});
    let mut cubic = linux("cubic");
    cubic["ecn"] = json!(ecn);
    let (rates, s) =
        goodputs(&transfers("40 Mbit/s", rtt, &queue, seed, &[linux("prague"), cubic]));
    assert!(s.number("utilisation") > 0.99, "{rtt}: {}", s.number("utilisation"));
    // ECT(0) and ECT(1) are marked; what cannot be marked is dropped.
    assert_eq!(s.number("drops") == 0.0, ecn, "{rtt}: {} drops", s.number("drops"));
    rates[0] / rates[1]
}

#[test]
fn prague_falls_back_behind_a_classic_queue_and_only_there() {
    // RFC 9331 section 4.3. Prague's goodput for each bit of CUBIC's with ECN in one queue that takes
    // ECT(1) for ECT(0): 11 to 23 without the fallback, 0.9 to 1.4 with it, at 10 to 50 ms.
    let ratio = |queue: &Value, fallback: bool| {
        let mut prague = linux("prague");
        prague["classic_fallback"] = json!(fallback);
        let mut cubic = linux("cubic");
        cubic["ecn"] = json!(true);
        let (rates, _) = goodputs(&transfers("40 Mbit/s", "20 ms", queue, 1, &[prague, cubic]));
        rates[0] / rates[1]
    };
    for queue in [
        json!({"aqm": "codel", "ecn": true, "limit": 1000}),
        json!({"aqm": "pie", "ecn": true, "limit": 1000, "mark_ecnth": 1.0}),
    ] {
        let (without, with) = (ratio(&queue, false), ratio(&queue, true));
        assert!(without > 8.0, "{queue}: {without}");
        assert!((0.7..1.5).contains(&with), "{queue}: {with}");
    }
    let dual = json!({"aqm": "dualpi2"});
    assert_eq!(ratio(&dual, true), ratio(&dual, false));
}

#[test]
fn by_its_rate_prague_goes_below_two_segments_a_round_trip() {
    // Twenty senders at 4 Mbit/s and 5 ms: 0.2 Mbit/s each, 125 B a round trip. Two segments of each are 120 ms of
    // queue, so that DualPI2 is overloaded and drops; by r [Mbit/s] = 1/p - 1 (tcp_prague.c 0.7) p is 0.83.
    let seen = |mode: &str| {
        let congestion = json!({"name": "prague", "cwnd_mode": mode});
        let mut sender = linux("");
        sender["congestion"] = congestion;
        let queue = json!({"aqm": "dualpi2", "profile": "linux"});
        let mut scenario = transfers("4 Mbit/s", "5 ms", &queue, 1, &[sender]);
        scenario["traffic"][0]["flows"] = json!(20);
        scenario["duration"] = json!("40 s");
        simulate(&scenario).summary
    };
    let (window, switch) = (seen("window"), seen("switch"));
    assert!(window.number("drop_rate") > 0.2 && window.number("timeouts") > 500.0);
    assert!(switch.number("drop_rate") < 0.01 && switch.number("timeouts") < 10.0);
    let (marked, law) = (switch.number("mark_rate"), 1.0 / 1.2);
    assert!((marked / law - 1.0).abs() < 0.10, "{marked}");
}

#[test]
fn with_the_references_of_kernel_5_15_prague_takes_dualpi2_for_a_classic_queue() {
    // L4STeam/linux, issue 38: logarithms scaled by 2^20 in place of 2^24, so that 750 us and 2 ms stand for their
    // 16th roots. Prague then got 8.6 and CUBIC 86.7 of 100 Mbit/s at 10 ms, with the mended module 44.1 and 51.0
    // (L. Hagen's repetition of Sarpkaya et al., ANRW 2024).
    let share = |settings: Value| {
        let mut prague = linux("");
        prague["classic_fallback"] = json!(true);
        prague["congestion"] = settings;
        let mut cubic = linux("cubic");
        cubic["ecn"] = json!(true);
        let queue = json!({"aqm": "dualpi2", "profile": "linux", "target": "5 ms"});
        let mut scenario = transfers("40 Mbit/s", "10 ms", &queue, 1, &[prague, cubic]);
        (scenario["duration"], scenario["warmup"]) = (json!("30 s"), json!("10 s"));
        let (rates, _) = goodputs(&scenario);
        rates[0] / rates[1]
    };
    let mended = share(json!({"name": "prague"}));
    let wrong = share(
        json!({"name": "prague", "classic_variation": "1.512 us", "classic_depth": "1.608 us"}),
    );
    assert!((0.5..2.0).contains(&mended) && wrong < 0.3 * mended, "{mended}, {wrong}");
}
