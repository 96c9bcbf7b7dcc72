//! Loss recovery: one file per kind.
//!
//! A recovery processes acknowledgements and timeouts, changes the windows of the [`SendState`],
//! and chooses what to send next. The profile's [`Rules`] give its kind, and the implementation
//! that it follows. Senders with RACK have a [`RackSender`] instead, which does all of this and
//! more.

mod board;
mod classic_control;
mod newreno;
mod rack;
mod reaction;
mod reno;
mod rules;
mod sack;
mod sack1;
mod tahoe;

use packet::Instant;

use crate::segment::Segment;
use crate::send_state::{Chunk, SendState};
pub(crate) use classic_control::{AckNews, ClassicControl, Windows};
pub(crate) use newreno::NewReno;
pub(crate) use rack::{AckContext, Due, Outcome, Outstanding, RackSender};
pub(crate) use reaction::Reaction;
pub(crate) use reno::Reno;
pub(crate) use rules::{Detection, Implementation, Leaving, RackSettings, RecoveryKind, Rules};
pub(crate) use sack::Sack;
pub(crate) use sack1::Sack1;
pub(crate) use tahoe::Tahoe;

#[derive(Clone, Debug)]
#[repr(u8)] // a tag of its own is read faster than one hidden in a field
pub(crate) enum Recovery {
    Tahoe(Tahoe),
    Reno(Reno),
    NewReno(NewReno),
    Sack(Sack),
    Sack1(Sack1),
}

impl Recovery {
    pub fn new(kind: RecoveryKind) -> Self {
        match kind {
            RecoveryKind::Tahoe => Recovery::Tahoe(Tahoe::default()),
            RecoveryKind::Reno => Recovery::Reno(Reno::default()),
            RecoveryKind::NewReno | RecoveryKind::Rack(_) => Recovery::NewReno(NewReno::default()),
            RecoveryKind::Sack => Recovery::Sack(Sack::default()),
            RecoveryKind::Sack1 => Recovery::Sack1(Sack1::default()),
        }
    }

    /// Resets the recovery to `kind`, keeping heap buffers if it has that kind already.
    pub fn reset(&mut self, kind: RecoveryKind) {
        match (&mut *self, kind) {
            (Recovery::Sack(sack), RecoveryKind::Sack) => sack.reset(),
            (Recovery::Sack1(sack), RecoveryKind::Sack1) => sack.reset(),
            _ => *self = Recovery::new(kind),
        }
    }

    /// `acked` new sequence numbers were acknowledged; `snd.una` has moved already.
    pub fn on_advance(&mut self, w: &mut Windows, acked: u64, segment: &Segment) -> Reaction {
        match self {
            Recovery::Tahoe(tahoe) => tahoe.on_advance(w, acked),
            Recovery::Reno(reno) => reno.on_advance(w, acked),
            Recovery::NewReno(newreno) => newreno.on_advance(w, acked),
            Recovery::Sack(sack) => return sack.on_advance(w, acked, segment),
            Recovery::Sack1(sack) => sack.on_advance(w, acked, segment),
        }
        Reaction::default()
    }

    /// An ACK came that acknowledges nothing new. `pending`: the retransmission timer runs.
    pub fn on_duplicate(&mut self, w: &mut Windows, segment: &Segment, pending: bool) -> Reaction {
        // A duplicate carries no data and comes while something is outstanding (RFC 5681 section
        // 2); with SACK it is one that reports something new (RFC 6675 section 2).
        let counts = segment.len == 0 && segment.ack == w.snd.una && pending;
        match self {
            Recovery::Tahoe(tahoe) => tahoe.on_duplicate(w, counts),
            Recovery::Reno(reno) => reno.on_duplicate(w, counts),
            Recovery::NewReno(newreno) => newreno.on_duplicate(w, counts),
            Recovery::Sack(sack) => sack.on_duplicate(w, segment),
            Recovery::Sack1(sack) => sack.on_duplicate(w, segment),
        }
    }

    /// The retransmission timer of data expired: reduces the windows and prepares retransmissions.
    pub fn on_timeout(&mut self, w: &mut Windows, now: Instant) {
        if self.inflated(w.rules) && w.rules.deflates_at_timeout() {
            w.deflate(w.snd.win.cwnd.min(w.snd.win.ssthresh), 0);
        }
        w.on_timeout(now);
        match self {
            Recovery::Sack(sack) => sack.on_timeout(w.snd),
            _ => self.resume(w.snd, w.snd.max),
        }
    }

