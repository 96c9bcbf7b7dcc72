//! The queue of future events.
//!
//! A hierarchical timer wheel (a radix heap), exact to the nanosecond, with insertion in O(1); it
//! needs only that time never goes back. A time is read as a number of several digits, and an
//! event's level is the highest digit in which its time differs from the wheel's base. When the
//! base enters a slot of a higher level, the slot's events, which are stored in blocks (`blocks`),
//! move to lower levels. A digit has six bits, so that one word of 64 bits records which of its
//! slots are occupied. Only the digit in whose range round trips and timers lie (`digits`) has
//! eleven bits, so that most events are stored once.
//!
//! Events of one instant are served by their order key, then first come, first served. The key
//! names what the event is about and never when it was scheduled, so that a world with fewer events
//! (folded ports, see `port`) serves them in the same order as a world that schedules all.
//!
//! A few events of one instant are searched linearly for the first. Many are sorted, so that each
//! costs the logarithm of their number and not the number itself. Events of an instant that is
//! known to be shared (thousands of connections whose timers are due at a tick of their host's
//! clock) are stored in a row of their own (`shared`). Events that are known to be scheduled in the
//! order of their service wait in ring buffers instead of the wheel (`lanes`).

mod ahead;
mod blocks;
mod digits;
mod lanes;
mod shared;
mod simultaneous;
mod taking;

use packet::Instant;

use ahead::Ahead;
use blocks::{Blocks, List, Node};
use digits::{Digit, SLOTS, WORD, WORDS};
use lanes::{Lanes, Waiting};
use shared::{MARK, Shared};
use simultaneous::Simultaneous;

/// Class of an event, which decides the order of events of one instant.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[repr(u8)]
pub enum Priority {
    /// Updates of queue disciplines, and the release of packets that an effect held.
    Tick = 0,
    /// A port has finished a transmission: departures come before arrivals.
    Departure = 1,
    /// A packet arrives at a port or at its host.
    Arrival = 2,
    /// Timers of connections, except those of delayed acknowledgements.
    Timer = 3,
    /// Applications and server programs are woken.
    Wake = 4,
    /// Timers of delayed acknowledgements (4.4BSD's 200 ms clock comes after its 500 ms clock).
    Acknowledge = 5,
}

/// The order key of an event: its priority, then the number of what it is about (such as a port or
/// an end of a connection). It differs from the key of a marker event (`MARK`).
pub fn order(priority: Priority, about: u64) -> u64 {
    debug_assert!(about < 1 << 60);
    ((priority as u64 + 1) << 60) | about
}

const NONE: u32 = u32::MAX;

/// Up to this many events of one instant are scanned linearly; more are sorted. (Sorting pays from
/// some twenty on; ordinary scenarios have two or three.)
const FEW: usize = 16;

#[cold]
#[inline(never)]
fn too_late() -> ! {
    panic!("an event was scheduled for the past")
}

/// The future events, served in order of time.
pub struct EventQueue<E> {
    blocks: Blocks<E>,
    lists: Box<[List; SLOTS]>,
    /// For each word of 64 slots, the bits of the slots that hold events.
    occupied: [u64; WORDS],
    /// Bits of the words of `occupied` that are not zero.
    words: u64,
    base: u64,
    len: usize,
    served: u64,
    /// Events of the instant `base`, if there are many. An event scheduled for that instant
    /// meanwhile waits in its slot, and joins them before the next event is served.
    simultaneous: Simultaneous<E>,
    shared: Shared<E>,
    ahead: Ahead,
    lanes: Lanes<E>,
    /// Lower bound of the times of the wheel's events, ns.
    earliest: u64,
}

impl<E: Copy> Default for EventQueue<E> {
    fn default() -> Self {
        EventQueue {
            blocks: Blocks::default(),
            lists: Box::new([List::EMPTY; SLOTS]),
            occupied: [0; WORDS],
            words: 0,
            base: 0,
            len: 0,
            served: 0,
            simultaneous: Simultaneous::default(),
            shared: Shared::default(),
            ahead: Ahead::NOWHERE,
            lanes: Lanes::default(),
            earliest: u64::MAX,
        }
    }
}

impl<E: Copy> EventQueue<E> {
    /// An empty queue. If `open`, its lanes are used until an event does not fit into its lane.
    pub fn with_lanes(open: bool) -> Self {
        let mut queue = EventQueue::default();
        queue.lanes.set_open(open);
        queue
    }

