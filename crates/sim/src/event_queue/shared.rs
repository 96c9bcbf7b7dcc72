//! Instants that many events share: the ticks of a host's clock.
//!
//! Tens of thousands of timers wait for one tick. In lists they would lie anywhere in memory and be
//! moved down one by one; here those of an instant lie in one row, and one event of the wheel, their
//! mark, stands for all.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};

/// The order key of a mark: before every event of its instant.
pub(super) const MARK: u64 = 0;

/// Events that a row has room for at first.
const ROOM: usize = 16;

/// A row is used again unless it has grown beyond this.
const SPARE: usize = 64;

/// An instant in nanoseconds, spread over all bits by a multiplication (Fibonacci hashing; Knuth, *The Art of
/// Computer Programming* 3, section 6.4).
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

/// The rows of all instants that have one.
pub(super) struct Shared<E> {
    rows: HashMap<u64, Row<E>, BuildHasherDefault<Spread>>,
    /// Rows that have been served.
    spare: Vec<Row<E>>,
}

impl<E> Default for Shared<E> {
    fn default() -> Self {
        Shared { rows: HashMap::default(), spare: Vec::new() }
    }
}

impl<E> Shared<E> {
    /// Puts an event in the row of its instant. Returns whether it is the first there.
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

    /// Appends the row of an instant to another; it ends.
    pub fn remove(&mut self, at: u64, to: &mut Row<E>) {
        let mut row = self.rows.remove(&at).expect("a mark has a row");
        if to.is_empty() {
            std::mem::swap(to, &mut row);
        } else {
            to.append(&mut row);
        }
        self.recycle(row);
    }

    /// Takes a row back whose events are no longer needed.
    pub fn recycle(&mut self, mut row: Row<E>) {
        if (1..=SPARE).contains(&row.capacity()) {
            row.clear();
            self.spare.push(row);
        }
    }
}
