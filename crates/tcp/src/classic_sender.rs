//! The sender of BSD's lineage: one retransmission timer, one segment timed at a time, a loss recovery of
//! [`recovery`](crate::recovery), which consults a congestion control.

mod choice;
mod echo;

use packet::{Duration, Instant};

use self::echo::Echo;
use crate::congestion::Control;
use crate::profile::IdleRule;
use crate::recovery::{AckNews, ClassicControl, Reaction, Recovery, RecoveryKind, Windows};
use crate::segment::Segment;
use crate::send_algorithm::{AfterAck, AfterTimer, Opening, SendAlgorithm, SendContext};
use crate::send_state::Chunk;
use crate::spurious_rto::SpuriousRto;

/// No segment is timed.
const NOT_TIMED: u64 = u64::MAX;

#[derive(Clone, Debug)]
pub(crate) struct ClassicSender {
    pub(crate) recovery: Recovery,
    pub(crate) control: ClassicControl,
    /// State that shows whether a timeout was spurious; `None` before the first timeout.
    pub(crate) rto_check: Option<Box<SpuriousRto>>,
    /// When the retransmission timer expires.
    rexmt_timer: Instant,
    /// The sequence number being timed ([`NOT_TIMED`]: none).
    timed: u64,
    /// Reading of the clock when the timed sequence number was sent.
    timed_at: u64,
}

/// An ACK as a classic sender sees it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Ack<'a> {
    pub segment: &'a Segment,
    /// Number of sequence numbers that the segment newly acknowledges.
    pub acked: u64,
    /// The retransmission timer was running when the ACK arrived.
    pub pending: bool,
    /// The ACK carries an ECN echo and does not grow the window.
    pub echoed: bool,
}

impl SendAlgorithm for ClassicSender {
    #[inline(never)]
    fn begin(&mut self, cx: &mut SendContext, opening: Option<&Opening>) {
        if cx.profile.recovery.kind.selective() && !cx.sack {
            self.recovery.reset(RecoveryKind::NewReno);
        }
        let srtt = cx.srtt();
        self.control.begin(cx.snd, *cx.ecn, srtt, cx.moment.at);
        if let Some(opening) = opening {
            // The ACK covers only the SYN-ACK: no recovery begins.
            _ = self.take_ack(cx, opening.segment, Some(opening));
        }
    }

    fn on_ack(&mut self, cx: &mut SendContext, segment: &Segment) -> AfterAck {
        self.take_ack(cx, segment, None)
    }

    #[inline(never)]
    fn on_timer(&mut self, cx: &mut SendContext) -> AfterTimer {
        let now = cx.moment.at;
        let paced = self.control.take_pace_due(now);
        if self.rexmt_timer > now {
            debug_assert!(paced, "one of its timers is due");
            return AfterTimer::Output;
        }
        self.on_rexmt_timer(cx)
    }

    fn next(&mut self, cx: &mut SendContext, call_idle: bool) -> Option<Chunk> {
        if cx.snd.resend {
            return Some(self.recovery.first(cx.snd));
        }
        if cx.ecn.held {
            return None;
        }
        let chunk = if self.control.is_reno() {
            self.allowed(cx, cx.snd, call_idle)?
        } else {
            self.allowed_tracked(cx, call_idle)?
        };
        if self.restarts_after_pause(cx) {
            return self.allowed_anew(cx, call_idle);
        }
        Some(chunk)
    }

    #[inline(always)]
    fn on_sent(&mut self, cx: &mut SendContext, chunk: Chunk) {
        self.recovery.on_sent(cx.snd, chunk);
        self.control.on_sent(cx.snd, chunk, cx.moment.at);
        let new = chunk.seq.max(cx.snd.max);
        if chunk.end() > new && self.timed == NOT_TIMED {
            // Only sequence numbers never sent before are timed (Karn's algorithm).
            self.timed = new;
            self.timed_at = cx.profile.rtt.stamp(cx.host, cx.moment);
        }
        self.ensure_timer(cx);
        if cx.profile.idle == IdleRule::SinceSent {
            cx.snd.active_at = cx.moment.at;
        }
    }

    #[inline(always)]
    fn deadline(&self) -> Instant {
        self.rexmt_timer.min(self.control.pacing_timer())
    }

    /// Reduces the window to the initial one, unless the control sets its window itself.
    #[cold]
    fn on_restart(&mut self, cx: &mut SendContext, idle: Duration) {
        let now = cx.moment.at;
        if self.control.on_restart(cx.snd, idle, now) {
            cx.snd.active_at = now;
        } else {
            cx.snd.win.cwnd = cx.profile.initial_window(cx.snd);
        }
    }
}

