//! A world of hosts, ports and wires, moved by a queue of future events.
//!
//! Reading order: [`scenario`] (what one run is, as data), `setup` (from a scenario to a world),
//! [`run`](crate::Run) (from a world to its end), `world` (what there is, and the loop; in it
//! [`run`](crate::Run) (from a world to its end), `world` (what there is, and the loop; in it
//! `forwarding`, packets on their way, `hosts`, the ends of connections, and `applications`, the
//! actions of users), `recorder` (what is measured of it), [`port`] (queues feeding lines, folded
//! and under way), [`event_queue`] (the future).

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
