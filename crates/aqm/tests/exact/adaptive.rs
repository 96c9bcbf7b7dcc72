//! Adaptive and self-configuring RED: published steps, and what defines each profile.

use aqmlab_aqm::Admission::{Dropped, Marked, Queued};
use packet::DropReason::Forced;
use packet::{Ecn, Instant, Rng};

use super::RATE;
use super::{Bench, Pairs, build, close};

#[test]
fn ns3_divides_max_p_at_the_first_packet() {
    let max_p = |profile| {
        let mut red = Bench::new("feng_red", &[("profile", profile)], 1);
        red.arrive(0, 1000, Ecn::NotEct);
        red.gauge("max_p")
    };
    assert_eq!((max_p("fj93"), max_p("ns2")), (0.1, 0.1));
    assert_eq!(max_p("ns3"), 0.02 / 3.0);
}

/// max_p and p_b after the average stood at `queue` packets for `secs` seconds, with an arrival
/// every millisecond.
fn settled(pairs: Pairs, queue: u32, secs: u64) -> (f64, f64) {
    let all = [&[("w_q", "1"), ("min_th", "5"), ("max_th", "15")] as Pairs, pairs].concat();
    let mut red = Bench::new("ared", &all, 3);
    red.arrive(0, 1000, Ecn::NotEct);
    for ms in 1..=secs * 1000 {
        red.now = ms * 1_000_000;
        while let Some(tick) = red.gate.next_tick().filter(|t| t.nanos() <= red.now) {
            red.gate.on_tick(packet::Backlog::default(), tick, &mut red.rng);
        }
        red.arrive(queue, 1000, Ecn::NotEct);
    }
    (red.gauge("max_p"), red.gauge("p_b"))
}

#[test]
fn twenty_seconds_up_and_nineteen_down() {
    // max_p moves every 501 ms: at the first arrival after more than half a second.
    close(settled(&[], 12, 21).0, 0.5, 1e-9);
    close(settled(&[], 12, 10).0, 0.29, 1e-9);
    assert!(settled(&[("max_p", "0.5")], 8, 21).0 <= 0.01);
    close(settled(&[], 10, 21).0, 0.1, 0.0);
}

#[test]
fn a_spell_in_the_band_makes_the_next_step_immediate() {
    let mut red = Bench::new("ared", &[("w_q", "1"), ("min_th", "5"), ("max_th", "15")], 3);
    red.arrive(0, 1000, Ecn::NotEct);
    for (now, queue, max_p) in
        [(600, 12, 0.11), (1000, 12, 0.11), (5000, 10, 0.11), (5001, 12, 0.12), (5002, 12, 0.12)]
    {
        red.now = now * 1_000_000;
        red.arrive(queue, 1000, Ecn::NotEct);
        close(red.gauge("max_p"), max_p, 1e-12);
    }
}

#[test]
fn ns2_and_ns3_keep_the_first_gentle_curve() {
    // max_p has grown to 0.5, and the average is at max_th.
    let at_max = |profile| {
        let pairs: Pairs = &[("profile", profile), ("max_p", "0.1"), ("units", "packet")];
        settled(pairs, 15, 21)
    };
    close(at_max("floyd").0, 0.5, 1e-9);
    close(at_max("floyd").1, 0.5, 1e-9);
    for profile in ["ns2", "ns3"] {
        close(at_max(profile).0, 0.5, 1e-9);
        close(at_max(profile).1, 0.1, 1e-9);
    }
}

/// Adaptive RED with profile `altq`, thresholds of 5 and 15 packets and no gentle curve.
fn altq(pairs: Pairs) -> Bench {
    let all = [
        &[("profile", "altq"), ("min_th", "5"), ("max_th", "15"), ("gentle", "false")] as Pairs,
        pairs,
    ];
    Bench::new("ared", &all.concat(), 5)
}

#[test]
fn altq_signals_nothing_while_at_most_one_packet_waits() {
    // The average stays at 20 packets while the queue is short. The guard against signals to a
    // short queue counts packets, in byte mode too.
    for units in ["packet", "byte"] {
        for (waiting, said) in [(0, Queued), (1, Queued), (2, Dropped(Forced))] {
            let mut red = altq(&[("w_q", "0.001"), ("units", units), ("limit", "1000")]);
            for _ in 0..30_000 {
                red.arrive(20, 1000, Ecn::NotEct);
            }
            assert!(red.gauge("avg") > 15.0);
            assert_eq!(red.arrive(waiting, 1000, Ecn::NotEct), said, "{units}, {waiting} waiting");
        }
    }
}