    /// The ranges that the peer has reported by SACK and not acknowledged cumulatively.
    pub fn reports(&self) -> &[(u64, u64)] {
        match self {
            Recovery::Sack(sack) => sack.reports(),
            Recovery::Sack1(sack) => sack.reports(),
            _ => &[],
        }
    }

    /// Bytes below `ack` that the peer has reported by SACK and not acknowledged cumulatively.
    pub fn reported_below(&self, ack: u64) -> u64 {
        let below = self.reports().iter().take_while(|range| range.0 < ack);
        below.map(|&(from, to)| to.min(ack) - from).sum()
    }

    /// Whether the congestion window is inflated by the segments that duplicate acknowledgements
    /// show to have left the network (RFC 5681 section 3.2, step 4).
    fn inflated(&self, rules: &Rules) -> bool {
        match self {
            Recovery::Reno(reno) => reno.recovering(rules),
            Recovery::NewReno(newreno) => newreno.recovering(),
            Recovery::Tahoe(_) | Recovery::Sack(_) | Recovery::Sack1(_) => false,
        }
    }

    /// Whether the acknowledgement that has just moved `snd.una` does not restart the timer.
    pub fn keeps_timer(&self, rules: &Rules, snd: &SendState) -> bool {
        match self {
            Recovery::NewReno(newreno) => newreno.keeps_timer(rules, snd),
            Recovery::Sack(sack) => sack.keeps_timer(rules, snd),
            _ => false,
        }
    }

    /// Whether a fast recovery is under way.
    pub fn recovering(&self, rules: &Rules) -> bool {
        match self {
            Recovery::Sack(sack) => sack.recovering(),
            Recovery::Sack1(sack) => sack.recovering(),
            _ => self.inflated(rules),
        }
    }

    /// Whether nothing is being repaired, and no report or duplicate has come since the last
    /// advance: an acknowledgement of new data only grows the window, and only new segments are
    /// sent.
    #[inline(always)]
    pub fn is_calm(&self) -> bool {
        match self {
            Recovery::Tahoe(tahoe) => tahoe.is_calm(),
            Recovery::Reno(reno) => reno.is_calm(),
            Recovery::NewReno(newreno) => newreno.is_calm(),
            Recovery::Sack(sack) => sack.is_calm(),
            Recovery::Sack1(_) => false,
        }
    }

    /// Whether the next segment is always the one at `snd.nxt`, with no choice of holes.
    #[inline]
    pub fn sends_in_order(&self) -> bool {
        !matches!(self, Recovery::Sack(_) | Recovery::Sack1(_))
    }

    /// The next chunk that the windows allow; segments are sent only if they fit whole. (BSD has
    /// its own rule for small segments, in `classic_sender::choice`.)
    pub fn next(&self, rules: &Rules, snd: &SendState) -> Option<Chunk> {
        match self {
            Recovery::Sack(sack) => sack.next(rules, snd),
            Recovery::Sack1(sack) => sack.next(rules, snd),
            _ => snd.fitting(snd.win.cwnd + self.beyond(rules, snd)),
        }
    }

    /// The next chunk that BSD's windows allow, cut short if need be.
    #[inline(always)]
    pub fn next_part(&self, rules: &Rules, snd: &SendState) -> Option<Chunk> {
        match self {
            Recovery::Sack(sack) => sack.next(rules, snd),
            Recovery::Sack1(sack) => sack.next(rules, snd),
            _ if snd.nxt > snd.end => None,
            _ => {
                let window = snd.win.cwnd + self.beyond(rules, snd);
                Some(snd.chunk(snd.nxt, snd.una + window.min(snd.window())))
            }
        }
    }

    /// Bytes that limited transmit (RFC 3042) may send beyond the congestion window: a segment for
    /// each of the first duplicates.
    fn beyond(&self, rules: &Rules, snd: &SendState) -> u64 {
        if !rules.limited_transmit {
            return 0;
        }
        let duplicates = match self {
            Recovery::Tahoe(tahoe) => tahoe.limited(rules),
            Recovery::Reno(reno) => reno.limited(rules),
            Recovery::NewReno(newreno) => newreno.limited(),
            Recovery::Sack(_) | Recovery::Sack1(_) => 0,
        };
        u64::from(duplicates) * snd.mss()
    }

