//! Changes of the recovery state: fast recovery, the answer to marks, timeouts, and their undo.

use packet::{Duration, Instant};

use super::ack::{AckContext, Outcome};
use super::prr::Prr;
use super::{RackSender, TailLossProbe};
use crate::congestion::{CaState, Cause, EcnMode};
use crate::f_rto::{Evidence, FRto, Verdict};
use crate::recovery::Detection;
use crate::segment::Segment;
use crate::send_state::SendState;
use crate::tracker::AckInfo;

impl RackSender {
    /// Updates state and windows, after the records have taken an acknowledgement.
    pub(super) fn judge(
        &mut self,
        cx: &mut AckContext,
        segment: &Segment,
        info: &mut AckInfo,
        outcome: &mut Outcome,
    ) {
        if info.duplicate.is_some() {
            self.note_duplicate(cx.snd, info);
        }
        if self.probe.end != 0 && segment.ack >= self.probe.end {
            self.judge_probe(cx, segment, info, outcome);
        }
        let before = self.state;
        if before != CaState::Open {
            self.judge_state(cx, segment, info, outcome);
        } else {
            self.resent_at = None;
            if info.duplicate.is_some() && self.every_copy_came_twice() {
                // The recovery is over, and was spurious (Linux's `tcp_try_undo_dsack`).
                self.undo_reduction(cx.snd, outcome);
            }
        }
        info.lost = self.find_lost(cx.snd, info.advances, cx.moment.at);
        // The next recovery follows at once if segments lost meanwhile are still unacknowledged,
        // retransmitted or not (Linux's `tcp_time_to_recover`: `lost_out`).
        let follows = before == CaState::Recovery && self.state == CaState::Open;
        if self.tracker.board.waiting > 0 || follows && self.tracker.board.has_lost() {
            self.enter_recovery(cx.snd, cx.moment.at, follows, outcome);
        }
    }

    /// RFC 8985 section 7.4: checks whether the probe repaired a loss, for which the window is then
    /// reduced.
    fn judge_probe(
        &mut self,
        cx: &mut AckContext,
        segment: &Segment,
        info: &AckInfo,
        outcome: &mut Outcome,
    ) {
        let twice = info.duplicate.is_some_and(|(_, end)| end == self.probe.end);
        let plain_duplicate = !info.advances && !info.reported && segment.len == 0;
        if !self.probe.resent || twice || plain_duplicate {
            self.probe = TailLossProbe::default();
        } else if segment.ack > self.probe.end {
            self.probe = TailLossProbe::default();
            if self.state == CaState::Open {
                self.undo = None;
                self.reduce(cx.snd, Cause::Loss, cx.moment.at);
                self.end_reduction(cx.snd);
                outcome.reduced = true;
            }
        }
    }

    fn judge_state(
        &mut self,
        cx: &mut AckContext,
        segment: &Segment,
        info: &AckInfo,
        outcome: &mut Outcome,
    ) {
        let may_undo = self.may_undo(cx, segment, info);
        let snd = &mut *cx.snd;
        let passed = self.has_passed(snd);
        match self.state {
            CaState::Open => {}
            // Above the recovery point, so that CWR has reached the receiver.
            CaState::Cwr if snd.una > self.recovery_point => {
                self.state = CaState::Open;
                self.end_reduction(snd);
            }
            CaState::Cwr => {}
            CaState::Recovery | CaState::Loss if may_undo => {
                if self.state == CaState::Recovery && info.advances {
                    // The segment that filled the hole was only late (Linux's
                    // `tcp_try_undo_partial`).
                    self.tracker.reordering.note_late(info.from);
                    self.tracker.reordering.measure(snd.mss());
                }
                self.undo_reduction(snd, outcome);
            }
            CaState::Recovery if passed => {
                self.exit_recovery();
                self.end_reduction(snd);
            }
            CaState::Recovery => {}
            CaState::Loss => self.judge_timeout(snd, info, passed, outcome),
        }
    }