#[test]
fn altq_ages_by_an_idle_time_with_the_sample_and_forgets_after_a_minute() {
    // At 10 Mbit/s 80 ms are 100 packets of 1000 bytes, of which the sample stands for one.
    let aged = |nanos: u64| {
        let mut red = altq(&[("w_q", "1/512")]);
        red.arrive(0, 1000, Ecn::NotEct);
        for _ in 0..20_000 {
            red.arrive(10, 1000, Ecn::NotEct);
        }
        let before = red.gauge("avg");
        red.gate.on_idle(Instant::from_nanos(red.now));
        red.now += nanos;
        red.arrive(0, 1000, Ecn::NotEct);
        red.gauge("avg") / before
    };
    let keep: f64 = 511.0 / 512.0;
    close(10.0 * aged(80_000_000), 8.224204, 1e-6);
    for (nanos, steps) in [(0, 1), (799_999, 1), (800_000, 1), (1_600_000, 2), (2_399_999, 2)] {
        close(aged(nanos), keep.powi(steps), 1e-12);
    }
    assert!(aged(60_000_000_000) > 0.0, "0.998 to the 75,000th is a number");
    assert_eq!(aged(60_000_000_001), 0.0);
}

#[test]
fn altq_spaces_its_signals_evenly_over_twice_their_mean() {
    // At an average of 10 packets p_b is half of max_p: gaps are uniform on 1 to 39 packets.
    let mut red = altq(&[("w_q", "1")]);
    let (mut gaps, mut gap) = (vec![0u32; 41], 0);
    for _ in 0..400_000 {
        gap += 1;
        if red.arrive(10, 1000, Ecn::NotEct) != Queued {
            gaps[gap] += 1;
            gap = 0;
        }
    }
    let signals: u32 = gaps.iter().sum();
    // 20,000 signals are expected, give or take five standard deviations of a renewal process with
    // gaps of 20 ± 11.3.
    assert!((19_600..20_400).contains(&signals), "{signals}");
    assert_eq!(gaps[40], 0);
    for n in &gaps[1..40] {
        // 513 of each gap are expected, give or take five standard deviations.
        assert!((400..627).contains(n), "{gaps:?}");
    }
}

#[test]
fn altq_in_bytes_weighs_a_signal_by_the_packets_size() {
    let signalled = |bytes| {
        let mut red = altq(&[("w_q", "1"), ("units", "byte"), ("limit", "1000")]);
        let backlog = packet::Backlog { packets: 10, bytes: 10_000 };
        (0..100_000).filter(|_| red.offer(bytes, Ecn::NotEct, backlog) != Queued).count()
    };
    // As in ns-2, the probability grows with the packet's size and the count is in mean packets:
    // of packets of mean size one in 20 is signalled, of those of 40 bytes one in 500.
    let (small, mean) = (signalled(40), signalled(1000));
    assert!((4_700..5_300).contains(&mean), "{mean}");
    assert!(small * 15 < mean, "{small} of {mean}");
}

/// Linux moves max_p by a timer, in integers.
#[test]
fn linux_steps_on_its_timer_with_bounds_tested_before() {
    let last = |max_p, queue: u32| {
        let pairs: Pairs = &[
            ("profile", "linux"),
            ("min_th", "5"),
            ("max_th", "15"),
            ("w_q", "1"),
            ("max_p", max_p),
            ("limit", "100"),
        ];
        let mut red = Bench::new("ared", pairs, 1);
        red.arrive(0, 1000, Ecn::NotEct);
        red.arrive(queue, 1000, Ecn::NotEct);
        let at = red.gate.next_tick().unwrap();
        assert_eq!(at, Instant::from_nanos(500_000_000));
        red.gate.on_tick(packet::Backlog::default(), at, &mut red.rng);
        assert_eq!(red.gate.next_tick(), Some(Instant::from_nanos(1_000_000_000)));
        red.gauge("max_p")
    };
    close(last("0.5", 12), 0.51, 1e-6);
    close(last("0.52", 12), 0.52, 1e-6);
    // tc truncates 0.01 to one unit of 2^-32 less than the kernel's one per cent.
    close(last("0.010000001", 8), 0.009, 1e-6);
    close(last("0.0099", 8), 0.0099, 1e-6);
    close(last("0.02", 12), 0.025, 1e-6);
    // The target of the average is 9 to 11 packets, both included.
    for (queue, max_p) in [(8, 0.09), (9, 0.1), (11, 0.1), (12, 0.11)] {
        close(last("0.1", queue), max_p, 1e-6);
    }
}

