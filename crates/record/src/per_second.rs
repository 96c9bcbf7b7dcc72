//! Counts per second of simulated time.

use packet::Instant;

const SECOND: u64 = 1_000_000_000;

/// A count for every second of the run. Costs one comparison per event.
#[derive(Clone, Debug)]
pub struct PerSecond {
    counts: Vec<u64>,
    end_of_last: u64,
}

impl Default for PerSecond {
    fn default() -> Self {
        PerSecond { counts: vec![0], end_of_last: SECOND }
    }
}

impl PerSecond {
    /// Adds `n` at `at`; times must not go back to an earlier second.
    pub fn add(&mut self, at: Instant, n: u64) {
        while at.nanos() >= self.end_of_last {
            self.counts.push(0);
            self.end_of_last += SECOND;
        }
        let last = self.counts.len() - 1;
        self.counts[last] += n;
    }

    /// The counts of the first `seconds` whole seconds.
    pub fn rows(&self, seconds: usize) -> Vec<u64> {
        (0..seconds).map(|i| self.counts.get(i).copied().unwrap_or(0)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn seconds_without_events_count_zero() {
        let mut series = PerSecond::default();
        for (ms, n) in [(0, 1), (999, 2), (1_000, 4), (3_500, 8)] {
            series.add(Instant::from_nanos(ms * 1_000_000), n);
        }
        assert_eq!(series.rows(5), [3, 4, 0, 8, 0]);
        assert_eq!(series.rows(2), [3, 4]);
    }
}