    /// Allocates memory at once for `events` more events.
    pub fn reserve(&mut self, events: usize) {
        self.blocks.reserve(events, SLOTS);
    }

    /// Schedules `event` for `at`, which must not lie before the last event served.
    #[inline]
    pub fn schedule(&mut self, at: Instant, order: u64, event: E) {
        debug_assert!(order != MARK);
        self.put(at, order, event);
    }

    /// As [`EventQueue::schedule`], for an event that probably comes after all earlier ones of this
    /// lane. Events with one order key are all scheduled for one lane, or all without a lane.
    #[inline]
    pub fn schedule_in_lane(&mut self, lane: usize, at: Instant, order: u64, event: E) {
        if self.lanes.are_open() {
            self.join(lane, at, order, event);
        } else {
            self.put(at, order, event);
        }
    }

    #[inline(never)]
    fn join(&mut self, lane: usize, at: Instant, order: u64, event: E) {
        if self.lanes.join(lane, Waiting { at: at.nanos(), order, event }) {
            self.len += 1;
        } else {
            self.put(at, order, event);
        }
    }

    /// Stops the use of lanes, because their events cannot be prefetched before they are served.
    #[inline]
    pub fn close_lanes(&mut self) {
        self.lanes.set_open(false);
    }

    #[inline(never)]
    fn put(&mut self, at: Instant, order: u64, event: E) {
        let nanos = at.nanos();
        if nanos < self.base {
            too_late();
        }
        if self.blocks.is_full() {
            return self.put_after_growing(at, order, event);
        }
        self.append(nanos, order, event);
        self.earliest = self.earliest.min(nanos);
        self.len += 1;
    }

    // The call is the last statement, so that the common path saves no registers.
    #[cold]
    #[inline(never)]
    fn put_after_growing(&mut self, at: Instant, order: u64, event: E) {
        self.blocks.grow(event);
        self.put(at, order, event);
    }

    /// Appends an event to the list of its slot. A free block must exist.
    #[inline(always)]
    fn append(&mut self, at: u64, order: u64, event: E) {
        #[cfg(test)]
        tests::MOVES.set(tests::MOVES.get() + 1);
        let differs = at ^ self.base;
        let digit = Digit::OF_BIT[(63 - (differs | 1).leading_zeros()) as usize];
        let slot = digit.slot(at);
        let List { head, tail } = self.lists[slot];
        let last = self.blocks.put_behind(tail, at, order, event);
        if head == NONE {
            self.fill(slot, last);
        } else {
            self.lists[slot].tail = last;
        }
    }

    /// As [`EventQueue::append`]; allocates a block if none is free.
    #[inline(always)]
    fn move_down(&mut self, Node { at, order, event, .. }: Node<E>) {
        if self.blocks.is_full() {
            self.blocks.grow(event);
        }
        self.append(at, order, event);
    }

    /// Makes a node the only one of an empty slot.
    #[inline]
    fn fill(&mut self, slot: usize, index: u32) {
        self.lists[slot] = List { head: index, tail: index };
        self.occupied[slot / WORD] |= 1 << (slot % WORD);
        self.words |= 1 << (slot / WORD);
    }

    /// Empties a slot. Returns its list of events.
    #[inline]
    fn clear(&mut self, slot: usize) -> List {
        let word = slot / WORD;
        self.occupied[word] &= !(1 << (slot % WORD));
        if self.occupied[word] == 0 {
            self.words &= !(1 << word);
        }
        std::mem::replace(&mut self.lists[slot], List::EMPTY)
    }

    /// As [`EventQueue::schedule`], for an instant that many events share. Events with one order
    /// key are all scheduled by this method, or none of them is.
    pub fn schedule_shared(&mut self, at: Instant, order: u64, event: E) {
        if self.shared.push(at.nanos(), order, event) {
            self.put(at, MARK, event);
        } else {
            self.len += 1;
        }
    }

    /// Number of scheduled events.
    pub fn len(&self) -> usize {
        self.len
    }
    /// Whether nothing is scheduled.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }
    /// Counts an event that was served without having been scheduled.
    pub fn count_served(&mut self) {
        self.served += 1;
    }

    /// Number of events served so far.
    pub fn served(&self) -> u64 {
        self.served
    }
}

#[cfg(test)]
mod tests;
