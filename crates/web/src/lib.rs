//! The simulator for a browser's tab: a module of WebAssembly without imports.
//!
//! A page and the module talk in texts (scenarios, answers as JSON) and rows of numbers, through the
//! few functions of [`exports`]; what they do stands in [`Lab`]. There is one run at a time: a page
//! that wants several takes several workers. Nothing here knows a page.

pub mod exports;
mod lab;

pub use lab::{Answer, Lab};
