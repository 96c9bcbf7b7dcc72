//! The two clocks of a BSD host, without an event per tick.
//!
//! BSD drives all TCP timers of a host from two periodic calls: the slow one every 500 ms
//! (retransmission, connection limits, RTT counting) and the fast one every 200 ms (delayed
//! acknowledgements). Here a tick is never an event: the instant of the n-th tick from now, and
//! the number of ticks between two instants, are computed when needed.

use packet::{Duration, Instant};

const SLOW: u64 = 500_000_000;
const FAST: u64 = 200_000_000;

/// Phases of a host's clocks: slow ticks at `slow` + 0.5 k s, fast ticks at `fast` + 0.2 k s, for
/// every whole k from 0.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct HostClock {
    /// When the first 500 ms tick comes, below 500 ms.
    pub slow: Duration,
    /// When the first 200 ms tick comes, below 200 ms.
    pub fast: Duration,
}

/// Where within an instant we are: arrivals come first, then the slow tick, then the fast one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Phase {
    #[default]
    Events,
    Slow,
    Fast,
}

/// An instant and the phase within it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Moment {
    pub at: Instant,
    pub phase: Phase,
}

/// Ticks of a grid strictly before `at`, or up to and including it.
fn ticks(first: Duration, period: u64, at: Instant, inclusive: bool) -> u64 {
    let reach = at.nanos() + u64::from(inclusive);
    match reach.checked_sub(first.nanos() + 1) {
        Some(past) => past / period + 1,
        None => 0,
    }
}

impl HostClock {
    /// How often this host has counted round-trip and idle time up to `moment`. Inside a slow
    /// tick timers run before the counting, so a timer's own sends still miss this tick.
    pub(crate) fn slow_counts(self, moment: Moment) -> u64 {
        ticks(self.slow, SLOW, moment.at, moment.phase == Phase::Fast)
    }

    /// When a timer of `n` slow ticks set at `moment` expires: at the n-th tick after it, the
    /// tick of this very instant included if it is still to come.
    pub(crate) fn slow_deadline(self, moment: Moment, n: u64) -> Instant {
        let done = ticks(self.slow, SLOW, moment.at, moment.phase != Phase::Events);
        Instant::from_nanos(self.slow.nanos() + (done + n - 1) * SLOW)
    }

    /// The next fast tick.
    pub(crate) fn next_fast(self, moment: Moment) -> Instant {
        let done = ticks(self.fast, FAST, moment.at, moment.phase == Phase::Fast);
        Instant::from_nanos(self.fast.nanos() + done * FAST)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn moment(ms: u64, phase: Phase) -> Moment {
        Moment { at: Instant::from_nanos(ms * 1_000_000), phase }
    }
    fn ms(at: Instant) -> u64 {
        at.nanos() / 1_000_000
    }

    #[test]
    fn a_timer_of_n_ticks_lasts_up_to_n_halves_and_exactly_that_from_a_tick() {
        let clock = HostClock { slow: Duration::from_millis(330), fast: Duration::ZERO };
        assert_eq!(ms(clock.slow_deadline(moment(0, Phase::Events), 6)), 2830);
        assert_eq!(ms(clock.slow_deadline(moment(329, Phase::Events), 3)), 1330);
        // At a tick: an arrival is served before it, a timer of the tick itself after.
        assert_eq!(ms(clock.slow_deadline(moment(830, Phase::Events), 3)), 1830);
        assert_eq!(ms(clock.slow_deadline(moment(830, Phase::Slow), 3)), 2330);
        assert_eq!(ms(clock.slow_deadline(moment(831, Phase::Events), 3)), 2330);
    }

    #[test]
    fn counting_includes_a_tick_only_after_it() {
        let clock = HostClock { slow: Duration::from_millis(330), fast: Duration::ZERO };
        let counts = |at, phase| clock.slow_counts(moment(at, phase));
        assert_eq!(counts(0, Phase::Events), 0);
        assert_eq!(counts(330, Phase::Events), 0);
        assert_eq!(counts(330, Phase::Slow), 0);
        assert_eq!(counts(330, Phase::Fast), 1);
        assert_eq!(counts(331, Phase::Events), 1);
        assert_eq!(counts(1330, Phase::Events), 2);
    }

    #[test]
    fn fast_ticks() {
        let clock = HostClock { slow: Duration::ZERO, fast: Duration::from_millis(70) };
        assert_eq!(ms(clock.next_fast(moment(0, Phase::Events))), 70);
        assert_eq!(ms(clock.next_fast(moment(270, Phase::Events))), 270);
        assert_eq!(ms(clock.next_fast(moment(270, Phase::Fast))), 470);
        assert_eq!(ms(clock.next_fast(moment(271, Phase::Events))), 470);
    }
}