/// What is done to an ECN-capable packet at averages of 12, 20 and 40 packets (thresholds 5, 15).
fn done(pairs: Pairs) -> String {
    let all = [
        &[
            ("w_q", "1"),
            ("min_th", "5"),
            ("max_th", "15"),
            ("ecn", "true"),
            ("mean_packet_bytes", "1000"),
            ("limit", "100"),
        ] as Pairs,
        pairs,
    ]
    .concat();
    let zone = |queue| {
        let mut red = Bench::new("ared", &all, 5);
        let mut found = (false, false);
        for n in 0..500 {
            match red.arrive(if n == 0 { 0 } else { queue }, 1000, Ecn::Ect0) {
                Marked(_) => found.0 = true,
                Dropped(_) => found.1 = true,
                Queued => {}
            }
        }
        match found {
            (true, false) => "mark",
            (false, true) => "drop",
            _ => "?",
        }
    };
    [12, 20, 40].map(zone).join(" ")
}

#[test]
fn the_ecn_rules_of_the_studies() {
    assert_eq!(done(&[]), "mark drop drop");
    assert_eq!(done(&[("ecn_above_max", "mark_in_gentle")]), "mark mark drop");
    assert_eq!(done(&[("ecn_above_max", "mark_always")]), "mark mark mark");
    for profile in ["ns2", "ns3"] {
        let ns = |above| done(&[("profile", profile), ("ecn_above_max", above)]);
        assert_eq!(ns("drop"), "mark drop drop");
        assert_eq!(ns("mark_in_gentle"), "mark mark drop");
        assert_eq!(ns("mark_always"), "mark mark mark");
    }
    for above in ["drop", "mark_in_gentle", "mark_always"] {
        let floyd = done(&[("ecn_above_max", above)]);
        assert_eq!(done(&[("profile", "altq"), ("ecn_above_max", above)]), floyd);
    }
    assert_eq!(done(&[("profile", "altq")]), "mark drop drop");
    assert_eq!(done(&[("profile", "ns3")]), "mark mark drop");
    assert_eq!(done(&[("profile", "ns2")]), "mark drop drop", "use_mark_p");
    assert_eq!(done(&[("profile", "linux")]), "mark mark mark");
    assert_eq!(done(&[("profile", "linux"), ("ecn_above_max", "drop")]), "mark drop drop");
}

#[test]
fn adaptation_holds_the_queue_in_the_middle_of_the_band() {
    // One source on a fixed line lengthens its mean gap by a tenth at a drop, and else shortens it
    // by 0.2 %. The mean of the average must be in the target range of 9 to 11 packets, or within
    // one packet of it.
    let mut red = match build("ared", &[], RATE) {
        Ok(built) => built.into_discipline(),
        Err(why) => panic!("{why}"),
    };
    let mut rng = Rng::named(8, "loop");
    let (mut now, mut free_at, mut gap) = (0u64, 0u64, 1e6f64);
    let (mut sum, mut samples) = (0.0, 0u32);
    for n in 0..400_000u32 {
        now += rng.exponential(gap) as u64 + 1;
        let mut lost = false;
        let mut out = |event| lost |= matches!(event, packet::Event::Dropped { .. });
        while free_at <= now {
            let at = Instant::from_nanos(free_at);
            let mut cx = aqmlab_aqm::Cx { now: at, rng: &mut rng, out: &mut out };
            free_at = match red.dequeue(&mut cx) {
                Some(_) => free_at + 800_000,
                None => now + 1,
            };
        }
        let at = Instant::from_nanos(now);
        let packet = packet::Packet {
            id: n,
            flow: 0,
            bytes: 1000,
            ecn: Ecn::NotEct,
            arrived: at,
            header: Default::default(),
        };
        red.enqueue(packet, &mut aqmlab_aqm::Cx { now: at, rng: &mut rng, out: &mut out });
        gap = if lost { (gap * 1.1).min(4e6) } else { (gap * 0.998).max(2e5) };
        if n > 200_000 {
            red.gauges(&mut |name, value| sum += if name == "avg" { value } else { 0.0 });
            samples += 1;
        }
    }
    let mean = sum / f64::from(samples);
    assert!((8.0..12.0).contains(&mean), "{mean}");
}
