//! COBALT: a second transcription after the routines of sch_cake and ns-3, with a signed
//! `schedule` as there.

use std::collections::VecDeque;

use packet::{Ecn, Rng, Why};

use super::line::{Did, Model, P, Product, Traffic, compare};

#[derive(Default)]
struct Reference {
    ns3: bool,
    ecn: bool,
    limit: usize,
    target: i64,
    interval: i64,
    mtu_time: i64,
    packets: VecDeque<P>,
    count: u64,
    dropping: bool,
    drop_next: i64,
    p_drop: f64,
    blue: Option<i64>,
}

impl Reference {
    fn control(&self, t: i64) -> i64 {
        t + (self.interval as f64 / (self.count.max(1) as f64).sqrt()).round() as i64
    }

    fn may(&self, now: i64) -> bool {
        self.blue.is_none_or(|at| now - at > self.target)
    }

    fn up(&mut self, now: i64) {
        if self.may(now) {
            self.p_drop = f64::min(self.p_drop + 0.00390625, 1.0);
            self.blue = Some(now);
        }
    }

    /// cobalt_should_drop: what is to be dropped, and why.
    fn should_drop(&mut self, p: &mut P, now: i64, rng: &mut Rng, marks: &mut bool) -> Option<Why> {
        let mut drop = None;
        let sojourn = now - p.t as i64;
        let mut schedule = now - self.drop_next;
        let mut next_due = self.count > 0 && schedule >= 0;
        if sojourn > self.target && sojourn > self.mtu_time * 4 {
            if !self.dropping {
                self.dropping = true;
                self.drop_next = self.control(now);
            }
            if self.count == 0 {
                self.count = 1;
            }
        } else if self.dropping {
            self.dropping = false;
        }
        if next_due && self.dropping {
            *marks = self.ecn && p.ect();
            if !*marks {
                drop = Some(Why::Early);
            }
            self.count += 1;
            self.drop_next = self.control(self.drop_next);
            schedule = now - self.drop_next;
        } else {
            while next_due {
                self.count -= 1;
                self.drop_next = self.control(self.drop_next);
                schedule = now - self.drop_next;
                next_due = self.count > 0 && schedule >= 0;
            }
        }
        if self.ns3 && sojourn > 400_000_000 {
            self.up(now);
        }
        if self.p_drop > 0.0 && rng.uniform() < self.p_drop {
            drop = Some(Why::Forced);
        }
        if self.count == 0 {
            self.drop_next = now + self.interval;
        } else if schedule > 0 && drop.is_none() {
            self.drop_next = now;
        }
        drop
    }
}

impl Model for Reference {
    fn enqueue(&mut self, p: P, _: &mut Rng, did: &mut Vec<Did>) {
        if self.packets.len() < self.limit {
            did.push(Did::Queue(p.id));
            self.packets.push_back(p);
            return;
        }
        did.push(Did::Drop(p.id, Why::Overflow));
        let now = p.t as i64;
        self.up(now);
        self.dropping = true;
        self.drop_next = now;
        if self.count == 0 {
            self.count = 1;
        }
    }

    fn dequeue(&mut self, now: u64, rng: &mut Rng, did: &mut Vec<Did>) -> Option<P> {
        let now = now as i64;
        while let Some(mut p) = self.packets.pop_front() {
            let mut marks = false;
            let drop = self.should_drop(&mut p, now, rng, &mut marks);
            let last = self.packets.is_empty() && !self.ns3;
            if let (Some(why), false) = (drop, last) {
                did.push(Did::Drop(p.id, why));
                continue;
            }
            if marks {
                p.ecn = Ecn::Ce;
                did.push(Did::Mark(p.id));
            }
            return Some(p);
        }
        if self.p_drop > 0.0 && self.may(now) {
            self.p_drop = f64::max(self.p_drop - 0.000244140625, 0.0);
            self.blue = Some(now);
        }
        self.dropping = false;
        if self.count > 0 && now - self.drop_next >= 0 {
            self.count -= 1;
            self.drop_next = self.control(self.drop_next);
        }
        None
    }

    fn shows(&self) -> Vec<(&'static str, f64)> {
        vec![("count", self.count as f64), ("p_drop", self.p_drop)]
    }
}

/// sch_cake's settings at the line of these tests, ns-3's, and sch_cake's of an unshaped queue.
fn settings(profile: &str, mtu: &str) -> Reference {
    let base = Reference { target: 5_000_000, interval: 100_000_000, ..Reference::default() };
    match (profile, mtu) {
        ("ns3", _) => Reference { ns3: true, ..base },
        (_, "0") => base,
        // 9000 bytes last 7.2 ms: the target becomes 10.8 ms.
        (_, "9000") => {
            Reference { mtu_time: 7_200_000, target: 10_800_000, interval: 105_800_000, ..base }
        }
        _ => Reference { mtu_time: 1_211_200, ..base },
    }
}

