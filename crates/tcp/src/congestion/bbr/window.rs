//! Pacing rate and window of BBR.

use packet::Duration;

use super::super::control::CaState;
use super::{BW_SCALE, BW_UNIT, Bbr, HIGH_GAIN, Mode, SCALE, UNIT, micros};
use crate::send_state::Window;

/// bbr_cwnd_min_target: smallest window, packets.
pub(super) const MIN_CWND: u64 = 4;
/// TCP_INIT_CWND: window while no round-trip time is known, packets.
const INITIAL_CWND: u64 = 10;
/// bbr_pacing_margin_percent: the pacing rate is this much below the modelled rate.
const MARGIN_PERCENT: u64 = 1;
/// bbr_extra_acked_max_us: the window grows for aggregated acknowledgements by at most the data of
/// this time at the rate, microseconds.
const EXTRA_MOST_US: u64 = 100_000;
/// bbr_tso_segs_goal: a burst is about a millisecond at the pacing rate (sk_pacing_shift), at most
/// the bytes of an sk_buff (GSO_LEGACY_MAX_SIZE - 1 - MAX_TCP_HEADER, 320 B on x86-64) and 127
/// packets.
const PACING_SHIFT: u32 = 10;
const GSO_MOST: u64 = 65_536 - 1 - 320;
const GOAL_MOST: u64 = 0x7f;
/// bbr_min_tso_rate, bytes per second: below it, bursts are of one packet.
const MIN_TSO_RATE: u64 = 1_200_000 >> 3;

/// The state saved during a recovery.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Saved {
    /// prior_cwnd: the window before the recovery or ProbeRTT, packets.
    pub cwnd: u64,
    /// prev_ca_state: the state of loss recovery at the last acknowledgement.
    pub state: CaState,
    /// packet_conservation: no more is sent than is delivered.
    pub conserves: bool,
}

/// The kernel's `bbr_rate_bytes_per_sec`: a rate times a gain in bytes per second, less the margin.
pub(super) fn bytes_per_s(bw: u64, gain: u64, mss: u64) -> u64 {
    let rate = (u128::from(bw) * u128::from(mss) * u128::from(gain)) >> SCALE;
    ((rate * u128::from(1_000_000 / 100 * (100 - MARGIN_PERCENT))) >> BW_SCALE) as u64
}

fn repairs(state: CaState) -> bool {
    matches!(state, CaState::Recovery | CaState::Loss)
}

impl Bbr {
    /// `bbr_init_pacing_rate_from_rtt`: the window per round-trip time, 1 ms where none is known,
    /// times the high gain.
    pub(super) fn init_pacing_rate(&mut self, cwnd: u64, srtt: Duration) {
        self.has_seen_rtt = srtt > Duration::ZERO;
        let rtt_us = if self.has_seen_rtt { micros(srtt).max(1) } else { 1_000 };
        let bw = cwnd / self.mss * BW_UNIT / rtt_us;
        self.pacing_rate = bytes_per_s(bw, HIGH_GAIN, self.mss);
    }

    pub(super) fn set_pacing_rate(&mut self, win: &Window, bw: u64, gain: u64, srtt: Duration) {
        if !self.has_seen_rtt && srtt > Duration::ZERO {
            self.init_pacing_rate(win.cwnd, srtt);
        }
        self.pace_at(bw, gain);
    }

    /// Sets the pacing rate; before the pipe was full it only rises.
    pub(super) fn pace_at(&mut self, bw: u64, gain: u64) {
        let rate = bytes_per_s(bw, gain, self.mss);
        if self.pipe.reached || rate > self.pacing_rate {
            self.pacing_rate = rate;
        }
    }

    /// The kernel's `bbr_min_tso_segs`: smallest burst, packets.
    pub(super) fn min_tso_segs(&self) -> u64 {
        if self.pacing_rate < MIN_TSO_RATE { 1 } else { 2 }
    }

    /// `bbr_tso_segs_goal`: packets of a burst. (The window has room for bursts even if segments
    /// are sent one by one.)
    fn tso_segs_goal(&self) -> u64 {
        let bytes = (self.pacing_rate >> PACING_SHIFT).min(GSO_MOST);
        (bytes / self.mss).max(self.min_tso_segs()).min(GOAL_MOST)
    }

