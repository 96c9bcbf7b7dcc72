//! Linux's wheel of timers: the longer a timer runs, the coarser the instant at which it ends.

use packet::{Duration, Instant};

/// Bits by which each level of the wheel is coarser than the one below (`LVL_CLK_SHIFT`).
const LEVEL_BITS: u32 = 3;
/// Timers of fewer ticks lie in the lowest level, of one tick (`LVL_START(1)`).
const LOWEST: u64 = 63;
/// Added to RACK's reordering wait, which a tick could cut short.
const LEAST: Duration = Duration::from_millis(2);

/// The wheel of a kernel (kernel/time/timer.c since Linux 4.8), or exact timers.
///
/// A timer of n ticks ends at a tick that is a multiple of 1 (n < 63), 8 (n < 504), 64 (n < 4,032), ...
/// ticks, never before its time and up to that much after it (`calc_wheel_index`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct TimerWheel {
    /// Length of a tick, ns; 0 where timers are exact.
    tick: u64,
}

impl TimerWheel {
    /// Exact timers, without a wheel.
    pub const EXACT: TimerWheel = TimerWheel { tick: 0 };

    /// The timer wheel of a kernel with `hz` ticks a second (`CONFIG_HZ`); 0 for exact timers.
    /// Ticks begin with the run.
    pub fn of(hz: u64) -> Self {
        TimerWheel { tick: 1_000_000_000_u64.checked_div(hz).unwrap_or(0) }
    }

    /// When a timer that is set now for `wait` ends.
    #[inline]
    pub fn end(self, now: Instant, wait: Duration) -> Instant {
        if self.tick == 0 { now + wait } else { self.end_at_a_tick(now, wait) }
    }

    /// When RACK's reordering timer that is set now for `wait` ends: 2 ms later than in RFC 8985 if
    /// timers have ticks (`TCP_TIMEOUT_MIN_US` in `tcp_rack_mark_lost`).
    pub fn end_of_a_hole(self, now: Instant, wait: Duration) -> Instant {
        if self.tick == 0 { now + wait } else { self.end_at_a_tick(now, wait + LEAST) }
    }

    #[cold]
    fn end_at_a_tick(self, now: Instant, wait: Duration) -> Instant {
        let ticks = wait.nanos().div_ceil(self.tick);
        let expires = now.nanos() / self.tick + ticks;
        let mut shift = 0;
        while ticks >= LOWEST << shift {
            shift += LEVEL_BITS;
        }
        Instant::from_nanos((((expires >> shift) + 1) << shift) * self.tick)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ms(ms: u64) -> Instant {
        Instant::ZERO + Duration::from_millis(ms)
    }

    #[test]
    fn a_timer_ends_at_the_next_multiple_of_its_level() {
        let wheel = TimerWheel::of(1_000);
        for (now, wait, end) in [
            (0, 15, 16), // as was measured with PIE's timer
            (5, 62, 68), // the longest timer of the lowest level
            (5, 63, 72), // steps of 8 ticks: not 68 but 72
            (0, 503, 504),
            (0, 504, 512), // steps of 64 ticks
            (472, 568, 1_088),
            (0, 512, 576), // from a multiple to the next one
            (0, 4_031, 4_032),
            (0, 4_032, 4_096),       // steps of 512 ticks
            (1_000, 32_256, 36_864), // steps of 4,096 ticks
        ] {
            let found = wheel.end(ms(now), Duration::from_millis(wait));
            assert_eq!(found, ms(end), "{wait} ms from {now} ms");
        }
    }

    #[test]
    fn what_is_less_than_a_tick_counts_as_one() {
        let wheel = TimerWheel::of(250);
        // The current tick began at 4 ms; a timer lasts one tick from then, and one more.
        let now = Instant::from_nanos(5_000_000);
        assert_eq!(wheel.end(now, Duration::from_nanos(1)), ms(12));
        assert_eq!(wheel.end(now, Duration::from_millis(4)), ms(12));
        assert_eq!(wheel.end(now, Duration::from_nanos(4_000_001)), ms(16));
    }

    #[test]
    fn what_was_overtaken_is_waited_for_2_ms_more_than_its_window_where_timers_have_ticks() {
        let at = ms(7);
        assert_eq!(TimerWheel::of(1_000).end_of_a_hole(at, Duration::from_millis(20)), ms(30));
        assert_eq!(TimerWheel::EXACT.end_of_a_hole(at, Duration::from_millis(20)), ms(27));
    }

    #[test]
    fn without_ticks_timers_are_exact() {
        let at = Instant::from_nanos(123);
        assert_eq!(TimerWheel::of(0), TimerWheel::EXACT);
        assert_eq!(TimerWheel::of(0).end(at, Duration::from_nanos(77)), Instant::from_nanos(200));
    }
}
