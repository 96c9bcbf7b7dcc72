//! Detects whether the queue that marks is a classic one (RFC 3168), which treats ECT(1) as ECT(0).
//! A scalable sender would starve others there (RFC 9331 section 4.3). This is the passive detector
//! of B. Briscoe and A. S. Ahmed, "TCP Prague Fall-back on Detection of a Classic ECN AQM"
//! (arXiv:1911.00710, 2019), as in version 0.6 of Linux's module (`prague_classic_ecn_detection`):
//! a classic queue is deep and its delay varies.
//!
//! Our own deviation: arithmetic is in real numbers, where Linux carries the remainders of its
//! integer logarithms. As in Linux, the paper's correction for a sender that does not fill its
//! window is left out.

use packet::{Duration, math};

/// Weights of the variation (V) and of the depth (D) in the score.
const V: f64 = 0.5;
const D: f64 = 0.5;

/// Variation and depth of a queueing delay that leave the score unchanged, microseconds (V0 and D0
/// of the paper).
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Reference {
    pub variation: f64,
    pub depth: f64,
}
/// L_STICKY: up to this score the queue counts as scalable, from one more on as classic; `MOST` is
/// the greatest score, C_STICKY beyond that.
const STICKY: f64 = 8.0;
const MOST: f64 = STICKY + 1.0 + STICKY;
/// Smallest alpha behind a classic queue: a reduction by 0.3125, near CUBIC's.
const CLASSIC_ALPHA: f64 = 0.5 + 0.125;
/// PRAGUE_MAX_SRTT_BITS: the smallest weight of a sample in the smoothed round-trip time is 2^-18.
const MOST_SHIFT: u32 = 18;

#[derive(Clone, Copy, Debug)]
pub(super) struct Detector {
    reference: Reference,
    /// Smoothed round-trip time and its mean deviation, microseconds.
    srtt: f64,
    mdev: f64,
    /// Weight of a sample is 2^-shift in the smoothed round-trip time and half of that in the
    /// deviation.
    shift: u32,
    /// The score, classic_ecn in Linux: the higher, the more likely the queue is classic.
    score: f64,
}

impl Detector {
    pub fn new(reference: Reference) -> Self {
        Detector { reference, srtt: 0.0, mdev: 1.0, shift: MOST_SHIFT, score: 0.0 }
    }
}

fn micros(span: Duration) -> f64 {
    (span.nanos() / 1_000) as f64
}

impl Detector {
    /// Linux's `prague_rtt_estimator`: enters a round-trip time.
    pub fn update(&mut self, rtt: Duration) {
        let rtt = micros(rtt);
        if self.srtt == 0.0 {
            self.srtt = rtt;
            return;
        }
        let gain = 1.0 / f64::from(1u32 << self.shift);
        let error = rtt - self.srtt;
        self.srtt += gain * error;
        self.mdev += gain / 2.0 * (math::fabs(error) - self.mdev);
    }

    /// `prague_update_rtt_scaling`: at each reduction the smoothing is set to about W^1.5 samples
    /// for a window of W segments.
    pub fn scale(&mut self, ssthresh_segments: u64) {
        let lg = ssthresh_segments.max(1).ilog2();
        self.shift = (lg + lg / 2 + 1).min(MOST_SHIFT);
    }

    /// `prague_classic_ecn_detection`: updates the score, with each sample of alpha.
    pub fn judge(&mut self, min_rtt: Duration) {
        if self.srtt == 0.0 || min_rtt == Duration::ZERO {
            return;
        }
        self.score += V * (math::log2(self.mdev.max(1.0)) - math::log2(self.reference.variation));
        let depth = self.srtt - micros(min_rtt);
        if depth > self.reference.depth {
            self.score += D * math::log2(depth / self.reference.depth);
        }
        self.score = self.score.clamp(0.0, MOST);
    }

    /// `prague_classic_ecn_fallback`: the smallest alpha with which marks are answered.
    pub fn alpha(&self) -> f64 {
        (self.score - STICKY).clamp(0.0, 1.0) * CLASSIC_ALPHA
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::congestion::control::{Cause, Control};
    use crate::send_state::{Flight, Window};

    impl Default for Detector {
        fn default() -> Self {
            Detector::new(Reference { variation: 750.0, depth: 2_000.0 })
        }
    }

    fn after(mdev: f64, depth_us: u64, rounds: u32) -> Detector {
        let mut detector =
            Detector { srtt: 20_000.0 + depth_us as f64, mdev, ..Detector::default() };
        (0..rounds).for_each(|_| detector.judge(Duration::from_millis(20)));
        detector
    }

    #[test]
    fn depth_and_variation_are_judged_by_their_logarithms() {
        // Four times 750 us and four times 2 ms each add one per round.
        assert_eq!(after(3_000.0, 8_000, 4).score, 8.0);
        assert_eq!(after(750.0, 2_000, 100).score, 0.0);
        assert_eq!(after(750.0, 8_000, 3).score, 3.0);
        // A smaller depth does not lower the score, a smaller variation does: from 4 by a half.
        let mut calm = Detector { score: 4.0, ..after(375.0, 500, 0) };
        calm.judge(Duration::from_millis(20));
        assert_eq!(calm.score, 3.5);
        assert_eq!(after(1e6, 1_000_000, 1_000).score, 17.0);
        // Without a smoothed or a smallest round-trip time the score stays.
        let mut unknown = Detector { srtt: 0.0, ..calm };
        unknown.judge(Duration::from_millis(20));
        calm.judge(Duration::ZERO);
        assert_eq!((unknown.score, calm.score), (3.5, 3.5));
    }

    #[test]
    fn a_classic_queue_is_answered_like_cubic_does() {
        let at = |score| Detector { score, ..Detector::default() }.alpha();
        assert_eq!(
            [at(0.0), at(8.0), at(8.5), at(9.0), at(17.0)],
            [0.0, 0.0, 0.3125, 0.625, 0.625]
        );
    }

    #[test]
    fn smoothing_takes_a_window_to_the_power_of_one_and_a_half() {
        let mut detector = Detector::default();
        for (ssthresh, shift) in [(u64::MAX / 2, 18), (100, 10), (64, 10), (2, 2), (0, 1)] {
            detector.scale(ssthresh);
            assert_eq!(detector.shift, shift, "{ssthresh}");
        }
        // 2 segments: a sample has a weight of a quarter in the round-trip time, an eighth in the
        // deviation.
        detector.scale(2);
        [40, 48].into_iter().for_each(|ms| detector.update(Duration::from_millis(ms)));
        assert_eq!((detector.srtt, detector.mdev), (42_000.0, 1.0 + 7_999.0 / 8.0));
    }

    #[test]
    fn a_reduction_smooths_by_its_threshold_in_segments() {
        let mut prague = super::super::Prague::default();
        prague.detect_classic_queues();
        let mut win = Window { ssthresh: 64_000, mss: 1_000, ..Window::default() };
        prague.on_congestion(&mut win, &Flight::default(), Cause::Loss, packet::Instant::ZERO);
        assert_eq!(prague.detector.map(|detector| detector.shift), Some(10));
    }
}
