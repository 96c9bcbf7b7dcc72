//! Between the states: fast recovery, the answer to marks, timeouts, and taking them back.

use packet::{Duration, Instant};

use super::ack::{Desk, News, Outcome};
use super::prr::Prr;
use super::{Probe, Rack};
use crate::congestion::{Cause, Feedback, Lost, Repair};
use crate::flight::Flight;
use crate::segment::Segment;

/// What is put back if every retransmission turns out to be needless (Linux's `tcp_undo_...`,
/// after RFC 3522 and RFC 3708).
#[derive(Clone, Copy, Debug)]
pub(super) struct Undo {
    cwnd: u64,
    ssthresh: u64,
    /// When the first segment was sent again.
    first: Option<Instant>,
    /// Retransmissions of which no duplicate was reported.
    pending: u32,
    /// First number not acknowledged when it began.
    since: u64,
}

/// Where the trial of a timeout stands (F-RTO, RFC 5682 section 3.1, as in Linux).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Trial {
    #[default]
    None,
    /// The first segment has been sent again.
    First,
    /// That was acknowledged; new data goes out.
    Second,
}

impl Rack {
    /// States and windows after an acknowledgement was digested.
    pub(super) fn judge(
        &mut self,
        desk: &mut Desk,
        segment: &Segment,
        news: &mut News,
        outcome: &mut Outcome,
    ) {
        if news.duplicate.is_some() {
            self.note_duplicate(desk.flight, news);
        }
        if self.probe.end != 0 && segment.ack >= self.probe.end {
            self.judge_probe(desk, segment, news, outcome);
        }
        if self.state != Repair::None {
            self.judge_state(desk, segment, news, outcome);
        } else if news.duplicate.is_some() && self.every_copy_came_twice() {
            // The recovery is over, and was needless (Linux's `tcp_try_undo_dsack`).
            self.take_back(desk.flight, outcome);
        }
        news.lost = self.find_lost(desk.flight, news.acked > 0, desk.moment.at);
        if self.board.waiting > 0 {
            self.enter_recovery(desk.flight, desk.moment.at, outcome);
        }
    }

    /// A duplicate was reported: RACK widens its window, unless it was the probe's; an undo comes
    /// nearer.
    fn note_duplicate(&mut self, flight: &Flight, news: &News) {
        let Some((_, end)) = news.duplicate else { return };
        if !(self.probe.resent && end == self.probe.end) {
            self.order.on_duplicate(flight.una, flight.max);
        }
        if let Some(undo) = &mut self.undo
            && end > undo.since
        {
            undo.pending = undo.pending.saturating_sub(1);
        }
    }

    /// RFC 8985 section 7.4: did the probe repair a loss, that would else go unanswered?
    fn judge_probe(
        &mut self,
        desk: &mut Desk,
        segment: &Segment,
        news: &News,
        outcome: &mut Outcome,
    ) {
        let twice = news.duplicate.is_some_and(|(_, end)| end == self.probe.end);
        let plain_duplicate = news.acked == 0 && !news.reported && segment.len == 0;
        if !self.probe.resent || twice || plain_duplicate {
            self.probe = Probe::default();
        } else if segment.ack > self.probe.end {
            self.probe = Probe::default();
            if self.state == Repair::None {
                self.undo = None;
                self.reduce(desk.flight, Cause::Loss, desk.moment.at);
                self.end_reduction(desk.flight);
                outcome.reduced = true;
            }
        }
    }

    fn judge_state(
        &mut self,
        desk: &mut Desk,
        segment: &Segment,
        news: &News,
        outcome: &mut Outcome,
    ) {
        let may_undo = self.may_undo(desk, segment, news);
        let flight = &mut *desk.flight;
        let passed = self.has_passed(flight);
        match self.state {
            Repair::None => {}
            // Above the point: CWR is to have reached the receiver.
            Repair::Reduction if flight.una > self.point => {
                self.state = Repair::None;
                self.end_reduction(flight);
            }
            Repair::Reduction => {}
            Repair::Recovery | Repair::Loss if may_undo => {
                self.take_back(flight, outcome);
            }
            Repair::Recovery if passed => {
                self.leave();
                self.end_reduction(flight);
            }
            Repair::Recovery => {}
            Repair::Loss if self.trial != Trial::None && news.original => {
                self.take_back(flight, outcome);
            }
            Repair::Loss if passed => self.leave(),
            Repair::Loss => self.go_on_with_trial(flight, news),
        }
    }

