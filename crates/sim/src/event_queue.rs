//! The set of future events.
//!
//! A hierarchical wheel (a radix heap): exact to the nanosecond, O(1) insertion, and it needs only
//! that time never goes back. A time is read as digits, and an event's level is the highest digit in
//! which its time differs from the wheel's base; when the base enters a slot of a higher level, the
//! slot's events, which lie side by side (`blocks`), move to lower levels. Digits have six bits, a word of occupancy each, but for the
//! one of round trips and timers (`digits`): it has eleven, so that most events are put down once.
//!
//! Events of one instant are served by their order key, then first come, first served. The key
//! names what the event is about and never when it was scheduled, so a world that schedules
//! fewer events (folded ports) serves the ones it has in the same order as one that schedules
//! them all.
//!
//! A few events of one instant are looked through for the first. Many are sorted, so that an event costs
//! the logarithm of their number and not the number itself. Where it is known that an instant is shared
//! (thousands of connections whose timers are due at the same tick of a host's clock), its events wait in
//! a row of their own (`shared`). Where it is known that events come in the order of their turns, they wait in
//! a ring and not in the wheel (`lanes`).

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

/// The order key of an event: its priority and what it is about. Never that of a mark.
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

/// Future events in order of time.
pub struct EventQueue<E> {
    blocks: Blocks<E>,
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
    simultaneous: Simultaneous<E>,
    shared: Shared<E>,
    ahead: Ahead,
    lanes: Lanes<E>,
    /// No event of the wheel is earlier, ns.
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
    /// An empty one, whose lanes are used until an event does not fit, if they are to be `open`.
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

    /// Schedules an event as [`EventQueue::schedule`] does, which is likely to come after all that were
    /// scheduled so for this lane. Events of one order key are all scheduled for one lane, or none.
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

    /// From here on lanes are not used. What waits in them cannot be looked at before its turn.
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

    // A call at the end, so that the usual way keeps no registers.
    #[cold]
    #[inline(never)]
    fn put_after_growing(&mut self, at: Instant, order: u64, event: E) {
        self.blocks.grow(event);
        self.put(at, order, event);
    }

    /// Puts an event down behind those of its slot. There must be a free block.
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

    /// As [`EventQueue::append`], wherever a free block comes from.
    #[inline(always)]
    fn move_down(&mut self, Node { at, order, event, .. }: Node<E>) {
        if self.blocks.is_full() {
            self.blocks.grow(event);
        }
        self.append(at, order, event);
    }

    /// An empty slot holds a node.
    #[inline]
    fn fill(&mut self, slot: usize, index: u32) {
        self.lists[slot] = List { head: index, tail: index };
        self.occupied[slot / WORD] |= 1 << (slot % WORD);
        self.words |= 1 << (slot / WORD);
    }

    /// Empties a slot. Returns what it held.
    #[inline]
    fn clear(&mut self, slot: usize) -> List {
        let word = slot / WORD;
        self.occupied[word] &= !(1 << (slot % WORD));
        if self.occupied[word] == 0 {
            self.words &= !(1 << word);
        }
        std::mem::replace(&mut self.lists[slot], List::EMPTY)
    }

    /// Schedules an event for an instant that many share, as [`EventQueue::schedule`] does. Events of one order key
    /// are all scheduled so, or none.
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
