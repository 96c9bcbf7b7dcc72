//! Simulated time: integer nanoseconds, never floating point, so that runs agree to the bit.
//!
//! Times beyond the last instant ([`Instant::NEVER`], 584 years) are never reached: sums, multiples
//! and conversions saturate there instead of wrapping to an early time. A difference that would be
//! negative is a fault of the program and panics in every build; only [`Instant::since`] stops at
//! zero. (Measured with callgrind, this costs nothing: `docs/notebook/2026-11-30-speed.md`.)

use core::ops::{Add, AddAssign, Mul, Sub};

/// A point in time: nanoseconds since the start of the run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Instant(u64);

/// A span of time in nanoseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Duration(u64);

impl Instant {
    /// The start of the run.
    pub const ZERO: Instant = Instant(0);
    /// An instant later than all events.
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
    /// A span of zero.
    pub const ZERO: Duration = Duration(0);

    /// `ns` nanoseconds.
    pub const fn from_nanos(ns: u64) -> Self {
        Duration(ns)
    }
    /// `us` microseconds.
    pub const fn from_micros(us: u64) -> Self {
        Duration(us.saturating_mul(1_000))
    }
    /// `ms` milliseconds.
    pub const fn from_millis(ms: u64) -> Self {
        Duration(ms.saturating_mul(1_000_000))
    }
    /// `s` seconds.
    pub const fn from_secs(s: u64) -> Self {
        Duration(s.saturating_mul(1_000_000_000))
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

/// Panics because the difference of two times would be negative.
#[cold]
#[inline(never)]
fn negative() -> ! {
    panic!("a span of time came out negative")
}

#[inline]
fn difference(from: u64, span: u64) -> u64 {
    from.checked_sub(span).unwrap_or_else(|| negative())
}

impl Add<Duration> for Instant {
    type Output = Instant;
    #[inline]
    fn add(self, span: Duration) -> Instant {
        Instant(self.0.saturating_add(span.0))
    }
}
impl AddAssign<Duration> for Instant {
    #[inline]
    fn add_assign(&mut self, span: Duration) {
        *self = *self + span;
    }
}
impl Sub<Duration> for Instant {
    type Output = Instant;
    #[inline]
    fn sub(self, span: Duration) -> Instant {
        Instant(difference(self.0, span.0))
    }
}
impl Add for Duration {
    type Output = Duration;
    #[inline]
    fn add(self, other: Duration) -> Duration {
        Duration(self.0.saturating_add(other.0))
    }
}
impl AddAssign for Duration {
    #[inline]
    fn add_assign(&mut self, other: Duration) {
        *self = *self + other;
    }
}
impl Sub for Duration {
    type Output = Duration;
    #[inline]
    fn sub(self, other: Duration) -> Duration {
        Duration(difference(self.0, other.0))
    }
}
impl Mul<u64> for Duration {
    type Output = Duration;
    #[inline]
    fn mul(self, times: u64) -> Duration {
        Duration(self.0.saturating_mul(times))
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
    fn what_lies_beyond_the_last_instant_never_happens() {
        let (long, late) = (Duration::from_secs(10_000_000_000), Instant::from_secs_f64(1e10));
        assert_eq!((late + long, Instant::NEVER + long), (Instant::NEVER, Instant::NEVER));
        assert_eq!((long + long).nanos(), u64::MAX);
        assert_eq!((long * 1_000, Duration::from_secs(u64::MAX)), (long + long, long + long));
        assert_eq!([1e30, f64::INFINITY].map(Instant::from_secs_f64), [Instant::NEVER; 2]);
        let (mut at, mut span) = (late, long);
        at += long;
        span += long;
        assert_eq!((at, span.nanos()), (Instant::NEVER, u64::MAX));
    }

    #[test]
    #[should_panic(expected = "came out negative")]
    fn a_span_below_zero_is_a_fault_in_every_build() {
        let _ = Duration::from_nanos(1) - Duration::from_nanos(2);
    }

    #[test]
    fn since_never_goes_below_zero() {
        let (a, b) = (Instant::from_nanos(5), Instant::from_nanos(9));
        assert_eq!(b.since(a).nanos(), 4);
        assert_eq!(a.since(b), Duration::ZERO);
    }
}
