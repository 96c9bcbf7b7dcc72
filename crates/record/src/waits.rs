//! The distribution of many durations in bounded memory: quantiles within 0.8 %, mean and maximum
//! exact.

use crate::log_histogram::LogHistogram;

/// A histogram whose bins are 1/64 of their lower edge wide from 64 ns on, and 1 ns wide below: the
/// midpoint of a bin is within 0.8 % of every time in it.
type Histogram = LogHistogram<6, 0>;

/// Times of one kind: their distribution, and their exact mean and maximum.
#[derive(Clone, Debug, Default)]
pub(crate) struct Waits {
    times: Histogram,
    sum_ns: u64,
}

impl Waits {
    /// Adds a waiting time.
    #[inline(always)]
    pub fn add(&mut self, ns: u64) {
        self.times.add(ns);
        self.sum_ns += ns;
    }

    /// Adds a time of zero: a packet that did not wait.
    #[inline(always)]
    pub fn add_zero(&mut self) {
        self.times.add_zero();
    }

    /// Adds `n` equal times.
    pub fn add_many(&mut self, ns: u64, n: u32) {
        self.times.add_many(ns, n);
        self.sum_ns += ns * u64::from(n);
    }

    /// Adds all waiting times of another collection.
    pub fn merge(&mut self, more: &Waits) {
        self.times.merge(&more.times);
        self.sum_ns += more.sum_ns;
    }

    /// Whether any time was added.
    pub fn is_used(&self) -> bool {
        !self.times.is_empty()
    }

    /// For every bin that is not empty: the longest time that falls into it, ns, and the number of
    /// times in it.
    pub fn bins(&self) -> impl Iterator<Item = (u64, u32)> + '_ {
        self.times.bins()
    }
}

/// Shares of the quantiles that summaries give.
pub(crate) const SHARES: [f64; 5] = [0.5, 0.9, 0.95, 0.99, 0.999];

/// Statistics of times of one kind, or of several kinds together, computed once.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Spread {
    /// Number of durations.
    pub count: u64,
    /// The exact mean, in seconds; NaN if there is no time.
    pub mean_s: f64,
    /// The quantiles of [`SHARES`], in seconds, each within 0.8 % and never above the longest time;
    /// NaN if there is no time.
    pub quantiles_s: [f64; SHARES.len()],
    /// The mean of the shortest 95 %, in seconds, within 0.8 %; NaN if there is no time.
    pub trimmed_mean_s: f64,
    /// The exact maximum, in seconds; NaN if there is no time.
    pub longest_s: f64,
}

impl Default for Spread {
    fn default() -> Self {
        Spread::of(&[])
    }
}

impl Spread {
    /// The statistics of all these times together.
    pub fn of(parts: &[&Waits]) -> Spread {
        match parts {
            [one] => one.spread(),
            _ => {
                let mut all = Waits::default();
                parts.iter().for_each(|part| all.merge(part));
                all.spread()
            }
        }
    }

    /// These statistics, with quantiles that are not below the shortest time.
    pub fn not_below(mut self, shortest_s: f64) -> Spread {
        if self.count > 0 {
            self.quantiles_s = self.quantiles_s.map(|s| s.max(shortest_s));
        }
        self
    }
}

impl Waits {
    fn spread(&self) -> Spread {
        let count = self.times.count();
        let if_any = |value: f64| if count == 0 { f64::NAN } else { value };
        let longest_s = if_any(self.times.longest_s());
        Spread {
            count,
            mean_s: self.sum_ns as f64 / 1e9 / count as f64,
            quantiles_s: self.times.quantiles_s(count, SHARES).map(|s| if_any(s.min(longest_s))),
            trimmed_mean_s: self.times.trimmed_mean_s(0.95),
            longest_s,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::quantile;

    /// Delays over nine decades; quantiles must be within the 0.8 % of the histogram's bins.
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
        let spread = Spread::of(&[&waits]);
        for (p, ours) in SHARES.into_iter().zip(spread.quantiles_s) {
            let theirs = quantile(&exact, p) as f64 / 1e9;
            assert!((ours / theirs - 1.0).abs() < 0.008, "{p}: {ours} s, not {theirs} s");
        }
        for p in [0.001, 0.01, 0.1, 0.25, 0.9999] {
            let (ours, theirs) = (waits.times.quantile_s(p), quantile(&exact, p) as f64 / 1e9);
            assert!((ours / theirs - 1.0).abs() < 0.008, "{p}: {ours} s, not {theirs} s");
        }
        assert_eq!(spread.longest_s, exact[exact.len() - 1] as f64 / 1e9, "the longest is exact");
        let mean = exact.iter().sum::<u64>() as f64 / 1e9 / exact.len() as f64;
        assert!((spread.mean_s / mean - 1.0).abs() < 1e-12, "the mean is exact");
        assert!(waits.bins().count() < 31 * 64, "memory is bounded");
    }

    #[test]
    fn an_idle_queue_delays_by_nothing() {
        let mut waits = Waits::default();
        let none = Spread::of(&[&waits]);
        assert!(none.quantiles_s[0].is_nan() && none.longest_s.is_nan() && none.mean_s.is_nan());
        waits.add(0);
        assert_eq!(Spread::of(&[&waits]).quantiles_s, [0.0; 5]);
        waits.add(130);
        let both = Spread::of(&[&waits, &waits]);
        assert_eq!(both.quantiles_s[4], 130e-9, "no quantile is above the longest");
        assert_eq!((both.count, both.mean_s), (4, 65e-9), "of several together");
    }
}
