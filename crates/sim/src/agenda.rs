//! The set of future events.
//!
//! A hierarchical wheel with 64 slots a level and one occupancy word per level (a base-64 radix
//! heap): exact to the nanosecond, O(1) insertion, and it needs only that time never goes back.
//! An event's level is the highest 6-bit digit in which its time differs from the wheel's base;
//! when the base enters a slot of a higher level, the slot's events move to lower levels.
//!
//! Events of one instant are served by their order key, then first come, first served. The key
//! names what the event is about and never when it was scheduled, so a world that schedules
//! fewer events (folded ports) serves the ones it has in the same order as one that schedules
//! them all.

use packet::Instant;

/// Which event of one instant comes first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[repr(u8)]
pub enum Turn {
    /// Periodic updates of disciplines, and the driver's own marks.
    Tick = 0,
    /// A port has finished a transmission: departures come before arrivals.
    Departure = 1,
    /// A packet arrives.
    Arrival = 2,
    /// Retransmission timers, then applications, then delayed acknowledgements.
    Timer = 3,
    /// Applications wake.
    Wake = 4,
    /// Delayed acknowledgements (the 200 ms clock comes after the 500 ms clock).
    Acknowledge = 5,
}

/// The order key of an event: its turn and what it is about.
pub fn order(turn: Turn, about: u64) -> u64 {
    debug_assert!(about < 1 << 60);
    ((turn as u64) << 60) | about
}

const BITS: u32 = 6;
const SLOTS: usize = 1 << BITS;
const LEVELS: usize = 11; // 11 * 6 = 66 bits cover every u64 time
const NONE: u32 = u32::MAX;

#[derive(Clone, Copy, Debug)]
struct Node<E> {
    at: u64,
    order: u64,
    event: E,
    next: u32,
}

#[derive(Clone, Copy, Debug)]
struct List {
    head: u32,
    tail: u32,
}

const EMPTY: List = List { head: NONE, tail: NONE };

/// Future events in order of time.
pub struct Agenda<E> {
    nodes: Vec<Node<E>>,
    free: u32,
    lists: Box<[[List; SLOTS]; LEVELS]>,
    occupied: [u64; LEVELS],
    base: u64,
    len: usize,
    served: u64,
}

impl<E: Copy> Default for Agenda<E> {
    fn default() -> Self {
        Agenda {
            nodes: Vec::new(),
            free: NONE,
            lists: Box::new([[EMPTY; SLOTS]; LEVELS]),
            occupied: [0; LEVELS],
            base: 0,
            len: 0,
            served: 0,
        }
    }
}

impl<E: Copy> Agenda<E> {
    /// Plans `event` for `at`, which must not lie before the last event served.
    #[inline]
    pub fn plan(&mut self, at: Instant, order: u64, event: E) {
        let at = at.nanos();
        assert!(at >= self.base, "an event was planned for the past");
        let node = Node { at, order, event, next: NONE };
        let index = if self.free == NONE {
            self.nodes.push(node);
            (self.nodes.len() - 1) as u32
        } else {
            let index = self.free;
            self.free = self.nodes[index as usize].next;
            self.nodes[index as usize] = node;
            index
        };
        self.append(index, at);
        self.len += 1;
    }

    #[inline]
    fn append(&mut self, index: u32, at: u64) {
        let differs = at ^ self.base;
        let level = if differs == 0 { 0 } else { ((63 - differs.leading_zeros()) / BITS) as usize };
        let slot = ((at >> (level as u32 * BITS)) & 63) as usize;
        let list = &mut self.lists[level][slot];
        if list.head == NONE {
            list.head = index;
            self.occupied[level] |= 1 << slot;
        } else {
            self.nodes[list.tail as usize].next = index;
        }
        list.tail = index;
    }

    /// Takes the next event at or before `limit`.
    #[inline]
    pub fn next(&mut self, limit: Instant) -> Option<(Instant, E)> {
        let limit = limit.nanos();
        loop {
            let level = self.occupied.iter().position(|&slots| slots != 0)?;
            let slot = self.occupied[level].trailing_zeros() as usize;
            let list = self.lists[level][slot];
            if list.head == list.tail || level == 0 {
                // The only event of the earliest slot is the next one, whatever its level; a
                // slot of level 0 holds events of one instant.
                if self.nodes[list.head as usize].at > limit {
                    return None;
                }
                return Some(self.take(level, slot));
            }
            if !self.descend(level, slot, limit) {
                return None;
            }
        }
    }

    /// Unlinks the event whose turn it is from the earliest slot.
    #[inline]
    fn take(&mut self, level: usize, slot: usize) -> (Instant, E) {
        let list = self.lists[level][slot];
        let index = if list.head == list.tail {
            self.lists[level][slot] = EMPTY;
            self.occupied[level] &= !(1 << slot);
            list.head
        } else {
            self.take_first(slot)
        };
        let node = &mut self.nodes[index as usize];
        let (at, event) = (node.at, node.event);
        node.next = self.free;
        self.free = index;
        self.base = at;
        self.len -= 1;
        self.served += 1;
        (Instant::from_nanos(at), event)
    }

