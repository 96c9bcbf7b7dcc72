//! The timers of a program of users.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use packet::Instant;

/// What a timer does when it expires. Of timers with one expiry time, the one added first expires
/// first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Timer {
    /// An application has scheduled a wake-up.
    Wake(u32),
    /// A server has finished preparing a reply; index of the connection.
    Serve(u64),
    /// A source waits for an acknowledgement; index of the connection.
    Acknowledged(u64),
    /// A handshake takes too long; index of the connection.
    Connect(u64),
    /// A group starts.
    Begin(u16),
    /// The measured interval begins.
    Measure,
}

/// All timers, in the order of their expiry.
#[derive(Debug, Default)]
pub struct Timers {
    heap: BinaryHeap<Reverse<(Instant, u64, Timer)>>,
    requested: u64,
}

impl Timers {
    /// Adds a timer.
    pub fn add(&mut self, at: Instant, timer: Timer) {
        self.requested += 1;
        self.heap.push(Reverse((at, self.requested, timer)));
    }

    /// When the next timer expires.
    pub fn next(&self) -> Option<Instant> {
        self.heap.peek().map(|Reverse((at, ..))| *at)
    }

    /// Removes the next timer if it has expired by `now`. Returns when it was due, and the timer.
    pub fn take(&mut self, now: Instant) -> Option<(Instant, Timer)> {
        if self.next()? > now {
            return None;
        }
        self.heap.pop().map(|Reverse((at, _, timer))| (at, timer))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn timers_come_in_their_order() {
        let at = |ms: u64| Instant::from_nanos(ms * 1_000_000);
        let mut timers = Timers::default();
        for (ms, source) in [(5, 1), (3, 2), (3, 3), (9, 4)] {
            timers.add(at(ms), Timer::Wake(source));
        }
        assert_eq!(timers.take(at(2)), None);
        let due: Vec<_> = std::iter::from_fn(|| timers.take(at(5))).collect();
        let wake = |ms, source| (at(ms), Timer::Wake(source));
        assert_eq!(due, [wake(3, 2), wake(3, 3), wake(5, 1)]);
        assert_eq!(timers.next(), Some(at(9)));
    }
}
