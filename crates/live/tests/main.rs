//! The tests of this crate from outside as one program: a new file needs its line here.

mod bridge;
mod core;
mod distances;
#[cfg(target_os = "linux")]
mod drive;
mod replay;
mod simulated;
#[cfg(target_os = "linux")]
mod users;
