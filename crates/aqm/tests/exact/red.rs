//! RED: published averages, bursts and limits. (Published probabilities and spacing rules are
//! tested next to the code.)

use aqmlab_aqm::Admission::{Dropped, Marked, Queued};
use packet::{Backlog, DropReason, Ecn, Instant};

use super::{Bench, close};

const PROFILES: [&str; 6] = ["fj93", "ns2", "ns2-fixed", "ns3", "altq", "linux"];

/// A RED of `profile` with mean packets of 1000 bytes, these thresholds and this weight.
fn bench(profile: &str, min: &str, max: &str, w_q: &str) -> Bench {
    let pairs = [
        ("profile", profile),
        ("min_th", min),
        ("max_th", max),
        ("w_q", w_q),
        ("mean_packet_bytes", "1000"),
        ("limit", "5000"),
    ];
    Bench::new("red", &pairs, 1)
}

#[test]
fn the_average_moves_by_w_q() {
    for profile in ["fj93", "ns2", "ns2-fixed", "ns3"] {
        let mut red = bench(profile, "500", "1000", "0.5");
        red.arrive(0, 1000, Ecn::NotEct);
        red.arrive(20, 1000, Ecn::NotEct);
        close(red.gauge("avg"), 10.0, 1e-12);
        red.arrive(20, 1000, Ecn::NotEct);
        close(red.gauge("avg"), 15.0, 1e-12);
    }
}

#[test]
fn idleness_ages_the_average() {
    // 80 ms of idleness are 100 packet times; the published numbers are what is left of 10.
    for (profile, w_q, expected) in
        [("fj93", "0.002", 8.185668), ("ns2", "0.002", 8.169297), ("altq", "1/512", 8.224204)]
    {
        let mut red = bench(profile, "500", "1000", w_q);
        red.arrive(0, 1000, Ecn::NotEct);
        red.arrive(5000, 1000, Ecn::NotEct);
        let before = red.gauge("avg");
        red.gate.on_idle(Instant::from_nanos(20_000_000));
        red.now = 100_000_000;
        red.arrive(0, 1000, Ecn::NotEct);
        let tolerance = if profile == "altq" { 0.03 } else { 1e-6 };
        close(red.gauge("avg") / before * 10.0, expected, tolerance);
    }
}

#[test]
fn a_burst_raises_the_average_as_published() {
    // The average after a burst: L + 1 + ((1 - w)^(L + 1) - 1)/w for L = 50 and w = 0.002.
    for profile in ["fj93", "ns2", "ns2-fixed", "ns3"] {
        let mut red = bench(profile, "500", "1000", "0.002");
        for waiting in 0..=50 {
            red.arrive(waiting, 1000, Ecn::NotEct);
        }
        close(red.gauge("avg"), 2.4687, 5e-5);
    }
}

#[test]
fn the_longest_burst_below_min_th() {
    // w_q = 1/512; integers in altq and linux move the crossing of min_th by at most a packet.
    for (min, longest) in [("5", 72), ("30", 185), ("60", 268), ("120", 394)] {
        for profile in PROFILES {
            let mut red = bench(profile, min, "3000", "1/512");
            let min_th: f64 = min.parse().unwrap();
            let below = |waiting: &u32| {
                red.arrive(*waiting, 1000, Ecn::NotEct);
                red.gauge("avg") < min_th
            };
            let last = (0..5000).take_while(below).last().unwrap();
            let slack = u32::from(matches!(profile, "altq" | "linux"));
            assert!(last.abs_diff(longest) <= slack, "{profile}, min_th {min}: {last}");
        }
    }
}

#[test]
fn harsh_red_ramp() {
    let mut red = bench("ns2-fixed", "3", "40", "0.2");
    let expected = [0.0, 0.2, 0.56, 1.048, 1.6384, 2.3107, 3.0486];
    for (waiting, avg) in expected.iter().enumerate() {
        red.arrive(waiting as u32, 1000, Ecn::NotEct);
        close(red.gauge("avg"), *avg, 5e-5);
    }
    for (w_q, crossing) in [("0.2", 6), ("0.02", 18), ("0.002", 56)] {
        let mut red = bench("ns2-fixed", "3", "40", w_q);
        let reaches = |waiting: &u32| {
            red.arrive(*waiting, 1000, Ecn::NotEct);
            red.gauge("avg") >= 3.0
        };
        assert_eq!((0..100).find(reaches), Some(crossing), "w_q {w_q}");
    }
}

#[test]
fn harsh_red_by_name_drops_at_an_empty_queue_above_max_th() {
    let mut red = Bench::new("red", &[("preset", "edge-hred")], 1);
    red.arrive(0, 1000, Ecn::NotEct);
    assert_eq!(red.arrive(239, 500, Ecn::NotEct), Dropped(DropReason::Forced));
    assert_eq!(red.arrive(0, 500, Ecn::NotEct), Queued);
    close(red.gauge("avg"), 38.24, 1e-9);
    red.arrive(60, 500, Ecn::NotEct);
    red.arrive(0, 500, Ecn::NotEct);
    red.arrive(100, 500, Ecn::NotEct);
    assert_eq!(red.arrive(0, 500, Ecn::NotEct), Queued, "{}", red.gauge("avg"));
    red.arrive(200, 500, Ecn::NotEct);
    assert_eq!(
        red.arrive(0, 500, Ecn::NotEct),
        Dropped(DropReason::Forced),
        "{}",
        red.gauge("avg")
    );
    let mut red = Bench::new("red", &[("preset", "edge-hred"), ("limit", "60")], 1);
    let full = Backlog { packets: 30, bytes: 29_999 };
    assert_eq!(red.offer(1500, Ecn::NotEct, full), Dropped(DropReason::Overflow));
}

