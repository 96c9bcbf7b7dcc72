//! Memory for the tables that a discipline allocates. Whether there is room for them is tested
//! before the discipline is constructed, so that a size too large is reported as an error and does
//! not end the process.

use alloc::{format, vec::Vec};

use packet::params::{BadParams, Params};

use crate::{Built, Entry, Line};

/// A table of a discipline whose size depends on parameters; every table that can exceed a megabyte
/// has one. Hash tables have two to four slots per row.
#[derive(Clone, Copy, Debug)]
pub struct Table {
    /// Parameters whose product is the number of rows, each with its default.
    pub rows: &'static [(&'static str, u64)],
    /// Largest size of a row, in bytes (checked by a test).
    pub row: u64,
}

/// Size in bytes up to which tables are allocated without a test whether there is room.
const LITTLE: u64 = 1 << 20;

impl Entry {
    /// Largest size of the discipline's tables in bytes, whatever its backlog.
    pub fn table_bytes(&self, params: &Params) -> u64 {
        self.tables.iter().map(|table| table.rows(params).saturating_mul(table.row)).sum()
    }

    /// Calls [`Entry::build`] if the allocator has room for the tables.
    ///
    /// # Errors
    /// As `build`; and if there is no room, an error at the parameter that needs most of it.
    pub fn construct(&self, params: &Params, line: &Line) -> Result<Built, BadParams> {
        let bytes = self.table_bytes(params);
        let there = |bytes| Vec::<u8>::new().try_reserve_exact(bytes).is_ok();
        if bytes > LITTLE && !usize::try_from(bytes).is_ok_and(there) {
            return Err(self.no_room(params));
        }
        (self.build)(params, line)
    }

    /// The error for tables that do not fit into memory.
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

/// The value of a parameter or its default, which is not noted among the effective values.
fn number(params: &Params, (name, usual): &(&'static str, u64)) -> u64 {
    if params.given(name) { params.whole(name) } else { *usual }
}
