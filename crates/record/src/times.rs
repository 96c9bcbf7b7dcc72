//! How long things took that may also fail: failures last longer than anything else.

use crate::quantile::rank;
use crate::sample::{Keep, Sample};

const SECOND: u64 = 1_000_000_000;

/// Durations in ns; those that failed have none.
#[derive(Clone, Debug, Default)]
pub(crate) struct Times {
    good: Sample,
    failed: u64,
}

impl Times {
    /// None yet. Where they are bounded, [`Times::upto`] knows one, two and three seconds.
    pub fn new(keep: Keep) -> Self {
        Times { good: Sample::new(keep, &[SECOND, 2 * SECOND, 3 * SECOND]), failed: 0 }
    }

    /// Something has ended after `took_ns`.
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

    /// Times of responses that did not fail, in ascending order after [`Times::sort`]; empty if the
    /// times are bounded.
    pub fn ns(&self) -> &[u64] {
        self.good.values()
    }

    /// How many have ended, failed ones included.
    pub fn count(&self) -> u64 {
        self.good.count() + self.failed
    }

    pub fn failed(&self) -> u64 {
        self.failed
    }

    /// Mean of those that did not fail, in seconds; not a number without any.
    pub fn mean_s(&self) -> f64 {
        self.good.sum() as f64 / 1e9 / self.good.count() as f64
    }

    /// The time, in seconds, that `percent` percent do not exceed.
    pub fn percentile_s(&self, percent: u32) -> f64 {
        self.quantile_s(f64::from(percent) / 100.0)
    }

    /// How many transfers took at most this many seconds.
    pub fn upto(&self, seconds: u64) -> f64 {
        self.good.upto(seconds * SECOND) as f64
    }

    /// A quantile in seconds: not a number without any, infinite where it falls among those that
    /// failed, because these have no duration.
    pub fn quantile_s(&self, p: f64) -> f64 {
        match (self.count(), rank(self.count(), p)) {
            (0, _) => f64::NAN,
            (_, rank) if rank > self.good.count() => f64::INFINITY,
            (_, rank) => self.good.ranked(rank) as f64 / 1e9,
        }
    }
}
