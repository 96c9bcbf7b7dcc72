//! Which queue a flow's packets wait in.

use alloc::{vec, vec::Vec};

use packet::params::{Field, Kind, Value};
use packet::random::{GOLDEN, mix};
use packet::units::Unit;

/// `hash_seed`, of every discipline that hashes flows into queues.
pub(crate) const HASH_SEED: Field = Field {
    name: "hash_seed",
    meaning: "Seed of the hash: another one lets other flows collide.",
    kind: Kind::Whole { unit: Unit::None, min: 0, max: 1 << 53 },
    default: Value::Whole(0),
    source: "constructed",
};

/// A seeded hash of a flow.
pub(crate) const fn hash(flow: u64, seed: u64) -> u64 {
    mix(flow ^ mix(seed.wrapping_add(GOLDEN)))
}

/// From flows to numbers, for the flows that have one: open addressing with linear probing. Its
/// order is never looked at.
pub(crate) struct FlowIndex {
    /// A flow and its number; the length is a power of two.
    cells: Vec<Option<(u64, u32)>>,
    used: usize,
}

impl FlowIndex {
    /// No flow.
    pub fn new() -> Self {
        FlowIndex { cells: vec![None; 64], used: 0 }
    }

    fn home(&self, flow: u64) -> usize {
        hash(flow, 0) as usize & (self.cells.len() - 1)
    }

    fn next(&self, cell: usize) -> usize {
        (cell + 1) & (self.cells.len() - 1)
    }

    /// The cell of `flow`, or the empty one where it belongs.
    #[inline]
    fn cell(&self, flow: u64) -> usize {
        let mut cell = self.home(flow);
        while self.cells[cell].is_some_and(|(other, _)| other != flow) {
            cell = self.next(cell);
        }
        cell
    }

    /// The number of `flow`.
    #[inline]
    pub fn get(&self, flow: u64) -> Option<u32> {
        self.cells[self.cell(flow)].map(|(_, number)| number)
    }

    /// Gives `flow`, which has none, a number.
    pub fn insert(&mut self, flow: u64, number: u32) {
        if 2 * self.used >= self.cells.len() {
            self.grow();
        }
        let cell = self.cell(flow);
        self.cells[cell] = Some((flow, number));
        self.used += 1;
    }

    fn grow(&mut self) {
        let twice = vec![None; 2 * self.cells.len()];
        let old = core::mem::replace(&mut self.cells, twice);
        for (flow, number) in old.into_iter().flatten() {
            let cell = self.cell(flow);
            self.cells[cell] = Some((flow, number));
        }
    }

    /// Takes the number of `flow` away.
    pub fn remove(&mut self, flow: u64) {
        let mut hole = self.cell(flow);
        if self.cells[hole].take().is_none() {
            return;
        }
        self.used -= 1;
        // Whoever was pushed on by what left moves back.
        let mask = self.cells.len() - 1;
        let mut at = self.next(hole);
        while let Some((other, _)) = self.cells[at] {
            let home = self.home(other);
            if (at.wrapping_sub(home) & mask) >= (at.wrapping_sub(hole) & mask) {
                self.cells[hole] = self.cells[at].take();
                hole = at;
            }
            at = self.next(at);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use packet::Rng;
    use std::collections::BTreeMap;

    #[test]
    fn an_index_is_a_map() {
        let mut rng = Rng::named(1, "index");
        let mut index = FlowIndex::new();
        let mut map = BTreeMap::new();
        for number in 0..200_000 {
            let flow = rng.below(if number < 100_000 { 3000 } else { 40 });
            if map.remove(&flow).is_some() {
                index.remove(flow);
            } else {
                index.insert(flow, number);
                map.insert(flow, number);
            }
            let other = rng.below(3000);
            assert_eq!(index.get(other), map.get(&other).copied());
            assert_eq!(index.get(flow), map.get(&flow).copied());
        }
        assert_eq!(index.used, map.len());
        for flow in 0..3000 {
            assert_eq!(index.get(flow), map.get(&flow).copied());
        }
    }

    #[test]
    fn hashes_spread_consecutive_flows() {
        // 1000 flows in 100 buckets: chi-squared with 99 degrees of freedom exceeds 160 once in
        // 10^4.
        for seed in 0..5 {
            let mut counts = [0f64; 100];
            for flow in 0..1000 {
                counts[(hash(flow, seed) % 100) as usize] += 1.0;
            }
            let chi: f64 = counts.iter().map(|n| (n - 10.0) * (n - 10.0) / 10.0).sum();
            assert!((50.0..160.0).contains(&chi), "seed {seed}: {chi}");
        }
        assert_ne!(hash(1, 1), hash(1, 2));
    }
}
