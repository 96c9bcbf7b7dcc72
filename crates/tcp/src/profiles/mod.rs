//! The end systems, one file each; [`crate::PROFILES`] lists them. Their common parts are in
//! [`parts`]. A new end system is a file with its table and its constructor, and a line in the
//! list.
//!
//! A new part is a field in [`fields`], read in [`parts`] once, present in every table with that
//! system's own default, and implemented where its rule belongs: `recovery/` for losses, `rtt/` for
//! timeouts, `receiver.rs` for acknowledgements, `ecn/`, `spurious_rto.rs` for spurious timeouts,
//! `handshake.rs` and `ending.rs` for a connection's beginning and end. Its test is a dialogue in
//! `tests/scripts`.

mod fields;
pub(crate) mod freebsd_2_2_8;
pub(crate) mod freebsd_4_5;
pub(crate) mod linux;
pub(crate) mod ns2;
pub(crate) mod ns2_full;
pub(crate) mod ns3;
mod parts;
pub(crate) mod plain;
pub(crate) mod quic;
mod start;
pub(crate) mod windows_nt4;