    pub(super) fn bdp(&self, bw: u64, gain: u64) -> u64 {
        let Some(min_us) = self.trips.min_us else { return INITIAL_CWND };
        ((bw * min_us * gain) >> SCALE).div_ceil(BW_UNIT)
    }

    /// The kernel's `bbr_quantization_budget`: `cwnd` with room for bursts, packets.
    fn with_budget(&self, cwnd: u64) -> u64 {
        let cwnd = (cwnd + 3 * self.tso_segs_goal()).next_multiple_of(2);
        let probes = self.mode == Mode::ProbeBw && self.cycle.index == 0;
        cwnd + if probes { 2 } else { 0 }
    }

    pub(super) fn inflight(&self, bw: u64, gain: u64) -> u64 {
        self.with_budget(self.bdp(bw, gain))
    }

    pub(super) fn packets_in_net_at_edt(&self, in_flight: u64) -> u64 {
        let delivered = (self.bw() * self.sample.wait_us) >> BW_SCALE;
        let more = if self.pacing_gain > UNIT { self.tso_segs_goal() } else { 0 };
        (in_flight + more).saturating_sub(delivered)
    }

    /// `bbr_ack_aggregation_cwnd`: packets that the window gets for aggregated acknowledgements
    /// (bbr_extra_acked_gain is one).
    fn aggregation_cwnd(&self) -> u64 {
        if !self.pipe.reached {
            return 0;
        }
        self.aggregation.greatest().min(self.bw() * EXTRA_MOST_US / BW_UNIT)
    }

    pub(super) fn save_cwnd(&mut self, win: &Window) {
        let cwnd = win.cwnd / self.mss;
        let cut = repairs(self.saved.state) || self.mode == Mode::ProbeRtt;
        self.saved.cwnd = if cut { self.saved.cwnd.max(cwnd) } else { cwnd };
    }

    pub(super) fn set_cwnd(&mut self, win: &mut Window, state: CaState) {
        let mut cwnd = win.cwnd / self.mss;
        if self.sample.acked > 0 {
            cwnd = self.recover_or_restore(cwnd, state);
            if !self.saved.conserves {
                cwnd = self.grow(cwnd);
            }
        }
        if self.mode == Mode::ProbeRtt {
            cwnd = cwnd.min(MIN_CWND);
        }
        win.cwnd = cwnd * self.mss;
    }

    /// Slow start towards the target; once the pipe was full, the target also bounds the window.
    fn grow(&self, cwnd: u64) -> u64 {
        let acked = self.sample.acked;
        let volume = self.bdp(self.bw(), self.cwnd_gain) + self.aggregation_cwnd();
        let target = self.with_budget(volume);
        let cwnd = if self.pipe.reached {
            (cwnd + acked).min(target)
        } else if cwnd < target || self.delivered < INITIAL_CWND {
            cwnd + acked
        } else {
            cwnd
        };
        cwnd.max(MIN_CWND)
    }

    /// `bbr_set_cwnd_to_recover_or_restore`: lost packets are subtracted from the window; the first
    /// round of a recovery sends as much as is delivered; the end of a recovery restores the
    /// window.
    fn recover_or_restore(&mut self, cwnd: u64, state: CaState) -> u64 {
        let sample = &self.sample;
        let conserving = sample.in_flight + sample.acked;
        let mut cwnd =
            if sample.losses > 0 { cwnd.saturating_sub(sample.losses).max(1) } else { cwnd };
        let before = self.saved.state;
        if state == CaState::Recovery && before != CaState::Recovery {
            self.saved.conserves = true;
            self.rounds.next_delivered = self.delivered_bytes;
            cwnd = conserving;
        } else if repairs(before) && !repairs(state) {
            cwnd = cwnd.max(self.saved.cwnd);
            self.saved.conserves = false;
        }
        self.saved.state = state;
        if self.saved.conserves { cwnd.max(conserving) } else { cwnd }
    }
}
