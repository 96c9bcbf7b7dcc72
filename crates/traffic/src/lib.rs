//! Applications: web users who think and fetch, connections that arrive on a link, loops, bulk
//! senders, bursts, video players, calls, senders of datagrams, recorded connections.
//!
//! Reading order: [`app`](App) is the interface to a host; [`distribution`] holds the distributions
//! of sizes and times, and [`fsd`] dependent sequences of them; [`web`], [`video`], [`bulk`],
//! [`burst`] and [`datagrams`] are applications; [`replay`] plays what was learned from a capture;
//! [`Report`] is what some applications report at the end; [`registry`] lists them all, [`models`]
//! the distributions from which they draw.
//!
//! To add an application: write its file with its `ENTRY`, and add one line to [`APPS`].

mod app;
pub mod bulk;
pub mod burst;
pub mod datagrams;
pub mod distribution;
mod entry;
pub mod fsd;
pub mod models;
pub mod registry;
pub mod replay;
mod report;
pub mod requests;
pub mod responsiveness;
pub mod video;
pub mod web;
mod writing;

pub use app::{Action, App, AppCx, Closes, Input, Paced};
pub use entry::{Entry, Group, Population, RATE, Sources, USERS};
pub use models::{MODELS, Model, Variable, model};
pub use packet::report::{ListenerReport, PingReport, Probe, VideoCallReport, ViewerReport};
pub use registry::{APPS, find};
pub use report::{Report, Shown};
pub use writing::{Ahead, Writing};
