//! The queue disciplines for C programs: `libaqmlab.a`, `libaqmlab.so` and `include/aqmlab.h`.
//!
//! Reading order: [`queue`] is one queue with its clock, events and counts, in safe Rust; [`c`] has
//! the C functions that call it. Only [`c`] has raw pointers. A Rust program needs neither: it uses
//! the crate `aqm`.

pub mod c;
pub mod queue;

pub use queue::{Misuse, Queue};
