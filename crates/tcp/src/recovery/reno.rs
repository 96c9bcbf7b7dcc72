//! Fast retransmit and fast recovery of 4.3BSD-Reno.
//!
//! The third duplicate ACK resends one segment; each further one inflates the window; the first
//! ACK of new data ends the recovery. No partial ACKs. In BSD's manner (FreeBSD 2.2) there is no
//! guard against duplicates that its own resends cause after a timeout.

use crate::recovery::classic_control::Windows;
use crate::recovery::reaction::Reaction;
use crate::recovery::rules::{Implementation, Rules};

#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Reno {
    duplicates: u32,
    /// With a guard ([`Rules::guards`]), duplicates count only once all below this sequence number
    /// is acknowledged.
    recover: u64,
}

impl Reno {
    /// Whether the window is inflated by duplicates.
    pub fn recovering(&self, rules: &Rules) -> bool {
        self.duplicates >= rules.threshold
    }

    pub fn on_advance(&mut self, w: &mut Windows, acked: u64) {
        let Windows { rules, snd, .. } = w;
        let leaves = self.recovering(rules);
        if leaves {
            let window = match rules.implementation {
                // ns-2 takes the inflation back: dupwnd_ becomes 0.
                Implementation::Ns2 => {
                    let inflation = u64::from(self.duplicates) * snd.mss();
                    snd.win.cwnd.saturating_sub(inflation).max(snd.mss())
                }
                Implementation::Bsd | Implementation::Rfc => snd.win.cwnd.min(snd.win.ssthresh),
            };
            w.deflate(window, 0);
        }
        self.duplicates = 0;
        if !leaves || w.rules.grows_on_leaving() {
            w.grow(acked);
        }
    }

    pub fn on_duplicate(&mut self, w: &mut Windows, counts: bool) -> Reaction {
        let (rules, mss) = (w.rules, w.snd.mss());
        let old = !rules.is_beyond(w.snd.una, self.recover);
        let guarded = rules.guards() && old && !self.recovering(rules);
        if !counts || guarded {
            self.duplicates =
                if counts { rules.counted_for_limited_transmit(self.duplicates) } else { 0 };
            return Reaction::default();
        }
        self.duplicates += 1;
        if self.duplicates > rules.threshold {
            w.inflate(mss);
        } else if self.duplicates == rules.threshold {
            w.on_loss(0, u64::from(rules.threshold) * mss);
            self.recover = w.snd.max;
            return w.fast_retransmit();
        }
        Reaction::default()
    }

    /// Whether no duplicates have come.
    pub fn is_calm(&self) -> bool {
        self.duplicates == 0
    }

    pub fn resume(&mut self, point: u64) {
        (self.duplicates, self.recover) = (0, point);
    }

    pub fn limited(&self, rules: &Rules) -> u32 {
        if self.recovering(rules) { 0 } else { self.duplicates }
    }
}
