//! The long-term rate ("LT" in the kernel). Two consecutive intervals with many losses and similar
//! throughput show a token-bucket policer (Flach et al., "An Internet-Wide Analysis of Traffic
//! Policing", SIGCOMM 2016); its rate then replaces the measured one for 48 round trips.

use super::{BW_UNIT, Bbr, Mode, SCALE, UNIT, jiffies, window};

/// bbr_lt_intvl_min_rtts: shortest interval, round trips; one longer than four times that is
/// discarded.
const MIN_ROUNDS: u32 = 4;
/// bbr_lt_loss_thresh: an interval counts if it has at least this ratio of lost to delivered
/// packets, in 1/256.
const LOSS_THRESHOLD: u64 = 50;
/// bbr_lt_bw_ratio and bbr_lt_bw_diff: two rates are similar if they differ by at most this share
/// of the first, in 1/256, or by at most this number of bytes per second.
const LIKE_RATIO: u64 = UNIT / 8;
const LIKE_BYTES: u64 = 4_000 / 8;
/// bbr_lt_bw_max_rtts: round trips for which the policer's rate is used.
const RULE_ROUNDS: u32 = 48;

#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Policer {
    sampling: bool,
    rounds: u32,
    /// The policer's rate replaces the measured one (`lt_use_bw`).
    pub rules: bool,
    pub bw: u64,
    /// Number of packets delivered in all when the interval began.
    delivered: u64,
    /// Number of packets lost in all when the interval began.
    lost: u64,
    /// Time when the interval began, ms.
    stamp: u64,
}

impl Bbr {
    /// The kernel's `bbr_reset_lt_bw_sampling_interval`: starts an interval.
    fn reset_interval(&mut self) {
        self.policer.stamp = jiffies(self.delivered_at);
        self.policer.delivered = self.delivered;
        self.policer.lost = self.lost;
        self.policer.rounds = 0;
    }

    /// The kernel's `bbr_reset_lt_bw_sampling`: starts the search for a policer again.
    pub(super) fn reset_long_term(&mut self) {
        self.policer = Policer::default();
        self.reset_interval();
    }

    /// The kernel's `bbr_lt_bw_sampling`, called with each rate sample.
    pub(super) fn sample_long_term(&mut self) {
        if self.policer.rules {
            return self.count_ruled_rounds();
        }
        if !self.policer.sampling {
            if self.sample.losses == 0 {
                return;
            }
            self.reset_interval();
            self.policer.sampling = true;
        }
        if self.sample.app_limited {
            return self.reset_long_term();
        }
        self.policer.rounds += u32::from(self.rounds.started);
        if self.policer.rounds < MIN_ROUNDS {
            return;
        }
        if self.policer.rounds > 4 * MIN_ROUNDS {
            return self.reset_long_term();
        }
        if self.sample.losses > 0 {
            self.judge_interval();
        }
    }

    fn count_ruled_rounds(&mut self) {
        if self.mode == Mode::ProbeBw && self.rounds.started {
            self.policer.rounds += 1;
            if self.policer.rounds >= RULE_ROUNDS {
                self.reset_long_term();
                self.reset_probe_bw_mode();
            }
        }
    }

    /// A packet was lost, so the policer may be out of tokens: ends the interval if enough packets
    /// were lost.
    fn judge_interval(&mut self) {
        let lost = self.lost - self.policer.lost;
        let delivered = self.delivered - self.policer.delivered;
        if delivered == 0 || lost << SCALE < LOSS_THRESHOLD * delivered {
            return;
        }
        let took = jiffies(self.delivered_at).saturating_sub(self.policer.stamp);
        if took > 0 {
            self.end_interval(delivered * BW_UNIT / (took * 1_000));
        }
    }

    /// `bbr_lt_bw_interval_done`: compares the rate of this interval with that of the previous one.
    fn end_interval(&mut self, bw: u64) {
        let before = self.policer.bw;
        let apart = bw.abs_diff(before);
        let like = apart * UNIT <= LIKE_RATIO * before
            || window::bytes_per_s(apart, UNIT, self.mss) <= LIKE_BYTES;
        if before > 0 && like {
            self.policer.bw = (bw + before) >> 1;
            self.policer.rules = true;
            self.policer.rounds = 0;
            self.pacing_gain = UNIT;
        } else {
            self.policer.bw = bw;
            self.reset_interval();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rates_an_eighth_or_500_bytes_per_second_apart_are_alike() {
        // bbr_lt_bw_ratio and bbr_lt_bw_diff. A unit of the rate is 59 B/s at 1,000 B: 8 are 472
        // B/s, 9 are 531.
        for (before, bw, like) in
            [(16_000, 18_000, true), (16_000, 18_001, false), (16, 24, true), (16, 25, false)]
        {
            let mut bbr = Bbr { mss: 1_000, ..Bbr::default() };
            bbr.policer.bw = before;
            bbr.end_interval(bw);
            assert_eq!(bbr.policer.rules, like, "{before} {bw}");
        }
    }

    #[test]
    fn an_interval_ends_with_a_fifth_lost_and_a_millisecond_at_least() {
        // bbr_lt_bw_sampling: returns if (lost << BBR_SCALE) < bbr_lt_loss_thresh * delivered, and
        // if t < 1. 25 packets lost of 128 are 50 of 256.
        for (lost, ms, bw) in [(25, 100, 128 * BW_UNIT / 100_000), (24, 100, 0), (25, 0, 0)] {
            let mut bbr = Bbr { mss: 1_000, lost, delivered: 128, ..Bbr::default() };
            bbr.delivered_at += packet::Duration::from_millis(ms);
            bbr.judge_interval();
            assert_eq!(bbr.policer.bw, bw, "{lost} in {ms} ms");
        }
    }
}
