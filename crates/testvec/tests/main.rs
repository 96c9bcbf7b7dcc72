//! The tests of this crate from outside as one program: a new file needs its line here.

#[macro_use]
mod each;

mod fuzz;
mod golden;
mod laws;
mod trials;
mod vectors;
