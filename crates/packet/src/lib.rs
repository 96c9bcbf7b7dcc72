//! The types that all other crates share: time, rates, packets, queue events, seeded random
//! numbers, units, and parameters that know their ranges.
//!
//! This crate depends on no other crate of the project and reads no clock: time is always an
//! argument.
#![cfg_attr(not(test), no_std)]
extern crate alloc;

mod about;
pub mod dscp;
mod event;
mod framing;
pub mod math;
mod packet;
pub mod params;
pub mod random;
mod rate;
pub mod report;
mod rounded;
mod tcp_header;
mod time;
pub mod units;

pub use about::About;
pub use event::{DropReason, Event, MarkReason};
pub use framing::{Cells, Framing};
pub use packet::{Ack, Backlog, Ecn, Header, Packet};
pub use random::Rng;
pub use rate::Rate;
pub use rounded::Rounded;
pub use tcp_header::{SackList, TcpHeader};
pub use time::{Duration, Instant};