#[test]
fn both_transcriptions_agree() {
    for (profile, mtu) in [("linux", "1514"), ("linux", "9000"), ("linux", "0"), ("ns3", "")] {
        for ecn in [false, true] {
            for limit in [1000, 80, 25] {
                for seed in 0..5 {
                    let model = Reference { ecn, limit, ..settings(profile, mtu) };
                    let (limit_text, ecn_text) = (limit.to_string(), ecn.to_string());
                    let mut pairs = vec![
                        ("profile", profile),
                        ("limit", limit_text.as_str()),
                        ("ecn", ecn_text.as_str()),
                    ];
                    if profile == "linux" {
                        pairs.push(("mtu", mtu));
                    }
                    let traffic = Traffic::new(seed, 5, 2000);
                    let seen = compare("cobalt", &pairs, model, traffic, seed, 30_000);
                    // 25 packets are hardly ever four times 9000 bytes.
                    let early = seen.early > 50 || (mtu == "9000" && limit == 25);
                    assert!(seen.sent > 9000 && early, "{pairs:?} {seen:?}");
                    assert_eq!(seen.marked > 50, ecn && seen.early > 0, "{pairs:?} {seen:?}");
                    // In ns3 stays above 400 ms raise it too, and no smaller queue has them.
                    let coins = if limit < 1000 { 50 } else { 5 * u32::from(profile == "ns3") };
                    assert!(seen.forced >= coins, "{pairs:?} {seen:?}");
                }
            }
        }
    }
}

fn one(id: u32, t: u64, ecn: Ecn) -> P {
    P { id, flow: 0, size: 1500, ecn, t }
}

#[test]
fn the_last_packet_is_delivered_except_in_ns3() {
    for (profile, sent) in [("linux", Some(1)), ("ns3", None)] {
        let pairs = [("profile", profile), ("limit", "1"), ("p_inc", "1")];
        let mut product = Product::new("cobalt", &pairs, 1);
        product.enqueue(one(1, 0, Ecn::NotEct));
        product.enqueue(one(2, 10_000_000, Ecn::NotEct));
        assert_eq!(product.gauge("p_drop"), 1.0);
        let (delivered, did) = product.dequeue(200_000_000);
        assert_eq!((delivered.map(|p| p.id), did.len()), (sent, 1), "certain to be dropped");
    }
}

#[test]
fn a_last_packet_that_the_coin_would_drop_is_still_marked() {
    let pairs = [("limit", "1"), ("p_inc", "1"), ("ecn", "true")];
    let mut product = Product::new("cobalt", &pairs, 1);
    product.enqueue(one(1, 0, Ecn::Ect0));
    product.enqueue(one(2, 1, Ecn::Ect0)); // refused: a signal is due from now on
    let (sent, did) = product.dequeue(200_000_000);
    assert_eq!(sent.unwrap().ecn, Ecn::Ce);
    assert_eq!(did[0], Did::Mark(1));
    // To the law it was dropped: the clock, far behind, goes on catching up.
    for (id, at) in [(3, 210_000_000), (4, 221_000_000)] {
        product.enqueue(one(id, at - 6_000_000, Ecn::Ect0));
        assert_eq!(product.dequeue(at).1[0], Did::Mark(id));
    }
    assert_eq!(product.gauge("count"), 4.0);
}

/// Dropped packets of 20 000 of 1500 bytes that come at random, 0.7 of what a line of 2 Mb/s can
/// send: they wait for 7 ms on average, and the line is often idle.
fn drops_at_moderate_load(pairs: super::Pairs) -> usize {
    let mut product = Product::at_rate("cobalt", pairs, 1, 2_000_000);
    let mut rng = Rng::named(1, "moderate load");
    let (mut now, mut free, mut dropped) = (0, 0, 0);
    for id in 0..20_000 {
        now += rng.exponential(6e6 / 0.7) as u64;
        let waits = |product: &Product| product.discipline.backlog().packets > 0;
        while free <= now && waits(&product) {
            let (_, did) = product.dequeue(free);
            dropped += did.iter().filter(|did| matches!(did, Did::Drop(..))).count();
            free += 6_000_000;
            if !waits(&product) && free <= now {
                product.dequeue(free); // finds nothing
            }
        }
        free = free.max(now);
        product.enqueue(one(id, now, Ecn::NotEct));
    }
    dropped
}

#[test]
fn a_slow_line_is_not_starved_unless_unguarded() {
    let guarded = drops_at_moderate_load(&[]);
    let unguarded = [("profile", "ns3"), ("mtu", "0")];
    let unguarded = unguarded.map(|pair| drops_at_moderate_load(&[pair]));
    assert!(guarded < 30 && unguarded.iter().all(|n| *n > 100), "{guarded} {unguarded:?}");
}

/// sch_cake's and ns-3's reciprocal root in 32 bits: 15 accurate values, then one Newton step for
/// each step of the count.
fn newton(root: u32, count: u64) -> u32 {
    let square = (u64::from(root) * u64::from(root)) >> 32;
    let value = ((3 << 32) - count * square) >> 2;
    ((value * u64::from(root)) >> 31) as u32
}

#[test]
fn exact_roots_are_those_of_the_programs() {
    let mut cache = [u32::MAX; 16];
    for count in 1..16u64 {
        let mut root = cache[count as usize - 1];
        for _ in 0..8 {
            root = newton(root, count);
        }
        cache[count as usize] = root;
    }
    cache[1] = u32::MAX;
    let error = |root: u32, count: u64| {
        let wait = f64::from(root) / 4_294_967_296.0;
        (wait * (count as f64).sqrt() - 1.0).abs()
    };
    let worst = (1..16).map(|count| error(cache[count as usize], count)).fold(0.0, f64::max);
    assert!(worst < 1e-8, "{worst}");
    // Up to ten thousand signals and down again.
    let (mut root, mut worst) = (cache[15], 0f64);
    for count in (16..10_000).chain((16..10_000).rev()) {
        root = newton(root, count);
        worst = worst.max(error(root, count));
    }
    assert!((0.001..0.005).contains(&worst), "{worst}");
}
