//! The congestion control of the classic recoveries: Reno, called directly, or another control of
//! the list, which needs more measurements of the path than they take.

use packet::{Duration, Instant};

use crate::congestion::{AckSample, CaState, Cause, Control, EcnMode};
use crate::ecn::{EchoCut, EcnState};
use crate::recovery::reaction::Reaction;
use crate::recovery::rules::{Implementation, Rules};
use crate::segment::Segment;
use crate::send_state::{Chunk, SendState};
use crate::tracker::{AckInfo, Pacer, Seen, Tracker};

/// The congestion control of a classic sender; `None` for the Reno of its [`Rules`], which is
/// called directly and needs no measurements.
#[derive(Clone, Debug)]
pub(crate) struct ClassicControl(Option<Box<Tracked>>);

/// A control other than that Reno, with the state that is tracked for it.
#[derive(Clone, Debug)]
pub(crate) struct Tracked {
    tracker: Tracker,
    /// Sample of the current ACK, until the control has processed it.
    ack: Option<AckSample>,
    now: Instant,
    /// Bytes that duplicates have added to the window of a control that sets its window itself.
    inflation: u64,
    /// Sequence number whose acknowledgement ends the repair of a timeout.
    loss_end: u64,
    /// Bytes found lost of which the control has been notified.
    lost: u64,
    /// When pacing allows the segment that waits for it.
    pacing_timer: Instant,
}

impl Tracked {
    fn notify(&mut self, snd: &mut SendState, ca_state: CaState) {
        if let Some(ack) = self.ack.take() {
            self.tracker.control.on_ack(&mut snd.win, &AckSample { ca_state, ..ack });
            self.tracker.set_pace(snd);
        }
    }

    /// Whether a mark reduces the window as much as a loss does, so that both in one window of data are
    /// one reduction (RFC 3168 section 6.1.2); a proportional answer is less, and a loss reduces the
    /// window nevertheless (RFC 8257 section 3.4, RFC 9331 section 4.3).
    fn answers_marks_as_losses(&self) -> bool {
        self.tracker.flags.ecn == EcnMode::Classic
    }

    /// The state outside of a fast recovery.
    fn ca_state(&self, snd: &SendState) -> CaState {
        if snd.una < self.loss_end {
            CaState::Loss
        } else if snd.in_cwr() {
            CaState::Cwr
        } else {
            CaState::Open
        }
    }

    fn mark_all_lost(&mut self, snd: &SendState) {
        while let Some(number) = self.tracker.board.oldest() {
            self.tracker.mark_lost(snd, number, self.now);
        }
    }

    fn smooth(&mut self, rtt: Duration) {
        let srtt = &mut self.tracker.srtt;
        *srtt = match srtt.nanos() {
            0 => rtt,
            old => Duration::from_nanos(old - old / 8 + rtt.nanos() / 8),
        };
    }
}

impl ClassicControl {
    pub fn new(control: &dyn Control) -> Self {
        ClassicControl(control.classic().is_none().then(|| {
            Box::new(Tracked {
                tracker: Tracker::new(control.boxed(), false),
                ack: None,
                now: Instant::ZERO,
                inflation: 0,
                loss_end: 0,
                lost: 0,
                pacing_timer: Instant::NEVER,
            })
        }))
    }

    /// The control; none if it is a Reno that is called directly.
    pub fn get(&self) -> Option<&dyn Control> {
        self.0.as_ref().map(|tracked| &*tracked.tracker.control)
    }

    pub const fn reno() -> Self {
        ClassicControl(None)
    }

    #[inline(always)]
    pub fn is_reno(&self) -> bool {
        self.0.is_none()
    }

    /// Starts the control after the handshake, which has agreed on the ECN feedback `ecn`. Reno
    /// replaces a control that needs another one.
    pub fn begin(&mut self, snd: &mut SendState, ecn: EcnState, srtt: Duration, now: Instant) {
        match &mut self.0 {
            Some(tracked) if tracked.tracker.is_served(ecn) => {
                tracked.tracker.begin(snd, srtt, now);
            }
            _ => self.0 = None,
        }
    }

    /// Bytes that may be sent beyond the congestion window.
    pub fn inflation(&self) -> u64 {
        self.0.as_ref().map_or(0, |tracked| tracked.inflation)
    }

    /// Whether pacing allows a segment at `now`; if not, the pacing timer runs until it does.
    pub fn paces_now(&mut self, now: Instant) -> bool {
        let Some(tracked) = &mut self.0 else { return true };
        let Pacer { on, next, .. } = tracked.tracker.pacer;
        let waits = on && next > now;
        if waits {
            tracked.pacing_timer = next;
        }
        !waits
    }

    /// When pacing allows the segment that waits for it; never if none waits.
    #[inline(always)]
    pub fn pacing_timer(&self) -> Instant {
        self.0.as_ref().map_or(Instant::NEVER, |tracked| tracked.pacing_timer)
    }

