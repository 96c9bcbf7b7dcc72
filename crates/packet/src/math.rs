//! Transcendental functions that give the same bits on every machine.
//!
//! `sqrt` is exact everywhere by IEEE 754; `ln`, `exp` and `pow` of the platform are not, so
//! everything goes through the `libm` crate.

pub use libm::{exp, exp2, fabs, floor, log as ln, log2, pow, sqrt};
