//! Events that are scheduled in the order of their service: arrivals of packets that leave a line
//! and are all delayed equally.
//!
//! Such events need no wheel. Each of the two directions of a link has a lane, a ring buffer whose
//! first event is its earliest. The next event of the queue is the earliest of the first events of
//! the lanes and of the wheel. An event that is not later than the last one in its lane does not
//! fit: then the lanes close, and that event and all later ones go to the wheel. (One lane alone
//! costs as much as it saves.)
//!
//! Among events with equal times and order keys, one in a lane is served before one of the wheel.
//! This is the order in which they were scheduled, as long as events with the order keys of a lane
//! are all scheduled for that lane: those in the wheel were scheduled after those in the lane, or
//! have an earlier time.

use std::collections::VecDeque;

/// Number of lanes.
pub(super) const LANES: usize = 2;

/// A time in ns (upper half) and an order key (lower half), compared as one number.
pub(super) type Turn = u128;

#[inline]
pub(super) fn turn(at: u64, order: u64) -> Turn {
    u128::from(at) << 64 | u128::from(order)
}

/// The time in a turn, ns.
#[inline]
pub(super) fn time(turn: Turn) -> u64 {
    (turn >> 64) as u64
}

/// The lanes of an event queue: ring buffers of events in the order of their times, one for each
/// direction of a link.
pub(super) struct Lanes<E> {
    /// Whether the lanes accept events.
    open: bool,
    /// The lane whose first event is the earliest.
    next: u8,
    /// Time of the earliest event in the lanes, ns; [`u64::MAX`] if all are empty.
    pub next_at: u64,
    /// Time of the first event of each lane, ns; [`u64::MAX`] if the lane is empty.
    first: [u64; LANES],
    /// Time of the event that joined each lane last, ns.
    last: [u64; LANES],
    waiting: [VecDeque<Waiting<E>>; LANES],
}

/// An event in a lane.
#[derive(Clone, Copy)]
pub(super) struct Waiting<E> {
    pub at: u64,
    pub order: u64,
    pub event: E,
}

impl<E> Default for Lanes<E> {
    fn default() -> Self {
        Lanes {
            open: false,
            next: 0,
            next_at: u64::MAX,
            first: [u64::MAX; LANES],
            last: [0; LANES],
            waiting: Default::default(),
        }
    }
}

impl<E: Copy> Lanes<E> {
    /// Opens or closes the lanes for new events; waiting events stay.
    #[inline]
    pub fn set_open(&mut self, open: bool) {
        self.open = open;
    }

    /// Whether the lanes accept events.
    #[inline]
    pub fn are_open(&self) -> bool {
        self.open
    }

    /// Appends an event to a lane. Returns whether it fits; if not, all lanes are closed from now
    /// on.
    #[inline]
    pub fn join(&mut self, lane: usize, of: Waiting<E>) -> bool {
        self.open = lane < LANES && of.at > self.last[lane];
        if self.open {
            self.last[lane] = of.at;
            self.waiting[lane].push_back(of);
            if self.first[lane] == u64::MAX {
                self.first[lane] = of.at;
                self.find_next();
            }
        }
        self.open
    }

    #[inline]
    fn find_next(&mut self) {
        let [one, other] = self.first;
        let is_other = if one == other { self.other_is_first() } else { other < one };
        (self.next, self.next_at) = (u8::from(is_other), one.min(other));
    }

    /// Whether the second lane's event comes first, where the first events of both lanes have equal
    /// times.
    #[cold]
    fn other_is_first(&self) -> bool {
        let [one, other] = [0, 1].map(|lane| self.waiting[lane].front().map(|of| of.order));
        other < one
    }

    /// Time and order key of the lanes' next event; [`Turn::MAX`] if all are empty.
    pub fn next_turn(&self) -> Turn {
        let next = self.waiting[usize::from(self.next) % LANES].front();
        next.map_or(Turn::MAX, |of| turn(of.at, of.order))
    }

    /// Removes and returns the next event of the lanes.
    #[inline(always)]
    pub fn take(&mut self) -> Option<Waiting<E>> {
        let next = usize::from(self.next) % LANES;
        let taken = self.waiting[next].pop_front();
        self.first[next] = self.waiting[next].front().map_or(u64::MAX, |of| of.at);
        self.find_next();
        taken
    }
}
