//! CoDel's control law: the next signal is due after `interval`/√count.

use packet::{Duration, Instant, math};

/// The binary logarithm of Linux's unit of time, in ns (CODEL_SHIFT).
pub(crate) const UNIT: u32 = 10;

/// How the law computes reciprocal roots.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Roots {
    Exact,
    /// Linux: one Newton step per signal.
    Newton,
    /// Linux 7.3: as `Newton`, but no wait is shorter than a unit. Before, a short interval over a
    /// large root gave a wait of zero.
    NewtonOfOne,
}

/// CoDel's control law for one series of signals (drops or marks), and the number of signals in it.
#[derive(Clone, Debug)]
pub(crate) struct Law {
    interval: Duration,
    count: u32,
    /// 1/√count with 16 fractional bits, improved by one Newton step per signal, as Linux does
    /// it; not used for exact roots.
    inverse_root: u16,
    roots: Roots,
}

impl Law {
    /// The law before the first signal.
    pub fn new(interval: Duration, roots: Roots) -> Self {
        Law { interval, count: 0, inverse_root: 0, roots }
    }

    /// Number of signals in the series, as the law counts them.
    pub const fn count(&self) -> u32 {
        self.count
    }

    /// Begins a series at the `count`-th signal.
    pub fn restart(&mut self, count: u32) {
        self.count = count;
        if count == 1 {
            self.inverse_root = u16::MAX;
        } else {
            self.newton_step();
        }
    }

    /// Counts one more signal.
    pub fn grow(&mut self) {
        self.count = self.count.wrapping_add(1);
        self.newton_step();
    }

    /// Counts signals from another part of the discipline, so that the next ones are closer
    /// together.
    pub fn add(&mut self, signals: u32) {
        self.count = self.count.wrapping_add(signals);
    }

    /// Time at which the signal after one at `t` is due.
    pub fn after(&self, t: Instant) -> Instant {
        let interval = self.interval.nanos();
        // Linux counts in units of 1,024 ns and discards the remainder at every signal.
        let units = || ((interval >> UNIT) * u64::from(self.inverse_root)) >> 16;
        let wait = match self.roots {
            Roots::Exact => {
                let root = math::sqrt(f64::from(self.count.max(1)));
                (interval as f64 / root + 0.5) as u64
            }
            Roots::Newton => units() << UNIT,
            Roots::NewtonOfOne => units().max(1) << UNIT,
        };
        t + Duration::from_nanos(wait)
    }

    /// x ← x(3 − count·x²)/2 in Linux's fixed point (codel_Newton_step). Starting from 1 at count 1
    /// it yields 0.5 at count 2, where 0.707 is exact, and recovers slowly.
    fn newton_step(&mut self) {
        if self.roots == Roots::Exact {
            return;
        }
        let x = u64::from(self.inverse_root) << 16;
        let square = (x * x) >> 32;
        // Wraps if the count has grown by more than the step can follow, as in Linux.
        let value = (3u64 << 32).wrapping_sub(u64::from(self.count) * square) >> 2;
        let next = value.wrapping_mul(x) >> 31;
        self.inverse_root = (next as u32 >> 16) as u16;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn series(newton: bool, signals: u32) -> Vec<f64> {
        let roots = if newton { Roots::Newton } else { Roots::Exact };
        let mut law = Law::new(Duration::from_millis(100), roots);
        law.restart(1);
        let mut at = Instant::ZERO;
        let mut next = || {
            at = law.after(at);
            law.grow();
            at.nanos() as f64 / 1e6
        };
        (0..signals).map(|_| next()).collect()
    }

    fn close(found: &[f64], expected: &[f64]) {
        assert_eq!(found.len(), expected.len());
        for (a, b) in found.iter().zip(expected) {
            assert!((a - b).abs() < 0.0051, "{found:?} is not {expected:?}");
        }
    }

    #[test]
    fn increments_are_the_interval_over_the_root() {
        let mut law = Law::new(Duration::from_millis(100), Roots::Exact);
        for (count, ms) in [(1, 100.0), (2, 70.711), (3, 57.735), (4, 50.0), (16, 25.0)] {
            law.restart(count);
            let found = law.after(Instant::ZERO).nanos() as f64 / 1e6;
            assert!((found - ms).abs() < 5e-4, "count {count}: {found}");
        }
    }

    #[test]
    fn exact_series() {
        close(&series(false, 4), &[100.0, 170.71, 228.45, 278.45]);
    }

    #[test]
    fn the_series_of_linux() {
        close(&series(true, 6), &[100.0, 150.0, 206.25, 255.03, 299.18, 339.58]);
    }

    #[test]
    fn linux_waits_in_whole_units() {
        // 100 ms are 97,656 units. The waits are 65,535/65,536 and 32,769/65,536 of that, rounded
        // down.
        let mut law = Law::new(Duration::from_millis(100), Roots::Newton);
        law.restart(1);
        let first = law.after(Instant::ZERO);
        law.grow();
        let found = [first.nanos(), law.after(first).nanos() - first.nanos()];
        assert_eq!(found, [97_654 * 1024, 48_829 * 1024]);
    }

    #[test]
    fn signals_after_a_while() {
        // Number of signals within 1, 2, 5 and 10 s of the first, by sums of 100 ms/√k.
        for (secs, signals) in [(1.0, 33), (2.0, 115), (5.0, 662), (10.0, 2574)] {
            let within = series(false, 3000).iter().filter(|ms| **ms <= secs * 1e3).count();
            assert_eq!(within + 1, signals, "{secs} s, with the first");
        }
    }
}
