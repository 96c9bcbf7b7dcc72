//! The implementation of [`SendAlgorithm`] by [`RackSender`](crate::recovery::RackSender).

use packet::{Duration, Instant};

use crate::ecn::EchoReader;
use crate::profile::IdleRule;
use crate::recovery::{AckContext, Due, Outcome, RackSender};
use crate::segment::Segment;
use crate::send_algorithm::{AfterAck, AfterTimer, Opening, SendAlgorithm, SendContext};
use crate::send_state::Chunk;

// Out of line, which keeps the code path of other senders short.
impl SendAlgorithm for RackSender {
    #[inline(never)]
    fn begin(&mut self, cx: &mut SendContext, opening: Option<&Opening>) {
        let now = cx.moment.at;
        if cx.profile.recovery.kind.selective() && !cx.sack {
            self.without_reports();
        }
        if let Some(opening) = opening {
            opening.sample(cx, true);
            opening.start_from_cached(cx);
            (cx.snd.una, cx.snd.nxt) = (1, cx.snd.nxt.max(1));
        }
        let times = (cx.srtt(), cx.rto());
        self.start(cx.snd, *cx.ecn, times, now);
        if let Some(opening) = opening {
            let mut reader = EchoReader::new(*cx.ecn, || cx.rx.marks());
            let outcome = self.on_opening(cx.snd, &mut reader, opening.segment, now);
            apply(cx, outcome);
        }
    }

    #[inline(never)]
    fn on_ack(&mut self, cx: &mut SendContext, segment: &Segment) -> AfterAck {
        if cx.snd.idle() {
            // With nothing in flight, as at a receiver, only the reported marks are counted.
            let mss = cx.snd.mss();
            cx.echo_reader().marked_bytes(segment, 0, mss, false);
        } else {
            debug_assert!(!self.is_idle(), "what is out has records");
            let advances = segment.ack > cx.snd.una;
            let mut own = AckContext {
                snd: cx.snd,
                rtt: cx.rtt,
                rules: &cx.profile.rtt,
                clock: cx.host,
                ecn: EchoReader::new(*cx.ecn, || cx.rx.marks()),
                moment: cx.moment,
            };
            let outcome = self.process_ack(&mut own, segment);
            if advances {
                cx.profile.rtt.on_advance(cx.rtt);
            }
            apply(cx, outcome);
        }
        AfterAck::Output
    }

    #[inline(never)]
    fn on_timer(&mut self, cx: &mut SendContext) -> AfterTimer {
        let now = cx.moment.at;
        match self.due(now) {
            Due::Nothing | Due::Pace => {}
            Due::Reorder => {
                let outcome = self.on_reorder(cx.snd, now);
                apply(cx, outcome);
            }
            Due::Probe => self.on_probe(),
            Due::Timeout => {
                cx.counters.timeouts += 1;
                let timeouts = cx.profile.rtt.back_off(cx.rtt, None);
                if timeouts > cx.profile.max_resends {
                    return AfterTimer::GiveUp;
                }
                let rto = cx.rto();
                self.on_timeout(cx.snd, timeouts, rto, now);
                cx.ecn.reduced();
            }
        }
        AfterTimer::Output
    }

    #[inline(never)]
    fn next(&mut self, cx: &mut SendContext, _call_idle: bool) -> Option<Chunk> {
        if cx.snd.idle() {
            // With nothing in flight only new data can be sent; receivers return here.
            let new = cx.snd.new_chunk()?;
            let idle = cx.moment.at.since(cx.snd.active_at);
            if new.len > 0 && cx.profile.idle == IdleRule::Decay && idle > cx.rto() {
                self.on_restart(cx, idle);
            }
        }
        self.choose_at(cx.snd, cx.moment.at)
    }

    #[inline(always)]
    fn on_sent(&mut self, cx: &mut SendContext, chunk: Chunk) {
        self.record_sent(cx.snd, chunk, cx.moment.at);
    }

    #[inline]
    fn deadline(&self) -> Instant {
        self.earliest()
    }

    /// Linux's `tcp_cwnd_restart` (RFC 2861): after a pause of more than a timeout the window is
    /// halved once for each timeout that has passed, down to the initial one; the threshold becomes
    /// three quarters of the old window, if that is more. A control that sets its window itself is
    /// only notified.
    #[cold]
    fn on_restart(&mut self, cx: &mut SendContext, idle: Duration) {
        let now = cx.moment.at;
        let (rto, floor) = (cx.rto(), cx.profile.initial_window(cx.snd));
        let snd = &mut *cx.snd;
        snd.active_at = now;
        if self.restart_control(snd, idle, now) {
            return;
        }
        let mss = snd.mss();
        let cwnd = snd.win.cwnd / mss;
        snd.win.ssthresh = snd.win.ssthresh.max(((cwnd >> 1) + (cwnd >> 2)) * mss);
        let halvings = (idle.nanos() - 1) / rto.nanos().max(1);
        snd.win.cwnd = ((cwnd >> halvings.min(63)) * mss).max(floor.min(snd.win.cwnd));
    }
}

/// Updates the counters by the outcome of an event; a reduced window is reported to the peer by CWR
/// (RFC 3168).
fn apply(cx: &mut SendContext, outcome: Outcome) {
    if outcome == Outcome::default() {
        return;
    }
    cx.counters.fast_retransmits += u32::from(outcome.entered);
    cx.counters.spurious_timeouts += u32::from(outcome.spurious_rto);
    cx.counters.ecn_reductions += u32::from(outcome.by_echo);
    if outcome.reduced {
        cx.ecn.reduced();
    }
}
