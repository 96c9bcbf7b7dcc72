//! The token bucket of SFB's penalty box.

use packet::{Duration, Instant};

/// A token bucket that starts full.
pub(super) struct Bucket {
    /// Tokens per second.
    rate: f64,
    burst: f64,
    /// Whether the bucket has Linux's quirks: it is refilled only when it is empty, by a whole
    /// number of tokens, while its clock restarts; without a rate it admits nothing.
    linux: bool,
    tokens: f64,
    /// Time of the last refill; at first that of the bucket's creation.
    since: Instant,
}

impl Bucket {
    pub const fn new(rate: f64, burst: u64, linux: bool) -> Self {
        Bucket { rate, burst: burst as f64, linux, tokens: burst as f64, since: Instant::ZERO }
    }

    /// Number of tokens left after the last call of [`Bucket::take`].
    pub const fn tokens(&self) -> f64 {
        self.tokens
    }

    /// Takes a token if there is one.
    pub fn take(&mut self, now: Instant) -> bool {
        if self.linux && self.rate == 0.0 {
            return false;
        }
        let age = now.since(self.since);
        if !self.linux {
            self.since = now;
            self.tokens = (self.tokens + age.secs_f64() * self.rate).min(self.burst);
        } else if self.tokens < 1.0 {
            self.since = now;
            let age = age.min(Duration::from_secs(10));
            self.tokens = packet::math::floor(age.secs_f64() * self.rate).min(self.burst);
        }
        if self.tokens < 1.0 {
            return false;
        }
        self.tokens -= 1.0;
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn empty(linux: bool) -> Bucket {
        let mut bucket = Bucket::new(10.0, 20, linux);
        assert!((0..20).all(|_| bucket.take(Instant::ZERO)), "it starts full");
        assert!(!bucket.take(Instant::ZERO));
        bucket
    }

    #[test]
    fn linux_rounds_down_and_restarts_its_clock() {
        let taken = |linux| {
            let mut bucket = empty(linux);
            [90, 180, 270].map(|ms| bucket.take(Instant::from_nanos(ms * 1_000_000)))
        };
        assert_eq!(taken(true), [false, false, false]);
        assert_eq!(taken(false), [false, true, true]);
    }

    #[test]
    fn a_rest_fills_it_to_the_brim() {
        for linux in [false, true] {
            let mut bucket = empty(linux);
            let later = Instant::from_nanos(3_600_000_000_000);
            assert_eq!((0..30).filter(|_| bucket.take(later)).count(), 20);
        }
        // Linux refills at most the tokens of ten seconds.
        let mut slow = Bucket::new(0.5, 20, true);
        assert_eq!((0..30).filter(|_| slow.take(Instant::ZERO)).count(), 20);
        let later = Instant::from_nanos(3_600_000_000_000);
        assert_eq!((0..30).filter(|_| slow.take(later)).count(), 5);
    }

    #[test]
    fn the_first_refill_counts_from_the_creation() {
        // sch_sfb sets token_time when it is configured, so that the first refill after the first
        // burst is a whole burst.
        let taken = |linux| {
            let mut bucket = Bucket::new(10.0, 20, linux);
            let late = Instant::from_nanos(60_000_000_000);
            (0..50).filter(|_| bucket.take(late)).count()
        };
        assert_eq!((taken(true), taken(false)), (40, 20));
    }

    #[test]
    fn no_rate_and_no_burst_admit_nothing() {
        assert!(!Bucket::new(10.0, 0, false).take(Instant::ZERO));
        assert!(!Bucket::new(10.0, 0, true).take(Instant::ZERO));
        assert!(!Bucket::new(0.0, 20, true).take(Instant::ZERO), "sfb_rate_limit's first line");
        let mut once = Bucket::new(0.0, 1, false);
        assert!(once.take(Instant::ZERO) && !once.take(Instant::from_nanos(u64::MAX)));
    }
}
