//! Many events of one instant, in their order.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// Where an event stands among those of one instant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Place {
    order: u64,
    /// First come, first served: counts what has come.
    ticket: u64,
    index: u32,
}

impl Ord for Place {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        #[cfg(test)]
        super::tests::LOOKS.set(super::tests::LOOKS.get() + 1);
        (self.order, self.ticket).cmp(&(other.order, other.ticket))
    }
}

impl PartialOrd for Place {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

/// Events of one instant. Those that it begins with are sorted at once, so that it is known which come
/// soon; those that come while it lasts are heaped.
#[derive(Default)]
pub(super) struct Simultaneous {
    /// The last one is served first.
    sorted: Vec<Place>,
    late: BinaryHeap<Reverse<Place>>,
    tickets: u64,
}

impl Simultaneous {
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.sorted.is_empty() && self.late.is_empty()
    }

    /// Takes these, each with its order key, in the order in which they have come.
    pub fn take(&mut self, events: impl Iterator<Item = (u64, u32)>) {
        let tickets = &mut self.tickets;
        let places = events.map(|(order, index)| {
            *tickets += 1;
            Place { order, ticket: *tickets, index }
        });
        if self.sorted.is_empty() {
            self.sorted.extend(places);
            self.sorted.sort_unstable_by(|one, other| other.cmp(one));
        } else {
            self.late.extend(places.map(Reverse));
        }
    }

    /// The one whose turn it is.
    pub fn pop(&mut self) -> Option<u32> {
        let late = self.late.peek().map(|Reverse(place)| place);
        let is_late = late.is_some_and(|late| self.sorted.last().is_none_or(|next| late < next));
        let place = if is_late { self.late.pop()?.0 } else { self.sorted.pop()? };
        Some(place.index)
    }

    /// The one that comes when so many of the sorted ones have been served.
    #[inline]
    pub fn after(&self, others: usize) -> Option<u32> {
        let place = self.sorted.len().checked_sub(1 + others)?;
        Some(self.sorted[place].index)
    }
}
