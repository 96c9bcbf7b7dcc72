//! The set of future events.
//!
//! A hierarchical wheel (a radix heap): exact to the nanosecond, O(1) insertion, and it needs only
//! that time never goes back. A time is read as digits, and an event's level is the highest digit in
//! which its time differs from the wheel's base; when the base enters a slot of a higher level, the
//! slot's events move to lower levels. Digits have six bits, a word of occupancy each, but for the
//! one of round trips and timers (`digits`): it has eleven, so that most events are put down once.
//!
//! Events of one instant are served by their order key, then first come, first served. The key
//! names what the event is about and never when it was scheduled, so a world that schedules
//! fewer events (folded ports) serves the ones it has in the same order as one that schedules
//! them all.
//!
//! A few events of one instant are looked through for the first. Many (thousands of connections
//! whose timers are due at the same tick of a host's clock) are sorted, so that an event costs
//! the logarithm of their number and not the number itself.

mod ahead;
mod digits;
mod simultaneous;

use packet::Instant;

use ahead::Ahead;
use digits::{Digit, SLOTS, WORD, WORDS};
use simultaneous::Simultaneous;

/// Which event of one instant comes first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[repr(u8)]
pub enum Priority {
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

/// The order key of an event: its priority and what it is about.
pub fn order(priority: Priority, about: u64) -> u64 {
    debug_assert!(about < 1 << 60);
    ((priority as u64) << 60) | about
}

const NONE: u32 = u32::MAX;

/// So many events of one instant are looked through; more are sorted. (That pays from some
/// twenty on; ordinary scenarios have two or three.)
const FEW: usize = 16;

/// An event that waits; the world's is half a cache line, and never lies in two.
#[derive(Clone, Copy, Debug)]
#[repr(align(32))]
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

#[cold]
#[inline(never)]
fn too_late() -> ! {
    panic!("an event was scheduled for the past")
}

/// Future events in order of time.
pub struct EventQueue<E> {
    nodes: Vec<Node<E>>,
    free: u32,
    lists: Box<[List; SLOTS]>,
    /// Slots that hold something, by word.
    occupied: [u64; WORDS],
    /// Words that have such slots.
    words: u64,
    base: u64,
    len: usize,
    served: u64,
    /// Events of the instant `base`, if they were many. What is scheduled for that instant meanwhile
    /// waits in its slot and joins them at the next turn.
    simultaneous: Simultaneous,
    ahead: Ahead,
}

impl<E: Copy> Default for EventQueue<E> {
    fn default() -> Self {
        EventQueue {
            nodes: Vec::new(),
            free: NONE,
            lists: Box::new([EMPTY; SLOTS]),
            occupied: [0; WORDS],
            words: 0,
            base: 0,
            len: 0,
            served: 0,
            simultaneous: Simultaneous::default(),
            ahead: Ahead::NOWHERE,
        }
    }
}

impl<E: Copy> EventQueue<E> {
    /// So many more events are to be scheduled at a time: their memory is taken at once.
    pub fn reserve(&mut self, events: usize) {
        self.nodes.reserve_exact(events);
        prefetch::huge_pages(&self.nodes);
    }

    /// Schedules `event` for `at`, which must not lie before the last event served.
    #[inline]
    pub fn schedule(&mut self, at: Instant, order: u64, event: E) {
        let at = at.nanos();
        if at < self.base {
            too_late();
        }
        if self.free == NONE {
            self.grow(event);
        }
        let index = self.free;
        let node = &mut self.nodes[index as usize];
        self.free = node.next;
        *node = Node { at, order, event, next: NONE };
        self.append(index, at);
        self.len += 1;
    }

    /// Makes a free node; what it holds does not matter.
    // Out of line, as a panic is: the way to a free node keeps its registers.
    #[cold]
    #[inline(never)]
    fn grow(&mut self, event: E) {
        self.free = u32::try_from(self.nodes.len()).expect("fewer than 2^32 events ahead");
        prefetch::push(&mut self.nodes, Node { at: 0, order: 0, event, next: NONE });
    }

    #[inline]
    fn append(&mut self, index: u32, at: u64) {
        #[cfg(test)]
        tests::MOVES.set(tests::MOVES.get() + 1);
        let differs = at ^ self.base;
        let digit = Digit::OF_BIT[(63 - (differs | 1).leading_zeros()) as usize];
        let slot = digit.slot(at);
        let list = &mut self.lists[slot];
        if list.head == NONE {
            return self.fill(slot, List { head: index, tail: index });
        }
        self.nodes[list.tail as usize].next = index;
        list.tail = index;
    }

    /// An empty slot holds these.
    #[inline]
    fn fill(&mut self, slot: usize, list: List) {
        self.lists[slot] = list;
        self.occupied[slot / WORD] |= 1 << (slot % WORD);
        self.words |= 1 << (slot / WORD);
    }

    /// Empties a slot; what it held.
    #[inline]
    fn clear(&mut self, slot: usize) -> List {
        let word = slot / WORD;
        self.occupied[word] &= !(1 << (slot % WORD));
        if self.occupied[word] == 0 {
            self.words &= !(1 << word);
        }
        std::mem::replace(&mut self.lists[slot], EMPTY)
    }

    /// Takes the next event at or before `limit`.
    #[cfg(test)]
    pub fn next(&mut self, limit: Instant) -> Option<(Instant, E)> {
        self.next_wanted(limit, |_| true)
    }

