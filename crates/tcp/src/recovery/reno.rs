//! Fast retransmit and fast recovery of 4.3BSD-Reno.
//!
//! The third duplicate ACK resends one segment; each further one inflates the window; the first
//! ACK of new data ends the recovery. No partial ACKs. In BSD's manner (FreeBSD 2.2) there is no
//! guard against duplicates that its own resends cause after a timeout.

use crate::flight::Flight;
use crate::recovery::{Manner, Reaction, Rules};
use crate::window::Growth;

#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Reno {
    duplicates: u32,
    /// Where guarded: duplicates count once everything below is acknowledged.
    recover: u64,
}

impl Reno {
    /// Whether the window is inflated by duplicates.
    pub fn recovering(&self, rules: &Rules) -> bool {
        self.duplicates >= rules.threshold
    }

    pub fn on_advance(
        &mut self,
        rules: &Rules,
        flight: &mut Flight,
        growth: Growth,
        acked: u64,
    ) -> Reaction {
        let leaves = self.recovering(rules);
        if leaves {
            flight.cwnd = match rules.manner {
                // dupwnd_ becomes 0.
                Manner::Ns2 => {
                    let inflation = u64::from(self.duplicates) * flight.mss();
                    flight.cwnd.saturating_sub(inflation).max(flight.mss())
                }
                Manner::Bsd | Manner::Rfc => flight.cwnd.min(flight.ssthresh),
            };
        }
        self.duplicates = 0;
        if !leaves || rules.grows_on_leaving() {
            growth.grow(flight, acked);
        }
        Reaction::default()
    }

    pub fn on_duplicate(&mut self, rules: &Rules, flight: &mut Flight, counts: bool) -> Reaction {
        let guarded = rules.guards() && flight.una < self.recover && !self.recovering(rules);
        if !counts || guarded {
            self.duplicates = 0;
            return Reaction::default();
        }
        self.duplicates += 1;
        if self.duplicates > rules.threshold {
            flight.cwnd += flight.mss();
        } else if self.duplicates == rules.threshold {
            flight.cwnd = rules.cut(flight, 0) + u64::from(rules.threshold) * flight.mss();
            flight.resend = true;
            self.recover = flight.max;
            return Reaction {
                entered: true,
                stop_timer: rules.manner != Manner::Rfc,
                resend_only: rules.manner == Manner::Bsd,
            };
        }
        Reaction::default()
    }

    pub fn on_timeout(&mut self, flight: &mut Flight) {
        flight.nxt = flight.una;
        self.resume(flight.max);
    }

    pub fn resume(&mut self, point: u64) {
        (self.duplicates, self.recover) = (0, point);
    }

    pub fn limited(&self, rules: &Rules) -> u32 {
        if self.recovering(rules) { 0 } else { self.duplicates }
    }
}
