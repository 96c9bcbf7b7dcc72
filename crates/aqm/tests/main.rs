//! The integration tests of this crate as one program: a new file needs its line here.
//! `allocations.rs` and `tables.rs` are programs of their own, since they count all allocations
//! of their process.

mod alone;
mod ecn_matrix;
mod effective;
mod exact;
mod refusals;
mod registry;
mod steer;
