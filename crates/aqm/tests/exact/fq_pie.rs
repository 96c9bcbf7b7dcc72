//! FQ-PIE: a second transcription, with FQ-CoDel's lists and one PIE per queue.

use std::collections::VecDeque;

use packet::{Ecn, Rng, Why};

use super::fq_codel::bucket;
use super::line::{Did, Model, P, Product, Traffic, compare};

/// One queue with its PIE, in seconds.
#[derive(Default)]
struct Queue {
    packets: VecDeque<P>,
    deficit: i64,
    p: f64,
    qdelay: f64,
    qdelay_old: f64,
    /// Delay as Linux keeps it between updates.
    current: f64,
    accu: f64,
    burst: i64,
    dq_tstamp: Option<u64>,
}

impl Queue {
    fn bytes(&self) -> u64 {
        self.packets.iter().map(|p| p.size).sum()
    }
}

struct Reference {
    linux: bool,
    ecn: bool,
    limit: usize,
    cuts: bool,
    queues: Vec<Queue>,
    new: VecDeque<usize>,
    old: VecDeque<usize>,
}

impl Reference {
    fn drop_early(&mut self, i: usize, rng: &mut Rng) -> bool {
        let linux = self.linux;
        let q = &mut self.queues[i];
        if q.burst > 0 {
            return false;
        }
        let delay = if linux { q.current } else { q.qdelay_old };
        if delay < 0.0075 && q.p < 0.2 {
            return false;
        }
        let backlog = q.bytes();
        if if linux { backlog < 2 * 1500 } else { backlog <= 2000 } {
            return false;
        }
        if q.p == 0.0 {
            q.accu = 0.0;
        } else {
            q.accu += q.p;
        }
        if q.accu < 0.85 {
            return false;
        }
        if q.accu >= 8.5 {
            return true;
        }
        if rng.uniform() < q.p {
            q.accu = 0.0;
            return true;
        }
        false
    }
}

impl Model for Reference {
    fn enqueue(&mut self, mut p: P, rng: &mut Rng, did: &mut Vec<Did>) {
        let i = bucket(p.flow, 3, self.queues.len() as u64);
        let total: usize = self.queues.iter().map(|q| q.packets.len()).sum();
        if !self.cuts && total >= self.limit {
            self.queues[i].accu = 0.0;
            did.push(Did::Drop(p.id, Why::Overflow));
            return;
        }
        if self.drop_early(i, rng) {
            let prob = self.queues[i].p;
            let low = if self.linux { prob <= 0.1 } else { prob < 0.1 };
            if !(self.ecn && p.ect() && low) {
                self.queues[i].accu = 0.0;
                did.push(Did::Drop(p.id, Why::Early));
                return;
            }
            p.ecn = Ecn::Ce;
            did.push(Did::Mark(p.id));
        }
        did.push(Did::Queue(p.id));
        self.queues[i].packets.push_back(p);
        if !self.new.contains(&i) && !self.old.contains(&i) {
            self.new.push_back(i);
            self.queues[i].deficit = 1514;
        }
        if self.cuts && total + 1 > self.limit {
            let most = self.queues.iter().map(Queue::bytes).max().unwrap();
            let fat = self.queues.iter_mut().find(|q| q.bytes() == most).unwrap();
            let (mut n, mut len) = (0, 0);
            while n == 0 || (n < 64 && len < most / 2) {
                let p = fat.packets.pop_front().unwrap();
                (n, len) = (n + 1, len + p.size);
                did.push(Did::Drop(p.id, Why::Overflow));
            }
        }
    }

    fn dequeue(&mut self, now: u64, _: &mut Rng, _: &mut Vec<Did>) -> Option<P> {
        loop {
            let from_new = !self.new.is_empty();
            let i = *if from_new { self.new.front() } else { self.old.front() }?;
            let list = if from_new { &mut self.new } else { &mut self.old };
            let q = &mut self.queues[i];
            if q.deficit <= 0 {
                q.deficit += 1514;
                list.pop_front();
                self.old.push_back(i);
            } else if let Some(p) = q.packets.pop_front() {
                q.deficit -= p.size as i64;
                q.current = if q.packets.is_empty() { 0.0 } else { (now - p.t) as f64 / 1e9 };
                if let (true, Some(last)) = (self.linux, q.dq_tstamp) {
                    q.burst = (q.burst - (now - last) as i64).max(0);
                }
                q.dq_tstamp = Some(now);
                return Some(p);
            } else {
                list.pop_front();
                if from_new && (!self.linux || !self.old.is_empty()) {
                    self.old.push_back(i);
                }
            }
        }
    }

