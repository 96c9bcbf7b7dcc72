//! Queue disciplines: what happens to packets while they wait for a line.
//!
//! Reading order: an [`Aqm`] decides on a packet (pass, signal, drop) and holds nothing; a [`Gate`]
//! is an algorithm with its ECN rule and its [`BufferLimit`] ([`Judged`]), called once per arrival;
//! a [`Discipline`] holds packets. One gate serves two kinds of queue: [`Fifo`], which keeps every
//! packet, and the simulator's folded port, which only remembers departure times.
//!
//! [`ALGORITHMS`] lists every discipline with its parameters; [`find`] looks one up by name and
//! its [`Entry::build`] constructs it from checked parameters. A [`Registry`] is that list with the
//! disciplines that users add.
//!
//! The crate needs an allocator and nothing else: no standard library, no clock, no dependency but
//! `aqmlab-packet` (and, through it, `libm`). One queue in front of one line:
//!
//! ```
//! use aqmlab_aqm::{Cx, Line};
//! use packet::params::{Params, Raw};
//! use packet::{Ecn, Event, Header, Instant, Packet, Rate, Rng};
//!
//! let entry = aqmlab_aqm::find("fq_codel").expect("a discipline");
//! let written = [("target".to_string(), Raw::Text("10 ms".into()))];
//! let params = Params::check(entry.about.fields, &written)?;
//! let line = Line::of(Rate::from_bits_per_s(10_000_000));
//! let mut queue = (entry.build)(&params, &line)?.into_discipline();
//! let mut rng = Rng::named(1, "my queue");
//!
//! // Whatever happens at `now`: first the updates that are due, then the packet.
//! let now = Instant::from_nanos(1_000_000);
//! let mut lost = Vec::new();
//! let mut out = |event| {
//!     if let Event::Dropped { packet, .. } = event {
//!         lost.push(packet.id); // its body may be freed
//!     }
//! };
//! while let Some(due) = queue.next_tick().filter(|due| *due <= now) {
//!     queue.on_tick(&mut Cx { now: due, rng: &mut rng, out: &mut out });
//! }
//! let (ecn, header) = (Ecn::Ect0, Header::default());
//! let packet = Packet { id: 7, flow: 42, bytes: 1500, ecn, arrived: now, header };
//! queue.enqueue(packet, &mut Cx { now, rng: &mut rng, out: &mut out });
//!
//! // Whenever the line is free. `None` begins its idle time: call again when something waits.
//! let sent = queue.dequeue(&mut Cx { now, rng: &mut rng, out: &mut out }).expect("it waits");
//! assert_eq!((sent.id, sent.ecn), (7, Ecn::Ect0));
//! assert!(lost.is_empty());
//! # Ok::<(), packet::params::BadParams>(())
//! ```
#![cfg_attr(not(test), no_std)]
extern crate alloc;

mod agent;
mod algorithms;
mod aqm;
pub mod buffer;
mod buffer_limit;
mod by_profile;
mod credit;
mod discipline;
mod entry;
mod flow_table;
mod gate;
mod idle;
mod overload;
mod periodic;
mod pi_law;
mod pie_core;
mod pie_docsis;
mod rate_average;
mod registry;
mod shells;
mod tables;
#[cfg(test)]
#[path = "../templates/discipline.rs"]
#[allow(dead_code)] // only the registry reads it
mod template; // what `make new-discipline` writes

pub use agent::AGENT;
pub use aqm::{Aqm, Judged, LimitOrder, Verdict};
pub use buffer_limit::{BufferLimit, Fit};
pub use discipline::{Cx, Discipline, Fifo};
pub use entry::{Build, Built, Entry, PerFlowState};
pub use gate::{Admission, Gate, Line};
pub use idle::Idle;
pub use overload::Overload;
pub use pi_law::{PI_PERIOD, PiGains, design_pi};
pub use registry::{ALGORITHMS, Failed, Registry, find};
pub use shells::flows::HASH_SEED_FIELD;
pub use tables::Table;
