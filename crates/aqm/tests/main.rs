//! The tests of this crate from outside as one program: a new file needs its line here.
//! Programs of their own are `allocations.rs` and `tables.rs`: they count all allocations of
//! their process.

mod alone;
mod ecn_matrix;
mod effective;
mod exact;
mod refusals;
mod registry;
mod steer;
