//! Many times in bounded memory: quantiles within 0.8 %, mean and maximum exact.

use crate::log_histogram::LogHistogram;

/// Bins of 1/64 of their lower edge from 64 ns on, and of 1 ns below: the middle of a bin is within
/// 0.8 % of all that fell into it.
type Histogram = LogHistogram<6, 0>;

/// Times of one kind: their distribution, and their exact mean and maximum.
#[derive(Clone, Debug, Default)]
pub(crate) struct Waits {
    times: Histogram,
    sum_ns: u64,
}

impl Waits {
    /// One more.
    #[inline(always)]
    pub fn add(&mut self, ns: u64) {
        self.times.add(ns);
        self.sum_ns += ns;
    }

    /// All of another's.
    pub fn merge(&mut self, more: &Waits) {
        self.times.merge(&more.times);
        self.sum_ns += more.sum_ns;
    }

    /// Whether there is any.
    pub fn is_used(&self) -> bool {
        !self.times.is_empty()
    }

    /// How many there are.
    pub fn count(&self) -> u64 {
        self.times.count()
    }

    /// The longest time that falls into a bin, and how many did, of every bin that is not empty.
    pub fn bins(&self) -> impl Iterator<Item = (u64, u32)> + '_ {
        self.times.bins()
    }

    /// Exact; not a number if empty.
    pub fn mean_s(&self) -> f64 {
        self.sum_ns as f64 / 1e9 / self.times.count() as f64
    }

    /// The mean of the shortest `share` of them, within 0.8 %; not a number if empty.
    pub fn trimmed_mean_s(&self, share: f64) -> f64 {
        self.times.trimmed_mean_s(share)
    }

    /// Within 0.8 % of the quantile, and never above the longest; not a number if empty.
    pub fn quantile_s(&self, p: f64) -> f64 {
        match self.times.count() {
            0 => f64::NAN,
            _ => self.times.quantile_s(p).min(self.times.longest_s()),
        }
    }

    /// Exact; not a number if empty.
    pub fn longest_s(&self) -> f64 {
        if self.times.count() == 0 { f64::NAN } else { self.times.longest_s() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::quantile;

    /// Delays over nine decades; the bar of the histogram is 1 %.
    #[test]
    fn quantiles_are_within_one_per_cent_of_the_exact_ones() {
        let mut exact: Vec<u64> = Vec::new();
        let mut waits = Waits::default();
        let mut state = 1u64;
        for _ in 0..200_000 {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            let share = (state >> 11) as f64 / (1u64 << 53) as f64;
            let ns = packet::math::exp(share * 20.7) as u64; // 1 ns to 1 s
            exact.push(ns);
            waits.add(ns);
        }
        exact.sort_unstable();
        for p in [0.001, 0.01, 0.1, 0.25, 0.5, 0.9, 0.95, 0.99, 0.999, 0.9999] {
            let (ours, theirs) = (waits.quantile_s(p), quantile(&exact, p) as f64 / 1e9);
            assert!((ours / theirs - 1.0).abs() < 0.008, "{p}: {ours} s, not {theirs} s");
        }
        assert_eq!(waits.longest_s(), exact[exact.len() - 1] as f64 / 1e9, "the longest is exact");
        let mean = exact.iter().sum::<u64>() as f64 / 1e9 / exact.len() as f64;
        assert!((waits.mean_s() / mean - 1.0).abs() < 1e-12, "the mean is exact");
        assert!(waits.bins().count() < 31 * 64, "memory is bounded");
    }

    #[test]
    fn an_idle_queue_delays_by_nothing() {
        let mut waits = Waits::default();
        assert!(waits.quantile_s(0.5).is_nan() && waits.longest_s().is_nan());
        waits.add(0);
        assert_eq!([0.5, 0.999].map(|p| waits.quantile_s(p)), [0.0; 2]);
        waits.add(130);
        assert_eq!(waits.quantile_s(1.0), 130e-9, "no quantile is above the longest");
    }
}
