//! Instants that many events share: the ticks of a host's clock.
//!
//! Tens of thousands of timers may wait for one tick. In the wheel's lists they would be scattered
//! in memory, and moved between levels one by one. Here the events of one instant are stored in one
//! row, and a single marker event in the wheel stands for the row.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};

/// Order key of a marker event, smaller than that of every other event of its instant.
pub(super) const MARK: u64 = 0;

/// Number of events for which a new row has room.
const ROOM: usize = 16;

/// Largest capacity, in events, of a served row that is kept for reuse.
const SPARE: usize = 64;

/// Hash of an instant in nanoseconds: a multiplication spreads it over all bits (Fibonacci hashing;
/// Knuth, *The Art of Computer Programming* 3, section 6.4).
#[derive(Default)]
struct Spread(u64);

impl Hasher for Spread {
    fn write(&mut self, bytes: &[u8]) {
        bytes.iter().for_each(|&byte| self.write_u64(u64::from(byte)));
    }
    #[inline]
    fn write_u64(&mut self, instant: u64) {
        self.0 = (self.0 ^ instant).wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(32);
    }
    #[inline]
    fn finish(&self) -> u64 {
        self.0
    }
}

/// Events of one instant with their order keys, in the order in which they came.
pub(super) type Row<E> = Vec<(u64, E)>;

/// The rows of events of all instants that have a row, by instant.
pub(super) struct Shared<E> {
    rows: HashMap<u64, Row<E>, BuildHasherDefault<Spread>>,
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