impl ClassicSender {
    /// A sender with a recovery of this kind and a copy of this control.
    pub fn new(kind: RecoveryKind, control: &dyn Control) -> Self {
        let control = ClassicControl::new(control);
        ClassicSender { recovery: Recovery::new(kind), control, ..ClassicSender::placeholder() }
    }

    /// A sender that sends nothing.
    pub fn placeholder() -> Self {
        ClassicSender {
            recovery: Recovery::new(RecoveryKind::Tahoe),
            control: ClassicControl::reno(),
            rto_check: None,
            rexmt_timer: Instant::NEVER,
            timed: NOT_TIMED,
            timed_at: 0,
        }
    }

    /// Resets the sender for a new connection, keeping allocated memory.
    pub fn renew(&mut self, kind: RecoveryKind, control: &dyn Control) {
        self.recovery.reset(kind);
        self.control = ClassicControl::new(control);
        if let Some(check) = &mut self.rto_check {
            check.reset();
        }
        (self.rexmt_timer, self.timed, self.timed_at) = (Instant::NEVER, NOT_TIMED, 0);
    }

    /// Whether the next segment is always the one at `snd.nxt`, with no choice of holes.
    #[inline]
    pub fn sends_in_order(&self) -> bool {
        self.recovery.sends_in_order()
    }

    /// Stops all timers.
    pub fn stop(&mut self) {
        self.rexmt_timer = Instant::NEVER;
        self.control.stop_pacing_timer();
    }

    /// Starts the retransmission timer unless it is running.
    #[inline(always)]
    pub fn ensure_timer(&mut self, cx: &SendContext) {
        if self.rexmt_timer == Instant::NEVER {
            self.rexmt_timer = cx.rexmt_deadline();
        }
    }

    /// Whether nothing is being repaired: an acknowledgement of new data only grows Reno's window,
    /// and only new data is sent.
    #[inline(always)]
    pub fn is_calm(&self) -> bool {
        self.recovery.is_calm() && self.consults_reno_only()
    }

    /// Processes an acknowledgement of new data, without SACK blocks and ECN, in a sender that
    /// [`is_calm`](Self::is_calm).
    #[inline(always)]
    pub fn take_calm_ack(&mut self, cx: &mut SendContext, segment: &Segment) {
        let ack = segment.ack;
        self.sample(cx, segment);
        cx.profile.rtt.on_advance(cx.rtt);
        let snd = &mut *cx.snd;
        let acked = ack - snd.una;
        (snd.una, snd.nxt) = (ack, snd.nxt.max(ack));
        (snd.timed_out, snd.win.held) = (false, false);
        let window = snd.window();
        cx.profile.recovery.reno.grow(&mut snd.win, window, acked);
        self.rexmt_timer = if snd.idle() { Instant::NEVER } else { cx.rexmt_deadline() };
    }

    /// Processes an acknowledgement; `opening` if it completes the handshake.
    #[inline(always)]
    fn take_ack(
        &mut self,
        cx: &mut SendContext,
        segment: &Segment,
        opening: Option<&Opening>,
    ) -> AfterAck {
        let ack = segment.ack;
        let pending = self.rexmt_timer != Instant::NEVER;
        let acked = ack.saturating_sub(cx.snd.una);
        let echo = read_echo(cx, &self.recovery, segment, (acked, opening.is_some()));
        if acked > 0 {
            match opening {
                Some(opening) => opening.sample(cx, false),
                None => self.sample(cx, segment),
            }
            cx.snd.una = ack;
            cx.snd.timed_out = false;
            cx.snd.nxt = cx.snd.nxt.max(ack);
            self.restart_timer(cx);
            if let Some(opening) = opening
                && !cx.profile.opening.handshake_grows
            {
                opening.start_from_cached(cx); // again, now with a round-trip sample
                if !echo.reduces {
                    return AfterAck::Output;
                }
            }
        }
        let reaction = if acked == 0 && cx.snd.idle() {
            Reaction::default() // nothing is in flight, as at a receiver
        } else if self.consults_reno_only() {
            self.recover_inline(cx, Ack { segment, acked, pending, echoed: echo.reduces })
        } else {
            let ack = Ack { segment, acked, pending, echoed: echo.reduces };
            self.recover_tracked(cx, &ack, echo.marked)
        };
        self.react(cx, reaction, echo, acked)
    }

    /// Applies the recovery's reaction to an acknowledgement, and its ECN echo.
    #[inline(always)]
    fn react(
        &mut self,
        cx: &mut SendContext,
        reaction: Reaction,
        echo: Echo,
        acked: u64,
    ) -> AfterAck {
        if reaction.entered {
            cx.counters.fast_retransmits += 1;
            self.timed = NOT_TIMED;
            cx.ecn.reduced();
        }
        if reaction.stop_timer {
            self.rexmt_timer = Instant::NEVER;
        }
        if echo.reduces || cx.ecn.held {
            let answers = echo.reduces && (acked > 0 || !cx.profile.recovery.cwr_state);
            self.on_echo(cx, answers);
        }
        if reaction.resend_only { AfterAck::Resend } else { AfterAck::Output }
    }

