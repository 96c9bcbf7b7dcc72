//! CoDel against a second transcription: RFC 8289's pseudocode with the programs' differences
//! written into it, one dequeue routine with its loop, as they have it.

use std::collections::VecDeque;

use packet::{Ecn, Rng, Why};

use super::line::{Did, Model, P, Product, Seen, Traffic, compare};
use super::{Pairs, build};

/// One program's CoDel, in nanoseconds.
pub struct Codel {
    pub profile: &'static str,
    pub target: u64,
    pub interval: u64,
    pub mtu: u64,
    pub ecn: bool,
    pub ce_threshold: Option<u64>,
    pub first_above: u64,
    pub drop_next: u64,
    pub count: u32,
    pub lastcount: u32,
    pub rec_inv_sqrt: u32,
    pub dropping: bool,
    /// Never signalled: the programs' clocks are far from zero then.
    pub virgin: bool,
}

impl Codel {
    pub fn new(profile: &'static str) -> Self {
        let mtu = match profile {
            "linux" => 1514,
            "ns2" => 256,
            _ => 1500,
        };
        Codel {
            profile,
            target: 5_000_000,
            interval: 100_000_000,
            mtu,
            ecn: false,
            ce_threshold: None,
            first_above: 0,
            drop_next: 0,
            count: 0,
            lastcount: 0,
            rec_inv_sqrt: 0,
            dropping: false,
            virgin: true,
        }
    }

    fn newton(&self) -> bool {
        self.profile == "linux" || self.profile == "ns3"
    }

    fn law(&self, t: u64) -> u64 {
        if self.newton() {
            t + ((self.interval as u128 * ((self.rec_inv_sqrt as u128) << 16)) >> 32) as u64
        } else {
            t + (self.interval as f64 / (self.count as f64).sqrt()).round() as u64
        }
    }

    fn newton_step(&mut self) {
        let invsqrt = (self.rec_inv_sqrt as u64) << 16;
        let invsqrt2 = (invsqrt * invsqrt) >> 32;
        let mut val = (3u64 << 32).wrapping_sub(self.count as u64 * invsqrt2);
        val >>= 2;
        val = val.wrapping_mul(invsqrt) >> 31;
        self.rec_inv_sqrt = (val as u32) >> 16;
    }

    /// RFC 8289's dodequeue.
    fn ok(&mut self, p: Option<&P>, backlog: u64, now: u64) -> bool {
        let Some(p) = p else {
            self.first_above = 0;
            return false;
        };
        if self.profile == "ns2" && p.size > self.mtu {
            self.mtu = p.size;
        }
        let small = if self.profile == "ns3" { backlog < self.mtu } else { backlog <= self.mtu };
        if now - p.t < self.target || small {
            self.first_above = 0;
            return false;
        }
        if self.first_above == 0 {
            self.first_above = now + self.interval;
            return false;
        }
        if self.newton() { now > self.first_above } else { now >= self.first_above }
    }

    fn set_ce(&self, p: &mut P, did: &mut Vec<Did>) -> bool {
        if self.ecn && p.ect() {
            p.ecn = Ecn::Ce;
            did.push(Did::Mark(p.id));
            return true;
        }
        false
    }

