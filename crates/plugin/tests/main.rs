//! The tests of this crate from outside as one program: a new file needs its line here.

mod header;
mod library;