    /// The first unacknowledged segment, for a retransmission.
    pub fn first(&self, snd: &SendState) -> Chunk {
        match self {
            Recovery::Sack(sack) => sack.first(snd),
            Recovery::Sack1(sack) => sack.first(snd),
            _ => snd.chunk(snd.una, u64::MAX),
        }
    }

    /// `chunk` has been sent; `snd.max` does not include it yet.
    pub fn on_sent(&mut self, snd: &SendState, chunk: Chunk) {
        match self {
            Recovery::Tahoe(_) | Recovery::Reno(_) => {}
            Recovery::NewReno(newreno) => newreno.on_sent(snd, chunk),
            Recovery::Sack(sack) => sack.on_sent(snd, chunk),
            Recovery::Sack1(sack) => sack.on_sent(snd, chunk),
        }
    }

    /// After a timeout, new data goes out before the rest is retransmitted: either to find out whether
    /// the timeout was spurious (RFC 5682), or since it has turned out to be spurious.
    pub fn suspend(&mut self, snd: &mut SendState) {
        snd.nxt = snd.max;
        // Duplicates count again (RFC 5682 section 2.1, step 3b).
        match self {
            Recovery::Tahoe(tahoe) => tahoe.resume(snd.una - 1),
            Recovery::Reno(reno) => reno.resume(snd.una - 1),
            Recovery::NewReno(newreno) => newreno.resume(snd.una - 1),
            Recovery::Sack(sack) => sack.suspend(),
            Recovery::Sack1(sack) => sack.suspend(),
        }
    }

    /// The timeout was not spurious: everything up to `point` is retransmitted after all.
    pub fn resume(&mut self, snd: &mut SendState, point: u64) {
        snd.nxt = snd.una;
        match self {
            Recovery::Tahoe(tahoe) => tahoe.resume(point),
            Recovery::Reno(reno) => reno.resume(point),
            Recovery::NewReno(newreno) => newreno.resume(point),
            Recovery::Sack(sack) => sack.resume(snd, point),
            Recovery::Sack1(sack) => sack.resume(point),
        }
    }
}

