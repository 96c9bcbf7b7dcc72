//! Packets are spread over the round trip (RFC 9002 section 7.7): a leaky bucket.

use packet::{Duration, Instant};

/// A bucket of bytes that may go at once, filled at the pace.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Pacer {
    pub on: bool,
    /// Bytes per second; 0 for no limit.
    pub rate: u64,
    /// What fits in: the burst that section 7.7 allows, an initial window.
    burst: u64,
    /// In billionths of a byte.
    filled: u128,
    since: Instant,
}

const NANO: u128 = 1_000_000_000;

impl Pacer {
    /// A full bucket of `burst` bytes.
    pub fn new(on: bool, burst: u64) -> Self {
        Pacer { on, rate: 0, burst, filled: u128::from(burst) * NANO, since: Instant::ZERO }
    }

    fn fill(&mut self, now: Instant) {
        let more = u128::from(now.since(self.since).nanos()) * u128::from(self.rate);
        self.filled = (self.filled + more).min(u128::from(self.burst) * NANO);
        self.since = now;
    }

    /// When `bytes` may go: now, or later.
    pub fn next(&mut self, bytes: u64, now: Instant) -> Instant {
        if !self.on || self.rate == 0 {
            return now;
        }
        self.fill(now);
        let missing = (u128::from(bytes) * NANO).saturating_sub(self.filled);
        let wait = missing.div_ceil(u128::from(self.rate));
        now + Duration::from_nanos(u64::try_from(wait).unwrap_or(u64::MAX / 4))
    }

    /// `bytes` go out, whether or not the pace let them.
    pub fn on_sent(&mut self, bytes: u64, now: Instant) {
        if self.on && self.rate > 0 {
            self.fill(now);
            self.filled = self.filled.saturating_sub(u128::from(bytes) * NANO);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_burst_goes_at_once_and_the_rest_at_the_pace() {
        let mut pacer = Pacer::new(true, 12_000);
        pacer.rate = 1_200_000;
        let at = |ms| Instant::ZERO + Duration::from_millis(ms);
        for _ in 0..10 {
            assert_eq!(pacer.next(1_200, at(5)), at(5));
            pacer.on_sent(1_200, at(5));
        }
        // 1,200 B take 1 ms.
        assert_eq!(pacer.next(1_200, at(5)), at(6));
        pacer.on_sent(1_200, at(6));
        assert_eq!(pacer.next(1_200, at(6)), at(7));
        assert_eq!(pacer.next(1_200, at(60)), at(60));
        let mut off = Pacer::new(false, 0);
        off.rate = 1;
        assert_eq!(off.next(1_200, at(1)), at(1));
    }
}
