//! Which flows are long and fast: a scoreboard of packet counts, and the flows promoted from it.

use alloc::vec::Vec;

use packet::{Duration, Instant};

use crate::flow_table::FlowTable;
use crate::shells::flows::hash;

/// What happens when a packet hashes to a slot of the scoreboard that another flow holds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Collision {
    /// The packet decrements the count of the flow that holds the slot; at 0 the slot becomes free.
    DecrementIncumbent,
    /// The packet's flow takes the slot if the holder's count is at most 1.
    ReplaceIfSmaller,
    /// The packet's flow gets an entry of its own, while the scoreboard has fewer entries than
    /// slots.
    Chain,
    Ignore,
}

/// A flow's packet count, and the time of its last packet.
#[derive(Clone, Copy, Debug)]
struct Score {
    flow: u64,
    count: u32,
    last: Instant,
}

/// The scoreboard (SB), which counts packets of flows that are not yet high-bandwidth flows.
enum Board {
    Slots(Vec<Option<Score>>, Collision),
    Chained(FlowTable<Score>),
}

/// Lookup cost and size of the tables in the last interval.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Cost {
    packets: u64,
    probes: u64,
    /// Slots of both tables that were probed to find a packet's flow, on average.
    pub probes_per_packet: f64,
    /// Flows on the scoreboard, without those whose slots are free by age or count.
    pub scoreboard_flows: usize,
}

impl Cost {
    fn end_interval(&mut self, scoreboard_flows: usize) {
        if self.packets > 0 {
            self.probes_per_packet = self.probes as f64 / self.packets as f64;
        }
        (self.packets, self.probes) = (0, 0);
        self.scoreboard_flows = scoreboard_flows;
    }
}

/// The scoreboard and the table of high-bandwidth flows.
pub(super) struct Flows {
    board: Board,
    /// The high-bandwidth flows (HB), with their counts.
    fast: FlowTable<u32>,
    threshold: u32,
    interval: Duration,
    seed: u64,
    cost: Cost,
}

impl Flows {
    pub fn new(
        (slots, fast): (usize, usize),
        collision: Collision,
        threshold: u32,
        interval: Duration,
        seed: u64,
    ) -> Self {
        let board = match collision {
            Collision::Chain => Board::Chained(FlowTable::new(slots, seed)),
            _ => Board::Slots(alloc::vec![None; slots], collision),
        };
        let fast = FlowTable::new(fast, seed);
        Flows { board, fast, threshold, interval, seed, cost: Cost::default() }
    }

    /// Returns the count of a high-bandwidth flow, this packet included. The packet of any other
    /// flow is counted on the scoreboard, and the result is `None`.
    pub fn arrival(&mut self, flow: u64, now: Instant) -> Option<u32> {
        let (fast, probes) = self.fast.look_up(flow);
        self.cost.packets += 1;
        self.cost.probes += probes;
        if let Some(count) = fast {
            *count = count.saturating_add(1);
            return Some(*count);
        }
        let (threshold, interval) = (self.threshold, self.interval);
        let fresh = Score { flow, count: 0, last: now };
        let expired = |score: &Score| now.since(score.last) > interval;
        let count = match &mut self.board {
            Board::Slots(slots, collision) => {
                let place = hash(flow, self.seed) % slots.len() as u64;
                let slot = &mut slots[place as usize];
                self.cost.probes += 1;
                let held = slot.get_or_insert(fresh);
                if expired(held) {
                    *held = fresh;
                }
                if held.flow != flow {
                    match collision {
                        _ if held.count == 0 => *held = fresh,
                        Collision::DecrementIncumbent => {
                            held.count -= 1;
                            return None;
                        }
                        Collision::ReplaceIfSmaller if held.count <= 1 => *held = fresh,
                        _ => return None,
                    }
                }
                Self::count(held, threshold, now)
            }
            Board::Chained(table) => {
                let (held, probes) = table.look_up(flow);
                self.cost.probes += probes;
                let known = held.is_some_and(|score| !expired(score));
                if !known && !table.insert(flow, fresh) {
                    return None;
                }
                Self::count(table.get_mut(flow)?, threshold, now)
            }
        };
        if count == threshold && self.fast.insert(flow, count) {
            self.forget(flow);
        }
        None
    }

    fn count(score: &mut Score, threshold: u32, now: Instant) -> u32 {
        score.count = (score.count + 1).min(threshold);
        score.last = now;
        score.count
    }

    /// Frees the flow's slot on the scoreboard.
    fn forget(&mut self, flow: u64) {
        match &mut self.board {
            Board::Slots(slots, _) => {
                let place = hash(flow, self.seed) % slots.len() as u64;
                slots[place as usize] = None;
            }
            Board::Chained(table) => table.remove(flow),
        }
    }

    /// Ends an interval: the counts of high-bandwidth flows fall by `decrement`, if given, and
    /// flows whose count reaches 0 leave the table. Expired entries of a chained scoreboard are
    /// removed; expired slots are reused at their next lookup.
    pub fn age(&mut self, decrement: Option<u32>, now: Instant) {
        if let Some(decrement) = decrement {
            self.fast.retain(|count| {
                *count = count.saturating_sub(decrement);
                *count > 0
            });
        }
        let interval = self.interval;
        let oldest = now.nanos().saturating_sub(interval.nanos());
        let on_board = match &mut self.board {
            Board::Slots(slots, _) => {
                let live = |score: &&Score| score.count > 0 && score.last.nanos() >= oldest;
                slots.iter().flatten().filter(live).count()
            }
            Board::Chained(table) => {
                table.retain(|score| now.since(score.last) <= interval);
                table.len()
            }
        };
        self.cost.end_interval(on_board);
    }