    /// Ends the pacing timer if it is due at `now`. Returns whether it was.
    pub fn take_pace_due(&mut self, now: Instant) -> bool {
        let due = self.pacing_timer() <= now;
        if due {
            self.stop_pacing_timer();
        }
        due
    }

    /// Stops the pacing timer.
    pub fn stop_pacing_timer(&mut self) {
        if let Some(tracked) = &mut self.0 {
            tracked.pacing_timer = Instant::NEVER;
        }
    }

    /// `chunk` is sent; `snd.max` does not include it yet.
    #[inline(always)]
    pub fn on_sent(&mut self, snd: &mut SendState, chunk: Chunk, now: Instant) {
        if let Some(tracked) = &mut self.0 {
            tracked.on_sent(snd, chunk, now);
        }
    }

    /// An ACK has come; the recovery has yet to process it.
    pub fn process_ack(&mut self, snd: &SendState, news: &AckNews) {
        if let Some(tracked) = &mut self.0 {
            tracked.process_ack(snd, news);
        }
    }

    /// The recovery has processed the current ACK; `recovering`: a fast recovery is or was under
    /// way.
    pub fn finish(&mut self, snd: &mut SendState, recovering: bool) {
        if let Some(tracked) = &mut self.0 {
            // For a control that sets its window itself, the state Loss goes on.
            let repairs = tracked.tracker.flags.own_window;
            let state = match tracked.ca_state(snd) {
                _ if recovering => CaState::Recovery,
                CaState::Loss if repairs => CaState::Loss,
                _ if snd.win.held => CaState::Cwr,
                state => state,
            };
            tracked.notify(snd, state);
        }
    }

    /// A timeout was spurious.
    pub fn undo(&mut self, snd: &mut SendState) {
        if let Some(tracked) = &mut self.0 {
            tracked.loss_end = 0;
            tracked.tracker.control.undo(&mut snd.win, false);
        }
    }

    /// The sender begins again after a pause. Returns whether the control sets the window itself.
    pub fn on_restart(&mut self, snd: &mut SendState, idle: Duration, now: Instant) -> bool {
        let Some(tracked) = &mut self.0 else { return false };
        tracked.tracker.control.on_restart(&mut snd.win, idle, now);
        tracked.tracker.set_pace(snd);
        tracked.tracker.flags.own_window
    }
}

/// What a recovery changes and uses: a sender's sequence numbers and windows, its rules, and its
/// congestion control.
pub(crate) struct Windows<'a> {
    pub rules: &'a Rules,
    pub snd: &'a mut SendState,
    pub control: &'a mut ClassicControl,
}

impl Windows<'_> {
    /// `acked` new sequence numbers were acknowledged, and the window may grow.
    #[inline(always)]
    pub fn grow(&mut self, acked: u64) {
        let snd = &mut *self.snd;
        if snd.win.held {
            return;
        }
        match &mut self.control.0 {
            None => {
                let window = snd.window();
                self.rules.reno.grow(&mut snd.win, window, acked);
            }
            Some(tracked) => tracked.notify(snd, tracked.ca_state(snd)),
        }
    }

    /// A loss was noticed; `extra` bytes went out by limited transmit. Reduces threshold and window,
    /// and then inflates the window by `inflation`.
    pub fn on_loss(&mut self, extra: u64, inflation: u64) {
        let snd = &mut *self.snd;
        let covered = snd.echo_covers_loss(self.rules.cwr_state);
        let flight = snd.flight();
        snd.win.cwnd = match &mut self.control.0 {
            None if covered => snd.win.cwnd.min(snd.win.ssthresh),
            None => self.rules.reno.cut_at_loss(&mut snd.win, &flight, extra),
            Some(tracked) => {
                if !(covered && tracked.answers_marks_as_losses()) {
                    tracked.tracker.control.on_congestion(
                        &mut snd.win,
                        &flight,
                        Cause::Loss,
                        tracked.now,
                    );
                }
                tracked.inflation = 0;
                let own = tracked.tracker.flags.own_window;
                if own { snd.win.cwnd } else { snd.win.cwnd.min(snd.win.ssthresh) }
            }
        };
        self.inflate(inflation);
    }

    /// The first unacknowledged segment is retransmitted at once: a recovery begins.
    pub fn fast_retransmit(&mut self) -> Reaction {
        self.snd.resend = true;
        let program = self.rules.implementation;
        Reaction {
            entered: true,
            stop_timer: program != Implementation::Rfc,
            resend_only: program == Implementation::Bsd,
        }
    }

    /// The retransmission timer expired: reduces threshold and window.
    pub fn on_timeout(&mut self, now: Instant) {
        let snd = &mut *self.snd;
        let repeated = snd.timed_out;
        let covered = snd.echo_covers_loss(false) && !self.rules.cwr_state;
        snd.timed_out = true;
        let flight = snd.flight();
        match &mut self.control.0 {
            None if covered => {}
            None => self.rules.reno.cut_at_timeout(&mut snd.win, &flight, repeated),
            Some(tracked) => {
                tracked.now = now;
                if !(covered && tracked.answers_marks_as_losses() || repeated) {
                    tracked.tracker.control.on_congestion(
                        &mut snd.win,
                        &flight,
                        Cause::Timeout,
                        now,
                    );
                }
                (tracked.inflation, tracked.loss_end) = (0, snd.max);
                tracked.mark_all_lost(snd);
                snd.win.cwnd = snd.mss();
                tracked.tracker.control.on_timeout(&snd.win, &flight, now);
            }
        }
        snd.win.cwnd = snd.mss();
    }

    /// An ECN echo requires a reduction. Returns whether it was made: a control may read marks
    /// itself.
    pub fn on_echo(&mut self, cut: EchoCut) -> bool {
        let snd = &mut *self.snd;
        let flight = snd.flight();
        match &mut self.control.0 {
            None => self.rules.reno.cut_by_echo(&mut snd.win, &flight, cut),
            Some(tracked) if tracked.tracker.flags.own_marks => return false,
            Some(tracked) => tracked.on_echo(snd, cut),
        }
        if self.rules.cwr_state {
            snd.win.cwnd = snd.win.ssthresh;
        }
        (snd.reduced, snd.win.by_echo) = (snd.max, true);
        true
    }

    /// Duplicates show that `bytes` have left the network.
    #[inline]
    pub fn inflate(&mut self, bytes: u64) {
        match &mut self.control.0 {
            Some(tracked) if tracked.tracker.flags.own_window => tracked.inflation += bytes,
            _ => self.snd.win.cwnd += bytes,
        }
    }

    /// Takes back what duplicates have added: the window becomes `window`; for a control that sets
    /// its window itself, the inflation becomes `rest` bytes.
    pub fn deflate(&mut self, window: u64, rest: u64) {
        match &mut self.control.0 {
            Some(tracked) if tracked.tracker.flags.own_window => tracked.inflation = rest,
            _ => self.snd.win.cwnd = window,
        }
    }
}

