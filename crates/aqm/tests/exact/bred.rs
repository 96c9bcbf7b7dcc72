//! BRED: a second transcription.

use std::collections::BTreeMap;

use aqmlab_aqm::Admission;
use packet::{Rng, Why};

use super::duel::{Arrival, Queue, Reference, duel};

struct Bred {
    halved: bool,
    /// (qlen, gap) of the active flows.
    flows: BTreeMap<u64, (u32, u32)>,
    fifo: Vec<u64>,
}

const B: f64 = 40.0;

impl Reference for Bred {
    fn arrive(&mut self, a: Arrival, rng: &mut Rng) -> Admission {
        let absent = !self.flows.contains_key(&a.flow);
        let (qlen, gap) = self.flows.entry(a.flow).or_default();
        let (qlen, gap) = (f64::from(*qlen), f64::from(*gap));
        let nactive = self.flows.len() as f64;
        let w = if self.halved { B / (2.0 * nactive) } else { B / (nactive + 1.0) };
        let l2 = w / 1.3;
        let l1 = l2 / 2.0;
        let p1 = l1 / (10.0 * w);
        let p2 = if 10.0 * p1 < 1.0 { 10.0 * p1 } else { 1.0 };
        let why = if a.packets as f64 >= B {
            Some(Why::Overflow)
        } else if qlen >= w {
            Some(Why::Forced)
        } else if l2 <= qlen {
            (gap > l2 && rng.uniform() < p2).then_some(Why::Early)
        } else if l1 <= qlen {
            (gap > l1 && rng.uniform() < p1).then_some(Why::Early)
        } else {
            None
        };
        let state = self.flows.get_mut(&a.flow).unwrap();
        let Some(why) = why else {
            state.0 += 1;
            state.1 += 1;
            self.fifo.push(a.flow);
            return Admission::Queued;
        };
        state.1 = 0;
        if absent {
            self.flows.remove(&a.flow);
        }
        Admission::Dropped(why)
    }

    fn depart(&mut self, _: u64, _: u64, _: Queue, _: &mut Rng) -> bool {
        let flow = self.fifo.remove(0);
        let state = self.flows.get_mut(&flow).unwrap();
        state.0 -= 1;
        if state.0 == 0 {
            self.flows.remove(&flow);
        }
        false
    }

    fn state(&self) -> Vec<(&'static str, f64)> {
        vec![("active", self.flows.len() as f64)]
    }
}

#[test]
fn both_transcriptions_agree() {
    for (share, halved) in [("1/(N+1)", false), ("1/(2N)", true)] {
        for seed in 0..3 {
            let pairs = [("share", share), ("limit", "40")];
            let reference = Bred { halved, flows: BTreeMap::new(), fifo: Vec::new() };
            let tally = duel("bred", &pairs, reference, seed, 40_000);
            assert!(tally.queued > 10_000 && tally.forced > 500, "{pairs:?} {tally:?}");
            assert!(tally.early > 100 && tally.overflow > 20, "{pairs:?} {tally:?}");
            assert_eq!(tally.marked, 0);
        }
    }
}

#[test]
fn a_flow_that_does_not_yield_pays_alone() {
    let (small, heavy) = super::unfair::run("bred", &[]);
    assert!(small > 0.98, "{small}");
    super::close(heavy, 0.75, 0.02);
}
