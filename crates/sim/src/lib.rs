//! A world of hosts, ports and wires, moved by an agenda of future events.
//!
//! Reading order: [`scenario`] (what one run is, as data), `setup` (from a scenario to a world),
//! [`run`](crate::Run) (from a world to tables), `world` (what there is, and the loop),
//! `forwarding` (packets on their way), [`port`] (queues feeding lines, folded and explicit), `host`
//! (ends of connections), `apps` (what applications ask for), `connection_log` (what is written
//! down), `watch` (a look into a run under way), [`capture`] (what crosses a port, for Wireshark),
//! [`agenda`] (the future).

pub mod access;
pub mod agenda;
mod apps;
mod before;
pub mod capture;
mod catalogue;
mod connection;
mod connection_log;
mod conservation;
mod error;
mod forwarding;
mod host;
mod losses;
mod memory;
mod multiplex;
mod owners;
pub mod port;
mod reader;
mod reports;
mod run;
pub mod scenario;
pub mod schema;
mod script;
mod setup;
mod slab;
pub mod topology;
mod watch;
mod world;

pub use before::{capacities, estimate};
pub use capture::{Capture, CapturedAt};
pub use catalogue::{catalogue, table, variables};
pub use error::ScenarioError;
pub use memory::free_bytes;
pub use run::{Outcome, Run, run, summary_json};
pub use scenario::Scenario;
pub use watch::PACKET_NUMBERS;