/// An ACK as the control's tracker processes it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct AckNews<'a> {
    pub segment: &'a Segment,
    /// Number of sequence numbers that the segment newly acknowledges.
    pub acked: u64,
    /// Bytes that the acknowledgement reports as arrived and marked.
    pub marked: u64,
    /// The peer uses SACK: a duplicate without blocks does not count.
    pub sack: bool,
    pub now: Instant,
}

impl Tracked {
    fn on_echo(&mut self, snd: &mut SendState, cut: EchoCut) {
        let before = snd.win.cwnd;
        let flight = snd.flight();
        self.tracker.control.on_congestion(&mut snd.win, &flight, Cause::Mark, self.now);
        if let EchoCut::Beta(beta) = cut {
            snd.win.ssthresh = beta.threshold(before, snd.mss());
        }
        if !self.tracker.flags.own_window {
            snd.win.cwnd = snd.win.cwnd.min(snd.win.ssthresh);
        }
    }

    fn on_sent(&mut self, snd: &mut SendState, chunk: Chunk, now: Instant) {
        if chunk.seq < snd.max {
            // A classic recovery knows that a segment was lost when it retransmits the segment.
            let number = self.tracker.board.find(chunk.seq);
            let record = self.tracker.board.get(number);
            if !record.lost && !record.sacked {
                self.tracker.mark_lost(snd, number, now);
            }
        }
        self.tracker.on_sent(snd, chunk, now);
    }

    fn process_ack(&mut self, snd: &SendState, news: &AckNews) {
        let AckNews { segment, acked, marked, sack, now } = *news;
        self.now = now;
        let in_flight_before = self.tracker.board.in_flight;
        let mut info = AckInfo::default();
        info.advances = acked > 0;
        self.tracker.take_cumulative(segment.ack, |_| false, 0, now, &mut info);
        if segment.sack.reports() {
            self.tracker.take_reports(segment, 0, now, &mut info);
        }
        if !sack {
            let goes_on = snd.una < snd.reduced;
            self.tracker.count_duplicates(segment, snd.mss(), (goes_on, true), &mut info);
        }
        let rtt = self.tracker.round_trips(&info, now).map(|(_, path)| path);
        if let Some(rtt) = rtt {
            self.smooth(rtt);
        }
        info.lost = self.tracker.rate.lost - self.lost;
        self.lost = self.tracker.rate.lost;
        let marked = marked.min(info.delivered);
        self.tracker.report_marks(snd, info.delivered, marked);
        let seen =
            Seen { now, rtt, marked, in_flight_before, ca_state: CaState::Open, any_order: false };
        self.ack = Some(self.tracker.sample(snd, &info, seen));
        self.tracker.run_dry_if_done(snd, 0, now);
    }
}

#[cfg(test)]
mod tests;
