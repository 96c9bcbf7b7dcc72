//! What applications do: web users who think and fetch, bulk senders, senders of datagrams.
//!
//! Reading order: [`app`](App) is the seam to a host, [`distribution`] is what sizes and times
//! are drawn from, [`web`], [`bulk`] and [`datagrams`] are applications, [`registry`] lists them all.
//!
//! To add an application: write its file with its `ENTRY`, and add one line to [`APPS`].

mod app;
pub mod bulk;
pub mod datagrams;
pub mod distribution;
pub mod registry;
pub mod web;

pub use app::{Action, App, AppCx, Closes, Input};
pub use registry::{APPS, Entry, Group, Population, find};
