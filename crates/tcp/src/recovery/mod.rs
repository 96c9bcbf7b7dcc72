//! Loss recovery: one file per kind.
//!
//! A recovery is told of acknowledgements and timeouts, changes the windows of the [`Flight`],
//! and chooses what to send next.

mod newreno;
mod reno;
mod sack;

use crate::flight::{Chunk, Flight};
use crate::segment::Segment;
use crate::window::Growth;
pub(crate) use newreno::NewReno;
pub(crate) use reno::Reno;
pub(crate) use sack::Sack;

/// Which recovery a profile uses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RecoveryKind {
    /// 4.3BSD-Reno as in FreeBSD 2.2.
    Reno,
    /// RFC 6582 with limited transmit.
    NewReno,
    /// RFC 6675; NewReno towards a peer without SACK.
    Sack,
}

/// The recovery of one connection.
#[derive(Clone, Debug)]
pub(crate) enum Recovery {
    Reno(Reno),
    NewReno(NewReno),
    Sack(Sack),
}

/// What an acknowledgement asks of the endpoint.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Reaction {
    /// A recovery begins: stop timing round trips.
    pub entered: bool,
    /// Stop the retransmission timer; the next segment starts it again.
    pub stop_timer: bool,
    /// Only the segment marked for resending may go out now.
    pub resend_only: bool,
}

/// Duplicate acknowledgements that start a fast retransmit.
const THRESHOLD: u32 = 3;

impl Recovery {
    pub fn new(kind: RecoveryKind) -> Self {
        match kind {
            RecoveryKind::Reno => Recovery::Reno(Reno::default()),
            RecoveryKind::NewReno => Recovery::NewReno(NewReno::default()),
            RecoveryKind::Sack => Recovery::Sack(Sack::default()),
        }
    }

    /// As new, keeping heap buffers where the kind stays.
    pub fn reset(&mut self, kind: RecoveryKind) {
        match (&mut *self, kind) {
            (Recovery::Sack(sack), RecoveryKind::Sack) => sack.reset(),
            _ => *self = Recovery::new(kind),
        }
    }

    /// `acked` new numbers were acknowledged; `flight.una` has moved already.
    pub fn on_advance(
        &mut self,
        flight: &mut Flight,
        growth: Growth,
        acked: u64,
        segment: &Segment,
    ) -> Reaction {
        match self {
            Recovery::Reno(reno) => reno.on_advance(flight, growth, acked),
            Recovery::NewReno(newreno) => newreno.on_advance(flight, growth, acked),
            Recovery::Sack(sack) => sack.on_advance(flight, growth, acked, segment),
        }
    }

    /// An ACK came that acknowledges nothing new. `pending`: the retransmission timer runs.
    pub fn on_duplicate(
        &mut self,
        flight: &mut Flight,
        segment: &Segment,
        pending: bool,
    ) -> Reaction {
        match self {
            Recovery::Reno(reno) => reno.on_duplicate(flight, segment, pending),
            Recovery::NewReno(newreno) => newreno.on_duplicate(flight, segment, pending),
            Recovery::Sack(sack) => sack.on_duplicate(flight, segment),
        }
    }

    /// The retransmission timer expired after the handshake.
    pub fn on_timeout(&mut self, flight: &mut Flight) {
        match self {
            Recovery::Reno(reno) => reno.on_timeout(flight),
            Recovery::NewReno(newreno) => newreno.on_timeout(flight),
            Recovery::Sack(sack) => sack.on_timeout(flight),
        }
    }

    /// What the windows let go next, with segments sent only when they fit whole. (BSD has its
    /// own rule for small segments, see [`crate::output`].)
    pub fn next(&self, flight: &Flight) -> Option<Chunk> {
        match self {
            Recovery::Reno(_) => fitting(flight, flight.cwnd),
            Recovery::NewReno(newreno) => newreno.next(flight),
            Recovery::Sack(sack) => sack.next(flight),
        }
    }

    /// The first unacknowledged segment, for a resend.
    pub fn first(&self, flight: &Flight) -> Chunk {
        match self {
            Recovery::Sack(sack) => sack.first(flight),
            _ => flight.chunk(flight.una, u64::MAX),
        }
    }

    /// `chunk` has been sent; `flight.max` as it was before.
    pub fn on_sent(&mut self, flight: &Flight, chunk: Chunk) {
        match self {
            Recovery::Reno(_) => {}
            Recovery::NewReno(newreno) => newreno.on_sent(flight, chunk),
            Recovery::Sack(sack) => sack.on_sent(flight, chunk),
        }
    }
}

/// The next segment from `flight.nxt`, if it fits whole into `window` and the peer's window.
fn fitting(flight: &Flight, window: u64) -> Option<Chunk> {
    if flight.nxt == flight.max && flight.max > flight.end {
        return None;
    }
    let chunk = flight.chunk(flight.nxt, u64::MAX);
    let again = chunk.seq < flight.max;
    let there = chunk.len > 0 || (chunk.fin && (again || !flight.fin_sent));
    // A bare FIN needs no room.
    let fits = chunk.len == 0
        || chunk.seq + u64::from(chunk.len) <= flight.una + window.min(flight.window);
    (there && fits).then_some(chunk)
}

/// Half of what is outstanding, at least two segments.
fn half(flight: &Flight, outstanding: u64) -> u64 {
    (outstanding / 2).max(2 * flight.mss())
}

/// Bytes of `chunk` sent beyond the congestion window, by limited transmit.
fn beyond_window(flight: &Flight, chunk: Chunk) -> u64 {
    let new = chunk.seq >= flight.max;
    let beyond = chunk.end() > flight.una + flight.cwnd;
    if new && beyond { chunk.end() - chunk.seq } else { 0 }
}