    /// Hands the recovery an acknowledgement of new data, or a duplicate.
    #[inline(always)]
    fn recover_inline(&mut self, cx: &mut SendContext, ack: Ack) -> Reaction {
        cx.snd.win.held = ack.echoed;
        let rules = &cx.profile.recovery;
        let w = &mut Windows { rules, snd: cx.snd, control: &mut self.control };
        if ack.acked == 0 {
            self.recovery.on_duplicate(w, ack.segment, ack.pending)
        } else {
            self.recovery.on_advance(w, ack.acked, ack.segment)
        }
    }

    /// An out-of-line [`recover_inline`](Self::recover_inline), for connections that check whether
    /// a timeout was spurious, or have another control than Reno.
    #[cold]
    pub(crate) fn recover(&mut self, cx: &mut SendContext, ack: &Ack) -> Reaction {
        self.recover_inline(cx, *ack)
    }

    /// Whether an ACK concerns only the recovery and its Reno: there is no other control, and no
    /// timeout is checked.
    #[inline(always)]
    fn consults_reno_only(&self) -> bool {
        self.control.is_reno() && self.rto_check.as_ref().is_none_or(|check| !check.runs())
    }

    /// Processes an ACK of a connection that checks whether a timeout was spurious, or that has
    /// another control than Reno: the control's records take the ACK before the recovery does, and
    /// the control answers it after that.
    #[cold]
    fn recover_tracked(&mut self, cx: &mut SendContext, ack: &Ack, marked: u64) -> Reaction {
        let Ack { segment, acked, .. } = *ack;
        let (sack, now, rules) = (cx.sack, cx.moment.at, &cx.profile.recovery);
        self.control.process_ack(cx.snd, &AckNews { segment, acked, marked, sack, now });
        let recovering = self.recovery.recovering(rules);
        let checks = self.rto_check.as_ref().is_some_and(|check| check.runs());
        let reaction = if checks { self.on_ack_after_rto(cx, ack) } else { self.recover(cx, ack) };
        let recovering = recovering || self.recovery.recovering(rules);
        self.control.finish(cx.snd, recovering);
        reaction
    }

    /// Stops the timer if all is acknowledged; else restarts it with the current timeout, unless
    /// the recovery keeps it running.
    #[inline(always)]
    fn restart_timer(&mut self, cx: &mut SendContext) {
        cx.profile.rtt.on_advance(cx.rtt);
        if cx.snd.idle() {
            self.rexmt_timer = Instant::NEVER;
        } else if !self.recovery.keeps_timer(&cx.profile.recovery, cx.snd) {
            self.rexmt_timer = cx.rexmt_deadline();
        }
    }

    /// Measures a round trip, if the acknowledgement covers the timed number or echoes a timestamp.
    #[inline(always)]
    fn sample(&mut self, cx: &mut SendContext, segment: &Segment) {
        let rules = &cx.profile.rtt;
        if cx.stamps {
            // RFC 7323 section 4.1: every acknowledgement of new data is a sample.
            rules.sample_echo(cx.rtt, segment.echo, cx.host, cx.moment);
        } else if segment.ack > self.timed {
            rules.sample(cx.rtt, self.timed_at, cx.host, cx.moment);
            self.timed = NOT_TIMED;
        }
    }

    fn on_rexmt_timer(&mut self, cx: &mut SendContext) -> AfterTimer {
        if cx.ecn.held && cx.snd.idle() {
            return self.end_hold(cx);
        }
        cx.counters.timeouts += 1;
        let timeouts = cx.profile.rtt.back_off(cx.rtt, None);
        if timeouts > cx.profile.max_resends {
            return AfterTimer::GiveUp;
        }
        self.timed = NOT_TIMED;
        cx.snd.resend = false;
        cx.ecn.held = false;
        self.begin_rto_check(cx, timeouts);
        let rules = &cx.profile.recovery;
        let w = &mut Windows { rules, snd: cx.snd, control: &mut self.control };
        self.recovery.on_timeout(w, cx.moment.at);
        cx.ecn.reduced();
        self.rexmt_timer = cx.rexmt_deadline();
        AfterTimer::Output
    }
}

/// Reads the ECN feedback of an ACK; the result is [`Echo::NONE`] without ECN.
#[inline(always)]
fn read_echo(
    cx: &mut SendContext,
    recovery: &Recovery,
    segment: &Segment,
    acked: (u64, bool),
) -> Echo {
    if cx.ecn.on() { Echo::read(cx, recovery, segment, acked) } else { Echo::NONE }
}
