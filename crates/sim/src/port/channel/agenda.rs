//! The future events of a channel, in the order of time.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use packet::Instant;

/// Future events, each with its time; events of one instant are served in the order in which they
/// were added.
pub(super) struct Agenda<T> {
    heap: BinaryHeap<Reverse<Planned<T>>>,
    added: u64,
}

struct Planned<T> {
    at: (Instant, u64),
    what: T,
}

impl<T> PartialEq for Planned<T> {
    fn eq(&self, other: &Self) -> bool {
        self.at == other.at
    }
}
impl<T> Eq for Planned<T> {}
impl<T> PartialOrd for Planned<T> {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}
impl<T> Ord for Planned<T> {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.at.cmp(&other.at)
    }
}

impl<T> Default for Agenda<T> {
    fn default() -> Self {
        Agenda { heap: BinaryHeap::new(), added: 0 }
    }
}

impl<T> Agenda<T> {
    pub fn add(&mut self, at: Instant, what: T) {
        self.added += 1;
        self.heap.push(Reverse(Planned { at: (at, self.added), what }));
    }

    /// Time of the first event.
    pub fn next(&self) -> Option<Instant> {
        self.heap.peek().map(|Reverse(planned)| planned.at.0)
    }

    /// Removes and returns the first event, if it is due at `now`.
    pub fn due(&mut self, now: Instant) -> Option<T> {
        let Reverse(first) = self.heap.peek()?;
        (first.at.0 <= now).then(|| self.heap.pop().expect("seen").0.what)
    }
}
