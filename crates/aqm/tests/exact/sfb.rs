//! SFB: a second transcription with bins of its own, and what its filter does to flows.

use aqmlab_aqm::Admission;
use packet::{Ecn, Rng, Why};

use super::duel::{Arrival, Queue, Reference, duel};
use super::{build, close};

#[derive(Clone, Copy, PartialEq)]
enum Like {
    Lab,
    Linux,
    Paper,
}

/// `sfb_enqueue` and `sfb_dequeue`, with probabilities in units of 2^-16 for Linux.
struct Sfb {
    like: Like,
    ecn: bool,
    /// (qlen, p) of two sets of levels of bins.
    table: [Vec<Vec<(i64, f64)>>; 2],
    salts: [u64; 2],
    salt_count: u64,
    slot: usize,
    rehash_time: Option<u64>,
    double_buffering: bool,
    tokens: f64,
    token_time: u64,
    skbs: Vec<[Option<u64>; 2]>,
    p_min: f64,
}

const SEED: u64 = 77;
const INTERVAL: u64 = 20_000_000_000;
const WARMUP: u64 = 8_000_000_000;
const MAX: i64 = 6;
const BIN: i64 = 3;

fn scramble(mut z: u64) -> u64 {
    z ^= z >> 30;
    z = z.wrapping_mul(0xBF58476D1CE4E5B9);
    z ^= z >> 27;
    z = z.wrapping_mul(0x94D049BB133111EB);
    z ^ (z >> 31)
}

fn hash(flow: u64, seed: u64) -> u64 {
    scramble(flow ^ scramble(seed.wrapping_add(0x9E37_79B9_7F4A_7C15)))
}

impl Sfb {
    fn new(like: Like, ecn: bool) -> Self {
        let (levels, bins) = if like == Like::Paper { (2, 23) } else { (8, 16) };
        let set = vec![vec![(0, 0.0); bins]; levels];
        Sfb {
            like,
            ecn,
            table: [set.clone(), set],
            salts: [hash(1, SEED), hash(2, SEED)],
            salt_count: 2,
            slot: 0,
            rehash_time: None,
            double_buffering: false,
            tokens: 20.0,
            token_time: 0,
            skbs: Vec::new(),
            p_min: 0.0,
        }
    }

    fn hash(&self, flow: u64, slot: usize) -> u64 {
        hash(flow, self.salts[slot]) | 1
    }

    /// The hash as a fraction of one, and its digits to the base of the bins.
    fn digits(&self, hash: u64) -> Vec<usize> {
        let base = self.table[0][0].len() as u128;
        let mut fraction = u128::from(hash);
        let mut digits = Vec::new();
        for _ in 0..self.table[0].len() {
            fraction *= base;
            digits.push((fraction / (1 << 64)) as usize);
            fraction %= 1 << 64;
        }
        digits
    }

    fn update(&mut self, slot: usize, hash: u64) -> (i64, f64) {
        let linux = self.like == Like::Linux;
        let unit = if linux { 1.0 } else { 1.0 / 65_536.0 };
        let top = if linux { 65_535.0 } else { 1.0 };
        let mut least = (i64::MAX, f64::MAX);
        for (level, digit) in self.digits(hash).into_iter().enumerate() {
            let (qlen, p) = &mut self.table[slot][level][digit];
            let full = if self.like == Like::Paper { *qlen > BIN } else { *qlen >= BIN };
            if *qlen == 0 {
                *p = (*p - 200.0 * unit).max(0.0);
            } else if full {
                *p = (*p + 3000.0 * unit).min(top);
            }
            least.0 = least.0.min(*qlen);
            least.1 = if *p < least.1 { *p } else { least.1 };
        }
        least
    }

    fn count(&mut self, hashes: [Option<u64>; 2], by: i64) {
        for (slot, hash) in hashes.into_iter().enumerate() {
            if let Some(hash) = hash {
                for (level, digit) in self.digits(hash).into_iter().enumerate() {
                    self.table[slot][level][digit].0 += by;
                    assert!(self.table[slot][level][digit].0 >= 0);
                }
            }
        }
    }

