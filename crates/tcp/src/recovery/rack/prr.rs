//! Proportional rate reduction: RFC 6937 with the switch of RFC 9937 (which Linux has too) between
//! its two bounds: conservative (CRB), and slow start (SSRB) while the cumulative acknowledgement
//! advances and nothing more is found lost. As in Linux RecoverFS is the congestion window before,
//! and the reduction of the window after marks goes the same way.

use crate::flight::Flight;

#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Prr {
    /// Delivered, and sent, since the reduction began, bytes.
    pub delivered: u64,
    pub out: u64,
    /// Window before it (RecoverFS).
    before: u64,
}

impl Prr {
    /// A reduction begins at the window `cwnd`.
    pub fn begin(cwnd: u64) -> Self {
        Prr { delivered: 0, out: 0, before: cwnd.max(1) }
    }

    /// An acknowledgement that delivers `delivered` bytes; `safe`: it advances, and tells of no
    /// further loss. Sets the window.
    pub fn on_ack(&mut self, flight: &mut Flight, in_flight: u64, delivered: u64, safe: bool) {
        if delivered == 0 {
            return;
        }
        self.delivered += delivered;
        let goal = flight.ssthresh;
        let sent = if in_flight > goal {
            let share = u128::from(self.delivered) * u128::from(goal);
            (share.div_ceil(u128::from(self.before)) as u64).saturating_sub(self.out)
        } else {
            let mut sent = self.delivered.saturating_sub(self.out).max(delivered);
            if safe {
                sent += flight.mss();
            }
            sent.min(goal - in_flight)
        };
        // The first segment goes again in any case.
        let least = if self.out == 0 { flight.mss() } else { 0 };
        flight.cwnd = in_flight + sent.max(least);
    }

    /// Losses were found by the timer, not by an acknowledgement: the first segment goes again.
    pub fn at_timer(&self, flight: &mut Flight, in_flight: u64) {
        let least = if self.out == 0 { flight.mss() } else { 0 };
        flight.cwnd = in_flight + least;
    }
}
