//! Recorders: they turn events at queues and ends into tables and summaries.
//!
//! Reading order: a [`Meter`] sits at one port and sees every packet; a [`Requests`] log sees every
//! request of every user, [`Pages`] the pages to which requests belong, a [`Datagrams`] log every
//! datagram; [`Transfers`] have no reply; [`Flows`] are connections that last through the measured
//! interval; [`Sources`] are users and flows that send requests; [`Calls`] are packets played to
//! listeners, rated by the [`e_model`]; [`Players`] are video players, [`Pings`] round trips of
//! echo requests; [`Losses`] are lost segments, [`RoundTrips`] samples of TCP senders;
//! [`Concurrency`] counts open connections, [`Goodput`] the bytes that arrive in each second. All
//! end as a [`Table`] or as measures of a [`Summary`].
//!
//! What happens before the measured interval ([`Window`]) is shown in per-second series but does
//! not enter the summary; only transfers and open connections count over the whole run.

mod answers;
mod calls;
mod concurrency;
mod controls;
mod datagrams;
mod digits;
mod distances;
mod drop_run;
pub mod e_model;
mod fingerprint;
mod flows;
mod gauges;
mod goodput;
mod log_histogram;
mod losses;
mod measure;
mod meter;
mod packet_class;
mod packet_trace;
mod pages;
mod per_second;
mod pings;
mod players;
mod probes;
mod quantile;
mod registry;
mod reported;
mod requests;
mod response_histogram;
mod round_trips;
mod sample;
mod samples;
mod sizes;
mod sojourn;
mod sources;
mod table;
#[cfg(test)]
#[path = "../templates/measure.rs"]
#[allow(dead_code)] // only the registry reads it
mod template; // what `make new-measure` writes
mod times;
mod transfers;
mod video_calls;
mod waits;
mod watch;

pub use calls::Calls;
pub use concurrency::Concurrency;
pub use controls::{ControlState, Controls};
pub use datagrams::Datagrams;
pub use fingerprint::Fingerprint;
pub use flows::{Flows, LongFlow, Recoveries, jain_index};
pub use goodput::Goodput;
pub use log_histogram::LogHistogram;
pub use losses::Losses;
pub use measure::{Description, Listed, Measure, Unit, figure, list, real, whole};
pub use meter::{Copies, Meter, MeterSettings, Second, Totals};
pub use packet_class::{Kind, PacketClass};
pub use packet_trace::{PacketTrace, TracedPacket, Who};
pub use pages::{PageLoad, PageSettings, Pages};
pub use per_second::PerSecond;
pub use pings::Pings;
pub use players::Players;
pub use probes::Probes;
pub use quantile::quantile;
pub use registry::measures;
pub use requests::{Class, Request, RequestSettings, Requests};
pub use round_trips::RoundTrips;
pub use sample::Keep;
pub use sojourn::DelayClass;
pub use sources::Sources;
pub use table::{Column, Figure, Summary, Table};
pub use transfers::{Transfer, Transfers};
pub use video_calls::VideoCalls;
pub use watch::{Binned, Bins, QueueSnapshot, WatchSettings, WatchedResponses};

use packet::Instant;

/// The measured interval: from the end of the warm-up to the end of the run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Window {
    /// First measured instant.
    pub from: Instant,
    /// End of the run.
    pub to: Instant,
}

impl Window {
    /// Whether `at` lies in the measured interval.
    pub fn contains(&self, at: Instant) -> bool {
        self.from <= at && at <= self.to
    }
    /// Length in seconds.
    pub fn seconds(&self) -> f64 {
        self.to.since(self.from).secs_f64()
    }
    /// Begin and end in nanoseconds.
    pub fn nanos(&self) -> (u64, u64) {
        (self.from.nanos(), self.to.nanos())
    }
}

/// The quotient of `part` and `whole`; 0 if `whole` is 0.
pub(crate) fn ratio(part: u64, whole: u64) -> f64 {
    if whole == 0 { 0.0 } else { part as f64 / whole as f64 }
}

/// The capacity that a line offered in the measured interval.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Capacity {
    /// Mean rate over the interval, framing included.
    pub mean_bits_per_s: f64,
    /// Share of the capacity that was used, where it differs from the share of time in which the
    /// line was busy: while the rate of a line is low, a packet keeps it busy for longer.
    pub used: Option<f64>,
}