    /// Of several events of one instant, unlinks the one whose turn it is.
    fn take_first(&mut self, slot: usize) -> u32 {
        let list = self.lists[0][slot];
        let (mut best, mut before_best) = (list.head, NONE);
        let mut previous = list.head;
        let mut current = self.nodes[list.head as usize].next;
        while current != NONE {
            if self.nodes[current as usize].order < self.nodes[best as usize].order {
                (best, before_best) = (current, previous);
            }
            previous = current;
            current = self.nodes[current as usize].next;
        }
        let after = self.nodes[best as usize].next;
        let list = &mut self.lists[0][slot];
        if before_best == NONE {
            list.head = after;
        } else {
            self.nodes[before_best as usize].next = after;
            if after == NONE {
                list.tail = before_best;
            }
        }
        best
    }

    /// Moves the events of the earliest slot to lower levels, unless it begins after `limit`.
    fn descend(&mut self, level: usize, slot: usize, limit: u64) -> bool {
        let shift = level as u32 * BITS;
        let above =
            if shift + BITS >= 64 { 0 } else { self.base >> (shift + BITS) << (shift + BITS) };
        let start = above | ((slot as u64) << shift);
        if start > limit {
            return false;
        }
        self.base = start;
        let mut index = self.lists[level][slot].head;
        self.lists[level][slot] = EMPTY;
        self.occupied[level] &= !(1 << slot);
        while index != NONE {
            let node = &mut self.nodes[index as usize];
            let next = std::mem::replace(&mut node.next, NONE);
            let at = node.at;
            self.append(index, at);
            index = next;
        }
        true
    }

    /// Number of events planned.
    pub fn len(&self) -> usize {
        self.len
    }
    /// Whether nothing is planned.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }
    /// Number of events served so far.
    pub fn served(&self) -> u64 {
        self.served
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use packet::Rng;
    use std::collections::BTreeMap;

    /// The obvious implementation: a map ordered by (time, key, sequence).
    #[derive(Default)]
    struct Plain {
        events: BTreeMap<(u64, u64, u64), u32>,
        sequence: u64,
    }

    impl Plain {
        fn plan(&mut self, at: u64, order: u64, event: u32) {
            self.events.insert((at, order, self.sequence), event);
            self.sequence += 1;
        }
        fn next(&mut self, limit: u64) -> Option<(u64, u32)> {
            let key = *self.events.keys().next().filter(|k| k.0 <= limit)?;
            Some((key.0, self.events.remove(&key).unwrap()))
        }
    }

    /// Spans as links and timers have them, with many ties.
    fn span(rng: &mut Rng) -> u64 {
        match rng.below(6) {
            0 => 0,
            1 => rng.below(3),
            2 => 12_000,
            3 => rng.below(50_000_000),
            4 => 1_000_000_000 + rng.below(64_000_000_000),
            _ => 1 << rng.below(45),
        }
    }

    #[test]
    fn the_wheel_serves_the_same_order_as_a_sorted_map() {
        for seed in 0..200 {
            let mut rng = Rng::indexed(seed, "agenda", 0);
            let (mut wheel, mut plain) = (Agenda::default(), Plain::default());
            let mut now = 0;
            for event in 0..2_000u32 {
                if rng.below(100) < 55 {
                    let at = now + span(&mut rng);
                    let order = rng.below(4);
                    wheel.plan(Instant::from_nanos(at), order, event);
                    plain.plan(at, order, event);
                } else {
                    // A limit may fall short of the next event: time then moves to the limit.
                    let limit = now + span(&mut rng);
                    let expected = plain.next(limit);
                    let got = wheel.next(Instant::from_nanos(limit)).map(|(t, e)| (t.nanos(), e));
                    assert_eq!(got, expected, "seed {seed}");
                    now = expected.map_or(limit, |(at, _)| at);
                }
                assert_eq!(wheel.len(), plain.events.len());
            }
            while let Some(expected) = plain.next(u64::MAX) {
                let got = wheel.next(Instant::NEVER).map(|(t, e)| (t.nanos(), e));
                assert_eq!(got, Some(expected), "seed {seed}");
            }
            assert!(wheel.is_empty() && wheel.next(Instant::NEVER).is_none());
        }
    }

    #[test]
    #[should_panic(expected = "planned for the past")]
    fn the_past_is_refused() {
        let mut agenda = Agenda::default();
        agenda.plan(Instant::from_nanos(1_000), 0, 1);
        agenda.next(Instant::NEVER);
        agenda.plan(Instant::from_nanos(999), 0, 2);
    }
}
