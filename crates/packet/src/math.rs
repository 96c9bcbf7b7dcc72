//! Transcendental functions that give the same bits on every machine.
//!
//! `sqrt` is exact everywhere by IEEE 754; `ln`, `exp` and `pow` of the platform are not, so
//! everything goes through the `libm` crate.

pub use libm::{
    cbrt, ceil, cos, erfc, exp, exp2, fabs, floor, lgamma, log as ln, log2, log10, pow, sin, sqrt,
    tgamma as gamma,
};
