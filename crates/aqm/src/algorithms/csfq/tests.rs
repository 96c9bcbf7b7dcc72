use super::*;
use packet::params::Raw;
use packet::{Ecn, Rate};

fn with(given: &[(&str, &str)]) -> Params {
    let raw = |&(name, text): &(&str, &str)| (name.to_string(), Raw::Text(text.into()));
    Params::check(FIELDS, &given.iter().map(raw).collect::<Vec<_>>()).unwrap()
}

/// Sends constant flows at these shares of a 10 Mbit/s line for ten seconds, without a queue.
/// Returns the share of the line that each one gets in the last nine.
fn accepted(rule: &str, shares: &[f64]) -> Vec<f64> {
    let line = Line::of(Rate::from_bits_per_s(10_000_000));
    let params = with(&[("congested_from", "0"), ("fair_share", rule)]);
    let Built::Gate(mut gate) = build(&params, &line).unwrap() else { panic!() };
    let mut rng = Rng::named(1, "csfq");
    let mut next: Vec<f64> = shares.iter().map(|share| 0.0008 / share).collect();
    let mut got = vec![0.0; shares.len()];
    loop {
        let first = (0..shares.len()).min_by(|a, b| next[*a].total_cmp(&next[*b])).unwrap();
        let at = next[first];
        if at >= 10.0 {
            return got.iter().map(|bytes| bytes / (9.0 * 1.25e6)).collect();
        }
        next[first] += 0.0008 / shares[first];
        let now = Instant::from_nanos((at * 1e9) as u64);
        let mut packet = Packet {
            id: 0,
            flow: first as u64,
            bytes: 1000,
            ecn: Ecn::NotEct,
            arrived: now,
            header: Default::default(),
        };
        let admission = gate.admit(&mut packet, Backlog::default(), now, &mut rng);
        if admission == crate::Admission::Queued && at >= 1.0 {
            got[first] += 1000.0;
        }
    }
}

#[test]
fn every_flow_gets_the_fair_share_and_no_more() {
    // The fair share of a line with flows of 0.1, 0.5 and 1.0 is 0.45.
    for rule in ["ns2", "paper"] {
        let got = accepted(rule, &[0.1, 0.5, 1.0]);
        for (got, fair) in got.iter().zip([0.1, 0.45, 0.45]) {
            assert!((got - fair).abs() < 0.02, "{rule}: {got} is not {fair}");
        }
    }
}

#[test]
fn overflows_take_a_percent_each_and_a_quarter_in_all() {
    let mut share = FairShare::new(&with(&[("fair_share", "paper")]), 1000.0);
    share.set(1000.0, Instant::ZERO);
    share.on_overflow();
    assert_eq!(share.alpha, 990.0);
    (0..100).for_each(|_| share.on_overflow());
    assert_eq!(share.alpha, 750.0);
    share.set(800.0, Instant::ZERO);
    (0..100).for_each(|_| share.on_overflow());
    assert_eq!(share.alpha, 600.0);
}

#[test]
fn without_congestion_nothing_is_lost() {
    for rule in ["ns2", "paper"] {
        assert!((accepted(rule, &[0.3, 0.6]).iter().sum::<f64>() - 0.9).abs() < 0.002);
    }
}

/// Share of a burst at 8 Mbit/s that a line of 10 Mbit/s loses after lone packets 1.5 s apart.
fn lost_after_a_silence(rule: &str) -> f64 {
    let line = Line::of(Rate::from_bits_per_s(10_000_000));
    let Built::Gate(mut gate) = build(&with(&[("fair_share", rule)]), &line).unwrap() else {
        panic!()
    };
    let mut rng = Rng::named(1, "csfq");
    let mut lost = |gate: &mut Box<dyn crate::Gate>, ms: f64| {
        let arrived = Instant::from_nanos((ms * 1e6) as u64);
        let (ecn, header) = (Ecn::NotEct, Default::default());
        let mut packet = Packet { id: 0, flow: 1, bytes: 1000, ecn, arrived, header };
        let admission = gate.admit(&mut packet, Backlog::default(), arrived, &mut rng);
        f64::from(u8::from(admission != crate::Admission::Queued))
    };
    // 0.8 s at the line's rate, then five lone packets.
    let before = (0..1_000).map(|n| 0.8 * f64::from(n));
    for ms in before.chain((0..5).map(|n| 5_000.0 + 1_500.0 * f64::from(n))) {
        lost(&mut gate, ms);
    }
    (0..100).map(|n| lost(&mut gate, 12_000.0 + f64::from(n))).sum::<f64>() / 100.0
}

