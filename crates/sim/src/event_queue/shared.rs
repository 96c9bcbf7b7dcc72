//! Instants that many events share: the ticks of a host's clock.
//!
//! Tens of thousands of timers may wait for one tick. In the wheel's lists they would be scattered
//! in memory, and moved between levels one by one. Here the events of one instant are stored in one
//! row, and a single marker event in the wheel stands for the row.

use std::collections::HashMap;

use crate::spread::BySpread;

/// Order key of a marker event, smaller than that of every other event of its instant.
pub(super) const MARK: u64 = 0;

/// Number of events for which a new row has room.
const ROOM: usize = 16;

/// Largest capacity, in events, of a served row that is kept for reuse.
const SPARE: usize = 64;

/// Events of one instant with their order keys, in the order in which they came.
pub(super) type Row<E> = Vec<(u64, E)>;

/// The rows of events of all instants that have a row, by instant.
pub(super) struct Shared<E> {
    rows: HashMap<u64, Row<E>, BySpread>,
    /// Rows whose events have been served, kept for reuse.
    spare: Vec<Row<E>>,
}

impl<E> Default for Shared<E> {
    fn default() -> Self {
        Shared { rows: HashMap::default(), spare: Vec::new() }
    }
}

impl<E> Shared<E> {
    /// Appends an event to the row of its instant. Returns whether it is the row's first, which
    /// needs a marker event.
    #[inline]
    pub fn push(&mut self, at: u64, order: u64, event: E) -> bool {
        if let Some(row) = self.rows.get_mut(&at) {
            row.push((order, event));
            return false;
        }
        let mut row = self.room();
        row.push((order, event));
        self.rows.insert(at, row);
        true
    }

    /// An empty row.
    pub fn room(&mut self) -> Row<E> {
        self.spare.pop().unwrap_or_else(|| Row::with_capacity(ROOM))
    }

    /// Moves the events of an instant's row to `to`, and removes that row.
    pub fn remove(&mut self, at: u64, to: &mut Row<E>) {
        let mut row = self.rows.remove(&at).expect("a mark has a row");
        if to.is_empty() {
            std::mem::swap(to, &mut row);
        } else {
            to.append(&mut row);
        }
        self.recycle(row);
    }

    /// Takes back a row whose events are no longer needed, for reuse.
    pub fn recycle(&mut self, mut row: Row<E>) {
        if (1..=SPARE).contains(&row.capacity()) {
            row.clear();
            self.spare.push(row);
        }
    }
}
