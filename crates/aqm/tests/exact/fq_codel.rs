//! FQ-CoDel: the worked examples, and a second transcription over the second transcription of
//! CoDel.

use std::collections::VecDeque;

use packet::{Ecn, Rng, Why};

use super::codel::Codel;
use super::line::{Did, Model, P, Product, Traffic, compare};

/// RFC 8290's structures.
struct Reference {
    profile: &'static str,
    queues: Vec<Queue>,
    new: VecDeque<usize>,
    old: VecDeque<usize>,
    quantum: i64,
    limit: usize,
    memory: u64,
    batch: u32,
}

struct Queue {
    packets: VecDeque<P>,
    deficit: i64,
    law: Codel,
}

impl Queue {
    fn bytes(&self) -> u64 {
        self.packets.iter().map(|p| p.size).sum()
    }
}

impl Reference {
    fn packets(&self) -> usize {
        self.queues.iter().map(|q| q.packets.len()).sum()
    }
    fn bytes(&self) -> u64 {
        self.queues.iter().map(Queue::bytes).sum()
    }
}

impl Model for Reference {
    fn enqueue(&mut self, p: P, _: &mut Rng, did: &mut Vec<Did>) {
        did.push(Did::Queue(p.id));
        let i = bucket(p.flow, 7, self.queues.len() as u64);
        self.queues[i].packets.push_back(p);
        if !self.new.contains(&i) && !self.old.contains(&i) {
            self.new.push_back(i);
            self.queues[i].deficit = self.quantum;
        }
        if self.packets() > self.limit || self.bytes() > self.memory {
            let most = self.queues.iter().map(Queue::bytes).max().unwrap();
            let fat = self.queues.iter().position(|q| q.bytes() == most).unwrap();
            let fat = &mut self.queues[fat];
            let (mut n, mut len) = (0, 0);
            loop {
                let p = fat.packets.pop_front().unwrap();
                n += 1;
                len += p.size;
                did.push(Did::Drop(p.id, Why::Overflow));
                if n >= self.batch || len >= most / 2 {
                    break;
                }
            }
            if self.profile != "ns3" {
                fat.law.count += n;
            }
        }
    }

    fn dequeue(&mut self, now: u64, _: &mut Rng, did: &mut Vec<Did>) -> Option<P> {
        loop {
            let from_new = !self.new.is_empty();
            let i = *if from_new { self.new.front() } else { self.old.front() }?;
            if self.queues[i].deficit <= 0 {
                self.queues[i].deficit += self.quantum;
                if from_new {
                    self.new.pop_front()
                } else {
                    self.old.pop_front()
                };
                self.old.push_back(i);
                continue;
            }
            let elsewhere =
                if self.profile == "linux" { self.bytes() - self.queues[i].bytes() } else { 0 };
            let Queue { packets, law, .. } = &mut self.queues[i];
            let pop = || {
                let p = packets.pop_front();
                (p, packets.iter().map(|p| p.size).sum::<u64>() + elsewhere)
            };
            if let Some(p) = law.dequeue(pop, now, did) {
                self.queues[i].deficit -= p.size as i64;
                return Some(p);
            }
            if from_new {
                self.new.pop_front();
                if self.profile != "linux" || !self.old.is_empty() {
                    self.old.push_back(i);
                }
            } else {
                self.old.pop_front();
            }
        }
    }

    fn shows(&self) -> Vec<(&'static str, f64)> {
        vec![("new_flows", self.new.len() as f64), ("old_flows", self.old.len() as f64)]
    }
}

/// The queue of a flow among `queues`: SplitMix64's finaliser of the flow and a mixed seed.
pub fn bucket(flow: u64, seed: u64, queues: u64) -> usize {
    let mix = |z: u64| {
        let z = (z ^ (z >> 30)).wrapping_mul(0xBF58476D1CE4E5B9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94D049BB133111EB);
        z ^ (z >> 31)
    };
    (mix(flow ^ mix(seed.wrapping_add(0x9E3779B97F4A7C15))) % queues) as usize
}

