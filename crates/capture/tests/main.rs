//! The tests of this crate from outside as one program: a new file needs its line here.
//! A program of its own is `memory.rs`, which counts all allocations of its process.

mod any;
mod dialogues;
mod files;
mod made;
mod mutations;
