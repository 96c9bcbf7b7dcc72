//! What a packet capture says of its TCP connections: connection vectors after the a-b-t model.
//!
//! Bytes of a pcap or pcapng file go in, in pieces of any size ([`Learner::feed`]); out come the
//! lines of a traffic model (`docs/learned-models.md`), one for every connection that ended, and a
//! report of what was seen ([`Learner::finish`]). Nothing is kept of a packet but counts, so memory
//! is bounded by the number of connections open at once, which has a cap.
//!
//! A capture is untrusted input: whatever it holds, nothing here panics, and a place that cannot
//! be read is a warning or a [`CaptureError`] of one sentence. No subject of the laboratory knows
//! this crate and it knows none of them.

mod analysis;
mod bytes;
mod connection;
mod container;
mod direction;
mod distributions;
mod headers;
mod histogram;
mod hosts;
mod learner;
mod limits;
mod line;
mod load;
mod marks;
mod report;
mod sides;
mod table;
mod units;
mod varint;
mod vector;
mod warnings;
pub mod write;

pub use container::CaptureError;
pub use headers::flags;
pub use learner::{Finished, Learner};
pub use limits::Limits;
pub use sides::Prefix;
