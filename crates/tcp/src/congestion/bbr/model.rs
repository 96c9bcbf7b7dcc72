//! The model of the path: greatest delivery rate of ten round trips, smallest round-trip time of
//! ten seconds, and how much acknowledgements are aggregated.

use packet::{Duration, Instant};

use super::super::windowed::WindowedMax;
use super::{BW_UNIT, Bbr, Mode, SCALE, UNIT, jiffies, micros, stamps};
use crate::send_state::Window;

/// bbr_full_bw_thresh: growth of the rate that counts as growth; bbr_full_bw_cnt: rounds without it
/// after which the pipe is full.
const FULL_GROWTH: u64 = UNIT * 5 / 4;
const FULL_ROUNDS: u32 = 3;
/// bbr_extra_acked_win_rtts: rounds of each half of the window of aggregation;
/// bbr_ack_epoch_acked_reset_thresh: packets at which an epoch ends.
const EXTRA_ROUNDS: u32 = 5;
const EPOCH_MOST: u64 = 1 << 20;

/// Packet-timed rounds, and the greatest rate of the last ten.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Rounds {
    pub count: u64,
    /// Whether the acknowledgement that is being processed begins a round trip.
    pub started: bool,
    /// A round ends when a segment is delivered that was sent when this number of bytes had been delivered.
    pub next_delivered: u64,
    pub bw: WindowedMax,
}

impl Rounds {
    pub fn max_bw(&self) -> u64 {
        self.bw.get()
    }
}

/// The estimator of a full pipe in Startup.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct FullPipe {
    pub reached: bool,
    pub bw: u64,
    rounds: u32,
}

impl FullPipe {
    pub fn forget(&mut self) {
        (self.bw, self.rounds) = (0, 0);
    }
}

/// The smallest round-trip time, and the state of ProbeRTT, which renews it.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Trips {
    pub min_us: Option<u64>,
    /// When the smallest round-trip time was measured, and when ProbeRTT may end, jiffies.
    stamp: u64,
    done: Option<u64>,
    round_done: bool,
    /// Segments sent while the count of delivered bytes was in this range were slowed by ProbeRTT.
    slowed: (u64, u64),
}

impl Trips {
    pub fn begin(&mut self, srtt: Duration, now: Instant) {
        self.stamp = jiffies(now);
        self.min_us = (srtt > Duration::ZERO).then(|| micros(srtt));
    }

    /// Whether a segment sent when `delivered` bytes had been delivered was slowed by ProbeRTT (the
    /// kernel's `app_limited`).
    pub fn slowed(&self, delivered: u64) -> bool {
        self.slowed.0 <= delivered && delivered < self.slowed.1
    }
}

/// Packets acknowledged beyond what the modelled rate delivers: the aggregation of
/// acknowledgements.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Aggregation {
    since: Instant,
    acked: u64,
    extra: [u64; 2],
    index: usize,
    rounds: u32,
}

impl Aggregation {
    /// Starts a new epoch of counting.
    pub fn restart(&mut self, now: Instant) {
        (self.since, self.acked) = (now, 0);
    }

    /// The kernel's `bbr_extra_acked`: greatest aggregation of the last five to ten rounds,
    /// packets.
    pub fn greatest(&self) -> u64 {
        self.extra[0].max(self.extra[1])
    }

    fn next_round(&mut self) {
        self.rounds += 1;
        if self.rounds >= EXTRA_ROUNDS {
            (self.rounds, self.index) = (0, 1 - self.index);
            self.extra[self.index] = 0;
        }
    }
}

impl Bbr {
    pub(super) fn bw(&self) -> u64 {
        if self.policer.rules { self.policer.bw } else { self.rounds.max_bw() }
    }

    pub(super) fn update_bw(&mut self) {
        self.rounds.started = false;
        let Some((delivered, interval)) = self.sample.rate.filter(|rate| rate.1 > 0) else {
            return;
        };
        if self.sample.prior_delivered >= self.rounds.next_delivered {
            self.rounds.next_delivered = self.delivered_bytes;
            self.rounds.count += 1;
            self.rounds.started = true;
            self.saved.conserves = false;
        }
        self.sample_long_term();
        let bw = delivered * BW_UNIT / interval;
        if !self.sample.app_limited || bw >= self.rounds.max_bw() {
            self.rounds.bw.update(self.rounds.count, bw, self.settings.bw_rounds);
        }
    }

    pub(super) fn update_ack_aggregation(&mut self, win: &Window) {
        let acked = self.sample.acked;
        if acked == 0 || self.sample.rate.is_none_or(|rate| rate.1 == 0) {
            return;
        }
        let bw = self.bw();
        let epoch = &mut self.aggregation;
        if self.rounds.started {
            epoch.next_round();
        }
        let mut expected = bw * stamps(self.delivered_at, epoch.since) / BW_UNIT;
        if epoch.acked <= expected || epoch.acked + acked >= EPOCH_MOST {
            epoch.restart(self.delivered_at);
            expected = 0;
        }
        epoch.acked = (epoch.acked + acked).min(EPOCH_MOST - 1);
        let extra = (epoch.acked - expected).min(win.cwnd / self.mss);
        epoch.extra[epoch.index] = epoch.extra[epoch.index].max(extra);
    }

    pub(super) fn check_full_bw_reached(&mut self) {
        let pipe = &mut self.pipe;
        if pipe.reached || !self.rounds.started || self.sample.app_limited {
            return;
        }
        if self.rounds.max_bw() >= (pipe.bw * FULL_GROWTH) >> SCALE {
            *pipe = FullPipe { bw: self.rounds.max_bw(), ..FullPipe::default() };
            return;
        }
        pipe.rounds += 1;
        pipe.reached = pipe.rounds >= FULL_ROUNDS;
    }

    pub(super) fn update_min_rtt(&mut self, win: &mut Window) {
        let now = jiffies(self.now);
        let trips = &mut self.trips;
        let expired = now > trips.stamp + self.settings.min_rtt_ms;
        if let Some(rtt) = self.sample.rtt_us {
            let smaller = trips.min_us.is_none_or(|least| rtt < least);
            if smaller || expired && !self.sample.delayed {
                (trips.min_us, trips.stamp) = (Some(rtt), now);
            }
        }
        if expired && !self.idle_restart && self.mode != Mode::ProbeRtt {
            self.mode = Mode::ProbeRtt;
            self.save_cwnd(win);
            self.trips.done = None;
            self.trips.slowed.0 = self.delivered_bytes;
        }
        if self.mode == Mode::ProbeRtt {
            self.stay_in_probe_rtt(win, now);
        }
        if self.sample.acked > 0 {
            self.idle_restart = false;
        }
    }

    fn stay_in_probe_rtt(&mut self, win: &mut Window, now: u64) {
        let out = self.sample.in_flight;
        self.trips.slowed.1 = self.delivered_bytes + out * self.mss + 1;
        if self.trips.done.is_none() {
            if out <= super::window::MIN_CWND {
                self.trips.done = Some(now + self.settings.probe_rtt_ms);
                self.trips.round_done = false;
                self.rounds.next_delivered = self.delivered_bytes;
            }
            return;
        }
        self.trips.round_done |= self.rounds.started;
        if self.trips.round_done {
            self.check_probe_rtt_done(win);
        }
    }

    pub(super) fn check_probe_rtt_done(&mut self, win: &mut Window) {
        let now = jiffies(self.now);
        if self.trips.done.is_some_and(|done| now > done) {
            self.trips.stamp = now;
            win.cwnd = win.cwnd.max(self.saved.cwnd * self.mss);
            self.reset_mode();
        }
    }
}
