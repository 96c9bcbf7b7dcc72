//! Counts per second of simulated time.

use std::ops::Range;

use packet::Instant;

const SECOND: u64 = 1_000_000_000;

/// `N` counters for every second of the run. An event costs one comparison.
#[derive(Clone, Debug)]
pub struct PerSecond<const N: usize = 1> {
    /// Sums of each second from `first` on that has ended.
    over: Vec<[u64; N]>,
    /// Number of the first second of `over`.
    first: usize,
    /// Sums over all seconds that have ended, including those no longer kept.
    past: [u64; N],
    /// Sums of the current second.
    current: [u64; N],
    end_of_current: u64,
}

impl<const N: usize> Default for PerSecond<N> {
    fn default() -> Self {
        PerSecond {
            over: Vec::new(),
            first: 0,
            past: [0; N],
            current: [0; N],
            end_of_current: SECOND,
        }
    }
}

impl<const N: usize> PerSecond<N> {
    /// Counters that keep no seconds but only the whole run's sums, if `seconds` is false.
    pub fn kept(seconds: bool) -> Self {
        let end_of_current = if seconds { SECOND } else { u64::MAX };
        PerSecond { end_of_current, ..PerSecond::default() }
    }

    /// Adds the whole run's counts of another series.
    pub fn merge(&mut self, more: &Self) {
        let more = more.total();
        (0..N).for_each(|i| self.past[i] += more[i]);
    }

    /// Adds `of` to the second of `at`; times must not go back to an earlier second.
    #[inline]
    pub fn add_all(&mut self, at: Instant, of: [u64; N]) {
        self.move_to(at);
        self.add_now(of);
    }

    /// Adds `of` to the current second.
    #[inline(always)]
    pub fn add_now(&mut self, of: [u64; N]) {
        (0..N).for_each(|i| self.current[i] += of[i]);
    }

    /// The end of the current second.
    pub fn ends(&self) -> Instant {
        Instant::from_nanos(self.end_of_current)
    }

    /// Makes the second of `at` the current one; times must not go back to an earlier second.
    #[inline]
    pub fn move_to(&mut self, at: Instant) {
        while at.nanos() >= self.end_of_current {
            self.turn_over();
        }
    }

    #[cold]
    fn turn_over(&mut self) {
        let over = std::mem::replace(&mut self.current, [0; N]);
        (0..N).for_each(|i| self.past[i] += over[i]);
        self.over.push(over);
        self.end_of_current += SECOND;
    }

    /// The sum of each count over the whole run.
    pub fn total(&self) -> [u64; N] {
        std::array::from_fn(|i| self.past[i] + self.current[i])
    }

    /// Adds one to counter `which` in the second of `at`.
    #[inline]
    pub fn count(&mut self, at: Instant, which: usize) {
        self.move_to(at);
        self.current[which] += 1;
    }

    /// All counts of second `second`; zeros if it was discarded or has not begun.
    pub fn row(&self, second: usize) -> [u64; N] {
        let Some(place) = second.checked_sub(self.first) else { return [0; N] };
        let current = if place == self.over.len() { self.current } else { [0; N] };
        self.over.get(place).copied().unwrap_or(current)
    }

    /// Discards the seconds before `second`, but never the current one.
    pub fn forget_before(&mut self, second: usize) {
        let over = second.saturating_sub(self.first).min(self.over.len());
        self.over.drain(..over);
        self.first += over;
    }

    /// Sum of all counters in each of these seconds.
    pub fn sums(&self, seconds: Range<usize>) -> Vec<u64> {
        seconds.map(|i| self.row(i).iter().sum()).collect()
    }

    /// Counter `which` in each of these seconds.
    pub fn column(&self, which: usize, seconds: Range<usize>) -> Vec<u64> {
        seconds.map(|i| self.row(i)[which]).collect()
    }
}

impl PerSecond {
    /// Adds `n` to the second of `at`; times must not go back to an earlier second.
    pub fn add(&mut self, at: Instant, n: u64) {
        self.add_all(at, [n]);
    }

    /// The count of each second in the range `seconds`.
    pub fn rows(&self, seconds: Range<usize>) -> Vec<u64> {
        self.column(0, seconds)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn seconds_that_were_looked_at_take_no_memory() {
        let mut series = PerSecond::default();
        for second in 0..100_000u64 {
            series.add(Instant::from_nanos(second * SECOND), second);
            series.forget_before(second as usize);
        }
        assert!(series.over.capacity() < 16);
        assert_eq!((series.row(99_999), series.row(99_998)), ([99_999], [0]));
        assert_eq!(series.total(), [99_999 * 100_000 / 2], "what is forgotten counts");
        series.forget_before(1_000_000);
        assert_eq!(series.rows(99_998..100_001), [0, 99_999, 0]);
    }

    #[test]
    fn without_seconds_the_whole_run_is_counted() {
        let mut whole = PerSecond::kept(false);
        (0..100).for_each(|second| whole.add(Instant::from_nanos(second * SECOND), 2));
        assert_eq!((whole.over.len(), whole.total()), (0, [200]));
        let mut more = PerSecond::default();
        more.add(Instant::from_nanos(5 * SECOND), 7);
        whole.merge(&more);
        assert_eq!(whole.total(), [207]);
    }

    #[test]
    fn seconds_without_events_count_zero() {
        let mut series = PerSecond::default();
        for (ms, n) in [(0, [1, 10]), (999, [2, 20]), (1_000, [4, 40]), (3_500, [8, 80])] {
            series.add_all(Instant::from_nanos(ms * 1_000_000), n);
        }
        assert_eq!(series.column(0, 0..5), [3, 4, 0, 8, 0]);
        assert_eq!(series.column(1, 0..2), [30, 40]);
        series.count(Instant::from_nanos(3_600_000_000), 1);
        assert_eq!((series.row(3), series.sums(0..4)), ([8, 81], vec![33, 44, 0, 89]));
    }
}
