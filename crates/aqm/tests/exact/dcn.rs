//! DCN: a second transcription with every collision policy and weight.

use std::collections::BTreeMap;

use aqmlab_aqm::Admission;
use packet::{Rng, Why};

use super::duel::{Arrival, Queue, RATE, Reference, duel};
use super::{Pairs, build};

const MS: u64 = 1_000_000;
const DI: u64 = 300 * MS;
const THRESH: u64 = 20;
const SLOTS: u64 = 16;

struct Dcn {
    policy: &'static str,
    weight: &'static str,
    below: bool,
    hb: BTreeMap<u64, u64>,
    /// Slot (or, with chains, flow) to flow, count, last packet.
    sb: BTreeMap<u64, (u64, u64, u64)>,
    p: f64,
    q_old: f64,
}

/// The hash of flows under seed 1: SplitMix64's finalizer, written out again.
fn hashed(key: u64) -> u64 {
    finalizer(key ^ finalizer(1u64.wrapping_add(0x9E3779B97F4A7C15)))
}

fn finalizer(a: u64) -> u64 {
    let b = (a ^ (a >> 30)).wrapping_mul(0xBF58476D1CE4E5B9);
    let c = (b ^ (b >> 27)).wrapping_mul(0x94D049BB133111EB);
    c ^ (c >> 31)
}

impl Dcn {
    fn note(&mut self, key: u64, now: u64) {
        let chained = self.policy == "chain";
        if chained && !self.sb.contains_key(&key) && self.sb.len() as u64 == SLOTS {
            return;
        }
        let slot = if chained { key } else { hashed(key) % SLOTS };
        let free = match self.sb.get(&slot) {
            None => true,
            Some((held, count, last)) => now - last > DI || (*held != key && *count == 0),
        };
        if free {
            self.sb.insert(slot, (key, 1, now));
        } else {
            let entry = self.sb.get_mut(&slot).unwrap();
            if entry.0 == key {
                *entry = (key, (entry.1 + 1).min(THRESH), now);
            } else {
                match self.policy {
                    "decrement-incumbent" => entry.1 -= 1,
                    "replace-if-smaller" if entry.1 <= 1 => *entry = (key, 1, now),
                    _ => {}
                }
                // Only a slot that this packet took can hold a count to test.
            }
        }
        let (held, count, _) = self.sb[&slot];
        if held == key && count >= THRESH && self.hb.len() < 3 {
            self.hb.insert(key, count);
            self.sb.remove(&slot);
        }
    }
}

impl Reference for Dcn {
    fn clock(&self) -> Option<(u64, u64)> {
        Some((4 * MS, 4 * MS))
    }
    fn tick(&mut self, queue: Queue) {
        let q = queue.packets as f64;
        self.p = (self.p + 2e-3 * (q - 15.0) - 1.9e-3 * (self.q_old - 15.0)).clamp(0.0, 1.0);
        self.q_old = q;
    }
    fn second_clock(&self) -> Option<u64> {
        Some(DI)
    }
    fn second_tick(&mut self, queue: Queue) {
        if !self.below || queue.packets < 15 {
            for count in self.hb.values_mut() {
                *count = count.saturating_sub(THRESH);
            }
            self.hb.retain(|_, count| *count > 0);
        }
        if self.policy == "chain" {
            self.sb.retain(|_, (_, _, last)| queue.now - *last <= DI);
        }
    }
    fn arrive(&mut self, arrival: Arrival, rng: &mut Rng) -> Admission {
        if arrival.packets >= 40 {
            return Admission::Dropped(Why::Overflow);
        }
        let Some(count) = self.hb.get_mut(&arrival.flow) else {
            self.note(arrival.flow, arrival.now);
            return Admission::Queued;
        };
        *count += 1;
        let f = match self.weight {
            "uniform" => self.p,
            "bytes" => self.p * arrival.size as f64 / 900.0,
            _ => f64::min(1.0, self.p * (1.0 + *count as f64 / THRESH as f64)),
        };
        if rng.uniform() < f { Admission::Dropped(Why::Early) } else { Admission::Queued }
    }
    fn state(&self) -> Vec<(&'static str, f64)> {
        vec![("p", self.p), ("high_bandwidth_flows", self.hb.len() as f64)]
    }
}

#[test]
fn both_transcriptions_agree() {
    let mut seed = 0;
    for policy in ["decrement-incumbent", "replace-if-smaller", "chain", "ignore"] {
        for weight in ["uniform", "bytes", "count-weighted"] {
            for below in [false, true] {
                let mut pairs = vec![
                    ("threshold", "20"),
                    ("interval", "300 ms"),
                    ("scoreboard_size", "16"),
                    ("table_size", "3"),
                    ("collision", policy),
                    ("probability", weight),
                    ("age_below_target", if below { "true" } else { "false" }),
                    ("q_ref", "15"),
                    ("a", "2e-3"),
                    ("b", "1.9e-3"),
                    ("T", "4 ms"),
                    ("limit", "40"),
                ];
                if weight == "bytes" {
                    pairs.push(("mean_packet_bytes", "900"));
                }
                let reference = Dcn {
                    policy,
                    weight,
                    below,
                    hb: BTreeMap::new(),
                    sb: BTreeMap::new(),
                    p: 0.0,
                    q_old: 0.0,
                };
                let tally = duel("dcn", &pairs, reference, seed, 20_000);
                seed += 1;
                assert!(tally.marked == 0 && tally.queued > 5_000, "{pairs:?} {tally:?}");
                // Where collisions keep flows off the scoreboard few are ever promoted.
                let few = if policy == "chain" { 100 } else { 20 };
                assert!(tally.early > few && tally.overflow > 100, "{pairs:?} {tally:?}");
            }
        }
    }
}

#[test]
fn contradictions_are_refused() {
    let refusal = |pairs: Pairs| build("dcn", pairs, RATE).err().unwrap().to_string();
    assert!(refusal(&[("a", "1e-6")]).starts_with("b: 0.00001816 is not below a = 0.000001"));
    assert!(refusal(&[("mean_packet_bytes", "900")]).contains("has no effect"));
}
