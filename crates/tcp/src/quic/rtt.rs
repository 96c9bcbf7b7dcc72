//! Estimation of the round-trip time (RFC 9002 section 5).

use packet::{Duration, Instant};

use super::rules::GRANULARITY;

/// The estimates of one connection.
#[derive(Clone, Copy, Debug)]
pub(super) struct RttEstimate {
    pub latest: Duration,
    pub smoothed: Duration,
    pub var: Duration,
    /// Smallest round-trip time so far.
    pub min: Duration,
    /// When the first sample was taken.
    pub first_sample: Option<Instant>,
    /// The newest sample, until it is read.
    newest: Option<Duration>,
}

impl RttEstimate {
    /// The estimate before the first sample.
    pub fn new(initial: Duration) -> Self {
        RttEstimate {
            latest: Duration::ZERO,
            smoothed: initial,
            var: Duration::from_nanos(initial.nanos() / 2),
            min: Duration::ZERO,
            first_sample: None,
            newest: None,
        }
    }

    /// Takes a sample (`UpdateRtt` of RFC 9002 appendix A.7); `delay`: the part of the peer's
    /// acknowledgement delay that counts.
    pub fn update(&mut self, latest: Duration, delay: Duration, now: Instant) {
        (self.latest, self.newest) = (latest, Some(latest));
        if self.first_sample.is_none() {
            (self.min, self.smoothed, self.first_sample) = (latest, latest, Some(now));
            self.var = Duration::from_nanos(latest.nanos() / 2);
            return;
        }
        self.min = self.min.min(latest);
        let adjusted = if latest >= self.min + delay { latest - delay } else { latest };
        let (smoothed, adjusted) = (self.smoothed.nanos(), adjusted.nanos());
        let off = smoothed.abs_diff(adjusted);
        self.var = Duration::from_nanos((3 * self.var.nanos() + off) / 4);
        self.smoothed = Duration::from_nanos((7 * smoothed + adjusted) / 8);
    }

    /// The probe timeout without the peer's delay and without backoff (RFC 9002 section 6.2.1).
    pub fn pto(&self) -> Duration {
        self.smoothed + (self.var * 4).max(GRANULARITY)
    }

    /// The smoothed round-trip time; zero before the first sample.
    pub fn measured(&self) -> Duration {
        if self.first_sample.is_some() { self.smoothed } else { Duration::ZERO }
    }

    /// Whether there is a sample that was not taken yet.
    pub fn has_newest(&self) -> bool {
        self.newest.is_some()
    }

    /// The newest sample since the last call, with the smoothed round-trip time after it.
    pub fn take_newest(&mut self) -> Option<(Duration, Duration)> {
        Some((self.newest.take()?, self.smoothed))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ms(x: u64) -> Duration {
        Duration::from_millis(x)
    }

    #[test]
    fn the_estimate_is_that_of_section_5_3() {
        let mut rtt = RttEstimate::new(ms(333));
        // RFC 9002 section 6.2.2: 333 ms + 4 x 166.5 ms.
        assert_eq!(rtt.pto(), ms(999));
        rtt.update(ms(100), ms(25), Instant::ZERO);
        assert_eq!(
            (rtt.smoothed, rtt.var, rtt.min),
            (ms(100), ms(50), ms(100)),
            "no delay taken off"
        );
        rtt.update(ms(180), ms(20), Instant::ZERO);
        // Adjusted 160 ms: var 3/4 x 50 + 60/4, smoothed 7/8 x 100 + 160/8.
        assert_eq!(
            (rtt.smoothed, rtt.var),
            (Duration::from_micros(107_500), Duration::from_micros(52_500))
        );
        // Taking 25 ms off 110 ms would leave less than the smallest round trip.
        rtt.update(ms(110), ms(25), Instant::ZERO);
        assert_eq!(rtt.smoothed, Duration::from_nanos((7 * 107_500_000 + 110_000_000) / 8));
        assert_eq!(rtt.min, ms(100));
        assert_eq!(rtt.take_newest(), Some((ms(110), rtt.smoothed)));
        assert_eq!(rtt.take_newest(), None);
    }

    #[test]
    fn a_steady_round_trip_leaves_a_timeout_of_the_granularity() {
        let mut rtt = RttEstimate::new(ms(333));
        (0..200).for_each(|_| rtt.update(ms(40), Duration::ZERO, Instant::ZERO));
        assert_eq!(rtt.pto(), ms(41));
    }
}
