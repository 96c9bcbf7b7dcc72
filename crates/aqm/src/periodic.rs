//! The timer of periodic updates.

use packet::params::Kind;
use packet::units::Unit;
use packet::{Duration, Instant};

/// Range of the time between updates, in seconds. Updates more often than every microsecond would
/// take all of a processor's time.
pub(crate) const PERIOD: Kind = Kind::from(Unit::Time, 1e-6, 1e3);

/// A timer that falls due at a first instant and every period after it, whether or not packets
/// wait.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Ticker {
    period: Duration,
    next: Instant,
}

impl Ticker {
    /// A timer due at `period`, `2 period`, … (a period of zero becomes one nanosecond).
    pub(crate) fn every(period: Duration) -> Self {
        let period = period.max(Duration::from_nanos(1));
        Ticker { period, next: Instant::ZERO + period }
    }
    /// This timer with its first tick at `first`.
    pub(crate) fn first_at(self, first: Duration) -> Self {
        Ticker { next: Instant::ZERO + first, ..self }
    }
    /// The time between updates.
    pub(crate) const fn period(&self) -> Duration {
        self.period
    }
    /// Time at which the next update is due.
    pub(crate) const fn next(&self) -> Instant {
        self.next
    }
    /// Records that the due update has been done: the next one is due a period later.
    pub(crate) fn done(&mut self) {
        self.next += self.period;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn falls_due_at_multiples_of_its_period() {
        let mut ticker = Ticker::every(Duration::from_millis(15));
        assert_eq!(ticker.next().nanos(), 15_000_000);
        ticker.done();
        assert_eq!(ticker.next().nanos(), 30_000_000);
        let mut late = ticker.first_at(Duration::from_millis(500));
        late.done();
        assert_eq!(late.next().nanos(), 515_000_000);
        assert_eq!(Ticker::every(Duration::ZERO).next().nanos(), 1);
    }
}
