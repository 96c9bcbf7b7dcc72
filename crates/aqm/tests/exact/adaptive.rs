//! Adaptive and self-configuring RED: published steps, and what defines each profile.

use aqmlab_aqm::Admission::{Dropped, Marked, Queued};
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

/// max_p after the average stood at `queue` packets for `secs`, arrivals every millisecond.
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
    // A step every 501 ms: the next arrival after more than half a second.
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
    // max_p has grown to 0.5; just above max_th.
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

/// Linux: its RED on the timer's step, in integers.
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
    // The target is 9 to 11 packets, its edges inside.
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
    assert_eq!(done(&[("profile", "ns3")]), "mark mark drop");
    assert_eq!(done(&[("profile", "ns2")]), "mark drop drop", "use_mark_p");
    assert_eq!(done(&[("profile", "linux")]), "mark mark mark");
    assert_eq!(done(&[("profile", "linux"), ("ecn_above_max", "drop")]), "mark drop drop");
}

#[test]
fn adaptation_holds_the_queue_in_the_middle_of_the_band() {
    // A source that halves its rate at a signal and grows otherwise, against a fixed line: plain
    // statistics of a closed loop, to within the band of 9 to 11 packets and one to each side.
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