#[test]
fn the_max_th_short_circuit_of_ns2_and_its_mend() {
    // EDGE HRED: the average is 0.2 * 256 * 0.8 = 40.96 where an arrival finds nothing waiting.
    for (profile, expected) in [
        ("ns2-fixed", Dropped(DropReason::Forced)),
        ("ns2", Queued),
        ("fj93", Dropped(DropReason::Forced)),
    ] {
        let mut red = bench(profile, "3", "40", "0.2");
        red.arrive(0, 1000, Ecn::NotEct);
        red.arrive(256, 1000, Ecn::NotEct);
        assert_eq!(red.arrive(0, 1000, Ecn::NotEct), expected, "{profile}");
        close(red.gauge("avg"), 40.96, 1e-9);
    }
}

#[test]
fn the_overhanging_limit_of_ns2_and_its_mend() {
    let full = Backlog { packets: 30, bytes: 29_999 };
    for (profile, expected) in [("ns2", Queued), ("ns2-fixed", Dropped(DropReason::Overflow))] {
        let pairs = [
            ("profile", profile),
            ("min_th", "500"),
            ("max_th", "900"),
            ("limit", "30"),
            ("mean_packet_bytes", "1000"),
        ];
        let mut red = Bench::new("red", &pairs, 1);
        assert_eq!(red.offer(1500, Ecn::NotEct, full), expected, "{profile}");
        let brim = Backlog { packets: 30, bytes: 30_000 };
        assert_eq!(red.offer(1, Ecn::NotEct, brim), Dropped(DropReason::Overflow), "{profile}");
    }
}

/// Everything that is done to ECN-capable packets at a constant average of `queue` packets
/// (thresholds 5 and 15, w_q = 1, ECN on).
fn done(profile: &str, queue: u32, more: super::Pairs) -> Vec<&'static str> {
    let mut pairs = vec![
        ("profile", profile),
        ("min_th", "5"),
        ("max_th", "15"),
        ("max_p", "0.09"),
        ("w_q", "1"),
        ("mean_packet_bytes", "1000"),
        ("limit", "100"),
        ("ecn", "true"),
    ];
    pairs.extend(more);
    let mut red = Bench::new("red", &pairs, 5);
    red.arrive(0, 1000, Ecn::Ect0); // ends the initial idle time, in which nothing is sampled
    let mut seen = Vec::new();
    for _ in 0..2000 {
        let word = match red.arrive(queue, 1000, Ecn::Ect0) {
            Queued => "pass",
            Marked(DropReason::Early) => "mark early",
            Marked(_) => "mark forced",
            Dropped(DropReason::Early) => "drop early",
            Dropped(DropReason::Forced) => "drop forced",
            Dropped(DropReason::Overflow) => "overflow",
            Dropped(DropReason::AckFiltered) => "superseded",
        };
        if !seen.contains(&word) {
            seen.push(word);
        }
    }
    seen.sort_unstable();
    seen
}

#[test]
fn ecn_by_profile() {
    for profile in PROFILES {
        assert_eq!(done(profile, 10, &[]), ["mark early", "pass"], "{profile} in the band");
    }
    // At a queue of 20, above max_th; at 40, above twice max_th.
    assert_eq!(done("fj93", 20, &[]), ["drop forced"]);
    assert_eq!(done("fj93", 20, &[("harddrop", "false")]), ["mark forced"]);
    assert_eq!(done("altq", 20, &[]), ["drop forced"]);
    assert_eq!(done("linux", 20, &[]), ["mark forced"]);
    assert_eq!(done("linux", 20, &[("harddrop", "true")]), ["drop forced"]);
    assert_eq!(done("ns2-fixed", 20, &[]), ["drop forced"]);
    assert_eq!(done("ns3", 20, &[]), ["mark early", "pass"], "gentle: still the random test");
    assert_eq!(done("ns3", 40, &[]), ["drop forced"]);
    assert_eq!(done("ns3", 40, &[("harddrop", "false")]), ["mark forced"]);
    assert_eq!(done("ns3", 20, &[("gentle", "false")]), ["drop forced"]);
    // ns-2: no certain drops with use_mark_p; the test drops, and the first packet is not tested.
    assert_eq!(done("ns2", 20, &[]), ["drop early", "pass"]);
    assert_eq!(done("ns2", 40, &[]), ["drop early", "pass"]);
    let classic = ("use_mark_p", "false");
    assert_eq!(done("ns2", 20, &[classic]), ["mark early", "pass"]);
    assert_eq!(done("ns2", 40, &[classic]), ["drop forced"]);
    assert_eq!(done("ns2", 20, &[classic, ("gentle", "false")]), ["drop forced"]);
    assert_eq!(done("ns2", 20, &[("mark_p", "2")]), ["mark early", "pass"]);
}

#[test]
fn the_limit_is_tested_last() {
    for profile in PROFILES {
        assert_eq!(done(profile, 10, &[("limit", "15"), ("max_th", "14")]), ["mark early", "pass"]);
        let marks_lost = done(profile, 12, &[("limit", "12"), ("max_th", "12.5")]);
        let expected: &[&str] = if profile == "altq" {
            &["mark early", "pass"] // the limit was raised to max_th
        } else {
            &["overflow"]
        };
        assert_eq!(marks_lost, expected, "{profile}");
    }
}
