//! NewReno without SACK: RFC 6582; in BSD's manner as in FreeBSD 4.x.

use crate::recovery::classic_control::Windows;
use crate::recovery::reaction::Reaction;
use crate::recovery::rules::{Leaving, Rules};
use crate::send_state::{Chunk, SendState};

#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct NewReno {
    duplicates: u32,
    recovering: bool,
    /// Sequence number whose acknowledgement ends a recovery; after a timeout, it must be
    /// acknowledged before the next recovery may begin.
    recover: u64,
    /// A partial acknowledgement has come in this recovery.
    partial: bool,
    /// Bytes that limited transmit has sent since the first duplicate.
    limited: u64,
    /// Bytes that duplicates have added to the window in this recovery and that are not taken back
    /// yet (ns-2's `dupwnd_`).
    inflation: u64,
}

impl NewReno {
    pub fn on_advance(&mut self, w: &mut Windows, acked: u64) {
        (self.duplicates, self.limited) = (0, 0);
        if !self.recovering {
            w.grow(acked);
        } else if w.snd.una >= self.recover {
            self.leave(w, acked);
        } else {
            self.partial(w, acked);
        }
    }

    /// A full acknowledgement (RFC 6582 step 3).
    fn leave(&mut self, w: &mut Windows, acked: u64) {
        let Windows { rules, snd, .. } = w;
        let mss = snd.mss();
        self.recovering = false;
        let outstanding = snd.outstanding();
        let window = match rules.leaving {
            Leaving::Refilled => snd.win.ssthresh.min(outstanding.max(mss) + mss),
            Leaving::Outstanding => snd.win.ssthresh.min(outstanding + mss),
            Leaving::Deflated => snd.win.cwnd.saturating_sub(self.inflation).max(mss),
            Leaving::Threshold => snd.win.ssthresh.min(snd.win.cwnd),
        };
        w.deflate(window, 0);
        if w.rules.grows_on_leaving() {
            w.grow(acked);
        }
    }

    /// A partial acknowledgement: the next hole is retransmitted, the window shrinks by what was
    /// acknowledged and opens by a segment.
    fn partial(&mut self, w: &mut Windows, acked: u64) {
        self.partial = true;
        let mss = w.snd.mss();
        let opened = if acked >= mss { mss } else { 0 };
        w.snd.resend = true;
        self.inflation = self.inflation.saturating_sub(acked) + opened;
        w.deflate(w.snd.win.cwnd.saturating_sub(acked).max(mss) + opened, self.inflation);
    }

    pub fn on_duplicate(&mut self, w: &mut Windows, counts: bool) -> Reaction {
        if !counts {
            self.duplicates = 0;
            return Reaction::default();
        }
        if self.recovering {
            w.inflate(w.snd.mss());
            self.inflation += w.snd.mss();
        } else if w.rules.is_beyond(w.snd.una, self.recover) {
            self.duplicates += 1;
            if self.duplicates == w.rules.threshold {
                return self.enter(w);
            }
        } else {
            self.duplicates = w.rules.counted_for_limited_transmit(self.duplicates);
        }
        Reaction::default()
    }

    fn enter(&mut self, w: &mut Windows) -> Reaction {
        (self.recovering, self.partial) = (true, false);
        self.recover = w.snd.max;
        self.inflation = u64::from(w.rules.threshold) * w.snd.mss();
        w.on_loss(self.limited, self.inflation);
        w.fast_retransmit()
    }

    /// Whether the current acknowledgement does not restart the retransmission timer.
    pub fn keeps_timer(&self, rules: &Rules, snd: &SendState) -> bool {
        rules.impatient && self.partial && self.recovering && snd.una < self.recover
    }

    /// Whether the window is inflated by duplicates.
    pub fn recovering(&self) -> bool {
        self.recovering
    }

    /// Whether no duplicates have come and nothing is repaired.
    pub fn is_calm(&self) -> bool {
        self.duplicates == 0 && !self.recovering
    }

    pub fn resume(&mut self, point: u64) {
        self.recovering = false;
        self.recover = point;
        (self.duplicates, self.limited) = (0, 0);
    }

    pub fn limited(&self) -> u32 {
        if self.recovering { 0 } else { self.duplicates }
    }