    /// `pop` takes a packet and says how many bytes are left.
    pub fn dequeue(
        &mut self,
        mut pop: impl FnMut() -> (Option<P>, u64),
        now: u64,
        did: &mut Vec<Did>,
    ) -> Option<P> {
        let (mut p, mut left) = pop();
        let mut marked = false;
        if p.is_none() {
            self.dropping = false;
            if !self.newton() {
                self.first_above = 0;
            }
            return None;
        }
        let drop = self.ok(p.as_ref(), left, now);
        if self.dropping {
            if !drop {
                self.dropping = false;
            }
            while self.dropping && now >= self.drop_next {
                self.count += 1;
                self.newton_step();
                if self.set_ce(p.as_mut().unwrap(), did) {
                    marked = true;
                    let from = if self.profile == "ns3" { now } else { self.drop_next };
                    self.drop_next = self.law(from);
                    break;
                }
                did.push(Did::Drop(p.unwrap().id, Why::Early));
                (p, left) = pop();
                if self.ok(p.as_ref(), left, now) {
                    self.drop_next = self.law(self.drop_next);
                } else {
                    self.dropping = false;
                }
            }
        } else if drop {
            marked = self.set_ce(p.as_mut().unwrap(), did);
            if !marked {
                did.push(Did::Drop(p.unwrap().id, Why::Early));
                (p, left) = pop();
                self.ok(p.as_ref(), left, now);
            }
            self.dropping = true;
            let recent = !self.virgin && now < self.drop_next + 16 * self.interval;
            self.virgin = false;
            let delta = self.count - self.lastcount;
            if self.profile == "ns2" {
                self.count = if self.count > 1 && recent { self.count - 1 } else { 1 };
            } else if delta > 1 && recent {
                self.count = delta;
                self.newton_step();
            } else {
                self.count = 1;
                self.rec_inv_sqrt = 0xffff;
            }
            self.lastcount = self.count;
            self.drop_next = self.law(now);
        }
        if let (Some(p), Some(threshold)) = (&mut p, self.ce_threshold)
            && !marked
            && p.ect()
            && now - p.t > threshold
        {
            p.ecn = Ecn::Ce;
            did.push(Did::Mark(p.id));
        }
        p
    }
}

struct Fifo {
    law: Codel,
    packets: VecDeque<P>,
    limit: usize,
}

impl Model for Fifo {
    fn enqueue(&mut self, p: P, _: &mut Rng, did: &mut Vec<Did>) {
        if self.packets.len() >= self.limit {
            did.push(Did::Drop(p.id, Why::Overflow));
            return;
        }
        did.push(Did::Queue(p.id));
        self.packets.push_back(p);
    }

    fn dequeue(&mut self, now: u64, _: &mut Rng, did: &mut Vec<Did>) -> Option<P> {
        let packets = &mut self.packets;
        let pop = || {
            let p = packets.pop_front();
            (p, packets.iter().map(|p| p.size).sum())
        };
        self.law.dequeue(pop, now, did)
    }

    fn shows(&self) -> Vec<(&'static str, f64)> {
        vec![("count", self.law.count as f64), ("dropping", f64::from(u8::from(self.law.dropping)))]
    }
}

#[test]
fn both_transcriptions_agree() {
    let mut total = Seen::default();
    for (index, profile) in ["rfc8289", "linux", "ns3", "ns2"].into_iter().enumerate() {
        for ecn in [false, true] {
            for (limit, threshold) in [(300, None), (60, Some(12_000_000))] {
                if profile == "ns2" && (ecn || threshold.is_some()) {
                    continue;
                }
                for seed in 0..6 {
                    let law = Codel { ecn, ce_threshold: threshold, ..Codel::new(profile) };
                    let model = Fifo { law, packets: VecDeque::new(), limit };
                    let limit = limit.to_string();
                    let mut pairs = vec![("profile", profile), ("limit", &limit)];
                    if ecn {
                        pairs.push(("ecn", "true"));
                    }
                    if threshold.is_some() {
                        pairs.push(("ce_threshold", "12 ms"));
                    }
                    let seed = seed + 100 * index as u64;
                    let traffic = Traffic::new(seed, 5, 2000);
                    let seen = compare("codel", &pairs, model, traffic, seed, 30_000);
                    assert!(seen.sent > 10_000 && seen.early > 50, "{pairs:?} {seen:?}");
                    assert_eq!(seen.marked > 100, ecn || threshold.is_some(), "{pairs:?} {seen:?}");
                    total.overflow += seen.overflow;
                }
            }
        }
    }
    assert!(total.overflow > 1000, "{total:?}");
}

/// Packets of 1000 bytes at a line that is asked every `step`; the times of drops, in ms.
fn drops(pairs: Pairs, step_us: u64, until_ms: u64) -> Vec<f64> {
    let mut product = Product::new("codel", pairs, 1);
    let mut found = Vec::new();
    let mut id = 0;
    let mut arrive = |product: &mut Product, t| {
        id += 1;
        product.enqueue(P { id, flow: 0, size: 1000, ecn: Ecn::NotEct, t });
    };
    // So many at once that every packet has stayed too long.
    for _ in 0..900 {
        arrive(&mut product, 0);
    }
    let mut now = 6_000_000;
    while now < until_ms * 1_000_000 {
        let (_, did) = product.dequeue(now);
        for what in did {
            match what {
                Did::Drop(_, Why::Early) => found.push(now as f64 / 1e6),
                Did::Drop(..) => panic!("{what:?}"),
                _ => {}
            }
            arrive(&mut product, 0);
        }
        now += step_us * 1000;
    }
    found
}

