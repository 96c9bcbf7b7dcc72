//! The exponential average of a rate over time: I. Stoica, S. Shenker, H. Zhang, *Core-Stateless
//! Fair Queueing*, SIGCOMM 1998, equation 3; GREEN uses it too.

use packet::{Instant, math};

/// Average rate in bytes per second: after a time T between packets its old value counts with
/// weight e^(-T/K). Unlike an average over packets, it does not depend on how a burst is cut into
/// packets.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RateAverage {
    bytes_per_s: f64,
    /// Time at which the last packet was counted; `None` before the first.
    last: Option<Instant>,
    /// The time constant K, in seconds.
    over: f64,
}

impl RateAverage {
    /// An average without packets, with a time constant of `seconds`, at least a nanosecond.
    pub const fn over(seconds: f64) -> Self {
        RateAverage { bytes_per_s: 0.0, last: None, over: seconds.max(1e-9) }
    }

    /// Counts a packet of `bytes` bytes: the new average is (1 - e^(-T/K)) bytes/T plus e^(-T/K)
    /// times the old one. If no time has passed since the last packet, or there was none, it grows
    /// by bytes/K, the limit for T to 0.
    pub fn add(&mut self, bytes: u32, now: Instant) {
        let passed = self.last.map_or(0.0, |last| now.since(last).secs_f64());
        self.last = Some(now);
        let bytes = f64::from(bytes);
        if passed == 0.0 {
            self.bytes_per_s += bytes / self.over;
            return;
        }
        let kept = math::exp(-passed / self.over);
        self.bytes_per_s = (1.0 - kept) * (bytes / passed) + kept * self.bytes_per_s;
    }

    /// The average at the last packet, in bytes/s.
    pub const fn bytes_per_s(&self) -> f64 {
        self.bytes_per_s
    }

    /// The average decayed until `now`, in bytes/s.
    pub fn at(&self, now: Instant) -> f64 {
        let passed = self.last.map_or(0.0, |last| now.since(last).secs_f64());
        self.bytes_per_s * math::exp(-passed / self.over)
    }

    /// Time at which the last packet was counted.
    pub const fn last(&self) -> Option<Instant> {
        self.last
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(ms: u64) -> Instant {
        Instant::from_nanos(ms * 1_000_000)
    }

    #[test]
    fn finds_a_constant_rate_and_forgets_it() {
        let mut rate = RateAverage::over(0.1);
        for ms in 1..=1000 {
            rate.add(1000, at(ms));
        }
        assert!((rate.bytes_per_s() - 1e6).abs() < 60.0, "{}", rate.bytes_per_s());
        assert!((rate.at(at(1100)) - 1e6 / core::f64::consts::E).abs() < 40.0);
        assert_eq!(rate.at(at(1000)), rate.bytes_per_s());
    }

    #[test]
    fn packets_at_one_instant_are_the_limit_of_packets_close_together() {
        let mut together = RateAverage::over(0.1);
        let mut apart = RateAverage::over(0.1);
        for n in 0..5 {
            together.add(1500, at(7));
            apart.add(1500, Instant::from_nanos(7_000_000 + n));
        }
        assert!((together.bytes_per_s() - 75_000.0).abs() < 1e-6);
        assert!((apart.bytes_per_s() / together.bytes_per_s() - 1.0).abs() < 1e-6);
    }
}
