//! Events in, tables and summaries out: what is measured at a queue, and of every request.
//!
//! Reading order: a [`Meter`] sits at one port and sees every packet; a [`Requests`] log sees every
//! request of every user, a [`Datagrams`] log every datagram; [`Transfers`] are those without a
//! reply; [`Flows`] are connections that last through the measured interval; [`Sources`] are users
//! and flows that ask for replies; [`Losses`] are segments lost, [`Concurrency`] counts open
//! connections, [`Goodput`] is what arrives every second. All end as a [`Table`] or as figures of a [`Summary`].
//!
//! What happens before the measured interval ([`Window`]) is shown in per-second series but does
//! not enter the summary; only transfers and open connections count whenever they happen.

mod answers;
mod concurrency;
mod datagrams;
mod drop_run;
mod fingerprint;
mod flows;
mod gauges;
mod goodput;
mod log_histogram;
mod losses;
mod meter;
mod nature;
mod packet_trace;
mod per_second;
mod quantile;
mod requests;
mod response_histogram;
mod samples;
mod sizes;
mod sources;
mod table;
mod transfers;

pub use concurrency::Concurrency;
pub use datagrams::Datagrams;
pub use fingerprint::Fingerprint;
pub use flows::{Flows, LongFlow, Recoveries, jain_index};
pub use goodput::Goodput;
pub use losses::Losses;
pub use meter::{Meter, MeterSettings, Totals};
pub use nature::{Kind, Nature};
pub use packet_trace::{PacketTrace, Who};
pub use per_second::PerSecond;
pub use quantile::quantile;
pub use requests::{Class, Request, RequestSettings, Requests};
pub use sources::Sources;
pub use table::{Column, Figure, Summary, Table};
pub use transfers::{Transfer, Transfers};

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
    /// Whether `at` is measured.
    pub fn contains(&self, at: Instant) -> bool {
        self.from <= at && at <= self.to
    }
    /// Length in seconds.
    pub fn seconds(&self) -> f64 {
        self.to.since(self.from).secs_f64()
    }
}
