//! The end systems, one file each; [`crate::PROFILES`] lists them. What they share is in
//! [`parts`]; a new one is a file with its table and its constructor, and a line in the list.

pub(crate) mod freebsd_2_2_8;
pub(crate) mod freebsd_4_5;
pub(crate) mod ns2;
pub(crate) mod ns2_full;
mod parts;
pub(crate) mod plain;
pub(crate) mod windows_nt4;