#[test]
fn a_standing_queue_is_signalled_by_the_control_law() {
    let exact = drops(&[("limit", "100000")], 10, 500);
    let first = exact[0];
    assert!((first - 106.0).abs() < 0.02, "{exact:?}");
    for (found, expected) in exact.iter().zip([0.0, 100.0, 170.71, 228.45, 278.45]) {
        assert!((found - first - expected).abs() < 0.03, "{exact:?}");
    }
    let linux = drops(&[("limit", "100000"), ("profile", "linux")], 10, 500);
    let first = linux[0];
    for (found, expected) in linux.iter().zip([0.0, 100.0, 150.0, 206.25, 255.03, 299.18, 339.59]) {
        assert!((found - first - expected).abs() < 0.03, "{linux:?}");
    }
}

#[test]
fn little_that_waits_long_is_left_alone() {
    // Every packet has stayed 10 ms and leaves one of 1500 bytes behind.
    let acts = |profile| {
        let mut product = Product::new("codel", &[("profile", profile)], 1);
        for (n, t) in [(0, 0), (1, 0)] {
            product.enqueue(P { id: n, flow: 0, size: 1500, ecn: Ecn::NotEct, t });
        }
        let mut dropped = 0;
        for n in 2..60 {
            let now = u64::from(n) * 10_000_000;
            let (_, did) = product.dequeue(now);
            dropped += did.iter().filter(|d| matches!(d, Did::Drop(..))).count();
            while product.discipline.backlog().packets < 2 {
                product.enqueue(P {
                    id: n,
                    flow: 0,
                    size: 1500,
                    ecn: Ecn::NotEct,
                    t: now - 10_000_000,
                });
            }
        }
        dropped
    };
    assert_eq!(acts("rfc8289"), 0);
    assert_eq!(acts("linux"), 0);
    assert_eq!(acts("ns2"), 0);
    assert!(acts("ns3") > 0, "1500 bytes are enough for ns-3");
}

#[test]
fn exactly_one_interval_is_enough_but_not_for_linux() {
    for (profile, drops) in [("rfc8289", 1), ("ns2", 1), ("linux", 0), ("ns3", 0)] {
        let mut product = Product::new("codel", &[("profile", profile)], 1);
        for id in 0..20 {
            product.enqueue(P { id, flow: 0, size: 1000, ecn: Ecn::NotEct, t: 0 });
        }
        let mut dropped = |ms: u64| {
            let (_, did) = product.dequeue(ms * 1_000_000);
            did.iter().filter(|d| matches!(d, Did::Drop(..))).count()
        };
        assert_eq!((dropped(5), dropped(105)), (0, drops), "{profile}");
    }
}

/// ns-3's test of the basic drop: 20 packets at once, asked at 10, 210, 210 and 420 ms.
#[test]
fn ns3_basic_drop() {
    let mut product = Product::new("codel", &[("profile", "ns3")], 1);
    for id in 0..20 {
        product.enqueue(P { id, flow: 0, size: 1000, ecn: Ecn::NotEct, t: 0 });
    }
    let mut dropped = |ms: u64| {
        let (_, did) = product.dequeue(ms * 1_000_000);
        did.iter().filter(|d| matches!(d, Did::Drop(..))).count()
    };
    assert_eq!((dropped(10), dropped(210), dropped(210)), (0, 1, 0));
    assert!(dropped(420) >= 1);
}

#[test]
fn what_ns2_cannot_do_is_refused() {
    for (field, value) in [("ecn", "true"), ("ce_threshold", "1 ms"), ("mtu", "1500")] {
        let Err(why) = build("codel", &[("profile", "ns2"), (field, value)], 10_000_000) else {
            panic!("{field} accepted")
        };
        let why = why.to_string();
        assert!(why.starts_with(field) && why.contains("\"ns2\""), "{why}");
    }
}
