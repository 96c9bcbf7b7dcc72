//! SRED: a second transcription, and the number of flows it estimates.

use aqmlab_aqm::Admission;
use packet::{Ecn, Rng, Why};

use super::duel::{Arrival, Reference, duel};
use super::{Bench, close};

struct Sred {
    full: bool,
    ecn: bool,
    list: Vec<u64>,
    p: f64,
}

const M: usize = 50;
const B: f64 = 40.0;

impl Reference for Sred {
    fn arrive(&mut self, a: Arrival, rng: &mut Rng) -> Admission {
        let mut hit = 0.0;
        if self.list.len() < M {
            self.list.push(a.flow);
        } else {
            let i = rng.below(M as u64) as usize;
            if self.list[i] == a.flow {
                hit = 1.0;
            } else if rng.uniform() < 0.5 {
                self.list[i] = a.flow;
            }
            let alpha = 0.5 / M as f64;
            self.p = self.p * (1.0 - alpha) + hit * alpha;
        }
        let q = a.packets as f64;
        let p_sred = match q {
            q if q < B / 6.0 => 0.0,
            q if q < B / 3.0 => 0.2 / 4.0,
            _ => 0.2,
        };
        let mut p_zap = p_sred;
        if self.p > 0.0 {
            let x = 1.0 / (20.0 * self.p).powi(2);
            p_zap *= if x < 1.0 { x } else { 1.0 };
            if self.full {
                p_zap *= 1.0 + hit / self.p;
            }
        }
        let mut mark = false;
        if p_zap > 0.0 && rng.uniform() < p_zap {
            if !(self.ecn && a.ect()) {
                return Admission::Dropped(Why::Early);
            }
            mark = true;
        }
        if q >= B {
            Admission::Dropped(Why::Overflow)
        } else if mark {
            Admission::Marked(Why::Early)
        } else {
            Admission::Queued
        }
    }
    fn state(&self) -> Vec<(&'static str, f64)> {
        vec![("P", self.p), ("zombies", self.list.len() as f64)]
    }
}

#[test]
fn both_transcriptions_agree() {
    for bits in 0..4u64 {
        let (full, ecn) = (bits & 1 == 1, bits & 2 == 2);
        let pairs = [
            ("form", if full { "full" } else { "simple" }),
            ("M", "50"),
            ("r", "0.5"),
            ("p_max", "0.2"),
            ("many_flows", "20"),
            ("limit", "40"),
            ("ecn", if ecn { "true" } else { "false" }),
        ];
        let reference = Sred { full, ecn, list: Vec::new(), p: 0.0 };
        let tally = duel("sred", &pairs, reference, bits, 40_000);
        assert!(tally.queued > 10_000 && tally.overflow > 50, "{pairs:?} {tally:?}");
        assert!(tally.early > 500 && (tally.marked > 500) == ecn, "{pairs:?} {tally:?}");
    }
}

#[test]
fn the_estimate_is_the_number_of_flows() {
    for flows in [10, 100] {
        let mut bench = Bench::new("sred", &[], 1);
        let mut traffic = Rng::named(1, "flows");
        let (mut sum, rounds) = (0.0, 400_000);
        for n in 0..rounds {
            let mut packet = super::packet(1000, Ecn::NotEct);
            packet.flow = traffic.below(flows);
            let now = packet.arrived;
            bench.gate.admit(&mut packet, packet::Backlog::default(), now, &mut bench.rng);
            sum += if n >= rounds / 2 { bench.gauge("P") } else { 0.0 };
        }
        // An average over 50 of P's memories of 4000 arrivals; a tenth is more than five errors.
        let found = sum / f64::from(rounds / 2);
        close(found * flows as f64, 1.0, 0.1);
    }
}

/// Hits are the heavy flow's, so the full form finds it and the simple one does not.
#[test]
fn the_full_form_hits_the_heavy_flow() {
    let small = |form| {
        let pairs = [("form", form), ("p_max", "0.5"), ("many_flows", "1.5"), ("limit", "300")];
        super::unfair::run("sred", &pairs).0
    };
    let (simple, full) = (small("simple"), small("full"));
    close(simple, 1.0 / 2.25, 0.03);
    assert!(full > simple + 0.15, "{full}");
}
