//! The shaper, which is a virtual clock without a token bucket, and the clocks that show which tin
//! is above its share.

use packet::{Duration, Instant};

/// Lowest rate of a shaper, in bytes per second, at which every queue moves on in the end.
const LEAST_RATE: u64 = 64;

/// Time that a byte takes, in 2^-32 ns; 0 at an unlimited rate.
#[derive(Clone, Copy, Debug)]
pub(super) struct Pace(u64);

impl Pace {
    pub const UNLIMITED: Pace = Pace(0);

    /// The pace of `rate` bytes per second; 0 stands for no limit.
    pub fn limited(rate: u64) -> Self {
        if rate > 0 { Pace::of(rate) } else { Pace::UNLIMITED }
    }

    /// The pace of `rate` bytes per second.
    pub fn of(rate: u64) -> Self {
        let per_byte = (1_000_000_000u128 << 32) / u128::from(rate.max(LEAST_RATE));
        Pace(per_byte as u64)
    }

    /// Time that `bytes` bytes take, in 2^-32 ns.
    #[inline]
    fn exact(self, bytes: u64) -> u128 {
        u128::from(bytes) * u128::from(self.0)
    }

    /// Time that `bytes` bytes take, in whole nanoseconds.
    #[inline]
    pub fn time_for(self, bytes: u64) -> Duration {
        Duration::from_nanos((self.exact(bytes) >> 32) as u64)
    }
}

/// The shaper's clock: when the next packet may leave.
#[derive(Clone, Debug)]
pub(super) struct Shaper {
    pace: Pace,
    next: Instant,
    /// Fraction of a nanosecond of `next`, in 2^-32 ns: it keeps the rate exact in the long run.
    fraction: u32,
    /// Time at which the next packet may leave in any case. Drops that are charged to the link
    /// (`ingress`) do not move this clock, so they can never take more than a third of the rate.
    failsafe: Instant,
}

impl Shaper {
    /// A shaper that is ready to send.
    pub const fn new(pace: Pace) -> Self {
        Shaper { pace, next: Instant::ZERO, fraction: 0, failsafe: Instant::ZERO }
    }

    /// Changes the pace of the packets that follow.
    pub const fn set_pace(&mut self, pace: Pace) {
        self.pace = pace;
    }

    /// Whether the shaper limits the rate at all.
    pub const fn shapes(&self) -> bool {
        self.pace.0 > 0
    }

    /// A packet arrives at an empty buffer: unused time is lost.
    pub fn wake(&mut self, now: Instant) {
        if self.next < now {
            (self.next, self.fraction, self.failsafe) = (now, 0, now);
        }
    }

    /// Time until which nothing may leave, if it is later than `now`.
    #[inline]
    pub fn blocked(&self, now: Instant) -> Option<Instant> {
        let until = self.next.min(self.failsafe);
        (until > now).then_some(until)
    }

    /// Charges the clock for `bytes` that leave (`sent`) or are dropped.
    #[inline]
    pub fn charge(&mut self, bytes: u64, sent: bool) {
        let time = self.pace.exact(bytes) + u128::from(self.fraction);
        self.fraction = time as u32;
        let time = Duration::from_nanos((time >> 32) as u64);
        self.next += time;
        if sent {
            self.failsafe += time + Duration::from_nanos(time.nanos() / 2);
        }
    }
}

/// The clock of a tin: until when it has used up its share of the rate.
#[derive(Clone, Debug)]
pub(super) struct TinClock {
    pace: Pace,
    next: Instant,
}

impl TinClock {
    /// The clock of a tin that is within its share.
    pub const fn new(pace: Pace) -> Self {
        TinClock { pace, next: Instant::ZERO }
    }

    /// Changes the pace of the packets that follow.
    pub const fn set_pace(&mut self, pace: Pace) {
        self.pace = pace;
    }

    /// A packet arrives at an empty tin: its unused share is lost.
    pub fn wake(&mut self, now: Instant) {
        self.next = self.next.max(now);
    }

    /// Time from which on the tin is within its share.
    pub const fn next(&self) -> Instant {
        self.next
    }

    /// Charges the tin for `bytes` that leave or are dropped. It may be at most one packet ahead of
    /// its share, even if it is served for long because the others are empty.
    pub fn charge(&mut self, bytes: u64, now: Instant) {
        let time = self.pace.time_for(bytes);
        if self.next < now {
            self.next += time;
        } else {
            self.next = self.next.max(now + time);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn us(us: u64) -> Instant {
        Instant::from_nanos(1000 * us)
    }

    #[test]
    fn an_idle_time_is_not_saved_up() {
        // 10 Mb/s: 1250 bytes a millisecond.
        let mut shaper = Shaper::new(Pace::of(1_250_000));
        shaper.wake(us(5_000_000));
        let mut sent = Vec::new();
        let mut now = us(5_000_000);
        for _ in 0..4 {
            now = shaper.blocked(now).unwrap_or(now);
            assert_eq!(shaper.blocked(now), None);
            shaper.charge(1250, true);
            sent.push(now.nanos() / 1000 - 5_000_000);
        }
        assert_eq!(sent, [0, 1000, 2000, 3000], "no burst");
        // A packet that arrives before its time neither gains nor loses.
        shaper.wake(us(5_003_500));
        assert_eq!(shaper.blocked(us(5_003_500)), Some(us(5_004_000)));
    }

    #[test]
    fn charged_drops_leave_two_thirds() {
        let mut shaper = Shaper::new(Pace::of(1_250_000));
        shaper.wake(us(1));
        let mut now = us(1);
        for _ in 0..1000 {
            shaper.charge(12_500, false); // ten times as much is dropped as sent
            shaper.charge(1250, true);
            now = shaper.blocked(now).unwrap_or(now);
        }
        assert_eq!(now, us(1_500_001), "1000 packets of 1 ms each");
    }

    #[test]
    fn the_rate_is_exact_in_the_long_run() {
        // 3 Mb/s: a byte takes 2666.67 ns.
        let mut shaper = Shaper::new(Pace::of(375_000));
        for _ in 0..3_000_000 {
            shaper.charge(125, true);
        }
        let error = shaper.next.nanos().abs_diff(1_000_000_000_000);
        assert!(error <= 1, "{error} ns in 1000 s");
    }

    #[test]
    fn a_tin_is_at_most_one_packet_ahead() {
        let mut tin = TinClock::new(Pace::of(1_000_000));
        tin.wake(us(10));
        tin.charge(5, us(10));
        assert_eq!(tin.next(), us(15));
        tin.charge(5, us(11)); // 20 by its share, but it may be at most 5 ahead of 11
        assert_eq!(tin.next(), us(16));
        tin.charge(5, us(40)); // late: it makes up for that
        assert_eq!(tin.next(), us(21));
    }

    #[test]
    fn a_packet_that_comes_on_time_takes_nothing_from_the_clock() {
        // 3 Mb/s: 125 bytes take 333,333.3 ns, of which the third must not be lost.
        let mut shaper = Shaper::new(Pace::of(375_000));
        shaper.charge(125, true);
        let (next, fraction) = (shaper.next, shaper.fraction);
        assert!(fraction > 0);
        shaper.wake(next);
        assert_eq!((shaper.next, shaper.fraction), (next, fraction));
        shaper.wake(next + Duration::from_nanos(1));
        assert_eq!(shaper.fraction, 0);
    }
}
