//! Startup and Drain (sections 5.3.1 and 5.3.2): Startup doubles the rate until it no longer grows
//! or too much is lost; Drain empties the queue that this made.

use super::{Bbr3, State};

/// Growth of the delivery rate that counts as growth, and number of rounds without it after which
/// the pipe is full.
const GROWTH: f64 = 1.25;
const FLAT_ROUNDS: u32 = 3;
/// Acknowledgements with losses in one round that end Startup, if more than 2 % is lost.
const LOSS_EVENTS: u32 = 6;
/// Rounds after which Drain ends even with a queue.
const DRAIN_ROUNDS: u64 = 3;

/// The estimator of a full pipe (section 5.3.1.2).
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct FullPipe {
    /// The delivery rate with which growth is compared, bytes per second.
    pub baseline: f64,
    flat_rounds: u32,
    /// The pipe was found full since the last reset.
    pub now: bool,
    /// The pipe was found full at any time.
    pub reached: bool,
    drain_from: u64,
    loss_events: u32,
}

impl FullPipe {
    /// Starts the search again, for growth beyond `baseline`.
    pub fn reset(&mut self, baseline: f64) {
        self.baseline = baseline;
        self.flat_rounds = 0;
        self.now = false;
    }
}

impl Bbr3 {
    pub(super) fn check_full_pipe(&mut self) {
        let (pipe, sample) = (&mut self.pipe, &self.sample);
        if pipe.now || !self.rounds.started || sample.app_limited {
            return;
        }
        if sample.rate >= pipe.baseline * GROWTH {
            return pipe.reset(sample.rate);
        }
        pipe.flat_rounds += 1;
        pipe.now = pipe.flat_rounds >= FLAT_ROUNDS;
        pipe.reached |= pipe.now;
    }

    pub(super) fn enter_startup(&mut self) {
        self.state = State::Startup;
    }

    pub(super) fn check_startup_done(&mut self) {
        self.check_startup_loss();
        if self.state == State::Startup && self.pipe.reached {
            self.state = State::Drain;
            self.pipe.drain_from = self.rounds.count;
        }
    }

    /// Section 5.3.1.3: ends Startup if too much was lost in a round of a recovery.
    fn check_startup_loss(&mut self) {
        if self.state != State::Startup || self.pipe.reached {
            return;
        }
        self.pipe.loss_events += u32::from(self.sample.newly_lost > 0);
        if !self.rounds.loss_started {
            return;
        }
        let many = self.pipe.loss_events >= LOSS_EVENTS;
        self.pipe.loss_events = 0;
        if many
            && self.in_recovery()
            && self.settings.too_much_lost(self.sample.lost, self.sample.sent_in_flight)
        {
            self.end_startup_by_loss();
        }
    }

    pub(super) fn end_startup_by_loss(&mut self) {
        self.undo.state = Some(State::Startup);
        self.pipe.reached = true;
        let bdp = self.bdp_multiple(self.model.bw, 1.0);
        self.model.inflight_longterm = bdp.max(self.model.inflight_latest);
    }

    pub(super) fn check_drain_done(&mut self) {
        if self.state != State::Drain {
            return;
        }
        let drained = self.sample.in_flight <= self.inflight(self.model.bw, 1.0);
        if drained || self.rounds.count > self.pipe.drain_from + DRAIN_ROUNDS {
            self.start_down();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::super::control::CaState;
    use super::*;

    #[test]
    fn losses_end_startup_and_no_other_state() {
        // Section 5.3.1.3: six acknowledgements with losses and more than 2 % lost in a round of a
        // recovery. ProbeRTT before the pipe was full is not Startup.
        for (state, events, ends) in
            [(State::Startup, 6, true), (State::Startup, 5, false), (State::ProbeRtt, 6, false)]
        {
            let mut bbr = Bbr3 { state, ca_state: CaState::Recovery, ..Bbr3::default() };
            (bbr.sample.newly_lost, bbr.sample.lost) = (1_000, 3_000);
            bbr.sample.sent_in_flight = 100_000;
            for event in 1..=events {
                bbr.rounds.loss_started = event == events;
                bbr.check_startup_loss();
            }
            assert_eq!(bbr.pipe.reached, ends, "{state:?}, {events}");
        }
    }

    #[test]
    fn drain_ends_after_three_rounds_even_with_a_queue() {
        // CheckDrainDone: BBR.round_count > BBR.drain_start_round + 3.
        for (count, ends) in [(13, false), (14, true), (15, true)] {
            let mut bbr = Bbr3 { state: State::Drain, ..Bbr3::default() };
            (bbr.pipe.drain_from, bbr.rounds.count) = (10, count);
            bbr.sample.in_flight = 1_000_000;
            bbr.check_drain_done();
            assert_eq!(bbr.state == State::Down, ends, "round {count}");
        }
    }
}
