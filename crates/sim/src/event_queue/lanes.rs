//! Events that come in the order of their turns: packets behind a line that all are delayed equally long.
//!
//! They need no wheel. Each of the two directions of a link has a lane, a ring from which the earliest of its
//! events is taken; what is next is the earliest of the lanes' first events and the wheel's. When an event comes
//! that does not fit, because it is not later than the last in its lane, the lanes close: it and all that come
//! after it go to the wheel. (One lane alone costs the wheel as much as it spares.)
//!
//! Of events with equal times and order keys, one in a lane comes before one of the wheel. That is the
//! order in which they came as long as events with the order keys of a lane are all scheduled for that
//! lane: those that went to the wheel went there later, or are earlier.

use std::collections::VecDeque;

/// The lanes there are.
pub(super) const LANES: usize = 2;

/// A time in ns and an order key, compared at once.
pub(super) type Turn = u128;

#[inline]
pub(super) fn turn(at: u64, order: u64) -> Turn {
    u128::from(at) << 64 | u128::from(order)
}

/// The time of a turn.
#[inline]
pub(super) fn time(turn: Turn) -> u64 {
    (turn >> 64) as u64
}

/// The lanes.
pub(super) struct Lanes<E> {
    /// Whether they take events.
    open: bool,
    /// The lane whose first event is next.
    next: u8,
    /// The time of that event, ns; [`u64::MAX`] if nothing waits.
    pub next_at: u64,
    /// The time of the first event in each, ns; [`u64::MAX`] without one.
    first: [u64; LANES],
    /// The time of the event that joined each last, ns.
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
    /// From here on they take events, or none; those that wait stay.
    #[inline]
    pub fn set_open(&mut self, open: bool) {
        self.open = open;
    }

    /// Whether they take events.
    #[inline]
    pub fn are_open(&self) -> bool {
        self.open
    }

    /// Puts an event at the end of a lane. Answers whether the lane takes it; if not, none does any more.
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

    /// For first events of one instant: whether that of the second lane comes first.
    #[cold]
    fn other_is_first(&self) -> bool {
        let [one, other] = [0, 1].map(|lane| self.waiting[lane].front().map(|of| of.order));
        other < one
    }

    /// The turn that is next; [`Turn::MAX`] if nothing waits.
    pub fn next_turn(&self) -> Turn {
        let next = self.waiting[usize::from(self.next) % LANES].front();
        next.map_or(Turn::MAX, |of| turn(of.at, of.order))
    }

    /// Takes the event that is next.
    #[inline(always)]
    pub fn take(&mut self) -> Option<Waiting<E>> {
        let next = usize::from(self.next) % LANES;
        let taken = self.waiting[next].pop_front();
        self.first[next] = self.waiting[next].front().map_or(u64::MAX, |of| of.at);
        self.find_next();
        taken
    }
}