    /// F-RTO after an acknowledgement that has not shown old data to have arrived: the first that
    /// advances lets new data go; anything after that shows that the loss was real.
    fn go_on_with_trial(&mut self, flight: &Flight, news: &News) {
        self.trial = match self.trial {
            Trial::First if news.acked > 0 && self.new_data_fits(flight) => {
                self.point = flight.max;
                Trial::Second
            }
            Trial::First if news.acked == 0 => Trial::First,
            _ => Trial::None,
        };
    }

    fn new_data_fits(&self, flight: &Flight) -> bool {
        let room = flight.cwnd.saturating_sub(self.board.in_flight);
        flight.new_chunk().is_some_and(|chunk| chunk.len > 0 && u64::from(chunk.len) <= room)
    }

    /// Everything sent again was needless: each has been reported twice (RFC 3708), or the
    /// acknowledgement answers a segment sent before the first retransmission (RFC 3522).
    fn may_undo(&self, desk: &Desk, segment: &Segment, news: &News) -> bool {
        let Some(undo) = &self.undo else { return false };
        let Some(first) = undo.first else { return false };
        undo.pending == 0 || news.acked > 0 && desk.answers_earlier(segment, first)
    }

    fn every_copy_came_twice(&self) -> bool {
        self.undo.as_ref().is_some_and(|undo| undo.first.is_some() && undo.pending == 0)
    }

    fn take_back(&mut self, flight: &mut Flight, outcome: &mut Outcome) {
        outcome.needless = self.state == Repair::Loss;
        // What filled the hole was only late (Linux's `tcp_try_undo_partial`).
        self.order.reordering_seen |= self.state == Repair::Recovery;
        if let Some(undo) = self.undo {
            flight.cwnd = flight.cwnd.max(undo.cwnd);
            flight.ssthresh = flight.ssthresh.max(undo.ssthresh);
            self.control.undo(flight);
        }
        self.undo = None;
        if self.state != Repair::None {
            self.board.forgive();
            self.leave();
        }
    }

    /// The end of a recovery; that it was needless may still turn out.
    fn leave(&mut self) {
        (self.state, self.trial) = (Repair::None, Trial::None);
        self.board.hear(0, 0);
        self.order.on_recovered();
    }

    /// RFC 6937: the window ends at the threshold.
    fn end_reduction(&mut self, flight: &mut Flight) {
        if !self.manner.own_window {
            flight.cwnd = flight.ssthresh;
        }
    }

    /// Whether marks cut the window by less than a loss.
    fn answers_in_proportion(&self) -> bool {
        self.manner.ecn != Feedback::Classic
    }

    /// Whether the window is led to the threshold, a part at each acknowledgement, as Linux does
    /// for marks too; but not where they cut it in proportion. That is done at once (RFC 8257
    /// section 3.3, step 9): behind a step, segments sent meanwhile would be marked as well and cut
    /// the window once more.
    pub(super) fn is_led(&self) -> bool {
        let led = match self.state {
            Repair::Recovery => true,
            Repair::Reduction => !self.answers_in_proportion(),
            Repair::None | Repair::Loss => false,
        };
        led && !self.manner.own_window
    }

    /// A reduction of the window begins (Linux's `tcp_init_cwnd_reduction`).
    fn reduce(&mut self, flight: &mut Flight, cause: Cause, now: Instant) {
        self.point = flight.max;
        self.prr = Prr::begin(flight.cwnd);
        self.probe = Probe::default();
        self.control.on_congestion(flight, cause, now);
    }

    fn remember(&self, flight: &Flight) -> Undo {
        Undo {
            cwnd: flight.cwnd,
            ssthresh: flight.ssthresh,
            first: None,
            pending: u32::from(self.probe.resent && self.probe.end != 0),
            since: flight.una,
        }
    }

    /// A segment was sent again.
    pub(super) fn note_resent(&mut self, now: Instant) {
        if let Some(undo) = &mut self.undo {
            undo.first.get_or_insert(now);
            undo.pending += 1;
        }
    }