#[test]
fn a_flow_alone_that_resumes_after_a_silence_loses_nothing_but_by_figure_3() {
    assert_eq!(lost_after_a_silence("ns2"), 0.0);
    assert!(lost_after_a_silence("paper") > 0.5, "the label of a lone packet is its share");
}

#[test]
fn the_program_lowers_alpha_thirty_times_and_forgets_it() {
    let mut share = FairShare::new(&Params::defaults(FIELDS), 1000.0);
    assert_eq!(share.most_reductions(), 30);
    share.reductions = share.most_reductions();
    share.alpha = 1000.0;
    (0..100).for_each(|_| share.on_overflow());
    assert!((share.alpha - 1000.0 * math::pow(0.99, 30.0)).abs() < 1e-9);
    let at = |ms: u64| Instant::from_nanos(ms * 1_000_000);
    share.estimate_as_ns2(7.0, false, at(1)); // congestion is over
    share.estimate_as_ns2(7.0, false, at(100));
    assert!(share.alpha.is_finite(), "a window lasts");
    share.estimate_as_ns2(7.0, false, at(201));
    assert!(share.alpha.is_infinite(), "the queue is short");
    share.estimate_as_ns2(5.0, true, at(202));
    assert_eq!(share.alpha, 7.0, "the largest label seen");
}

#[test]
fn a_flow_that_was_silent_for_a_whole_period_is_forgotten() {
    let line = Line::of(Rate::from_bits_per_s(10_000_000));
    let Built::Gate(mut gate) = build(&Params::defaults(FIELDS), &line).unwrap() else { panic!() };
    let mut rng = Rng::named(1, "csfq");
    let mut flows_after = |gate: &mut Box<dyn crate::Gate>, heard: Instant, tick: Instant| {
        let mut packet = Packet {
            id: 0,
            flow: 7,
            bytes: 1000,
            ecn: Ecn::NotEct,
            arrived: heard,
            header: Default::default(),
        };
        gate.admit(&mut packet, Backlog::default(), heard, &mut rng);
        gate.on_tick(Backlog::default(), tick, &mut rng);
        let mut flows = f64::NAN;
        gate.gauges(&mut |name, value| flows = if name == "flows" { value } else { flows });
        flows
    };
    let first = gate.next_tick().expect("a tick");
    let period = first.since(Instant::ZERO);
    assert_eq!(flows_after(&mut gate, Instant::ZERO, first), 0.0);
    let second = first + period;
    assert_eq!(flows_after(&mut gate, first + Duration::from_nanos(1), second), 1.0);
}

#[test]
fn a_window_of_congestion_must_be_over() {
    let mut share = FairShare::new(&with(&[("fair_share", "paper")]), 1000.0);
    let window = share.window;
    let full = Backlog { packets: u32::MAX, bytes: u64::MAX };
    let packet = Packet {
        id: 0,
        flow: 7,
        bytes: 1_000_000,
        ecn: Ecn::NotEct,
        arrived: Instant::ZERO,
        header: Default::default(),
    };
    let mut at = |now: Instant| {
        share.update(&packet, 1.0, true, full, now);
        (share.congested, share.since)
    };
    let begin = Instant::ZERO;
    assert_eq!(at(begin), (true, begin));
    assert_eq!(at(begin + window), (true, begin), "figure 3: longer than K_c");
    let later = begin + window + Duration::from_nanos(1);
    assert_eq!(at(later), (true, later));
}
