//! The simulator for a browser's tab: a module of WebAssembly whose only imports are a
//! user's own congestion controls (`own.rs`).
//!
//! A page and the module talk in texts (scenarios, answers as JSON) and rows of numbers, through the
//! few functions of [`exports`]; what they do stands in [`Lab`]. There is one run at a time: a page
//! that wants several takes several workers. Nothing here knows a page.

pub mod exports;
mod lab;
#[cfg(target_family = "wasm")]
mod own;

pub use lab::{Answer, Lab};
