//! TCP end systems as state machines: told what arrived, asked what to send, no clock, no I/O.

mod segment;

pub use segment::{Flags, SackBlocks, Segment};
