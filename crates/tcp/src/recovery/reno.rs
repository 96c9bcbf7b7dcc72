//! Fast retransmit and fast recovery of 4.3BSD-Reno.
//!
//! The third duplicate ACK resends one segment; each further one inflates the window; the first
//! ACK of new data ends the recovery. No partial ACKs. In BSD's manner (FreeBSD 2.2) there is no
//! guard against duplicates that its own resends cause after a timeout.

use crate::recovery::{ClassicControl, Implementation, Reaction, Rules};
use crate::send_state::SendState;

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
        snd: &mut SendState,
        control: &mut ClassicControl,
        acked: u64,
    ) -> Reaction {
        let leaves = self.recovering(rules);
        if leaves {
            let window = match rules.implementation {
                // dupwnd_ becomes 0.
                Implementation::Ns2 => {
                    let inflation = u64::from(self.duplicates) * snd.mss();
                    snd.cwnd.saturating_sub(inflation).max(snd.mss())
                }
                Implementation::Bsd | Implementation::Rfc => snd.cwnd.min(snd.ssthresh),
            };
            control.deflate(snd, window, 0);
        }
        self.duplicates = 0;
        if !leaves || rules.grows_on_leaving() {
            control.grow(rules, snd, acked);
        }
        Reaction::default()
    }

    pub fn on_duplicate(
        &mut self,
        rules: &Rules,
        snd: &mut SendState,
        control: &mut ClassicControl,
        counts: bool,
    ) -> Reaction {
        let guarded = rules.guards() && snd.una < self.recover && !self.recovering(rules);
        if !counts || guarded {
            self.duplicates = 0;
            return Reaction::default();
        }
        self.duplicates += 1;
        if self.duplicates > rules.threshold {
            control.inflate(snd, snd.mss());
        } else if self.duplicates == rules.threshold {
            control.on_loss(rules, snd, 0, u64::from(rules.threshold) * snd.mss());
            snd.resend = true;
            self.recover = snd.max;
            return Reaction {
                entered: true,
                stop_timer: rules.implementation != Implementation::Rfc,
                resend_only: rules.implementation == Implementation::Bsd,
            };
        }
        Reaction::default()
    }

    pub fn on_timeout(&mut self, snd: &mut SendState) {
        snd.nxt = snd.una;
        self.resume(snd.max);
    }

    pub fn resume(&mut self, point: u64) {
        (self.duplicates, self.recover) = (0, point);
    }

    pub fn limited(&self, rules: &Rules) -> u32 {
        if self.recovering(rules) { 0 } else { self.duplicates }
    }
}
