//! Durations of requests or page loads, which may fail; a failure counts as longer than any
//! duration.

use crate::quantile::rank;
use crate::sample::{Keep, Sample};

const SECOND: u64 = 1_000_000_000;

/// Durations in ns, and the number of failures, which have no duration.
#[derive(Clone, Debug, Default)]
pub(crate) struct Times {
    good: Sample,
    failed: u64,
}

impl Times {
    /// A recorder without durations. If it is bounded, [`Times::upto`] knows one, two and three
    /// seconds.
    pub fn new(keep: Keep) -> Self {
        Times { good: Sample::new(keep, &[SECOND, 2 * SECOND, 3 * SECOND]), failed: 0 }
    }

    /// Adds a duration, or a failure.
    pub fn add(&mut self, took_ns: u64, failed: bool) {
        if failed {
            self.failed += 1;
        } else {
            self.good.add(took_ns);
        }
    }

    pub fn extend(&mut self, more: &Times) {
        self.good.merge(&more.good);
        self.failed += more.failed;
    }

    /// Sorts the times; call it before reading anything but a count.
    pub fn sort(&mut self) {
        self.good.sort();
    }

    /// Durations of what did not fail, in ascending order after [`Times::sort`]; empty if the
    /// recorder is bounded.
    pub fn ns(&self) -> &[u64] {
        self.good.values()
    }

    /// Number of durations and failures.
    pub fn count(&self) -> u64 {
        self.good.count() + self.failed
    }

    pub fn failed(&self) -> u64 {
        self.failed
    }

    /// Mean of the durations, in seconds; NaN without any.
    pub fn mean_s(&self) -> f64 {
        self.good.sum() as f64 / 1e9 / self.good.count() as f64
    }

    /// The time, in seconds, that `percent` percent of the durations and failures do not exceed.
    pub fn percentile_s(&self, percent: u32) -> f64 {
        self.quantile_s(f64::from(percent) / 100.0)
    }

    /// Number of durations of at most `seconds` seconds.
    pub fn upto(&self, seconds: u64) -> f64 {
        self.good.upto(seconds * SECOND) as f64
    }

    /// A quantile in seconds: NaN without any entry, infinite where it falls among the failures,
    /// because these have no duration.
    pub fn quantile_s(&self, p: f64) -> f64 {
        match (self.count(), rank(self.count(), p)) {
            (0, _) => f64::NAN,
            (_, rank) if rank > self.good.count() => f64::INFINITY,
            (_, rank) => self.good.ranked(rank) as f64 / 1e9,
        }
    }
}