    /// Lookup cost and size of the tables in the last interval.
    pub const fn cost(&self) -> Cost {
        self.cost
    }

    /// Number of high-bandwidth flows, the only ones that may be signalled.
    pub const fn fast(&self) -> usize {
        self.fast.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn flows(collision: Collision, slots: usize) -> Flows {
        Flows::new((slots, 2), collision, 3, Duration::from_millis(800), 1)
    }

    #[test]
    fn the_third_packet_promotes() {
        let mut flows = flows(Collision::DecrementIncumbent, 8);
        for _ in 0..3 {
            assert_eq!(flows.arrival(7, Instant::ZERO), None);
        }
        assert_eq!(flows.arrival(7, Instant::ZERO), Some(4));
    }

    #[test]
    fn flows_age() {
        let mut flows = flows(Collision::DecrementIncumbent, 8);
        for _ in 0..5 {
            flows.arrival(7, Instant::ZERO);
        }
        flows.age(None, Instant::ZERO);
        assert_eq!(flows.fast.get_mut(7), Some(&mut 5));
        flows.age(Some(3), Instant::ZERO);
        assert_eq!(flows.fast.get_mut(7), Some(&mut 2));
        flows.age(Some(3), Instant::ZERO);
        assert_eq!(flows.fast.get_mut(7), None);
    }

    /// Effect of flow 2's packets on the only slot, which flow 1 holds.
    #[test]
    fn collisions() {
        let held = |collision, order: &[u64]| {
            let mut flows = flows(collision, 1);
            for flow in order {
                flows.arrival(*flow, Instant::ZERO);
            }
            match flows.board {
                Board::Slots(slots, _) => slots[0].map(|score| (score.flow, score.count)),
                Board::Chained(mut table) => {
                    table.get_mut(1).map(|score| (score.flow, score.count))
                }
            }
        };
        use Collision::*;
        assert_eq!(held(DecrementIncumbent, &[1, 1, 2]), Some((1, 1)));
        assert_eq!(held(DecrementIncumbent, &[1, 1, 2, 2]), Some((1, 0)));
        assert_eq!(held(DecrementIncumbent, &[1, 1, 2, 2, 2]), Some((2, 1)));
        assert_eq!(held(ReplaceIfSmaller, &[1, 2]), Some((2, 1)));
        assert_eq!(held(ReplaceIfSmaller, &[1, 1, 2]), Some((1, 2)));
        assert_eq!(held(Ignore, &[1, 2, 2, 2]), Some((1, 1)));
        assert_eq!(held(Chain, &[1, 2, 2]), Some((1, 1)), "no second entry");
    }

    #[test]
    fn probes_and_flows_are_of_the_last_interval() {
        let cost = |flows: &Flows| (flows.cost().probes_per_packet, flows.cost().scoreboard_flows);
        let mut flows = flows(Collision::DecrementIncumbent, 1 << 16);
        for flow in [7, 7, 7, 7, 9] {
            flows.arrival(flow, Instant::ZERO);
        }
        assert_eq!(cost(&flows), (0.0, 0), "none has ended");
        // Three packets of flow 7 probe the first slot of both tables; the fourth finds the flow in
        // the first table.
        flows.age(None, Instant::ZERO);
        assert_eq!(cost(&flows), ((2.0 + 2.0 + 2.0 + 1.0 + 2.0) / 5.0, 1));
        flows.arrival(7, Instant::ZERO);
        flows.age(None, Instant::ZERO + Duration::from_millis(801));
        assert_eq!(cost(&flows), (1.0, 0), "9 is too old");
        flows.age(None, Instant::ZERO + Duration::from_millis(801));
        assert_eq!(cost(&flows).0, 1.0, "no packet came");
    }

    #[test]
    fn a_full_table_keeps_the_flow_on_the_scoreboard() {
        let mut flows = flows(Collision::Chain, 8);
        for flow in [1, 2, 3] {
            for _ in 0..4 {
                flows.arrival(flow, Instant::ZERO);
            }
        }
        assert_eq!(flows.fast(), 2);
        assert_eq!(flows.arrival(3, Instant::ZERO), None);
        flows.age(Some(9), Instant::ZERO);
        flows.arrival(3, Instant::ZERO);
        assert_eq!(flows.arrival(3, Instant::ZERO), Some(4), "it saturated at the threshold");
    }

    #[test]
    fn a_count_is_forgotten_after_more_than_the_interval() {
        for (pause_ns, promoted) in [(800_000_000, true), (800_000_001, false)] {
            let mut flows = flows(Collision::DecrementIncumbent, 8);
            (0..2).for_each(|_| {
                flows.arrival(7, Instant::ZERO);
            });
            flows.arrival(7, Instant::from_nanos(pause_ns));
            assert_eq!(flows.fast() == 1, promoted, "after {pause_ns} ns");
        }
    }
}
