//! Marks in the radio access network by L4Span's rule (Wan and Jamieson, 2025), as its program has
//! it: packets are marked if the waiting bytes would not leave in time at the recent departure
//! rate, which is known with an error.

use std::collections::VecDeque;

use packet::{Duration, Ecn, Instant, Rng};

/// Parameters of L4Span's rule.
#[derive(Clone, Copy, Debug)]
pub struct Marking {
    /// Time in which the waiting bytes should leave.
    pub threshold: Duration,
    /// Backlog up to which packets of classic senders are not marked, bytes.
    pub classic_bytes: u64,
    /// Number of packets over whose departure rates the mean and the error are taken.
    pub window: usize,
}

/// Recent departure rates of packets.
#[derive(Default)]
pub(super) struct Rates {
    of_packets: VecDeque<f64>,
    last: Option<Instant>,
    unfinished: u64,
}

impl Rates {
    /// A block of `bytes`, in which `packets` packets end, has left at `now`.
    pub fn sent(&mut self, marking: &Marking, bytes: u64, packets: usize, now: Instant) {
        self.unfinished += bytes;
        if packets == 0 {
            return;
        }
        if let Some(last) = self.last {
            let rate = self.unfinished as f64 / now.since(last).secs_f64().max(1e-6);
            for _ in 0..packets {
                self.of_packets.push_back(rate);
            }
            while self.of_packets.len() > marking.window {
                self.of_packets.pop_front();
            }
        }
        (self.last, self.unfinished) = (Some(now), 0);
    }

    /// Mean rate and its standard deviation, bytes/s.
    fn predicted(&self) -> (f64, f64) {
        let count = self.of_packets.len().max(1) as f64;
        let mean = self.of_packets.iter().sum::<f64>() / count;
        let square: f64 = self.of_packets.iter().map(|rate| (rate - mean) * (rate - mean)).sum();
        (mean, (square / count).sqrt())
    }

    /// Whether a packet that finds `waits` bytes is marked.
    pub fn marks(&self, marking: &Marking, waits: u64, ecn: Ecn, rng: &mut Rng) -> bool {
        if self.of_packets.is_empty() || waits == 0 {
            return false;
        }
        let p = match ecn {
            Ecn::NotEct | Ecn::Ce => return false,
            Ecn::Ect1 => {
                let needed = waits as f64 / marking.threshold.secs_f64();
                let (mean, error) = self.predicted();
                share(needed - mean, error)
            }
            // A classic sender's rate goes with the inverse square root of its marking probability
            // (here with the constant 1.75), so the probability goes with the inverse square of
            // the backlog. As in L4Span's own program, the packet (1,460 bytes) is counted in bits
            // and the backlog in bytes.
            Ecn::Ect0 if waits > marking.classic_bytes => {
                let packets = 1_460.0 * 8.0 * 1.75 / 2.0 / waits as f64;
                packets * packets
            }
            Ecn::Ect0 => return false,
        };
        p >= 1.0 || (p > 0.0 && rng.uniform() < p)
    }
}

/// Marking probability: it rises from 0 where `beyond` is -`error` to 1 where it is `error`.
fn share(beyond: f64, error: f64) -> f64 {
    if beyond > error {
        1.0
    } else if beyond < -error {
        0.0
    } else {
        (beyond + error) / (2.0 * error).max(f64::MIN_POSITIVE)
    }
}