    fn tick(&mut self, _: u64) {
        let linux = self.linux;
        for q in &mut self.queues {
            q.qdelay = q.current;
            let mut d = 0.125 * (q.qdelay - 0.015) + 1.25 * (q.qdelay - q.qdelay_old);
            for (below, by) in [
                (1e-1, 2.0),
                (1e-2, 8.0),
                (1e-3, 32.0),
                (1e-4, 128.0),
                (1e-5, 512.0),
                (1e-6, 2048.0),
            ]
            .into_iter()
            .rev()
            {
                if q.p < below {
                    d /= by;
                    break;
                }
            }
            if q.p >= 0.1 && d > 0.02 {
                d = 0.02;
            }
            if linux && q.qdelay > 0.25 {
                d += 0.02;
            }
            q.p = (q.p + d).clamp(0.0, 1.0);
            if q.qdelay == 0.0 && q.qdelay_old == 0.0 && (!linux || q.packets.is_empty()) {
                q.p *= if linux { 63.0 / 64.0 } else { 0.98 };
            }
            if !linux {
                q.burst = (q.burst - 15_000_000).max(0);
            }
            if q.p == 0.0 && q.qdelay < 0.0075 && q.qdelay_old < 0.0075 {
                q.burst = 150_000_000;
                if linux {
                    q.accu = 0.0;
                    q.dq_tstamp = None;
                }
            }
            q.qdelay_old = q.qdelay;
        }
    }

    fn shows(&self) -> Vec<(&'static str, f64)> {
        let most = self.queues.iter().map(|q| q.p).fold(0.0, f64::max);
        vec![("max_p", most), ("old_flows", self.old.len() as f64)]
    }
}

#[test]
fn both_transcriptions_agree() {
    for profile in ["rfc8033", "linux"] {
        for (limit, cuts) in [(2000, false), (90, false), (90, true)] {
            for (seed, ecn) in [(1, true), (2, false), (3, true)] {
                let queue = |_| Queue { burst: 150_000_000, ..Queue::default() };
                let model = Reference {
                    linux: profile == "linux",
                    ecn,
                    limit,
                    cuts,
                    queues: (0..8).map(queue).collect(),
                    new: VecDeque::new(),
                    old: VecDeque::new(),
                };
                let limit_text = limit.to_string();
                let ecn = ecn.to_string();
                let pairs = [
                    ("profile", profile),
                    ("flows", "8"),
                    ("hash_seed", "3"),
                    ("limit", limit_text.as_str()),
                    ("overload", if cuts { "fattest" } else { "arrival" }),
                    ("ecn", ecn.as_str()),
                ];
                let traffic = Traffic::new(seed, 6, 2000);
                let seen = compare("fq_pie", &pairs, model, traffic, seed, 20_000);
                assert!(seen.sent > 9000 && seen.early > 100, "{pairs:?} {seen:?}");
                assert_eq!(seen.marked > 0, ecn == "true", "{pairs:?} {seen:?}");
                assert!(limit == 2000 || seen.overflow > 100, "{pairs:?} {seen:?}");
            }
        }
    }
}

#[test]
fn a_full_buffer_refuses_a_new_flow_or_cuts_the_fattest() {
    let lost = |overload| {
        let mut product = Product::new("fq_pie", &[("limit", "20"), ("overload", overload)], 1);
        let mut lost = Vec::new();
        for id in 0..21 {
            let flow = u64::from(id == 20);
            let did = product.enqueue(P { id, flow, size: 1500, ecn: Ecn::NotEct, t: 0 });
            lost.extend(did.iter().filter_map(|did| match did {
                Did::Drop(id, why) => Some((*id, *why)),
                _ => None,
            }));
        }
        lost
    };
    assert_eq!(lost("arrival"), [(20, Why::Overflow)]);
    let heads: Vec<_> = (0..10).map(|id| (id, Why::Overflow)).collect();
    assert_eq!(lost("fattest"), heads);
}
