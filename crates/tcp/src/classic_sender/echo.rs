//! How a classic sender answers ECN echoes (RFC 3168 section 6.1.2).

use packet::Instant;

use super::ClassicSender;
use crate::recovery::{Recovery, Windows};
use crate::segment::Segment;
use crate::send_algorithm::{AfterTimer, SendContext};

/// What an ACK says of marks.
#[derive(Clone, Copy, Debug)]
pub(super) struct Echo {
    /// It requires a reduction of the window.
    pub reduces: bool,
    /// Bytes reported as marked, among those that the segment reports as received.
    pub marked: u64,
}

impl Echo {
    /// The echo of a connection without ECN.
    pub const NONE: Echo = Echo { reduces: false, marked: 0 };

    /// Reads a segment that acknowledges `acked` new numbers, of which `recovery` may know some to have
    /// arrived; `opening`: it completes the handshake.
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
    /// An ACK came that says ECE (and has not grown the window), or any while new data is held.
    /// A reduction follows at most once per window of data, that is, not before the ACK
    /// passes what was sent until the last one. With a window of one segment, nothing more goes
    /// out before the timer, set anew, expires.
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

    /// The timer expired with nothing outstanding: the wait is over. Nothing was lost, so nothing
    /// is counted and the timeout stays (constructed).
    pub(super) fn end_hold(&mut self, cx: &mut SendContext) -> AfterTimer {
        cx.ecn.held = false;
        self.rexmt_timer = Instant::NEVER;
        AfterTimer::Output
    }
}
