//! What passes between aqmlab and a user's program in C or Rust, and, where there are shared libraries,
//! how one is called. The only place of this crate where pointers are raw.
//!
//! What a library promises by exporting `aqmlab_discipline` is what `aqmlab_plugin.h` says: the table
//! and all that it points to live as long as the library, its functions keep to their signatures, and
//! a state is used by one thread at a time. On our side: a library is never unloaded; every pointer
//! that is handed over points to something that outlives the call; nothing of ours is borrowed while
//! foreign code runs, except through those pointers; no panic of ours crosses a foreign frame. What
//! cannot be tested is whether the foreign code itself keeps its memory in order: who runs it in a
//! process of its own loses nothing but that.
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
