//! Pacing rate and window from the model (section 5.6).

use super::{Bbr3, State};
use crate::send_state::Window;

/// Pacing rate as a share of the modelled rate (section 2.5).
const MARGIN: f64 = 0.99;
/// Smallest window (section 2.8), segments.
const MIN_SEGMENTS: u64 = 4;
/// Section 5.6.3: a quantum, which is sent at once, is the data that the pacing rate sends in
/// `QUANTUM_S` (s), within bounds in bytes and in segments. Section 5.5.8.1: the window has room
/// for `QUANTA` of them, which are on their way through the two hosts.
const QUANTUM_S: f64 = 0.001;
const QUANTUM_MOST: u64 = 65_536;
const QUANTUM_LEAST_SEGMENTS: u64 = 2;
const QUANTA: u64 = 3;

impl Bbr3 {
    pub(super) fn min_cwnd(&self) -> u64 {
        MIN_SEGMENTS * self.mss
    }

    /// The draft's `BDPMultiple`: a multiple of the bandwidth-delay product, bytes.
    pub(super) fn bdp_multiple(&self, bw: f64, gain: f64) -> u64 {
        match self.trips.least {
            None => self.initial_cwnd,
            Some(rtt) => (gain * bw * rtt.secs_f64()) as u64,
        }
    }

    fn offload_budget(&self) -> u64 {
        let quantum = ((self.pacing_rate * QUANTUM_S) as u64).min(QUANTUM_MOST);
        QUANTA * quantum.max(QUANTUM_LEAST_SEGMENTS * self.mss)
    }

    /// The draft's `QuantizationBudget`: a volume with room for bursts, bytes.
    fn with_budget(&self, volume: u64) -> u64 {
        let more = if self.state == State::Up { 2 * self.mss } else { 0 };
        volume.max(self.offload_budget()).max(self.min_cwnd()) + more
    }

    /// The draft's `Inflight`: the volume in flight for a rate and a gain, with room for bursts,
    /// bytes.
    pub(super) fn inflight(&self, bw: f64, gain: f64) -> u64 {
        self.with_budget(self.bdp_multiple(bw, gain))
    }

    /// `TargetInflight` (section 5.3.3.8): the volume that fills the path, bytes.
    pub(super) fn target_inflight(&self, win: &Window) -> u64 {
        self.bdp_multiple(self.model.bw, 1.0).min(win.cwnd)
    }

    /// `SetPacingRateWithGain`: before the pipe was full the rate only rises.
    pub(super) fn set_pacing_rate(&mut self, gain: f64) {
        let rate = gain * self.model.bw * MARGIN;
        if self.pipe.reached || rate > self.pacing_rate {
            self.pacing_rate = rate;
        }
    }

    /// Section 5.6.4.6: sets the window.
    pub(super) fn set_cwnd(&self, win: &mut Window) {
        let acked = self.sample.newly_acked;
        let volume = self.bdp_multiple(self.model.bw, self.state.cwnd_gain());
        let most = self.with_budget(volume + self.aggregation.extra());
        if self.pipe.reached {
            win.cwnd = (win.cwnd + acked).min(most);
        } else if win.cwnd < most || self.delivered < self.initial_cwnd {
            win.cwnd += acked;
        }
        win.cwnd = win.cwnd.max(self.min_cwnd());
        if self.state == State::ProbeRtt {
            win.cwnd = win.cwnd.min(self.probe_rtt_cwnd());
        }
        win.cwnd = win.cwnd.min(self.cap());
        if self.pipe.reached {
            // BBR does not use ssthresh, but the transport does: from ssthresh on, a window counts
            // as the limit of the sending only if it is full.
            win.ssthresh = win.cwnd;
        }
    }

    /// `BoundCwndForModel` (section 5.6.4.7): the largest window by the bounds of the model, bytes.
    fn cap(&self) -> u64 {
        let longterm = match self.state {
            State::Down | State::Refill | State::Up => self.model.inflight_longterm,
            State::Cruise | State::ProbeRtt => self.inflight_with_headroom(),
            State::Startup | State::Drain => super::UNBOUNDED,
        };
        longterm.min(self.model.inflight_shortterm).max(self.min_cwnd())
    }

    pub(super) fn probe_rtt_cwnd(&self) -> u64 {
        let gain = State::ProbeRtt.cwnd_gain();
        self.bdp_multiple(self.model.bw, gain).max(self.min_cwnd())
    }

    /// `SaveCwnd` (section 5.6.4.4): saves the window before a recovery or ProbeRTT.
    pub(super) fn save_cwnd(&mut self, win: &Window) {
        let reduced = self.in_recovery() || self.state == State::ProbeRtt;
        let last = if reduced { self.prior_cwnd } else { 0 };
        self.prior_cwnd = win.cwnd.max(last);
    }

    /// The draft's `RestoreCwnd`: restores the saved window if it is larger.
    pub(super) fn restore_cwnd(&self, win: &mut Window) {
        win.cwnd = win.cwnd.max(self.prior_cwnd);
    }
}
