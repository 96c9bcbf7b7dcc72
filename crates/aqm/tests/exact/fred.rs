//! FRED: a second transcription of the paper's figure, and what it does for fragile flows.

use std::collections::HashMap;

use aqmlab_aqm::Admission;
use packet::{Rng, Why};

use super::duel::{Arrival, Queue, RATE, Reference, duel};

#[derive(Default)]
struct Fred {
    minth: f64,
    maxth: f64,
    wq: f64,
    minq: f64,
    limit: u64,
    avg: f64,
    avgcq: f64,
    count: i64,
    /// (qlen, strike) of every flow ever seen; active is who has qlen > 0.
    flows: HashMap<u64, (u32, u32)>,
    /// Flows of the waiting packets.
    fifo: Vec<u64>,
    q_time: Option<u64>,
    resume: Option<u64>,
}

impl Fred {
    fn nactive(&self) -> usize {
        self.flows.values().filter(|(qlen, _)| *qlen > 0).count()
    }

    fn drop(&mut self, why: Why) -> Admission {
        // The line stays idle; of its time the whole packets have been used up.
        if let Some(aged_to) = self.resume {
            self.q_time = Some(aged_to);
        }
        Admission::Dropped(why)
    }
}

impl Reference for Fred {
    fn arrive(&mut self, a: Arrival, rng: &mut Rng) -> Admission {
        self.resume = None;
        let mut aged = false;
        if let Some(since) = self.q_time.take() {
            let m = (a.now - since) / (8 * 1000 * 1_000_000_000 / RATE);
            for _ in 0..m.min(3_000_000) {
                self.avg *= 1.0 - self.wq;
            }
            aged = true;
            self.resume = Some(since + m * 800_000);
        }
        let n = self.nactive();
        self.avgcq = if n > 0 { self.avg / n as f64 } else { self.avg };
        if self.avgcq < 1.0 {
            self.avgcq = 1.0;
        }
        let mut maxq = self.minth;
        if self.avg >= self.maxth {
            maxq = 2.0;
        }
        let (qlen, strike) = self.flows.entry(a.flow).or_default();
        let qlen_f = f64::from(*qlen);
        if qlen_f >= maxq
            || (self.avg >= self.maxth && qlen_f > 2.0 * self.avgcq)
            || (qlen_f >= self.avgcq && *strike > 1)
        {
            *strike += 1;
            return self.drop(Why::Forced);
        }
        if self.minth <= self.avg && self.avg < self.maxth {
            self.count += 1;
            if qlen_f >= if self.minq > self.avgcq { self.minq } else { self.avgcq } {
                let pb = 0.05 * (self.avg - self.minth) / (self.maxth - self.minth);
                let pa = pb / (1.0 - self.count as f64 * pb);
                if rng.uniform() < if pa < 0.0 { 1.0 } else { pa } {
                    self.count = 0;
                    return self.drop(Why::Early);
                }
            }
        } else if self.avg < self.minth {
            self.count = -1;
        } else {
            self.count = 0;
            return self.drop(Why::Forced);
        }
        if a.packets >= self.limit {
            return self.drop(Why::Overflow);
        }
        self.flows.get_mut(&a.flow).unwrap().0 += 1;
        self.fifo.push(a.flow);
        if !aged {
            self.avg = (1.0 - self.wq) * self.avg + self.wq * a.packets as f64;
        }
        Admission::Queued
    }

    fn depart(&mut self, _: u64, _: u64, queue: Queue, _: &mut Rng) -> bool {
        let flow = self.fifo.remove(0);
        self.avg = (1.0 - self.wq) * self.avg + self.wq * queue.packets as f64;
        let state = self.flows.get_mut(&flow).unwrap();
        state.0 -= 1;
        if state.0 == 0 {
            self.flows.remove(&flow);
        }
        false
    }

    fn idle(&mut self, now: u64) {
        self.q_time.get_or_insert(now);
    }

    fn state(&self) -> Vec<(&'static str, f64)> {
        let count = self.count as f64;
        vec![("avg", self.avg), ("count", count), ("active", self.nactive() as f64)]
    }
}

#[test]
fn both_transcriptions_agree() {
    let numbers =
        [(5.0, 10.0, "1/8", 2, 30), (10.0, 20.0, "1/64", 4, 40), (15.0, 60.0, "0.2", 2, 35)];
    for (seed, (minth, maxth, w_q, minq, limit)) in numbers.into_iter().enumerate() {
        let (min_th, max_th) = (minth.to_string(), maxth.to_string());
        let (min_q, room) = (minq.to_string(), limit.to_string());
        let pairs = [
            ("min_th", &*min_th),
            ("max_th", &*max_th),
            ("w_q", w_q),
            ("max_p", "0.05"),
            ("min_q", &*min_q),
            ("limit", &*room),
        ];
        let wq = if w_q == "1/8" {
            0.125
        } else if w_q == "1/64" {
            1.0 / 64.0
        } else {
            0.2
        };
        let reference = Fred {
            minth,
            maxth,
            wq,
            minq: f64::from(minq),
            limit,
            count: -1,
            q_time: Some(0),
            ..Fred::default()
        };
        let tally = duel("fred", &pairs, reference, seed as u64, 40_000);
        assert!(tally.queued > 10_000 && (tally.forced > 1000 || seed == 2), "{pairs:?} {tally:?}");
        assert!(tally.early > 50, "{pairs:?} {tally:?}");
        assert!(tally.overflow > 20 || seed == 0, "{pairs:?} {tally:?}");
        assert_eq!(tally.marked, 0);
    }
}

#[test]
fn fragile_flows_pass() {
    let (small, heavy) = super::unfair::run("fred", &[]);
    assert!(small > 0.98, "{small}");
    super::close(heavy, 0.75, 0.02);
}
