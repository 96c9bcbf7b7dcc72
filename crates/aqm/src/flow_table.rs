//! A map from flows to small values, of fixed capacity or growing with the number of flows. Nothing
//! is allocated per packet, and the order of entries depends on the flows and the seed alone.

use alloc::vec::Vec;

use crate::shells::flows::hash;

/// A hash table with open addressing and linear probing, at most half full.
pub(crate) struct FlowTable<V> {
    slots: Vec<Option<(u64, V)>>,
    mask: usize,
    len: usize,
    capacity: usize,
    seed: u64,
    /// Flows to be removed at the end of [`FlowTable::retain`].
    leaving: Vec<u64>,
}

/// Initial number of slots of a growing table.
const FEW: usize = 64;

impl<V: Copy> FlowTable<V> {
    /// A table with room for `capacity` flows.
    pub fn new(capacity: usize, seed: u64) -> Self {
        let size = (2 * capacity.max(1)).next_power_of_two();
        FlowTable { leaving: Vec::with_capacity(capacity), ..FlowTable::of(size, capacity, seed) }
    }

    /// A table that grows, for any number of flows.
    pub fn growing() -> Self {
        FlowTable::of(FEW, usize::MAX, 0)
    }

    fn of(size: usize, capacity: usize, seed: u64) -> Self {
        let slots = alloc::vec![None; size];
        FlowTable { slots, mask: size - 1, len: 0, capacity, seed, leaving: Vec::new() }
    }

    fn home(&self, flow: u64) -> usize {
        hash(flow, self.seed) as usize & self.mask
    }

    /// Index of the slot that holds `flow`, or of the free slot where it would be inserted.
    #[inline]
    fn find(&self, flow: u64) -> usize {
        let mut at = self.home(flow);
        while let Some((held, _)) = &self.slots[at] {
            if *held == flow {
                break;
            }
            at = (at + 1) & self.mask;
        }
        at
    }

    /// The flow's value.
    pub fn get_mut(&mut self, flow: u64) -> Option<&mut V> {
        self.look_up(flow).0
    }

    /// A copy of the flow's value.
    #[inline]
    pub fn get(&self, flow: u64) -> Option<V> {
        self.slots[self.find(flow)].map(|(_, value)| value)
    }

    /// The flow's value, and the number of slots probed to find it or to find that it is absent.
    pub fn look_up(&mut self, flow: u64) -> (Option<&mut V>, u64) {
        let at = self.find(flow);
        let past = at.wrapping_sub(self.home(flow)) & self.mask;
        (self.slots[at].as_mut().map(|(_, value)| value), past as u64 + 1)
    }

    /// Sets a flow's value. Returns false if the flow is new and the table is full.
    pub fn insert(&mut self, flow: u64, value: V) -> bool {
        let mut at = self.find(flow);
        if self.slots[at].is_none() {
            if self.len == self.capacity {
                return false;
            }
            self.len += 1;
            if 2 * self.len > self.slots.len() {
                self.grow();
                at = self.find(flow);
            }
        }
        self.slots[at] = Some((flow, value));
        true
    }

    #[cold]
    fn grow(&mut self) {
        let twice = alloc::vec![None; 2 * self.slots.len()];
        self.mask = twice.len() - 1;
        for (flow, value) in core::mem::replace(&mut self.slots, twice).into_iter().flatten() {
            let at = self.find(flow);
            self.slots[at] = Some((flow, value));
        }
    }

    pub fn remove(&mut self, flow: u64) {
        let mut hole = self.find(flow);
        if self.slots[hole].take().is_none() {
            return;
        }
        self.len -= 1;
        // Closes the gap: entries displaced past it by collisions move back.
        let mut at = (hole + 1) & self.mask;
        while let Some((held, _)) = &self.slots[at] {
            let from_home = at.wrapping_sub(self.home(*held)) & self.mask;
            if from_home >= (at.wrapping_sub(hole) & self.mask) {
                self.slots[hole] = self.slots[at].take();
                hole = at;
            }
            at = (at + 1) & self.mask;
        }
    }

