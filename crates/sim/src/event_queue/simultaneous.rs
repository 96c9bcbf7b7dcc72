//! Many events of one instant, served in the order of their keys.

use std::cmp::{Ordering, Reverse};
use std::collections::BinaryHeap;

use super::shared::Row;

/// An event that was scheduled while others of its instant were being served.
struct Late<E> {
    order: u64,
    /// Running number of late events: among equal order keys the first come is served first.
    ticket: u64,
    event: E,
}

fn compare(one: u64, other: u64) -> Ordering {
    #[cfg(test)]
    super::tests::LOOKS.set(super::tests::LOOKS.get() + 1);
    one.cmp(&other)
}

impl<E> Ord for Late<E> {
    fn cmp(&self, other: &Self) -> Ordering {
        compare(self.order, other.order).then(self.ticket.cmp(&other.ticket))
    }
}

impl<E> PartialOrd for Late<E> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl<E> PartialEq for Late<E> {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl<E> Eq for Late<E> {}

/// Events of one instant. Those that wait when it begins are sorted at once, so that the look-ahead
/// knows which come soon; those scheduled during the instant go to a heap.
pub(super) struct Simultaneous<E> {
    sorted: Row<E>,
    /// Number of events of `sorted` that have been served.
    served: usize,
    late: BinaryHeap<Reverse<Late<E>>>,
    tickets: u64,
}

impl<E> Default for Simultaneous<E> {
    fn default() -> Self {
        Simultaneous { sorted: Row::new(), served: 0, late: BinaryHeap::new(), tickets: 0 }
    }
}

impl<E: Copy> Simultaneous<E> {
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.served == self.sorted.len() && self.late.is_empty()
    }

    /// Takes over the events of `row`, which are in the order of their scheduling. Returns a row
    /// whose memory can be reused.
    pub fn take(&mut self, mut row: Row<E>) -> Row<E> {
        if self.is_empty() {
            // A stable sort: events with one order key stay in the order of their scheduling.
            row.sort_by(|one, other| compare(one.0, other.0));
            self.served = 0;
            return std::mem::replace(&mut self.sorted, row);
        }
        for &(order, event) in &row {
            self.tickets += 1;
            self.late.push(Reverse(Late { order, ticket: self.tickets, event }));
        }
        row
    }

    /// Removes and returns the next event.
    pub fn pop(&mut self) -> Option<E> {
        let next = self.sorted.get(self.served);
        // With equal order keys the sorted events come first: they were scheduled earlier.
        let is_late = match (self.late.peek(), next) {
            (Some(Reverse(late)), Some(&(order, _))) => compare(late.order, order).is_lt(),
            (late, _) => late.is_some(),
        };
        if is_late {
            return self.late.pop().map(|Reverse(late)| late.event);
        }
        let &(_, event) = next?;
        self.served += 1;
        Some(event)
    }

    /// The sorted event that is served after `others` more sorted ones.
    #[inline]
    pub fn after(&self, others: usize) -> Option<E> {
        self.sorted.get(self.served + others).map(|&(_, event)| event)
    }
}
