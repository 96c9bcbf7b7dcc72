//! The event-driven simulator: hosts, ports and links, driven by a queue of future events.
//!
//! Reading order: [`scenario`] (one run as data), `setup` (from a scenario to a world of hosts and
//! ports), [`run`](crate::Run) (moves the world from its begin to its end), `world` (hosts and
//! packets, and the event loop; in it `forwarding` moves packets, `hosts` has the ends of
//! connections, `applications` the actions of users), `recorder` (measurements), [`port`] (queues
//! that feed lines, in two forms), [`event_queue`] (future events).

pub mod capture;
mod catalogue;
pub mod effect;
mod error;
pub mod event_queue;
mod memory;
mod owners;
pub mod port;
mod recorder;
mod run;
pub mod scenario;
mod setup;
mod slab;
mod spread;
mod steer;
pub mod topology;
mod watch;
mod world;

pub use capture::{Capture, CapturedAt};
pub use catalogue::{catalogue, congestion_control, discipline, table, variables};
pub use error::ScenarioError;
pub use memory::free_bytes;
pub use recorder::{ConnectionEnd, Ended, Outcome, Recorder, Reports, measures, summary_json};
pub use run::{Run, run};
pub use scenario::{Scenario, access, json_schema, trace_shown};
pub use setup::{Parts, capacities, estimate, parts, resolve, simulated_parts};
pub use steer::PortSnapshot;
pub use watch::PACKET_NUMBERS;
pub use world::{Group, Network};
