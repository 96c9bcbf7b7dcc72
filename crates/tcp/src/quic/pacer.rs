//! Pacing of packets over the round trip by a leaky bucket (RFC 9002 section 7.7).

use packet::{Duration, Instant};

/// A bucket of bytes that may be sent at once, filled at the pacing rate.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Pacer {
    pub on: bool,
    /// Pacing rate, bytes per second; 0 for no limit.
    pub rate: u64,
    /// Capacity of the bucket, bytes: the burst that section 7.7 allows, an initial window.
    burst: u64,
    /// Content of the bucket, in billionths of a byte.
    filled: u128,
    since: Instant,
    /// An empty bucket waits until it is full, as stacks with coarse timers do, rather than for the next packet.
    whole: bool,
}

const NANO: u128 = 1_000_000_000;
/// Capacity of a bucket that waits until it is full (quinn-proto 0.11, `pacing.rs`): what one
/// window per round trip sends in 2 ms, but at least `LEAST` and at most `MOST` datagrams.
const INTERVAL_NANOS: u128 = 2_000_000;
const LEAST: u64 = 10;
const MOST: u64 = 256;

impl Pacer {
    /// A full bucket of `burst` bytes.
    pub fn new(on: bool, burst: u64, whole: bool) -> Self {
        let filled = u128::from(burst) * NANO;
        Pacer { on, rate: 0, burst, filled, since: Instant::ZERO, whole }
    }

    /// Adapts the capacity to window and round-trip time, if the bucket waits until it is full.
    pub fn resize(&mut self, cwnd: u64, mss: u64, srtt: Duration) {
        if self.whole {
            let burst = u128::from(cwnd) * INTERVAL_NANOS / u128::from(srtt.nanos().max(1));
            let burst = u64::try_from(burst).unwrap_or(u64::MAX);
            self.burst = burst.clamp(LEAST * mss, MOST * mss);
            self.filled = self.filled.min(u128::from(self.burst) * NANO);
        }
    }

    fn fill(&mut self, now: Instant) {
        let more = u128::from(now.since(self.since).nanos()) * u128::from(self.rate);
        let more = if self.whole { more / NANO * NANO } else { more };
        self.filled = (self.filled + more).min(u128::from(self.burst) * NANO);
        self.since = now;
    }

    /// When `bytes` may be sent: now, or later.
    pub fn next(&mut self, bytes: u64, now: Instant) -> Instant {
        if !self.on || self.rate == 0 {
            return now;
        }
        let wanted = u128::from(bytes) * NANO;
        if !self.whole || self.filled < wanted {
            self.fill(now);
        }
        let whole = if self.whole { u128::from(self.burst) * NANO } else { 0 };
        let wait_for = if self.filled >= wanted { wanted } else { wanted.max(whole) };
        let missing = wait_for.saturating_sub(self.filled);
        // If the bucket waits until it is full, bytes and ns round down as in quinn: a burst may
        // lack one packet.
        let rate = u128::from(self.rate);
        let wait = if self.whole { missing / rate } else { missing.div_ceil(rate) };
        now + Duration::from_nanos(u64::try_from(wait).unwrap_or(u64::MAX / 4))
    }

    /// `bytes` are sent, whether or not pacing allowed them.
    pub fn on_sent(&mut self, bytes: u64, now: Instant) {
        if self.on && (self.rate > 0 || self.whole) {
            if !self.whole {
                self.fill(now);
            }
            self.filled = self.filled.saturating_sub(u128::from(bytes) * NANO);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_burst_goes_at_once_and_the_rest_at_the_pace() {
        let mut pacer = Pacer::new(true, 12_000, false);
        pacer.rate = 1_200_000;
        let at = |ms| Instant::ZERO + Duration::from_millis(ms);
        for _ in 0..10 {
            assert_eq!(pacer.next(1_200, at(5)), at(5));
            pacer.on_sent(1_200, at(5));
        }
        // At this rate 1,200 B take 1 ms.
        assert_eq!(pacer.next(1_200, at(5)), at(6));
        pacer.on_sent(1_200, at(6));
        assert_eq!(pacer.next(1_200, at(6)), at(7));
        assert_eq!(pacer.next(1_200, at(60)), at(60));
        let mut off = Pacer::new(false, 0, false);
        off.rate = 1;
        assert_eq!(off.next(1_200, at(1)), at(1));
    }

    #[test]
    fn an_empty_bucket_may_wait_until_it_is_full() {
        let at = |us| Instant::ZERO + Duration::from_micros(us);
        let mut pacer = Pacer::new(true, 12_000, true);
        pacer.rate = 1_200_000;
        (0..10).for_each(|_| pacer.on_sent(1_200, at(0)));
        // As in quinn-proto 0.11 the wait is that of ten datagrams at 1.2 MB/s, not of one.
        assert_eq!(pacer.next(1_200, at(0)), at(10_000));
        assert_eq!(pacer.next(1_200, at(1_000)), at(1_000));
        // 2 ms of 60,000 B in 5 ms are more than ten datagrams.
        pacer.resize(60_000, 1_200, Duration::from_millis(5));
        assert_eq!(pacer.burst, 24_000);
    }
}
