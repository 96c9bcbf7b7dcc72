//! Queue disciplines: what happens to packets while they wait for a line.
//!
//! Reading order: [`Aqm`] judges a packet (pass, signal, drop) and holds nothing; a [`Gate`] is a
//! judge with its ECN rule and its room, asked once per arrival; a [`Discipline`] holds packets.
//! One gate serves two holders: [`Fifo`], which keeps every packet, and the simulator's folded
//! port, which only remembers departure times.
#![cfg_attr(not(test), no_std)]
extern crate alloc;

mod discipline;
mod gate;

pub use discipline::{Cx, Discipline, Fifo};
pub use gate::{Admission, Gate, Line};
