//! How losses and marks change the model, and how a spurious loss is undone (sections 5.5.10,
//! 5.5.11).

use super::super::control::Lost;
use super::{Bbr3, Settings, State};
use crate::send_state::Window;

/// The state that is saved at the start of a recovery (section 2.15).
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Undo {
    /// The state that the sender left because of a loss.
    pub state: Option<State>,
    /// Whether the model is saved, for a recovery that is about to begin or under way.
    pub saved: bool,
    bw_shortterm: f64,
    inflight_shortterm: u64,
    inflight_longterm: u64,
}

impl Settings {
    /// `IsInflightTooHigh`: whether `lost` of `sent_in_flight` bytes are above the threshold.
    pub(super) fn too_much_lost(&self, lost: u64, sent_in_flight: u64) -> bool {
        lost as f64 > sent_in_flight as f64 * self.loss_threshold
    }

    /// Section 5.5.10.2: the bytes in flight at which losses crossed the threshold, within this
    /// segment.
    fn inflight_at_loss(&self, lost: &Lost) -> u64 {
        let before = lost.sent_in_flight.saturating_sub(lost.bytes) as f64;
        let lost_before = (lost.lost - lost.bytes) as f64;
        let prefix = (self.loss_threshold * before - lost_before) / (1.0 - self.loss_threshold);
        (before + prefix).max(0.0) as u64
    }
}

impl Bbr3 {
    /// `NoteLoss`; at the start of a recovery also saves the model.
    pub(super) fn note_loss(&mut self, win: &Window) {
        if self.rounds.loss {
            return;
        }
        self.rounds.loss = true;
        self.rounds.loss_delivered = self.delivered;
        self.save_cwnd(win);
        if !self.undo.saved {
            self.undo = Undo {
                state: None,
                saved: true,
                bw_shortterm: self.model.bw_shortterm,
                inflight_shortterm: self.model.inflight_shortterm,
                inflight_longterm: self.model.inflight_longterm,
            };
        }
    }

    /// The draft's `HandleLostPacket`: ends a probe if too much was lost.
    pub(super) fn handle_lost(&mut self, win: &Window, lost: &Lost) {
        self.note_loss(win);
        if self.cycle.probe_sample && self.settings.too_much_lost(lost.lost, lost.sent_in_flight) {
            self.too_high(win, self.settings.inflight_at_loss(lost), lost.app_limited);
        }
    }

    /// Treats a window with marks like a round trip with too much loss (our own choice, see
    /// `ENTRY`).
    pub(super) fn handle_mark(&mut self, win: &Window) {
        self.note_loss(win);
        if self.state == State::Startup && !self.pipe.reached {
            self.end_startup_by_loss();
        } else if self.cycle.probe_sample {
            self.too_high(win, self.sample.sent_in_flight, self.sample.app_limited);
        }
    }

    /// The draft's `HandleInflightTooHigh`: bounds the volume in flight, and ends a probe.
    fn too_high(&mut self, win: &Window, volume: u64, app_limited: bool) {
        self.cycle.too_high = true;
        self.cycle.probe_sample = false;
        if !app_limited {
            let floor = (self.target_inflight(win) as f64 * self.settings.beta) as u64;
            self.model.inflight_longterm = volume.max(floor);
        }
        if self.state == State::Up {
            self.undo.state = Some(State::Up);
            self.start_down();
        }
    }

    /// The draft's `HandleSpuriousLossDetection`: restores the model and the state before the loss.
    pub(super) fn handle_spurious_loss(&mut self, win: &mut Window) {
        self.restore_cwnd(win);
        self.rounds.loss = false;
        self.pipe.reset(0.0);
        let (model, undo) = (&mut self.model, self.undo);
        model.bw_shortterm = model.bw_shortterm.max(undo.bw_shortterm);
        model.inflight_shortterm = model.inflight_shortterm.max(undo.inflight_shortterm);
        model.inflight_longterm = model.inflight_longterm.max(undo.inflight_longterm);
        let elsewhere = self.state != State::ProbeRtt;
        match undo.state {
            Some(State::Startup) if self.state != State::Startup => {
                self.pipe.reached = false;
                if elsewhere {
                    self.enter_startup();
                }
            }
            Some(State::Up) if self.state != State::Up && elsewhere => self.start_refill(),
            _ => {}
        }
        self.undo.state = None;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use packet::Instant;

    #[test]
    fn losses_cross_two_percent_within_the_segment() {
        // 99,000 B are before the segment, 1,500 of them lost: (0.02 x 99,000 - 1,500) / 0.98 =
        // 489.8 B of the segment.
        let lost = Lost {
            now: Instant::ZERO,
            bytes: 1_000,
            sent_in_flight: 100_000,
            lost: 2_500,
            total_delivered: 0,
            app_limited: false,
        };
        let settings = Bbr3::default().settings;
        assert_eq!(settings.inflight_at_loss(&lost), 99_489);
        assert!(settings.too_much_lost(2_001, 100_000));
        assert!(!settings.too_much_lost(2_000, 100_000));
    }

    #[test]
    fn a_spurious_loss_takes_back_the_end_of_startup_only() {
        // HandleSpuriousLossDetection: "if (BBR.state != ProbeRTT && BBR.state != BBR.undo_state)";
        // a sender that returns to Startup has not filled the pipe.
        let after = |state, full| {
            let mut bbr = Bbr3 { state, ..Bbr3::default() };
            (bbr.pipe.reached, bbr.undo.state) = (full, Some(State::Startup));
            bbr.handle_spurious_loss(&mut Window::default());
            (bbr.state, bbr.pipe.reached)
        };
        assert_eq!(after(State::Drain, true), (State::Startup, false));
        assert_eq!(after(State::ProbeRtt, true), (State::ProbeRtt, false), "its stay ends first");
        assert_eq!(after(State::Startup, true), (State::Startup, true), "nothing was left");
    }

    #[test]
    fn a_spurious_loss_takes_back_the_end_of_a_probe_only() {
        // In the draft: "if (BBR.undo_state == ProbeBW_UP) BBRStartProbeBW_REFILL()".
        let after = |state| {
            let mut bbr = Bbr3 { state, ..Bbr3::default() };
            bbr.undo.state = Some(State::Up);
            bbr.handle_spurious_loss(&mut Window::default());
            bbr.state
        };
        for (state, then) in [
            (State::Down, State::Refill),
            (State::Cruise, State::Refill),
            (State::Up, State::Up),
            (State::ProbeRtt, State::ProbeRtt),
        ] {
            assert_eq!(after(state), then, "{state:?}");
        }
    }

    #[test]
    fn a_mark_ends_startup_alone() {
        // ProbeRTT before the pipe was full is followed by Startup.
        for (state, reached, then) in [
            (State::Startup, false, true),
            (State::ProbeRtt, false, false),
            (State::ProbeRtt, true, true),
        ] {
            let mut bbr = Bbr3 { state, ..Bbr3::default() };
            bbr.pipe.reached = reached;
            bbr.handle_mark(&Window::default());
            assert_eq!(bbr.pipe.reached, then, "{state:?}");
        }
    }
}
