//! Loss recovery: one file per kind.
//!
//! A recovery is told of acknowledgements and timeouts, changes the windows of the [`Flight`],
//! and chooses what to send next. Which kind, and in whose manner, are the profile's [`Rules`].
//! Today's senders have a [`Rack`] beside it, which does all of this and more.

mod newreno;
mod rack;
mod reno;
mod rules;
mod sack;
mod tahoe;

use crate::flight::{Chunk, Flight};
use crate::segment::Segment;
use crate::window::Growth;
pub(crate) use newreno::NewReno;
pub(crate) use rack::{Desk, Due, Outcome, Rack};
pub(crate) use reno::Reno;
pub(crate) use rules::{Detection, Leaving, Manner, RecoveryKind, Rules, Today};
pub(crate) use sack::Sack;
pub(crate) use tahoe::Tahoe;

/// The recovery of one connection.
#[derive(Clone, Debug)]
pub(crate) enum Recovery {
    Tahoe(Tahoe),
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

impl Recovery {
    pub fn new(kind: RecoveryKind) -> Self {
        match kind {
            RecoveryKind::Tahoe => Recovery::Tahoe(Tahoe::default()),
            RecoveryKind::Reno => Recovery::Reno(Reno::default()),
            RecoveryKind::NewReno | RecoveryKind::Rack(_) => Recovery::NewReno(NewReno::default()),
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
        rules: &Rules,
        flight: &mut Flight,
        growth: Growth,
        acked: u64,
        segment: &Segment,
    ) -> Reaction {
        match self {
            Recovery::Tahoe(tahoe) => tahoe.on_advance(flight, growth, acked),
            Recovery::Reno(reno) => reno.on_advance(rules, flight, growth, acked),
            Recovery::NewReno(newreno) => newreno.on_advance(rules, flight, growth, acked),
            Recovery::Sack(sack) => sack.on_advance(rules, flight, growth, acked, segment),
        }
    }

    /// An ACK came that acknowledges nothing new. `pending`: the retransmission timer runs.
    pub fn on_duplicate(
        &mut self,
        rules: &Rules,
        flight: &mut Flight,
        segment: &Segment,
        pending: bool,
    ) -> Reaction {
        // A duplicate carries no data and comes while something is outstanding (RFC 5681 section
        // 2); with SACK it is one that reports something new (RFC 6675 section 2).
        let counts = segment.len == 0 && segment.ack == flight.una && pending;
        match self {
            Recovery::Tahoe(tahoe) => tahoe.on_duplicate(rules, flight, counts),
            Recovery::Reno(reno) => reno.on_duplicate(rules, flight, counts),
            Recovery::NewReno(newreno) => newreno.on_duplicate(rules, flight, counts),
            Recovery::Sack(sack) => sack.on_duplicate(rules, flight, segment),
        }
    }

    /// The retransmission timer expired after the handshake.
    pub fn on_timeout(&mut self, rules: &Rules, flight: &mut Flight) {
        if self.inflated(rules) && rules.deflates_at_timeout() {
            flight.cwnd = flight.cwnd.min(flight.ssthresh);
        }
        rules.cut_at_timeout(flight);
        match self {
            Recovery::Tahoe(tahoe) => tahoe.on_timeout(flight),
            Recovery::Reno(reno) => reno.on_timeout(flight),
            Recovery::NewReno(newreno) => newreno.on_timeout(flight),
            Recovery::Sack(sack) => sack.on_timeout(flight),
        }
    }

    /// Whether the congestion window is larger than what it lets into the network by the segments
    /// that duplicates said have left it (RFC 5681 section 3.2, step 4).
    fn inflated(&self, rules: &Rules) -> bool {
        match self {
            Recovery::Reno(reno) => reno.recovering(rules),
            Recovery::NewReno(newreno) => newreno.recovering(),
            Recovery::Tahoe(_) | Recovery::Sack(_) => false,
        }
    }

    /// What the windows let go next, with segments sent only when they fit whole. (BSD has its
    /// own rule for small segments, see [`crate::output`].)
    pub fn next(&self, rules: &Rules, flight: &Flight) -> Option<Chunk> {
        match self {
            Recovery::Sack(sack) => sack.next(rules, flight),
            _ => fitting(flight, flight.cwnd + self.beyond(rules, flight)),
        }
    }

    /// What BSD's windows let go next, in part if need be.
    pub fn next_part(&self, rules: &Rules, flight: &Flight) -> Option<Chunk> {
        match self {
            Recovery::Sack(sack) => sack.next(rules, flight),
            _ if flight.nxt > flight.end => None,
            _ => {
                let window = flight.cwnd + self.beyond(rules, flight);
                Some(flight.chunk(flight.nxt, flight.una + window.min(flight.window)))
            }
        }
    }

    /// How far limited transmit (RFC 3042) goes beyond the congestion window: a segment for each
    /// of the first duplicates.
    fn beyond(&self, rules: &Rules, flight: &Flight) -> u64 {
        if !rules.limited_transmit {
            return 0;
        }
        let duplicates = match self {
            Recovery::Tahoe(tahoe) => tahoe.limited(rules),
            Recovery::Reno(reno) => reno.limited(rules),
            Recovery::NewReno(newreno) => newreno.limited(),
            Recovery::Sack(_) => 0,
        };
        u64::from(duplicates) * flight.mss()
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
            Recovery::Tahoe(_) | Recovery::Reno(_) => {}
            Recovery::NewReno(newreno) => newreno.on_sent(flight, chunk),
            Recovery::Sack(sack) => sack.on_sent(flight, chunk),
        }
    }

