//! How long things took that may also fail: exact quantiles, failures longer than anything else.

use crate::quantile;

/// The duration of what failed: longer than any other.
pub(crate) const FAILED: u64 = u64::MAX;

/// Durations in ns; failed ones as [`FAILED`].
#[derive(Clone, Debug, Default)]
pub(crate) struct Times {
    ns: Vec<u64>,
    failed: u64,
}

impl Times {
    /// Something has ended after `took_ns`.
    pub fn add(&mut self, took_ns: u64, failed: bool) {
        self.ns.push(if failed { FAILED } else { took_ns });
        self.failed += u64::from(failed);
    }

    pub fn extend(&mut self, more: &Times) {
        self.ns.extend(&more.ns);
        self.failed += more.failed;
    }

    /// To be called before any figure but a count is asked for.
    pub fn sort(&mut self) {
        self.ns.sort_unstable();
    }

    /// All of them, in ascending order after [`Times::sort`].
    pub fn ns(&self) -> &[u64] {
        &self.ns
    }

    /// How many have ended, failed ones included.
    pub fn count(&self) -> u64 {
        self.ns.len() as u64
    }

    pub fn failed(&self) -> u64 {
        self.failed
    }

    /// Mean of those that did not fail, in seconds; not a number without any.
    pub fn mean_s(&self) -> f64 {
        let good = &self.ns[..self.ns.len() - self.failed as usize];
        let sum: u128 = good.iter().map(|&d| u128::from(d)).sum();
        sum as f64 / 1e9 / good.len() as f64
    }

    /// The same in percent.
    pub fn percentile_s(&self, percent: u32) -> f64 {
        self.quantile_s(f64::from(percent) / 100.0)
    }

    /// How many took at most so long.
    pub fn upto(&self, seconds: u64) -> f64 {
        self.ns.partition_point(|&d| d <= seconds * 1_000_000_000) as f64
    }

    /// A quantile in seconds: not a number without any, infinite where it falls among those that
    /// failed, because these have no duration.
    pub fn quantile_s(&self, p: f64) -> f64 {
        match self.ns.as_slice() {
            [] => f64::NAN,
            sorted => match quantile(sorted, p) {
                FAILED => f64::INFINITY,
                ns => ns as f64 / 1e9,
            },
        }
    }
}