#[test]
fn both_transcriptions_agree() {
    for profile in ["rfc8290", "linux", "ns3"] {
        for (limit, batch, memory) in [(2000, 64, 32 << 20), (150, 64, 32 << 20), (150, 3, 60_000)]
        {
            for (seed, ecn) in [(1, true), (2, false)] {
                let law = || Codel {
                    ecn,
                    ..Codel::new(if profile == "rfc8290" { "rfc8289" } else { profile })
                };
                let queue = |_| Queue { packets: VecDeque::new(), deficit: 0, law: law() };
                let model = Reference {
                    profile,
                    queues: (0..8).map(queue).collect(),
                    new: VecDeque::new(),
                    old: VecDeque::new(),
                    quantum: if profile == "ns3" { 1500 } else { 1514 },
                    limit,
                    memory,
                    batch,
                };
                let (limit, batch, memory) =
                    (limit.to_string(), batch.to_string(), memory.to_string());
                let ecn = ecn.to_string();
                let pairs = [
                    ("profile", profile),
                    ("flows", "8"),
                    ("hash_seed", "7"),
                    ("limit", limit.as_str()),
                    ("limit_bytes", memory.as_str()),
                    ("drop_batch", batch.as_str()),
                    ("ecn", ecn.as_str()),
                ];
                let traffic = Traffic::new(seed, 6, 2000);
                let seen = compare("fq_codel", &pairs, model, traffic, seed, 20_000);
                assert!(seen.sent > 9000 && seen.early > 20, "{pairs:?} {seen:?}");
                assert_eq!(seen.marked > 50, ecn == "true", "{pairs:?} {seen:?}");
                assert!(limit == "2000" || seen.overflow > 100, "{pairs:?} {seen:?}");
            }
        }
    }
}

fn fill(product: &mut Product, flow: u64, packets: u32, size: u64, t: u64) -> Vec<Did> {
    let mut dropped = Vec::new();
    for n in 0..packets {
        let id = 1000 * flow as u32 + n;
        let did = product.enqueue(P { id, flow, size, ecn: Ecn::NotEct, t });
        dropped.extend(did.into_iter().filter(|did| matches!(did, Did::Drop(..))));
    }
    dropped
}

#[test]
fn an_emptied_new_queue_becomes_an_old_one() {
    let lists = |profile| {
        let mut product = Product::new("fq_codel", &[("profile", profile), ("quantum", "1514")], 1);
        fill(&mut product, 1, 1, 1500, 0);
        assert_eq!((product.gauge("new_flows"), product.gauge("old_flows")), (1.0, 0.0));
        // Sent; what is left of the quantum, 14 bytes, lets it be asked again before others.
        assert!(product.dequeue(0).0.is_some());
        assert_eq!((product.gauge("new_flows"), product.gauge("old_flows")), (1.0, 0.0));
        fill(&mut product, 2, 2, 1500, 0);
        assert!(product.dequeue(0).0.is_some());
        (product.gauge("new_flows"), product.gauge("old_flows"))
    };
    assert_eq!(lists("rfc8290"), (1.0, 1.0));
    assert_eq!(lists("ns3"), (1.0, 1.0));
    assert_eq!(lists("linux"), (1.0, 0.0), "nobody to wait for");
}

#[test]
fn the_fattest_queue_loses_half_or_a_batch() {
    for (packets, lost) in [(100, 50), (200, 64)] {
        let limit = packets.to_string();
        let mut product = Product::new("fq_codel", &[("limit", &limit)], 1);
        assert!(fill(&mut product, 1, packets, 1500, 0).is_empty());
        let dropped = fill(&mut product, 2, 1, 1500, 0);
        assert_eq!(dropped.len(), lost, "{packets} packets of 1500 bytes");
        assert_eq!(dropped[0], Did::Drop(1000, Why::Overflow), "from the head");
    }
}

#[test]
fn old_queues_take_turns_by_bytes() {
    let mut product = Product::new("fq_codel", &[("quantum", "1514")], 1);
    fill(&mut product, 1, 30, 1500, 0);
    fill(&mut product, 2, 60, 500, 0);
    let mut served = String::new();
    for _ in 0..60 {
        served.push(if product.dequeue(0).0.unwrap().flow == 1 { 'A' } else { 'B' });
    }
    // Two new queues with a quantum each begin in the same order as two old ones that get theirs.
    let (a, b) = (served.matches('A').count() * 1500, served.matches('B').count() * 500);
    assert!(a.abs_diff(b) <= 1514 + 1500, "{served}");
    assert!(served.starts_with("AABBBBABBB"), "{served}");
}

#[test]
fn a_sparse_flow_goes_first() {
    let mut product = Product::new("fq_codel", &[], 1);
    fill(&mut product, 1, 50, 1500, 0);
    for _ in 0..5 {
        product.dequeue(0);
    }
    fill(&mut product, 2, 1, 100, 0);
    assert_eq!(product.dequeue(0).0.unwrap().flow, 2);
}
