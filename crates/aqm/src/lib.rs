//! Queue disciplines: what happens to packets while they wait for a line.
//!
//! Reading order: [`Aqm`] judges a packet (pass, signal, drop) and holds nothing; a [`Gate`] is a
//! judge with its ECN rule and its [`Room`] ([`Judged`]), asked once per arrival; a [`Discipline`]
//! holds packets. One gate serves two holders: [`Fifo`], which keeps every packet, and the
//! simulator's folded port, which only remembers departure times.
//!
//! [`ALGORITHMS`] lists every discipline with its parameters; [`find`] looks one up by name and
//! its [`Entry::build`] constructs it from checked parameters.
#![cfg_attr(not(test), no_std)]
extern crate alloc;

mod algorithms;
mod aqm;
mod buffer;
mod discipline;
mod flow_table;
mod gate;
mod overload;
mod periodic;
mod pi_law;
mod pie_core;
mod registry;
mod room;
mod shells;

pub use aqm::{Aqm, Judged, LimitOrder, Verdict};
pub use discipline::{Cx, Discipline, Fifo};
pub use gate::{Admission, Gate, Line};
pub use overload::Overload;
pub use pi_law::{PI_PERIOD, PiGains, design_pi};
pub use registry::{ALGORITHMS, Built, Entry, Keeps, find};
pub use room::{Fit, Room};
