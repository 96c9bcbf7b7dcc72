//! State of active flows: those that have packets in a queue.

use alloc::vec::Vec;

use crate::flow_table::FlowTable;

/// One state per active flow. Memory grows with the largest number of flows active at one time.
pub(crate) struct Active<S> {
    index: FlowTable<u32>,
    /// Slots, each with a flow and its state; the flow of a free slot is `None`.
    states: Vec<(Option<u64>, S)>,
    free: Vec<u32>,
}

impl<S: Default> Active<S> {
    pub fn new() -> Self {
        Active { index: FlowTable::growing(), states: Vec::new(), free: Vec::new() }
    }

    /// Number of active flows.
    pub const fn len(&self) -> usize {
        self.states.len() - self.free.len()
    }

    /// The state of `flow`, if it is active.
    #[inline]
    pub fn get(&mut self, flow: u64) -> Option<&mut S> {
        let place = self.index.get(flow)?;
        self.states.get_mut(place as usize).map(|(_, state)| state)
    }

    /// The state of every active flow, with the index of its slot; the order depends only on the
    /// calls made so far.
    pub fn iter_mut(&mut self) -> impl Iterator<Item = (usize, &mut S)> {
        let places = self.states.iter_mut().enumerate();
        places.filter_map(|(place, (flow, state))| flow.is_some().then_some((place, state)))
    }

    pub fn at(&mut self, place: usize) -> &mut S {
        &mut self.states[place].1
    }

    /// Removes the flows for which `keep` is false.
    pub fn retain(&mut self, mut keep: impl FnMut(&mut S) -> bool) {
        for (place, (flow, state)) in self.states.iter_mut().enumerate() {
            if let Some(name) = *flow
                && !keep(state)
            {
                *flow = None;
                self.index.remove(name);
                self.free.push(place as u32);
            }
        }
    }

    /// The state of `flow`, which becomes active with a default state if it was not active.
    pub fn enter(&mut self, flow: u64) -> &mut S {
        let place = match (self.index.get(flow), self.free.pop()) {
            (Some(place), free) => {
                self.free.extend(free);
                place
            }
            (None, Some(place)) => {
                self.states[place as usize] = (Some(flow), S::default());
                self.index.insert(flow, place);
                place
            }
            (None, None) => {
                let place = self.states.len() as u32;
                self.states.push((Some(flow), S::default()));
                self.index.insert(flow, place);
                place
            }
        };
        &mut self.states[place as usize].1
    }

    /// Removes `flow`.
    pub fn leave(&mut self, flow: u64) {
        if let Some(place) = self.index.get(flow) {
            self.index.remove(flow);
            self.states[place as usize].0 = None;
            self.free.push(place);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use packet::Rng;
    use std::collections::BTreeMap;

    #[test]
    fn flows_come_and_go_with_a_fresh_state() {
        let mut rng = Rng::named(1, "active");
        let mut active = Active::<u32>::new();
        let mut map = BTreeMap::<u64, u32>::new();
        let mut most = 0;
        for step in 0..50_000 {
            let flow = rng.below(if step < 25_000 { 300 } else { 30 });
            if rng.below(2) == 0 {
                active.leave(flow);
                map.remove(&flow);
            } else {
                *active.enter(flow) += 1;
                *map.entry(flow).or_default() += 1;
            }
            if step % 1000 == 0 {
                active.retain(|n| *n % 3 > 0);
                map.retain(|_, n| *n % 3 > 0);
                let mut held: Vec<u32> = active.iter_mut().map(|(_, n)| *n).collect();
                let mut expected: Vec<u32> = map.values().copied().collect();
                held.sort_unstable();
                expected.sort_unstable();
                assert_eq!(held, expected);
            }
            let flow = rng.below(300);
            assert_eq!(active.get(flow), map.get_mut(&flow));
            assert_eq!(active.len(), map.len());
            most = most.max(map.len());
        }
        assert_eq!(active.states.len(), most, "no more memory than needed");
    }
}