    /// Processes an acknowledgement after a timeout, by F-RTO if that is under way.
    pub(super) fn judge_timeout(
        &mut self,
        snd: &mut SendState,
        info: &AckInfo,
        passed: bool,
        outcome: &mut Outcome,
    ) {
        if self.f_rto != FRto::Off && info.original {
            return self.undo_reduction(snd, outcome);
        }
        if passed {
            return self.exit_recovery();
        }
        if self.f_rto == FRto::Off {
            return;
        }
        let evidence = Evidence {
            advances: info.advances,
            original: false,
            decides: info.advances || self.f_rto == FRto::SecondAck,
            new_data: self.new_data_fits(snd),
        };
        if self.f_rto.on_ack(evidence) == Verdict::SendNew {
            self.recovery_point = snd.max;
        }
    }

    fn new_data_fits(&self, snd: &SendState) -> bool {
        let room = snd.win.cwnd.saturating_sub(self.tracker.board.in_flight);
        snd.new_chunk().is_some_and(|chunk| chunk.len > 0 && u64::from(chunk.len) <= room)
    }

    /// Ends a recovery, which may still turn out to have been spurious.
    pub(super) fn exit_recovery(&mut self) {
        (self.state, self.f_rto) = (CaState::Open, FRto::Off);
        self.tracker.board.set_dupacks(0, 0);
        self.tracker.reordering.on_recovered();
    }

    /// Ends a reduction: the window becomes the threshold (RFC 6937).
    fn end_reduction(&mut self, snd: &mut SendState) {
        if !self.tracker.flags.own_window {
            snd.win.cwnd = snd.win.ssthresh;
        }
    }

    /// Whether marks reduce the window at once. Linux reduces it step by step, for DCTCP too; there
    /// a scalable control sets its window itself (`prague_cong_control`).
    fn cuts_at_once(&self) -> bool {
        self.tracker.flags.ecn == EcnMode::Scalable
    }

    /// Whether the window is reduced to the threshold step by step, at each acknowledgement.
    pub(super) fn is_led(&self) -> bool {
        let led = match self.state {
            CaState::Recovery => true,
            CaState::Cwr => !self.cuts_at_once(),
            CaState::Open | CaState::Loss => false,
        };
        led && !self.tracker.flags.own_window
    }

    /// A reduction of the window begins (Linux's `tcp_init_cwnd_reduction`).
    fn reduce(&mut self, snd: &mut SendState, cause: Cause, now: Instant) {
        self.recovery_point = snd.max;
        self.prr = Prr::begin(snd.win.cwnd);
        self.probe = TailLossProbe::default();
        let flight = snd.flight();
        self.tracker.control.on_congestion(&mut snd.win, &flight, cause, now);
    }

    /// Losses were found. A window that marks have reduced already is not reduced once more, except
    /// where a control answers marks with less than a loss (RFC 8257 section 3.4): DCTCP's
    /// threshold becomes half of the window at this moment, and the current reduction goes on to it
    /// (Linux's `dctcp_react_to_loss`). `follows`: the current acknowledgement has ended a
    /// recovery.
    pub(super) fn enter_recovery(
        &mut self,
        snd: &mut SendState,
        now: Instant,
        follows: bool,
        outcome: &mut Outcome,
    ) {
        match self.state {
            CaState::Recovery => return,
            // RFC 5681 section 4.3: the loss of a retransmission is a second indication of
            // congestion. As in Linux only after a timeout; that it cannot be undone is our own
            // rule.
            CaState::Loss if !self.retransmission_lost => return,
            CaState::Cwr if !self.cuts_at_once() => {
                self.undo = Some(self.remember(snd));
                self.recovery_point = snd.max;
                if self.tracker.flags.ecn == EcnMode::Dctcp {
                    let flight = snd.flight();
                    self.tracker.control.on_congestion(&mut snd.win, &flight, Cause::Loss, now);
                }
            }
            CaState::Open if follows && self.tracker.flags.joins_recoveries => {
                self.recovery_point = snd.max;
            }
            state => {
                self.undo = (state != CaState::Loss).then(|| self.remember(snd));
                self.reduce(snd, Cause::Loss, now);
                outcome.reduced = true;
            }
        }
        (self.state, self.f_rto) = (CaState::Recovery, FRto::Off);
        self.timers.probe = Instant::NEVER;
        outcome.entered = true;
    }

