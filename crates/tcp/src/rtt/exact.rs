//! RFC 6298 with times in nanoseconds, not rounded to any clock.

use packet::Duration;

const INITIAL: Duration = Duration::from_secs(1);
const AFTER_SYN_TIMEOUT: Duration = Duration::from_secs(3);
const MAX: Duration = Duration::from_secs(60);
const GRANULARITY: u64 = 1_000_000;

#[derive(Clone, Copy, Debug)]
pub(crate) struct Exact {
    /// Whether there was a sample yet.
    sampled: bool,
    /// Smoothed round trip in ns.
    srtt: u64,
    /// Mean deviation in ns.
    rttvar: u64,
    rto: Duration,
    min: Duration,
    /// Timeouts since data was last acknowledged.
    timeouts: u8,
}

impl Exact {
    pub fn new(min: Duration) -> Self {
        Exact { sampled: false, srtt: 0, rttvar: 0, rto: INITIAL, min, timeouts: 0 }
    }

    pub fn sample(&mut self, round_trip: Duration) {
        let r = round_trip.nanos();
        if !self.sampled {
            (self.sampled, self.srtt, self.rttvar) = (true, r, r / 2);
        } else {
            self.rttvar = (3 * self.rttvar + self.srtt.abs_diff(r)) / 4;
            self.srtt = (7 * self.srtt + r) / 8;
        }
        let rto = Duration::from_nanos(self.srtt + GRANULARITY.max(4 * self.rttvar));
        self.rto = rto.max(self.min).min(MAX);
    }

    pub fn back_off(&mut self) -> u8 {
        self.timeouts = self.timeouts.saturating_add(1);
        self.rto = (self.rto * 2).min(MAX);
        self.timeouts
    }

    pub fn on_advance(&mut self) {
        self.timeouts = 0;
    }

    /// RFC 6298 (5.7): without a sample because the SYN was repeated, data starts with 3 s.
    pub fn on_established(&mut self, repeated: bool) {
        self.timeouts = 0;
        if repeated {
            self.rto = AFTER_SYN_TIMEOUT;
        }
    }

    pub fn rto(&self) -> Duration {
        self.rto
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn filter_follows_rfc_6298() {
        let ms = Duration::from_millis;
        let mut e = Exact::new(ms(200));
        e.sample(ms(100));
        assert_eq!(e.rto(), ms(300));
        e.sample(ms(200));
        // rttvar = (3*50 + 100)/4 = 62.5, srtt = (700 + 200)/8 = 112.5
        assert_eq!(e.rto(), Duration::from_micros(362_500));
        assert_eq!(e.back_off(), 1);
        assert_eq!(e.rto(), ms(725));
        e.on_advance();
        assert_eq!(e.rto(), ms(725), "only a sample undoes the back-off");
        assert_eq!(e.back_off(), 1, "the count of timeouts begins anew");
        e.sample(ms(100));
        assert!(e.rto() < ms(400));
        (0..20).for_each(|_| {
            e.back_off();
        });
        assert_eq!(e.rto(), ms(60_000));
    }

    #[test]
    fn the_minimum_holds() {
        let mut e = Exact::new(Duration::from_secs(1));
        e.sample(Duration::from_millis(1));
        assert_eq!(e.rto(), Duration::from_secs(1));
    }
}