    fn rate_limited(&mut self, now: u64) -> bool {
        let age = now - self.token_time;
        if self.like == Like::Linux {
            if self.tokens < 1.0 {
                self.tokens = (age.min(10_000_000_000) * 10 / 1_000_000_000) as f64;
                self.tokens = self.tokens.min(20.0);
                self.token_time = now;
            }
        } else {
            self.tokens = (self.tokens + age as f64 * 1e-9 * 10.0).min(20.0);
            self.token_time = now;
        }
        if self.tokens < 1.0 {
            return true;
        }
        self.tokens -= 1.0;
        false
    }
}

impl Reference for Sfb {
    fn arrive(&mut self, a: Arrival, rng: &mut Rng) -> Admission {
        if a.packets >= 40 {
            return Admission::Dropped(Why::Overflow);
        }
        let limit = *self.rehash_time.get_or_insert(a.now) + INTERVAL;
        if a.now > limit {
            self.salt_count += 1;
            self.salts[self.slot] = hash(self.salt_count, SEED);
            self.slot ^= 1;
            self.double_buffering = false;
            self.rehash_time = Some(a.now);
        } else if a.now > limit - WARMUP {
            self.double_buffering = true;
        }
        let hash = self.hash(a.flow, self.slot);
        let mut hashes = [None; 2];
        hashes[self.slot] = Some(hash);
        let (minqlen, p_min) = self.update(self.slot, hash);
        let linux = self.like == Like::Linux;
        self.p_min = if linux { p_min / 65_536.0 } else { p_min };
        if self.like != Like::Paper && minqlen >= MAX {
            return Admission::Dropped(Why::Forced);
        }
        let top = match self.like {
            Like::Linux => 65_535.0,
            Like::Lab => 1.0 - 1.0 / 65_536.0,
            Like::Paper => 1.0,
        };
        let mut mark = false;
        if p_min >= top {
            if self.double_buffering {
                let other = self.hash(a.flow, self.slot ^ 1);
                hashes[self.slot ^ 1] = Some(other);
                self.update(self.slot ^ 1, other);
            }
            if self.rate_limited(a.now) {
                return Admission::Dropped(Why::Forced);
            }
        } else {
            let r = if linux { (rng.next_u64() >> 48) as f64 } else { rng.uniform() };
            if r < p_min {
                let excess = match self.like {
                    Like::Linux => (p_min - 32_767.0) * 2.0,
                    Like::Lab => (p_min - 0.5) * 2.0,
                    Like::Paper => 0.0,
                };
                if r < excess || !(self.ecn && a.ect()) {
                    return Admission::Dropped(Why::Early);
                }
                mark = true;
            }
        }
        self.count(hashes, 1);
        self.skbs.push(hashes);
        if mark { Admission::Marked(Why::Early) } else { Admission::Queued }
    }
    fn depart(&mut self, _: u64, _: u64, _: Queue, _: &mut Rng) -> bool {
        let hashes = self.skbs.remove(0);
        self.count(hashes, -1);
        false
    }
    fn state(&self) -> Vec<(&'static str, f64)> {
        vec![("p_min", self.p_min), ("tokens", self.tokens), ("set", self.slot as f64)]
    }
}

#[test]
fn both_transcriptions_agree() {
    for (like, name) in [(Like::Lab, "lab"), (Like::Linux, "linux"), (Like::Paper, "paper")] {
        for ecn in [false, true] {
            let mut pairs = vec![
                ("profile", name),
                ("bin_size", "3"),
                ("d1", "3000/65536"),
                ("d2", "200/65536"),
                ("rehash_interval", "20 s"),
                ("warmup_time", "8 s"),
                ("hash_seed", "77"),
                ("limit", "40"),
                ("ecn", if ecn { "true" } else { "false" }),
            ];
            if like != Like::Paper {
                pairs.push(("max", "6"));
            }
            let seed = 10 * like as u64 + u64::from(ecn);
            let tally = duel("sfb", &pairs, Sfb::new(like, ecn), seed, 40_000);
            assert!(tally.queued > 10_000 && tally.forced > 50, "{name} {tally:?}");
            assert!(tally.early > 200 && (tally.marked > 200) == ecn, "{name} {tally:?}");
        }
    }
}

