//! How much memory the tables take that a discipline allocates for itself. It is requested before
//! the discipline is constructed, so that a number too large is an error and does not end the
//! process.

use alloc::{format, vec::Vec};

use packet::params::{BadParams, Params};

use crate::{Built, Entry, Line};

/// A table of a discipline whose size parameters give: every one that can grow beyond a megabyte.
/// Hash tables have two to four slots a row.
#[derive(Clone, Copy, Debug)]
pub struct Table {
    /// The parameters whose product is the number of its rows, and what they are if not given.
    pub rows: &'static [(&'static str, u64)],
    /// Bytes of a row, at most (held by a test).
    pub row: u64,
}

/// Tables below this size, in bytes, are allocated without asking the system for room first.
const LITTLE: u64 = 1 << 20;

impl Entry {
    /// Bytes that the tables of this discipline take at most, whatever waits in it.
    pub fn table_bytes(&self, params: &Params) -> u64 {
        self.tables.iter().map(|table| table.rows(params).saturating_mul(table.row)).sum()
    }

    /// [`Entry::build`], if the allocator has room for the tables.
    ///
    /// # Errors
    /// As `build`; and where there is no room, with the parameter that needs it.
    pub fn construct(&self, params: &Params, line: &Line) -> Result<Built, BadParams> {
        let bytes = self.table_bytes(params);
        let there = |bytes| Vec::<u8>::new().try_reserve_exact(bytes).is_ok();
        if bytes > LITTLE && !usize::try_from(bytes).is_ok_and(there) {
            return Err(self.no_room(params));
        }
        (self.build)(params, line)
    }

    /// The sentence about tables for which there is no memory.
    pub fn no_room(&self, params: &Params) -> BadParams {
        let bytes = |table: &&Table| table.rows(params).saturating_mul(table.row);
        let largest = self.tables.iter().max_by_key(bytes);
        let field = largest.map_or("limit", |table| table.largest(params));
        let gigabytes = self.table_bytes(params) as f64 / 1e9;
        BadParams::new(
            field,
            format!("tables of {gigabytes:.1} GB do not fit into memory; give a smaller number"),
        )
    }
}

impl Table {
    fn rows(&self, params: &Params) -> u64 {
        self.rows.iter().map(|of| number(params, of)).fold(1, u64::saturating_mul)
    }

    fn largest(&self, params: &Params) -> &'static str {
        self.rows.iter().max_by_key(|of| number(params, of)).map_or("", |(name, _)| name)
    }
}

/// Reads the parameter without leaving a note of it in the parameters.
fn number(params: &Params, (name, usual): &(&'static str, u64)) -> u64 {
    if params.given(name) { params.whole(name) } else { *usual }
}
