//! Tests of the live crate.
