//! Tests of the live crate.
#[cfg(target_os = "linux")]
mod users;
