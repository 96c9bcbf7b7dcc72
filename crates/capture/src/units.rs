//! Units of data of both sides, kept compactly while a connection is open.

use crate::varint;

/// A unit that is being sent; times in microseconds from the connection's start.
#[derive(Clone, Copy, Debug)]
pub struct Open {
    pub start_us: u64,
    pub end_us: u64,
    pub bytes: u64,
    /// Bytes of the other side that the sender had when it began.
    pub after: u64,
}

#[derive(Clone, Copy, Debug)]
pub struct Unit {
    /// 0 the opener, 1 the acceptor.
    pub side: usize,
    pub unit: Open,
}

/// Units as bytes, in order of their ends.
#[derive(Default)]
pub struct Units(Vec<u8>);

impl Units {
    pub fn push(&mut self, side: usize, unit: Open) {
        varint::put(&mut self.0, unit.bytes << 1 | side as u64);
        varint::put(&mut self.0, unit.start_us);
        varint::put(&mut self.0, unit.end_us.saturating_sub(unit.start_us));
        varint::put(&mut self.0, unit.after);
    }

    /// Bytes of memory.
    pub fn size(&self) -> usize {
        self.0.capacity()
    }

    /// All of them, in order of their starts.
    pub fn read(&self, into: &mut Vec<Unit>) {
        into.clear();
        let mut from = &self.0[..];
        while let Some(first) = varint::take(&mut from) {
            let mut next = || varint::take(&mut from).unwrap_or(0);
            let (start_us, length, after) = (next(), next(), next());
            let unit = Open { start_us, end_us: start_us + length, bytes: first >> 1, after };
            into.push(Unit { side: (first & 1) as usize, unit });
        }
        // Stable: of two that begin in one microsecond the one that ended first comes first.
        into.sort_by_key(|u| u.unit.start_us);
    }
}
