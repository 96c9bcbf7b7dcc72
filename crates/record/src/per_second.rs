//! Counts per second of simulated time.

use packet::Instant;

const SECOND: u64 = 1_000_000_000;

/// `N` counts that change together, for every second of the run. Costs one comparison per event.
#[derive(Clone, Debug)]
pub struct PerSecond<const N: usize = 1> {
    counts: Vec<[u64; N]>,
    end_of_last: u64,
}

impl<const N: usize> Default for PerSecond<N> {
    fn default() -> Self {
        PerSecond { counts: vec![[0; N]], end_of_last: SECOND }
    }
}

impl<const N: usize> PerSecond<N> {
    /// Adds `of` at `at`; times must not go back to an earlier second.
    #[inline]
    pub fn add_all(&mut self, at: Instant, of: [u64; N]) {
        while at.nanos() >= self.end_of_last {
            self.counts.push([0; N]);
            self.end_of_last += SECOND;
        }
        let last = self.counts.len() - 1;
        let sums = &mut self.counts[last];
        (0..N).for_each(|i| sums[i] += of[i]);
    }

    /// One more of count `which`.
    pub fn count(&mut self, at: Instant, which: usize) {
        self.add_all(at, std::array::from_fn(|i| u64::from(i == which)));
    }

    /// All counts of second `second`; none yet if it is to come.
    pub fn row(&self, second: usize) -> [u64; N] {
        self.counts.get(second).copied().unwrap_or([0; N])
    }

    /// All counts together, of the first `seconds` whole seconds.
    pub fn sums(&self, seconds: usize) -> Vec<u64> {
        (0..seconds).map(|i| self.row(i).iter().sum()).collect()
    }

    /// Count `which` of the first `seconds` whole seconds.
    pub fn column(&self, which: usize, seconds: usize) -> Vec<u64> {
        (0..seconds).map(|i| self.row(i)[which]).collect()
    }
}

impl PerSecond {
    /// Adds `n` at `at`; times must not go back to an earlier second.
    pub fn add(&mut self, at: Instant, n: u64) {
        self.add_all(at, [n]);
    }

    /// The counts of the first `seconds` whole seconds.
    pub fn rows(&self, seconds: usize) -> Vec<u64> {
        self.column(0, seconds)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn seconds_without_events_count_zero() {
        let mut series = PerSecond::default();
        for (ms, n) in [(0, [1, 10]), (999, [2, 20]), (1_000, [4, 40]), (3_500, [8, 80])] {
            series.add_all(Instant::from_nanos(ms * 1_000_000), n);
        }
        assert_eq!(series.column(0, 5), [3, 4, 0, 8, 0]);
        assert_eq!(series.column(1, 2), [30, 40]);
        series.count(Instant::from_nanos(3_600_000_000), 1);
        assert_eq!((series.row(3), series.sums(4)), ([8, 81], vec![33, 44, 0, 89]));
    }
}
