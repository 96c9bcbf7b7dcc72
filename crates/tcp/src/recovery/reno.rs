//! Fast retransmit and fast recovery of 4.3BSD-Reno, as in FreeBSD 2.2.
//!
//! The third duplicate ACK resends one segment; each further one inflates the window; the first
//! ACK of new data ends the recovery. No partial ACKs, no limited transmit, no guard against
//! duplicates that its own resends cause after a timeout.

use crate::flight::Flight;
use crate::recovery::{Reaction, THRESHOLD};
use crate::segment::Segment;
use crate::window::Growth;

#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Reno {
    duplicates: u32,
}

/// Half of the usable window in whole segments, at least two.
fn half_window(flight: &Flight) -> u64 {
    (flight.usable() / 2 / flight.mss()).max(2) * flight.mss()
}

impl Reno {
    pub fn on_advance(&mut self, flight: &mut Flight, growth: Growth, acked: u64) -> Reaction {
        if self.duplicates >= THRESHOLD {
            flight.cwnd = flight.cwnd.min(flight.ssthresh);
        }
        self.duplicates = 0;
        growth.grow(flight, acked);
        Reaction::default()
    }

    pub fn on_duplicate(
        &mut self,
        flight: &mut Flight,
        segment: &Segment,
        pending: bool,
    ) -> Reaction {
        if segment.len > 0 || segment.ack != flight.una || !pending {
            self.duplicates = 0;
            return Reaction::default();
        }
        self.duplicates += 1;
        if self.duplicates > THRESHOLD {
            flight.cwnd += flight.mss();
        } else if self.duplicates == THRESHOLD {
            flight.ssthresh = half_window(flight);
            flight.cwnd = flight.ssthresh + 3 * flight.mss();
            flight.resend = true;
            return Reaction { entered: true, stop_timer: true, resend_only: true };
        }
        Reaction::default()
    }

    pub fn on_timeout(&mut self, flight: &mut Flight) {
        flight.ssthresh = half_window(flight);
        flight.cwnd = flight.mss();
        flight.nxt = flight.una;
        self.duplicates = 0;
    }
}
