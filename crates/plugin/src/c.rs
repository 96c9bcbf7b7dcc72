//! The C interface between aqmlab and a user's program in C or Rust, and, on systems with shared
//! libraries, the calls into one. The only module of this crate with raw pointers.
//!
//! A library that exports `aqmlab_discipline` promises what `aqmlab_plugin.h` says: the table and
//! all that it points to live as long as the library, its functions have the declared signatures,
//! and one thread at a time uses a state. Our promises: a library is never unloaded; every pointer
//! passed is valid until the call returns; foreign code can reach our data only through those
//! pointers; no panic of ours unwinds through foreign code. Memory errors of the foreign code
//! itself cannot be detected; in a process of its own, they damage only that process.
#![allow(unsafe_code)]

#[cfg(not(target_family = "wasm"))]
pub mod control;
pub mod control_types;
#[cfg(not(target_family = "wasm"))]
pub mod discipline;
#[cfg(not(target_family = "wasm"))]
mod table;
pub mod types;

#[cfg(not(target_family = "wasm"))]
pub use table::text;