    /// After a timeout: new data goes out before the rest is sent again, to see whether the
    /// timeout was needless (RFC 5682), or because it was.
    pub fn suspend(&mut self, flight: &mut Flight) {
        flight.nxt = flight.max;
        // Duplicates count again (RFC 5682 section 2.1, step 3b).
        match self {
            Recovery::Tahoe(tahoe) => tahoe.resume(flight.una),
            Recovery::Reno(reno) => reno.resume(flight.una),
            Recovery::NewReno(newreno) => newreno.resume(flight.una),
            Recovery::Sack(sack) => sack.suspend(),
        }
    }

    /// The timeout was not needless: everything up to `point` goes again after all.
    pub fn resume(&mut self, flight: &mut Flight, point: u64) {
        flight.nxt = flight.una;
        match self {
            Recovery::Tahoe(tahoe) => tahoe.resume(point),
            Recovery::Reno(reno) => reno.resume(point),
            Recovery::NewReno(newreno) => newreno.resume(point),
            Recovery::Sack(sack) => sack.resume(flight, point),
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

/// Bytes of `chunk` sent beyond the congestion window, by limited transmit.
fn beyond_window(flight: &Flight, chunk: Chunk) -> u64 {
    let new = chunk.seq >= flight.max;
    let beyond = chunk.end() > flight.una + flight.cwnd;
    if new && beyond { chunk.end() - chunk.seq } else { 0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn after_a_needless_timeout_duplicates_count_again() {
        for kind in [RecoveryKind::Tahoe, RecoveryKind::Reno, RecoveryKind::NewReno] {
            let rules = Rules {
                kind,
                manner: Manner::Rfc,
                threshold: 3,
                limited_transmit: false,
                leaving: Leaving::Refilled,
            };
            let mut flight = Flight {
                una: 1,
                nxt: 1_001,
                max: 1_001,
                end: 10_000,
                cwnd: 1_000,
                window: 1 << 20,
                mss: 100,
                ..Flight::default()
            };
            let mut recovery = Recovery::new(kind);
            recovery.on_timeout(&rules, &mut flight);
            assert_eq!(flight.nxt, 1);
            let thrice = |recovery: &mut Recovery, flight: &mut Flight| {
                let ack = Segment { ack: flight.una, ..Segment::default() };
                (0..3).any(|_| recovery.on_duplicate(&rules, flight, &ack, true).entered)
            };
            assert!(!thrice(&mut recovery, &mut flight), "{kind:?}");
            recovery.suspend(&mut flight);
            assert_eq!(flight.nxt, 1_001);
            assert!(thrice(&mut recovery, &mut flight), "{kind:?}");
        }
    }
}
