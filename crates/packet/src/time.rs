//! Simulated time: integer nanoseconds, never floating point, so that runs agree to the bit.

use core::ops::{Add, AddAssign, Sub};

/// A point in time: nanoseconds since the start of the run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Instant(u64);

/// A span of time in nanoseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Duration(u64);

impl Instant {
    /// The start of the run.
    pub const ZERO: Instant = Instant(0);
    /// Later than anything that happens.
    pub const NEVER: Instant = Instant(u64::MAX);

    /// The instant `ns` nanoseconds after the start.
    pub const fn from_nanos(ns: u64) -> Self {
        Instant(ns)
    }
    /// The instant `s` seconds after the start, rounded to the nearest nanosecond.
    pub fn from_secs_f64(s: f64) -> Self {
        Instant(Duration::from_secs_f64(s).0)
    }
    /// Nanoseconds since the start.
    pub const fn nanos(self) -> u64 {
        self.0
    }
    /// Seconds since the start.
    pub fn secs_f64(self) -> f64 {
        self.0 as f64 / 1e9
    }
    /// The time since `earlier`, or zero if `earlier` is later.
    pub const fn since(self, earlier: Instant) -> Duration {
        Duration(self.0.saturating_sub(earlier.0))
    }
}

impl Duration {
    /// No time at all.
    pub const ZERO: Duration = Duration(0);

    /// `ns` nanoseconds.
    pub const fn from_nanos(ns: u64) -> Self {
        Duration(ns)
    }
    /// `us` microseconds.
    pub const fn from_micros(us: u64) -> Self {
        Duration(us * 1_000)
    }
    /// `ms` milliseconds.
    pub const fn from_millis(ms: u64) -> Self {
        Duration(ms * 1_000_000)
    }
    /// `s` seconds.
    pub const fn from_secs(s: u64) -> Self {
        Duration(s * 1_000_000_000)
    }
    /// `s` seconds, rounded to the nearest nanosecond; negative values become zero.
    pub fn from_secs_f64(s: f64) -> Self {
        // The cast truncates and saturates, so adding a half rounds without calling libm.
        Duration((s * 1e9 + 0.5) as u64)
    }
    /// Length in nanoseconds.
    pub const fn nanos(self) -> u64 {
        self.0
    }
    /// Length in seconds.
    pub fn secs_f64(self) -> f64 {
        self.0 as f64 / 1e9
    }
}

impl Add<Duration> for Instant {
    type Output = Instant;
    fn add(self, span: Duration) -> Instant {
        Instant(self.0 + span.0)
    }
}
impl AddAssign<Duration> for Instant {
    fn add_assign(&mut self, span: Duration) {
        self.0 += span.0;
    }
}
impl Sub<Duration> for Instant {
    type Output = Instant;
    fn sub(self, span: Duration) -> Instant {
        Instant(self.0 - span.0)
    }
}
impl Add for Duration {
    type Output = Duration;
    fn add(self, other: Duration) -> Duration {
        Duration(self.0 + other.0)
    }
}
impl AddAssign for Duration {
    fn add_assign(&mut self, other: Duration) {
        self.0 += other.0;
    }
}
impl Sub for Duration {
    type Output = Duration;
    fn sub(self, other: Duration) -> Duration {
        Duration(self.0 - other.0)
    }
}
impl core::ops::Mul<u64> for Duration {
    type Output = Duration;
    fn mul(self, times: u64) -> Duration {
        Duration(self.0 * times)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn seconds_round_to_the_nearest_nanosecond() {
        assert_eq!(Duration::from_secs_f64(0.3).nanos(), 300_000_000);
        assert_eq!(Duration::from_secs_f64(1e-9 * 1.6).nanos(), 2);
        assert_eq!(Duration::from_secs_f64(-1.0), Duration::ZERO);
    }

    #[test]
    fn since_never_goes_below_zero() {
        let (a, b) = (Instant::from_nanos(5), Instant::from_nanos(9));
        assert_eq!(b.since(a).nanos(), 4);
        assert_eq!(a.since(b), Duration::ZERO);
    }
}
