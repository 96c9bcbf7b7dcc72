//! Connection vectors of the a-b-t model, from the TCP connections of a packet capture.
//!
//! Bytes of a pcap or pcapng file go in, in pieces of any size ([`Learner::feed`]); out come the
//! lines of a traffic model (`docs/learned-models.md`), one for every connection that ended, and a
//! report of what was seen ([`Learner::finish`]). Nothing is kept of a packet but counts, so memory
//! is bounded by the number of connections open at once, which has a cap.
//!
//! A capture is untrusted input: whatever it holds, nothing here panics, and bytes that cannot be
//! read lead to a warning or to a [`CaptureError`] of one sentence. The crate depends on no other
//! crate of the laboratory.

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