    pub fn on_sent(&mut self, snd: &SendState, chunk: Chunk) {
        if self.duplicates > 0 && !self.recovering {
            self.limited += snd.beyond_window(chunk);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::recovery::tests::rfc;
    use crate::recovery::{Implementation, RecoveryKind, Rules, with_reno};
    use crate::send_state::Window;

    /// Ten segments of 100 B are outstanding, and much more is to be sent.
    fn ten_out(cwnd: u64) -> SendState {
        SendState {
            una: 1,
            max: 1_001,
            end: 10_000,
            window: 1 << 20,
            win: Window { cwnd, ssthresh: u64::MAX, mss: 100, ..Window::default() },
            ..SendState::default()
        }
    }

    #[test]
    fn duplicates_of_what_was_sent_before_a_timeout_start_nothing() {
        let mut snd = ten_out(1_000);
        let rules = rfc(RecoveryKind::NewReno);
        let mut newreno = NewReno::default();
        with_reno(&rules, &mut snd, |w| w.on_timeout(packet::Instant::ZERO));
        snd.nxt = snd.una;
        newreno.resume(snd.max);
        assert_eq!((snd.nxt, snd.win.cwnd, snd.win.ssthresh), (1, 100, 500));
        let thrice = |newreno: &mut NewReno, snd: &mut SendState| {
            (0..3)
                .map(|_| with_reno(&rules, snd, |w| newreno.on_duplicate(w, true)).entered)
                .collect::<Vec<_>>()
        };
        snd.una = 501;
        with_reno(&rules, &mut snd, |w| newreno.on_advance(w, 500));
        assert_eq!(thrice(&mut newreno, &mut snd), [false, false, false]);
        // Nor do they if exactly that is acknowledged; once more is, they count again.
        (snd.una, snd.nxt, snd.max) = (1_001, 1_001, 2_001);
        with_reno(&rules, &mut snd, |w| newreno.on_advance(w, 500));
        assert_eq!(thrice(&mut newreno, &mut snd), [false, false, false]);
        snd.una = 1_101;
        with_reno(&rules, &mut snd, |w| newreno.on_advance(w, 100));
        assert_eq!(thrice(&mut newreno, &mut snd), [false, false, true]);
    }

    #[test]
    fn limited_transmit_before_the_recovery_point_is_ns2s_alone() {
        let let_out = |implementation| {
            let rules = Rules { implementation, ..rfc(RecoveryKind::NewReno) };
            let mut snd = ten_out(1_000);
            let mut newreno = NewReno::default();
            newreno.resume(1_001);
            [(); 4].map(|()| {
                let reaction = with_reno(&rules, &mut snd, |w| newreno.on_duplicate(w, true));
                assert!(!reaction.entered);
                newreno.limited()
            })
        };
        assert_eq!(let_out(Implementation::Ns2), [1, 2, 2, 2]);
        assert_eq!(let_out(Implementation::Rfc), [0; 4]);
    }

    #[test]
    fn a_full_acknowledgement_leaves_what_the_rule_says() {
        // Ten segments of 100 B are in flight, and the threshold becomes five; five more duplicates
        // follow the third one; then all but `rest` bytes of newer data is acknowledged.
        let left = |leaving, rest: u64| {
            // By the RFC's rules the last acknowledgement of a recovery does not grow the window.
            let rules = Rules { limited_transmit: false, leaving, ..rfc(RecoveryKind::NewReno) };
            let mut snd = SendState {
                una: 1,
                max: 1_001,
                win: Window { cwnd: 1_000, mss: 100, ..Window::default() },
                ..SendState::default()
            };
            let mut newreno = NewReno::default();
            (0..8).for_each(|_| _ = with_reno(&rules, &mut snd, |w| newreno.on_duplicate(w, true)));
            assert_eq!((snd.win.cwnd, snd.win.ssthresh), (1_300, 500));
            (snd.una, snd.max) = (1_001, 1_001 + rest);
            with_reno(&rules, &mut snd, |w| newreno.on_advance(w, 1_000));
            snd.win.cwnd
        };
        for (leaving, nothing_out, two_out, all_out) in [
            (Leaving::Refilled, 200, 300, 500),
            (Leaving::Outstanding, 100, 300, 500),
            (Leaving::Deflated, 500, 500, 500),
            (Leaving::Threshold, 500, 500, 500),
        ] {
            let windows = [0, 200, 1_000].map(|rest| left(leaving, rest));
            assert_eq!(windows, [nothing_out, two_out, all_out], "{leaving:?}");
        }
    }

    /// Whether the timer runs on at each of two partial acknowledgements and at the full one.
    fn keeps(impatient: bool) -> [bool; 3] {
        let rules = Rules { impatient, ..rfc(RecoveryKind::NewReno) };
        let mut snd = ten_out(1_000);
        let mut newreno = NewReno::default();
        for _ in 0..3 {
            with_reno(&rules, &mut snd, |w| newreno.on_duplicate(w, true));
        }
        [101, 301, 1_001].map(|una| {
            let acked = una - snd.una;
            snd.una = una;
            let keeps = newreno.keeps_timer(&rules, &snd);
            with_reno(&rules, &mut snd, |w| newreno.on_advance(w, acked));
            keeps
        })
    }

    #[test]
    fn the_impatient_restart_the_timer_at_the_first_partial_acknowledgement_alone() {
        assert_eq!(keeps(true), [false, true, false]);
        assert_eq!(keeps(false), [false; 3]);
    }

    #[test]
    fn what_limited_transmit_sent_is_not_in_the_flight() {
        // RFC 5681 section 3.2, step 2: ten segments of 100 B are in flight in a window of 1,050 B,
        // and one more for each of the first two duplicates: the threshold becomes half of 1,000 B.
        let rules = rfc(RecoveryKind::NewReno);
        let mut snd = ten_out(1_050);
        let mut newreno = NewReno::default();
        for _ in 0..2 {
            with_reno(&rules, &mut snd, |w| newreno.on_duplicate(w, true));
            let chunk = snd.chunk(snd.max, u64::MAX);
            newreno.on_sent(&snd, chunk);
            snd.max = chunk.end();
        }
        assert!(with_reno(&rules, &mut snd, |w| newreno.on_duplicate(w, true)).entered);
        assert_eq!((snd.max, snd.win.ssthresh), (1_201, 500));
    }

    #[test]
    fn a_last_segment_within_the_window_is_not_limited_transmit() {
        // Ten segments of 100 B fill the window, the last with a FIN: its number needs no room, and
        // at the loss the threshold becomes half of 1,001.
        let rules = rfc(RecoveryKind::NewReno);
        let last = SendState { max: 901, end: 1_001, fin_queued: true, ..ten_out(1_000) };
        let (mut snd, mut newreno) = (last, NewReno::default());
        let chunk = snd.chunk(snd.max, u64::MAX);
        newreno.on_sent(&snd, chunk);
        snd.max = chunk.end();
        (0..3).for_each(|_| _ = with_reno(&rules, &mut snd, |w| newreno.on_duplicate(w, true)));
        assert_eq!((snd.max, snd.win.ssthresh), (1_002, 500));
    }
}
