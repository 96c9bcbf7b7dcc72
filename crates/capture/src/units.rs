//! Units of application data of both sides, kept compactly while a connection is open.

use crate::varint;

/// A unit of application data; times in microseconds from the connection's start.
#[derive(Clone, Copy, Debug)]
pub struct Open {
    pub start_us: u64,
    pub end_us: u64,
    pub bytes: u64,
    /// Bytes of the other side that the sender had received when the unit began.
    pub after: u64,
}

#[derive(Clone, Copy, Debug)]
pub struct Unit {
    /// The sender: 0 is the opener, 1 the acceptor.
    pub side: usize,
    pub unit: Open,
}

/// Units encoded as bytes, in the order in which they ended.
#[derive(Default)]
pub struct Units(Vec<u8>);

impl Units {
    pub fn push(&mut self, side: usize, unit: Open) {
        varint::put(&mut self.0, unit.bytes << 1 | side as u64);
        varint::put(&mut self.0, unit.start_us);
        varint::put(&mut self.0, unit.end_us.saturating_sub(unit.start_us));
        varint::put(&mut self.0, unit.after);
    }

    /// Bytes of memory that the encoded units of application data take.
    pub fn size(&self) -> usize {
        self.0.capacity()
    }

    /// Decodes all units, in the order of their starts.
    pub fn read(&self, into: &mut Vec<Unit>) {
        into.clear();
        let mut from = &self.0[..];
        while let Some(first) = varint::take(&mut from) {
            let mut next = || varint::take(&mut from).unwrap_or(0);
            let (start_us, length, after) = (next(), next(), next());
            let unit = Open { start_us, end_us: start_us + length, bytes: first >> 1, after };
            into.push(Unit { side: (first & 1) as usize, unit });
        }
        // The sort is stable: of two units that begin in one microsecond, the one that ended first
        // is first.
        into.sort_by_key(|u| u.unit.start_us);
    }
}