    /// Calls `keep` on every value, which may change it, and removes the flows for which it is
    /// false.
    pub fn retain(&mut self, mut keep: impl FnMut(&mut V) -> bool) {
        if self.len == 0 {
            return;
        }
        self.leaving.clear();
        for (flow, value) in self.slots.iter_mut().flatten() {
            if !keep(value) {
                self.leaving.push(*flow);
            }
        }
        while let Some(flow) = self.leaving.pop() {
            self.remove(flow);
        }
    }

    /// Number of flows in the table.
    pub const fn len(&self) -> usize {
        self.len
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use packet::Rng;
    use std::collections::BTreeMap;

    #[test]
    fn behaves_like_a_map() {
        let mut rng = Rng::named(1, "flow table");
        for capacity in [1, 7, 64] {
            let mut table = FlowTable::new(capacity, 5);
            let mut map = BTreeMap::new();
            for step in 0..20_000u32 {
                let flow = rng.below(2 * capacity as u64 + 1);
                match rng.below(20) {
                    0 => {
                        let keep = |value: &mut u32| {
                            *value += 1;
                            !value.is_multiple_of(3)
                        };
                        table.retain(keep);
                        map.retain(|_, value| keep(value));
                    }
                    1..8 => {
                        table.remove(flow);
                        map.remove(&flow);
                    }
                    _ => {
                        let fits = map.contains_key(&flow) || map.len() < capacity;
                        assert_eq!(table.insert(flow, step), fits);
                        if fits {
                            map.insert(flow, step);
                        }
                    }
                }
                assert_eq!(table.len(), map.len());
                for flow in 0..2 * capacity as u64 + 1 {
                    assert_eq!(table.get_mut(flow), map.get_mut(&flow));
                }
            }
        }
    }

    #[test]
    fn a_growing_table_behaves_like_a_map() {
        let mut rng = Rng::named(1, "growing");
        let mut table = FlowTable::growing();
        let mut map = BTreeMap::new();
        for number in 0..200_000 {
            let flow = rng.below(if number < 100_000 { 3000 } else { 40 });
            if map.remove(&flow).is_some() {
                table.remove(flow);
            } else {
                assert!(table.insert(flow, number));
                map.insert(flow, number);
            }
            let other = rng.below(3000);
            assert_eq!(table.get(other), map.get(&other).copied());
            assert_eq!(table.get(flow), map.get(&flow).copied());
        }
        assert_eq!(table.len(), map.len());
        assert!((0..3000).all(|flow| table.get(flow) == map.get(&flow).copied()));
    }

    #[test]
    fn a_look_up_ends_at_the_flow_or_behind_its_cluster() {
        let mut table = FlowTable::new(4, 5); // eight slots
        let at = |place| (0..200).filter(move |&flow| hash(flow, 5) % 8 == place);
        let [a, b, c] = std::array::from_fn(|i| at(7).nth(i).unwrap());
        let next = at(0).next().unwrap();
        assert_eq!(table.look_up(a), (None, 1), "an empty slot");
        table.insert(a, 'a');
        table.insert(b, 'b'); // in slot 0
        table.insert(next, 'n'); // in slot 1
        assert_eq!(table.look_up(a), (Some(&mut 'a'), 1));
        assert_eq!(table.look_up(b), (Some(&mut 'b'), 2));
        assert_eq!(table.look_up(next), (Some(&mut 'n'), 2));
        assert_eq!(table.look_up(c), (None, 4), "slots 7, 0, 1 and the empty one");
    }

    #[test]
    fn seeds_give_different_places() {
        let places = |seed| (0..64).map(|flow| hash(flow, seed) % 16).collect::<Vec<_>>();
        assert_ne!(places(1), places(2));
    }
}