    /// Losses were found. In a window that marks have reduced already nothing more is reduced, but
    /// by a control whose answer to marks is less than that to a loss (RFC 8257 section 3.4; Linux's
    /// `dctcp_state`).
    fn enter_recovery(&mut self, flight: &mut Flight, now: Instant, outcome: &mut Outcome) {
        match self.state {
            Repair::Recovery => return,
            // RFC 5681 section 4.3: the loss of a retransmission is a second indication of
            // congestion. As in Linux only after a timeout, and (constructed) for good.
            Repair::Loss if !self.lost_again => return,
            Repair::Reduction if !self.answers_in_proportion() => self.point = flight.max,
            state => {
                self.undo = (state != Repair::Loss).then(|| self.remember(flight));
                self.reduce(flight, Cause::Loss, now);
                outcome.reduced = true;
            }
        }
        (self.state, self.trial) = (Repair::Recovery, Trial::None);
        self.timers.probe = Instant::NEVER;
        outcome.entered = true;
    }

    /// Marks were reported: once per window of data (RFC 3168 section 6.1.2), and not while losses
    /// are repaired.
    pub(super) fn answer_marks(
        &mut self,
        flight: &mut Flight,
        now: Instant,
        outcome: &mut Outcome,
    ) {
        if self.state == Repair::None && !self.manner.own_marks {
            self.undo = None;
            let before = flight.cwnd;
            self.reduce(flight, Cause::Mark, now);
            if let Some(beta) = self.today.beta_ecn {
                flight.ssthresh = beta.threshold(before, flight.mss());
            }
            if self.answers_in_proportion() {
                self.end_reduction(flight);
            }
            self.state = Repair::Reduction;
            (outcome.reduced, outcome.by_echo) = (true, true);
        }
    }

    /// A segment is taken for lost.
    pub(super) fn lose(&mut self, flight: &Flight, number: u64, now: Instant) {
        let record = self.board.get(number);
        let bytes = record.bytes();
        self.rate.lost += bytes;
        let lost = Lost {
            now,
            bytes,
            sent_in_flight: record.snapshot.in_flight,
            lost: self.rate.lost - record.snapshot.lost,
            total_delivered: self.rate.delivered,
            app_limited: record.snapshot.app_limited,
        };
        self.lost_again |= record.resent;
        self.board.lose(number);
        self.control.on_lost(flight, &lost);
    }

    /// The reordering timer: what still has not come is lost.
    pub fn on_reorder(&mut self, flight: &mut Flight, now: Instant) -> Outcome {
        let mut outcome = Outcome::default();
        self.find_lost(flight, false, now);
        if self.board.waiting > 0 {
            self.enter_recovery(flight, now, &mut outcome);
            if outcome.entered && !self.manner.own_window {
                // Linux's `tcp_rack_reo_timeout`: as if a segment had been delivered. In a recovery
                // under way the window stays: there may be no acknowledgement left to open it.
                self.prr.on_ack(flight, self.board.in_flight, flight.mss(), false);
            }
        }
        outcome
    }

    /// The probe's timer: one segment goes out, whatever the window.
    pub fn on_probe(&mut self) {
        self.probe.due = !self.board.is_empty();
    }

    /// The retransmission timer, for the `timeouts`-th time in a row. RFC 8985 section 6.3: lost
    /// are the first segment and all that had a round trip's time.
    pub fn on_timeout(&mut self, flight: &mut Flight, timeouts: u8, rto: Duration, now: Instant) {
        let repairing = matches!(self.state, Repair::Recovery | Repair::Loss);
        let afresh = self.state == Repair::None
            || flight.una >= self.point
            || (self.state == Repair::Loss && timeouts == 1);
        if afresh {
            self.undo = Some(self.remember(flight));
            self.reduce(flight, Cause::Timeout, now);
        }
        self.point = flight.max;
        self.state = Repair::Loss;
        let on_trial = self.today.tries_timeouts && (!repairing || timeouts > 1);
        self.trial = if on_trial { Trial::First } else { Trial::None };
        self.probe = Probe::default();
        self.board.hear(0, 0);
        self.lose_overdue(flight, now);
        flight.cwnd = self.board.in_flight + flight.mss();
        // As in `tcp_enter_loss`, when what is lost is counted.
        self.control.on_timeout(flight, now);
        self.rto = rto;
        self.timers.stop();
        self.timers.rto = now + rto;
        self.timers.pace = Instant::NEVER;
    }

    fn lose_overdue(&mut self, flight: &Flight, now: Instant) {
        let first = self.board.first();
        let mut next = self.board.oldest();
        while let Some(number) = next {
            next = self.board.after(number);
            let record = self.board.get(number);
            if number == first || record.at + self.order.rtt <= now {
                self.lose(flight, number, now);
            }
        }
    }
}