    /// Takes the next event at or before `limit`. Of events that share an instant those that are not
    /// `wanted` may be left out; they count as served. (Most timers of a host's tick are of connections
    /// that are over: to put them in order would be their greatest cost.)
    #[inline]
    pub fn next_wanted(
        &mut self,
        limit: Instant,
        wanted: impl Fn(&E) -> bool,
    ) -> Option<(Instant, E)> {
        let limit = limit.nanos();
        if !self.simultaneous.is_empty() {
            return self.next_simultaneous(limit);
        }
        loop {
            if self.words == 0 {
                return None;
            }
            let word = self.words.trailing_zeros() as usize;
            let slot = word * WORD + self.occupied[word].trailing_zeros() as usize;
            let list = self.lists[slot];
            if list.head == list.tail || word == 0 {
                // The only event of the earliest slot is the next one, whatever its level; a
                // slot of the lowest level holds events of one instant.
                if self.nodes[list.head as usize].at > limit {
                    return None;
                }
                let alone = list.head == list.tail;
                let index = if alone { self.clear(slot).head } else { self.take_first(slot) };
                return Some(self.serve(index));
            }
            if !self.descend(slot, limit, &wanted) {
                return None;
            }
        }
    }

    /// Hands out the event in this place, which is in no list any more.
    #[inline]
    fn serve(&mut self, index: u32) -> (Instant, E) {
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
        let list = self.lists[slot];
        let (mut best, mut before_best) = (list.head, NONE);
        let mut previous = list.head;
        let mut current = self.nodes[list.head as usize].next;
        let mut looks = 0;
        while current != NONE {
            looks += 1;
            #[cfg(test)]
            tests::LOOKS.set(tests::LOOKS.get() + 1);
            if looks > FEW {
                self.gather(slot);
                return self.first_simultaneous();
            }
            if self.nodes[current as usize].order < self.nodes[best as usize].order {
                (best, before_best) = (current, previous);
            }
            previous = current;
            current = self.nodes[current as usize].next;
        }
        let after = self.nodes[best as usize].next;
        let list = &mut self.lists[slot];
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

    /// Moves the events of a slot of the lowest level, in the order in which they came, to those that are sorted.
    #[cold]
    fn gather(&mut self, slot: usize) {
        let head = self.clear(slot).head;
        let nodes = &self.nodes;
        let list = std::iter::successors(
            nodes.get(head as usize).map(|node| (head, node)),
            |&(_, node)| Some((node.next, nodes.get(node.next as usize)?)),
        );
        self.simultaneous.take(list.map(|(index, node)| (node.order, index)));
    }

    fn first_simultaneous(&mut self) -> u32 {
        self.simultaneous.pop().expect("asked only where there is one")
    }

    /// As [`EventQueue::next`], while there are many simultaneous events: all are of the instant `base`, and nothing
    /// else can be earlier.
    #[cold]
    fn next_simultaneous(&mut self, limit: u64) -> Option<(Instant, E)> {
        if self.base > limit {
            return None;
        }
        let slot = Digit::ALL[0].slot(self.base);
        if self.occupied[0] & (1 << slot) != 0 {
            self.gather(slot);
        }
        let index = self.first_simultaneous();
        Some(self.serve(index))
    }

    /// Moves the events of the earliest slot to lower levels, unless it begins after `limit`.
    fn descend(&mut self, slot: usize, limit: u64, wanted: &impl Fn(&E) -> bool) -> bool {
        if let Some(at) = self.instant_of(slot) {
            if at > limit {
                return false;
            }
            self.base = at;
            let all = self.clear(slot);
            let list = self.leave_out(all, wanted);
            if list.head != NONE {
                self.fill(Digit::ALL[0].slot(at), list);
            }
            return true;
        }
        let Digit { shift, end, first, .. } = Digit::of_slot(slot);
        let above = if end >= 64 { 0 } else { self.base >> end << end };
        let start = above | ((slot as u64 - u64::from(first)) << shift);
        if start > limit {
            return false;
        }
        self.base = start;
        let mut index = self.clear(slot).head;
        while index != NONE {
            let node = &mut self.nodes[index as usize];
            let next = std::mem::replace(&mut node.next, NONE);
            let at = node.at;
            self.append(index, at);
            index = next;
        }
        true
    }

    /// What is left of a list without the events that nobody wants.
    fn leave_out(&mut self, list: List, wanted: &impl Fn(&E) -> bool) -> List {
        let mut left = EMPTY;
        let mut index = list.head;
        while index != NONE {
            let node = &mut self.nodes[index as usize];
            let next = std::mem::replace(&mut node.next, NONE);
            if !wanted(&node.event) {
                node.next = std::mem::replace(&mut self.free, index);
                self.len -= 1;
                self.served += 1;
            } else if left.head == NONE {
                left = List { head: index, tail: index };
            } else {
                self.nodes[left.tail as usize].next = index;
                left.tail = index;
            }
            index = next;
        }
        left
    }

    /// The instant of all events of a slot, if it is one: timers at a tick of a host's clock.
    fn instant_of(&self, slot: usize) -> Option<u64> {
        let at = self.nodes[self.lists[slot].head as usize].at;
        let mut index = self.lists[slot].head;
        while index != NONE {
            let node = &self.nodes[index as usize];
            if node.at != at {
                return None;
            }
            index = node.next;
        }
        Some(at)
    }

    /// Number of scheduled events.
    pub fn len(&self) -> usize {
        self.len
    }
    /// Whether nothing is scheduled.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }
    /// Number of events served so far.
    pub fn served(&self) -> u64 {
        self.served
    }
}

#[cfg(test)]
mod tests;
