//! The simulator for a browser tab: a WebAssembly module. Its only imports are the functions of a
//! user's own congestion controls (`own.rs`).
//!
//! A page and the module exchange texts (scenarios, and answers as JSON) and rows of numbers
//! through the functions of [`exports`], which call [`Lab`]. There is one run at a time: a page
//! with several runs has several workers. Nothing here depends on a certain page.

pub mod exports;
mod lab;
#[cfg(target_family = "wasm")]
mod own;

pub use lab::{Answer, Lab};
