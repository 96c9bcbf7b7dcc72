//! How a classic sender answers ECN echoes (RFC 3168 section 6.1.2).

use packet::Instant;

use super::ClassicSender;
use crate::recovery::{Recovery, Windows};
use crate::segment::Segment;
use crate::send_algorithm::{AfterTimer, SendContext};

/// The ECN feedback of an ACK.
#[derive(Clone, Copy, Debug)]
pub(super) struct Echo {
    /// The ACK requires a reduction of the window.
    pub reduces: bool,
    /// Bytes reported as marked, among those that the segment reports as received.
    pub marked: u64,
}

impl Echo {
    /// The echo of a connection without ECN.
    pub const NONE: Echo = Echo { reduces: false, marked: 0 };

    /// Reads the feedback of a segment that acknowledges `acked` new sequence numbers, some of
    /// which `recovery` may know from SACK blocks; `opening`: it completes the handshake.
    // Out of line: most connections have no ECN.
    #[inline(never)]
    pub fn read(
        cx: &mut SendContext,
        recovery: &Recovery,
        segment: &Segment,
        (acked, opening): (u64, bool),
    ) -> Self {
        let known = if acked > 0 { recovery.reported_below(segment.ack) } else { 0 };
        let news = acked.saturating_sub(known).max(u64::from(!segment.sack.is_empty()));
        let mss = cx.snd.mss();
        let mut reader = cx.echo_reader();
        let marked = reader.marked_bytes(segment, news, mss, opening);
        Echo { reduces: reader.echoes(segment, marked), marked }
    }
}

impl ClassicSender {
    /// Answers an ACK with ECE (which has not grown the window), or any ACK while new data is held
    /// back. The window is reduced at most once per window of data: not before the ACK covers all
    /// that was sent until the last reduction. With a window of one segment nothing more is sent
    /// before the timer, set anew, expires.
    pub(super) fn on_echo(&mut self, cx: &mut SendContext, echoed: bool) {
        let (rules, ecn) = (&cx.profile.recovery, &cx.profile.ecn);
        let passed = cx.snd.una > cx.snd.reduced;
        if echoed && if rules.cwr_state { !cx.snd.in_cwr() } else { passed } {
            let holds = self.control.is_reno() && !rules.cwr_state;
            let held = holds && ecn.holds(cx.snd.win.cwnd, cx.snd.mss());
            let control = &mut self.control;
            if (Windows { rules, snd: cx.snd, control }).on_echo(ecn.cut) {
                cx.ecn.held = held;
                cx.counters.ecn_reductions += 1;
                cx.ecn.reduced();
            }
        }
        if cx.ecn.held {
            self.rexmt_timer = cx.rexmt_deadline();
        }
    }

    /// The timer expired with nothing outstanding: the wait is over. Nothing was lost, so no
    /// timeout is counted, and it is not backed off (our own rule).
    pub(super) fn end_hold(&mut self, cx: &mut SendContext) -> AfterTimer {
        cx.ecn.held = false;
        self.rexmt_timer = Instant::NEVER;
        AfterTimer::Output
    }
}
