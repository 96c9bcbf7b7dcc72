//! Long transfers against the laws of TCP throughput.

use crate::lab;
use std::sync::Arc;

use crate::lab::{C, S, World, ms, profile, secs};
use aqmlab_tcp::{HostClock, Profile};
use packet::params::Raw;
use packet::{Rng, math};

const MSS: f64 = 1_460.0;
const TRIP: f64 = 0.1;

/// Settings of `plain` with a window that never limits and one ACK per `b` segments.
fn unlimited(b: u32, sack: bool) -> Arc<Profile> {
    let settings = [
        ("window_bytes", Raw::Number(1e9)),
        ("ack_every", Raw::Number(f64::from(b))),
        ("sack", Raw::Bool(sack)),
    ];
    profile("plain", &settings)
}

/// Delivered bytes per second of an endless reply over `seconds`, after a warm-up.
fn rate(profile: &Arc<Profile>, seconds: f64, lose: &mut dyn FnMut(&lab::Sent) -> bool) -> f64 {
    let mut world = World::new(profile, [HostClock::default(); 2], 1 << 40);
    world.keep_log = false;
    let warm_up = 100.0;
    world.run(secs(warm_up), lose);
    let before = world.ends[C].delivered();
    world.go_on(secs(warm_up + seconds), lose);
    (world.ends[C].delivered() - before) as f64 / seconds
}

/// Loses every `n`-th new data segment, never a resent one.
fn every(n: u64) -> impl FnMut(&lab::Sent) -> bool {
    let (mut highest, mut count) = (0, 0);
    move |sent| {
        let segment = &sent.segment;
        if sent.side != S || segment.len == 0 || segment.seq <= highest {
            return false;
        }
        highest = segment.seq;
        count += 1;
        count % n == 0
    }
}

#[test]
fn periodic_loss_follows_the_square_root_law() {
    // MSS/RTT sqrt(3/(2bp)): 1.4305 Mb/s for b = 1 and 1.0115 Mb/s for b = 2 at p = 0.01. The law
    // is the limit of a large window W = sqrt(8/(3bp)) segments. Below it, a cycle also has a
    // round trip of recovery without growth (1.3/(bW) of the rate), a resent segment, half a
    // segment per round trip that does not fit whole, a window halved downwards: a few segments
    // per window in all (3.5 allowed). Above it, the growth per ACK is rounded down to whole
    // bytes: half a byte of MSS/W, so at the mean window of 3/4 W a share of 3 W/(8 MSS) of the
    // growth and half as much of the rate. Where both are small the law must hold within 5 %.
    for p in [0.01, 0.001, 0.0001] {
        for b in [1, 2] {
            let law = MSS / TRIP * math::sqrt(1.5 / (f64::from(b) * p));
            let window = math::sqrt(8.0 / (3.0 * f64::from(b) * p));
            for sack in [true, false] {
                let n = math::floor(1.0 / p + 0.5) as u64;
                let seen = rate(&unlimited(b, sack), 500.0, &mut every(n)) / law;
                let least = 1.0 - 3.5 / window - 3.0 * window / (16.0 * MSS);
                let range = least..1.01;
                assert!(range.contains(&seen), "p {p} b {b} sack {sack}: {seen}, {range:?}");
            }
        }
    }
}

#[test]
fn a_linux_reno_sender_follows_the_square_root_law_too() {
    // The window grows by what is acknowledged, a segment per round trip whatever the delayed
    // acknowledgements: b = 1. The few segments per window of above are allowed for, and one more:
    // what was acknowledged towards the next segment is forgotten at a loss (Linux's snd_cwnd_cnt),
    // half a segment of growth in a cycle, and the window rests in whole ones.
    for p in [0.01, 0.001] {
        let segment = 1_448.0;
        let settings =
            [("window_bytes", Raw::Number(1e9)), ("congestion", Raw::Text("reno".into()))];
        let law = segment / TRIP * math::sqrt(1.5 / p);
        let n = math::floor(1.0 / p + 0.5) as u64;
        let seen = rate(&profile("linux", &settings), 500.0, &mut every(n)) / law;
        let least = 1.0 - 4.5 / math::sqrt(8.0 / (3.0 * p));
        assert!((least..1.01).contains(&seen), "p {p}: {seen}, at least {least}");
    }
}

#[test]
fn random_loss_follows_padhye() {
    // Padhye, Firoiu, Towsley, Kurose, SIGCOMM 1998, with T0 = 1 s and b = 2; its losses come in
    // runs: after one, the rest of the flight is lost too. Accepted within 20 %, as the formula
    // is (10,000 s hold at least 2,000 runs: the statistical error is near 2 %).
    for (p, packets) in [(0.001, 267.8), (0.01, 70.65), (0.05, 17.49), (0.1, 6.90)] {
        let timeouts = (3.0 * math::sqrt(3.0 * 2.0 * p / 8.0)).min(1.0);
        let time = TRIP * math::sqrt(2.0 * 2.0 * p / 3.0) + timeouts * p * (1.0 + 32.0 * p * p);
        assert!((1.0 / time - packets).abs() < 0.006 * packets, "{}", 1.0 / time);
        let mut rng = Rng::named(1, "loss");
        let mut run_ends = secs(0.0);
        let seen = rate(&unlimited(2, true), 10_000.0, &mut |sent| {
            if sent.side != S || sent.segment.len == 0 {
                return false;
            }
            let in_run = sent.at < run_ends;
            let begins = !in_run && rng.uniform() < p;
            if begins {
                run_ends = sent.at + ms(50);
            }
            in_run || begins
        });
        let ratio = seen / MSS / packets;
        assert!((0.8..1.2).contains(&ratio), "p {p}: {ratio}");
    }
}