    /// Reduces the window for reported marks: once per window of data (RFC 3168 section 6.1.2), and
    /// not while losses are repaired.
    pub(super) fn answer_marks(
        &mut self,
        snd: &mut SendState,
        now: Instant,
        outcome: &mut Outcome,
    ) {
        if self.state == CaState::Open && !self.tracker.flags.own_marks {
            self.undo = None;
            let before = snd.win.cwnd;
            self.reduce(snd, Cause::Mark, now);
            if let Some(beta) = self.settings.beta_ecn {
                snd.win.ssthresh = beta.threshold(before, snd.mss());
            }
            if self.cuts_at_once() {
                self.end_reduction(snd);
            }
            self.state = CaState::Cwr;
            (outcome.reduced, outcome.by_echo) = (true, true);
        }
    }

    /// Marks the segment of a record as lost.
    pub(super) fn mark_lost(&mut self, snd: &SendState, number: u64, now: Instant) {
        self.retransmission_lost |= self.tracker.board.get(number).resent;
        self.tracker.mark_lost(snd, number, now);
    }

    /// The reordering timer has expired: segments that are still missing are lost.
    pub fn on_reorder(&mut self, snd: &mut SendState, now: Instant) -> Outcome {
        let mut outcome = Outcome::default();
        self.find_lost(snd, false, now);
        if self.tracker.board.waiting > 0 {
            self.enter_recovery(snd, now, false, &mut outcome);
            if outcome.entered && !self.tracker.flags.own_window {
                // Linux's `tcp_rack_reo_timeout`: as if a segment had been delivered. If a recovery
                // is already under way, the window stays: there may be no acknowledgement left to
                // open it.
                self.prr.on_ack(snd, self.tracker.board.in_flight, snd.mss(), false);
            }
        }
        outcome
    }

    /// The timer of the tail loss probe has expired: one segment is sent, whatever the window.
    pub fn on_probe(&mut self) {
        self.probe.due = !self.tracker.board.is_empty();
    }

    /// The retransmission timer has expired for the `timeouts`-th time in a row. All segments in
    /// flight are lost; with RACK only the first one, and those sent at least a round trip ago (RFC
    /// 8985 section 6.3; `tcp_timeout_mark_lost`).
    pub fn on_timeout(&mut self, snd: &mut SendState, timeouts: u8, rto: Duration, now: Instant) {
        let repairing = matches!(self.state, CaState::Recovery | CaState::Loss);
        let afresh = self.state == CaState::Open
            || snd.una >= self.recovery_point
            || (self.state == CaState::Loss && timeouts == 1);
        if afresh {
            self.undo = Some(self.remember(snd));
            self.reduce(snd, Cause::Timeout, now);
        }
        if self.state == CaState::Open && self.tracker.board.sacked >= self.settings.threshold {
            self.tracker.reordering.forget_degree();
        }
        self.recovery_point = snd.max;
        self.state = CaState::Loss;
        let on_trial = self.settings.f_rto && (!repairing || timeouts > 1);
        self.f_rto = if on_trial { FRto::FirstAck } else { FRto::Off };
        self.probe = TailLossProbe::default();
        self.tracker.board.set_dupacks(0, 0);
        self.lose_at_timeout(snd, now);
        snd.win.cwnd = self.tracker.board.in_flight + snd.mss();
        // As in `tcp_enter_loss`, after the losses are counted.
        self.tracker.control.on_timeout(&snd.win, &snd.flight(), now);
        self.rto = rto;
        self.timers.stop();
        self.timers.rto = self.timeout_from(now);
        self.timers.pace = Instant::NEVER;
    }

    fn lose_at_timeout(&mut self, snd: &SendState, now: Instant) {
        let first = self.tracker.board.first();
        let spares = self.settings.detection == Detection::Rack;
        let mut next = self.tracker.board.oldest();
        while let Some(number) = next {
            next = self.tracker.board.after(number);
            let sent = self.tracker.board.get(number).at;
            let young = spares && number != first && sent + self.tracker.reordering.rtt > now;
            if !young {
                self.mark_lost(snd, number, now);
            }
        }
        // Segments that RACK had found lost, and an undo had unmarked, are not in the list.
        for number in first..self.tracker.board.end() {
            let record = self.tracker.board.get(number);
            let young = spares && number != first && record.at + self.tracker.reordering.rtt > now;
            if record.overtaken && record.travels() && !young {
                self.mark_lost(snd, number, now);
            }
        }
    }
}
