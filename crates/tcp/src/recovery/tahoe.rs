//! Tahoe: fast retransmit without fast recovery.
//!
//! The duplicates that mean a loss close the window to one segment; everything from the hole on is
//! retransmitted as slow start opens the window, unless an acknowledgement jumps over it.
//! Duplicates count again only once all that was sent before is acknowledged (`bug_fix_` of
//! ns-2.35; without it duplicates caused by the retransmissions start another fast retransmit).

use crate::recovery::classic_control::Windows;
use crate::recovery::reaction::Reaction;
use crate::recovery::rules::Rules;

#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Tahoe {
    duplicates: u32,
    /// Duplicates count only once all below this sequence number is acknowledged.
    recover: u64,
}

impl Tahoe {
    pub fn on_advance(&mut self, w: &mut Windows, acked: u64) {
        self.duplicates = 0;
        w.grow(acked);
    }

    pub fn on_duplicate(&mut self, w: &mut Windows, counts: bool) -> Reaction {
        if !counts || !w.rules.is_beyond(w.snd.una, self.recover) {
            self.duplicates =
                if counts { w.rules.counted_for_limited_transmit(self.duplicates) } else { 0 };
            return Reaction::default();
        }
        self.duplicates += 1;
        if self.duplicates != w.rules.threshold {
            return Reaction::default();
        }
        w.on_loss(0, 0);
        w.snd.win.cwnd = w.snd.mss();
        w.snd.nxt = w.snd.una;
        self.recover = w.snd.max;
        Reaction { entered: true, stop_timer: true, resend_only: false }
    }

    /// Whether no duplicates have come.
    pub fn is_calm(&self) -> bool {
        self.duplicates == 0
    }

    pub fn resume(&mut self, point: u64) {
        (self.duplicates, self.recover) = (0, point);
    }

    pub fn limited(&self, rules: &Rules) -> u32 {
        if self.duplicates < rules.threshold { self.duplicates } else { 0 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::recovery::tests::rfc;
    use crate::recovery::{RecoveryKind, with_reno};
    use crate::send_state::{SendState, Window};

    #[test]
    fn three_duplicates_close_the_window_once_per_flight() {
        let rules = rfc(RecoveryKind::Tahoe);
        let mut snd = SendState {
            una: 101,
            nxt: 1_101,
            max: 1_101,
            end: 10_000,
            window: 1 << 20,
            win: Window { cwnd: 1_000, ssthresh: u64::MAX, mss: 100, ..Window::default() },
            ..SendState::default()
        };
        let mut tahoe = Tahoe::default();
        let duplicate = |tahoe: &mut Tahoe, snd: &mut SendState| {
            (with_reno(&rules, snd, |w| tahoe.on_duplicate(w, true)).entered, tahoe.limited(&rules))
        };
        assert_eq!(duplicate(&mut tahoe, &mut snd), (false, 1));
        assert_eq!(duplicate(&mut tahoe, &mut snd), (false, 2));
        assert_eq!(duplicate(&mut tahoe, &mut snd), (true, 0));
        assert_eq!((snd.nxt, snd.win.cwnd, snd.win.ssthresh), (101, 100, 500));
        for _ in 0..5 {
            assert_eq!(duplicate(&mut tahoe, &mut snd), (false, 0));
        }
        snd.una = 1_101;
        with_reno(&rules, &mut snd, |w| tahoe.on_advance(w, 1_000));
        assert_eq!((snd.win.cwnd, duplicate(&mut tahoe, &mut snd)), (200, (false, 1)));
    }
}