/// What becomes of ECN-capable packets whose bins all have a probability of `p`.
fn fates(profile: &str, p: f64) -> [f64; 3] {
    // One level of one bin. Two packets wait for ever; d1 = p carries the bin there at the next.
    let step = p.to_string();
    let mut rng = Rng::named(1, "fates");
    let mut seen = [0u32; 3];
    for _ in 0..20_000 {
        let pairs = [
            ("profile", profile),
            ("L", "1"),
            ("N", "1"),
            ("bin_size", if profile == "paper" { "1" } else { "2" }),
            ("d1", &step),
        ];
        let mut sfb = build("sfb", &pairs, 10_000_000).ok().unwrap().into_discipline();
        let mut heard = Vec::new();
        for id in 0..3 {
            let mut packet = super::packet(1000, Ecn::Ect0);
            packet.id = id;
            let mut out = |event| heard.push(event);
            let now = packet::Instant::ZERO;
            sfb.enqueue(packet, &mut aqmlab_aqm::Cx { now, rng: &mut rng, out: &mut out });
        }
        seen[match &heard[2..] {
            [packet::Event::Dropped { .. }] => 0,
            [packet::Event::Marked { .. }, _] => 1,
            _ => 2,
        }] += 1;
    }
    seen.map(|n| f64::from(n) / 20_000.0)
}

#[test]
fn above_one_half_some_are_dropped() {
    // p_min = 0.6: r < 0.2 drops, r < 0.6 marks. Five standard errors are at most 0.018.
    for profile in ["lab", "linux"] {
        let [dropped, marked, passed] = fates(profile, 0.6);
        close(dropped, 0.2, 0.018);
        close(marked, 0.4, 0.018);
        close(passed, 0.4, 0.018);
        assert_eq!(fates(profile, 0.4)[0], 0.0);
    }
    let [dropped, marked, _] = fates("paper", 0.6);
    assert_eq!(dropped, 0.0);
    close(marked, 0.6, 0.018);
}

#[test]
fn what_contradicts_itself_is_refused() {
    let refusal = |pairs| build("sfb", pairs, 10_000_000).err().unwrap().to_string();
    assert!(refusal(&[("rehash_interval", "30 s")]).starts_with("warmup_time: 60 s is longer"));
    assert!(refusal(&[("L", "16"), ("N", "23")]).contains("72.4 bits of hash"));
}

/// It gets less than what the others leave, as a bin lowers its probability only when it is empty.
#[test]
fn a_flow_that_does_not_yield_pays_alone() {
    let (small, heavy) = super::unfair::run("sfb", &[]);
    assert!(small > 0.98, "{small}");
    close(heavy, 0.69, 0.03);
}

/// Where drops of ECN-capable packets are not to be had, marks that are ignored carry the
/// probability to certainty, and the penalty box holds the flow to its rate.
#[test]
fn a_flow_that_ignores_marks_is_held_to_the_penalty_rate() {
    // Its one bin never empties: no packet leaves.
    let pairs = [("profile", "paper"), ("d1", "0.01"), ("limit", "1000000"), ("L", "1")];
    let mut sfb = build("sfb", &pairs, 10_000_000).ok().unwrap().into_discipline();
    let mut rng = Rng::named(1, "box");
    let (mut queued, mut dropped) = (0, 0);
    for id in 0..100_000u64 {
        let now = packet::Instant::from_nanos(id * 1_000_000);
        let packet = packet::Packet { id: id as u32, ..super::packet(1000, Ecn::Ect0) };
        let mut out = |event: packet::Event| match event {
            packet::Event::Dropped { .. } => dropped += 1,
            packet::Event::Queued { .. } => queued += 1,
            packet::Event::Marked { .. } => {}
        };
        sfb.enqueue(packet, &mut aqmlab_aqm::Cx { now, rng: &mut rng, out: &mut out });
    }
    // The 121st arrival is the first in the box: 20 tokens and 10 a second for 99.88 s.
    assert_eq!(queued, 120 + 20 + 998);
    assert_eq!(queued + dropped, 100_000);
}
