//! Response functions of today's congestion controls, with the whole of today's sender: the mean
//! window under periodic loss.

mod lab;

use lab::{C, S, World, ms, profile, secs};
use packet::math;
use packet::params::Raw;
use tcp::HostClock;

/// Payload of a segment with timestamps, bytes.
const MSS: f64 = 1_448.0;

/// Loses every `n`-th new data segment, never a resent one, and counts.
struct Every {
    n: u64,
    highest: u64,
    sent: u64,
}

impl Every {
    fn loses(&mut self, sent: &lab::Sent) -> bool {
        let segment = &sent.segment;
        if sent.side != S || segment.len == 0 || segment.seq <= self.highest {
            return false;
        }
        self.highest = segment.seq;
        self.sent += 1;
        self.sent.is_multiple_of(self.n)
    }
}

/// Mean window in segments, as what is delivered in a round trip, of a sender with this control
/// that loses every `n`-th segment: from the `skip`-th loss on for as many again.
fn mean_window(control: &str, n: u64, trip_ms: u64, skip: u64) -> f64 {
    let settings = [("congestion", Raw::Text(control.into())), ("window_bytes", Raw::Number(1e9))];
    let mut world = World::new(&profile("linux", &settings), [HostClock::default(); 2], 1 << 44);
    world.keep_log = false;
    world.delay = ms(trip_ms / 2);
    let mut every = Every { n, highest: 0, sent: 0 };
    world.run(secs(1.0), &mut |sent| every.loses(sent));
    let (mut at, mut from) = (1.0, None);
    while every.sent < 2 * skip * n {
        at += 1.0;
        assert!(at < 1e5, "it hardly sends");
        world.go_on(secs(at), &mut |sent| every.loses(sent));
        if from.is_none() && every.sent >= skip * n {
            from = Some((at, world.ends[C].delivered()));
        }
    }
    let (since, before) = from.expect("half of it");
    let delivered = (world.ends[C].delivered() - before) as f64;
    delivered / MSS * (trip_ms as f64 / 1e3) / (at - since)
}

/// Accepted: 10 %, or as in `throughput.rs` 3.5 segments of the window where that is more: the
/// formulas do not know the round trip of recovery in every cycle, a resent segment, windows that
/// hold no whole number of segments, nor CUBIC's fast convergence. Delayed acknowledgements change
/// nothing: both controls count bytes.
fn check(control: &str, n: u64, trip_ms: u64, window: f64) {
    let seen = mean_window(control, n, trip_ms, 100) / window;
    let least = (1.0 - 3.5 / window).min(0.9);
    assert!((least..1.1).contains(&seen), "{control}, 1/{n}, {trip_ms} ms: {seen} of {window}");
}

#[test]
fn cubic_follows_rfc_9438() {
    // Equation 7: 1.054 RTT^0.75 / p^0.75 segments; tables 1 and 2.
    check("cubic", 10_000, 100, 187.4);
    check("cubic", 10_000, 300, 427.2);
}

#[test]
fn cubic_is_reno_where_reno_is_faster() {
    // 33.3 by equation 7 at 100 ms, 38 in table 1; 5.9 at 10 ms.
    for trip_ms in [10, 100] {
        check("cubic", 1_000, trip_ms, math::sqrt(1.5 * 1_000.0));
    }
}

#[test]
fn reno_follows_the_square_root_law() {
    for n in [100, 1_000, 10_000] {
        check("reno", n, 100, math::sqrt(1.5 * n as f64));
    }
}