#[cfg(test)]
fn with_reno<T>(rules: &Rules, snd: &mut SendState, act: impl FnOnce(&mut Windows) -> T) -> T {
    act(&mut Windows { rules, snd, control: &mut ClassicControl::reno() })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::congestion::{Arithmetic, ClassicReno};
    use crate::send_state::Window;

    /// The RFCs' rules with limited transmit, for the tests of the recoveries.
    pub(super) const fn rfc(kind: RecoveryKind) -> Rules {
        Rules {
            kind,
            implementation: Implementation::Rfc,
            reno: ClassicReno(Arithmetic::Rfc),
            threshold: 3,
            limited_transmit: true,
            leaving: Leaving::Refilled,
            impatient: true,
            impatient_with_sack: false,
            partial_ack_sends: false,
            reports_hold_growth: false,
            cwr_state: false,
        }
    }

    #[test]
    fn what_must_be_acknowledged_before_duplicates_count_is_each_programs_rule() {
        use {Implementation::*, RecoveryKind::*};
        for (implementation, kind, at_recover) in [
            (Rfc, NewReno, false),
            (Rfc, Sack, false), // NewReno, towards a peer without SACK
            (Rfc, Reno, true),
            (Rfc, Tahoe, true),
            (Ns2, NewReno, false),
            (Ns2, Reno, false),
            (Ns2, Tahoe, false),
            (Bsd, NewReno, true),
        ] {
            let rules = Rules { implementation, ..rfc(kind) };
            let beyond = [999, 1_000, 1_001].map(|una| rules.is_beyond(una, 1_000));
            assert_eq!(beyond, [false, at_recover, true], "{implementation:?} {kind:?}");
        }
    }

    #[test]
    fn after_a_spurious_timeout_duplicates_count_again() {
        use {Implementation::*, RecoveryKind::*};
        for (kind, implementation) in
            [(Tahoe, Rfc), (Reno, Rfc), (NewReno, Rfc), (Tahoe, Ns2), (Reno, Ns2), (NewReno, Ns2)]
        {
            let rules = Rules { limited_transmit: false, implementation, ..rfc(kind) };
            let mut snd = ten_out();
            let mut recovery = Recovery::new(kind);
            with_reno(&rules, &mut snd, |w| recovery.on_timeout(w, Instant::ZERO));
            assert_eq!(snd.nxt, 1);
            let thrice = |recovery: &mut Recovery, snd: &mut SendState| {
                let ack = Segment { ack: snd.una, ..Segment::default() };
                with_reno(&rules, snd, |w| {
                    (0..3).any(|_| recovery.on_duplicate(w, &ack, true).entered)
                })
            };
            assert!(!thrice(&mut recovery, &mut snd), "{kind:?}");
            recovery.suspend(&mut snd);
            assert_eq!(snd.nxt, 1_001);
            assert!(thrice(&mut recovery, &mut snd), "{kind:?}");
        }
    }

    /// Ten segments of 100 B fill the window, and much more is to be sent.
    fn ten_out() -> SendState {
        SendState {
            una: 1,
            nxt: 1_001,
            max: 1_001,
            end: 10_000,
            window: 1 << 20,
            win: Window { cwnd: 1_000, mss: 100, ..Window::default() },
            ..SendState::default()
        }
    }

    #[test]
    fn a_duplicate_lets_a_segment_beyond_the_window_in_bsd_too() {
        // RFC 3042.
        for kind in [RecoveryKind::Tahoe, RecoveryKind::Reno, RecoveryKind::NewReno] {
            let (rules, mut snd, mut recovery) = (rfc(kind), ten_out(), Recovery::new(kind));
            let ack = Segment { ack: 1, ..Segment::default() };
            with_reno(&rules, &mut snd, |w| recovery.on_duplicate(w, &ack, true));
            let new = Some(Chunk::new(1_001, 100, false));
            assert_eq!(recovery.next_part(&rules, &snd), new, "{kind:?}");
            assert_eq!(recovery.next(&rules, &snd), new, "{kind:?}");
        }
    }

    #[test]
    fn behind_a_fin_nothing_goes_out() {
        let (rules, recovery) = (rfc(RecoveryKind::Reno), Recovery::new(RecoveryKind::Reno));
        let mut snd = SendState {
            end: 1_001,
            fin_queued: true,
            win: Window { cwnd: 2_000, ..ten_out().win },
            ..ten_out()
        };
        let fin = Some(Chunk::new(1_001, 0, true));
        assert_eq!([recovery.next(&rules, &snd), recovery.next_part(&rules, &snd)], [fin; 2]);
        (snd.fin_sent, snd.nxt, snd.max) = (true, 1_002, 1_002);
        assert_eq!([recovery.next(&rules, &snd), recovery.next_part(&rules, &snd)], [None; 2]);
        // The FIN is retransmitted once SND.NXT has fallen back to it.
        snd.nxt = 1_001;
        assert_eq!([recovery.next(&rules, &snd), recovery.next_part(&rules, &snd)], [fin; 2]);
    }

    #[test]
    fn the_first_resend_ends_where_something_is_reported() {
        for kind in [RecoveryKind::Sack, RecoveryKind::Sack1] {
            let (rules, mut snd, mut recovery) = (rfc(kind), ten_out(), Recovery::new(kind));
            let mut report = Segment { ack: 1, ..Segment::default() };
            report.sack.push(60, 100);
            with_reno(&rules, &mut snd, |w| recovery.on_duplicate(w, &report, true));
            assert_eq!(recovery.first(&snd), Chunk::new(1, 60, false));
            assert_eq!(recovery.reports(), [(61, 101)]);
            assert!(!recovery.recovering(&rules));
            for end in [150, 200] {
                report.sack.push(60, end);
                with_reno(&rules, &mut snd, |w| recovery.on_duplicate(w, &report, true));
            }
            assert!(recovery.recovering(&rules), "{kind:?}");
            // A reset recovery is as new, and keeps its heap buffer.
            let buffer = recovery.reports().as_ptr();
            recovery.reset(kind);
            assert!(recovery.reports().is_empty() && !recovery.recovering(&rules));
            assert_eq!(recovery.reports().as_ptr(), buffer);
        }
    }
}
