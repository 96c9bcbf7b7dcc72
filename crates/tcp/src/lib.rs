//! TCP and QUIC end systems as state machines without clock and I/O: segments go in and come out by
//! calls.
//!
//! An [`Endpoint`] is one side of one connection. A driver that owns the time calls it:
//!
//! 1. [`Endpoint::on_segment`], [`Endpoint::write`], [`Endpoint::close`], [`Endpoint::connect`]
//!    or [`Endpoint::on_timeout`] report what happened;
//! 2. after each of these, [`Endpoint::poll_send`] until it returns `None`;
//! 3. [`Endpoint::next_timeout`] says when to call [`Endpoint::on_timeout`].
//!
//! At one instant the driver serves packet arrivals (and what programs do because of them) first,
//! then deadlines of order 0, then deadlines of order 1.
//!
//! How an end system behaves is its [`Profile`]; the list of them is [`PROFILES`]. A profile is a
//! bundle of parts that a scenario may exchange one by one: recovery, windows, timeouts,
//! acknowledgements, timestamps, ECN, F-RTO.
//!
//! Reading order: `endpoint` (the life of a connection, and how its parts work together),
//! `handshake`, `output` (what to send), `sender` (acknowledgements and timeouts), `receiver`,
//! `ending`; the parts are `send_state`, `rtt`, `recovery`, `ecn`, `spurious_rto` and `clock`;
//! `profile` bundles them, `profiles` has one file per system. Linux's senders do all of this in
//! `rack_sender` and `recovery::rack`, with a control of `congestion`.

mod classic_sender;
mod clock;
mod congestion;
mod connection;
mod ecn;
mod end;
mod ending;
mod endpoint;
mod entry;
mod f_rto;
mod handshake;
mod host_cache;
mod host_metrics;
mod output;
mod output_call;
mod predicted;
mod probe;
mod profile;
mod profiles;
mod quic;
mod rack_sender;
mod receiver;
mod recovery;
mod registry;
mod rtt;
mod segment;
mod send_algorithm;
mod send_state;
mod sender;
mod spurious_rto;
mod tcp_info;
mod timer_wheel;
mod tracker;
mod writes;

pub use clock::HostClock;
pub use congestion::{
    AckSample, BurstSize, CaState, Cause, Control, ControlFlags, Controls, EcnMode, Lost,
    MakeControl, OwnControl, RateSample, Report, controls, usual_pacing_rate,
};
pub use connection::State;
pub use ecn::MarksSeen;
pub use end::Endpoint;
pub use endpoint::{Deadline, TcpEndpoint};
pub use entry::Entry;
pub use host_cache::{HostCache, HostPair};
pub use output::Outbox;
pub use probe::Counters;
pub use profile::Profile;
pub use quic::QuicEndpoint;
pub use registry::{PROFILES, find};
pub use segment::{AccEcn, Flags, SackBlocks, Segment};
pub use send_state::{Flight, Window};
pub use tcp_info::TcpInfo;
