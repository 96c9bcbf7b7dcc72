//! The clocks of a host, without an event per tick.
//!
//! 4.4BSD drives all TCP timers of a host from two periodic calls: the slow one every 500 ms
//! (retransmission, connection limits, RTT counting) and the fast one every 200 ms (delayed
//! acknowledgements). Later systems read one finer clock. Here a tick is never an event: the
//! instant of the n-th tick from now, and the number of ticks between two instants, are computed
//! when needed.

use packet::{Duration, Instant};

/// The slow clock of 4.4BSD.
pub(crate) const SLOW: Duration = Duration::from_millis(500);
/// The fast clock of 4.4BSD.
pub(crate) const FAST: Duration = Duration::from_millis(200);

/// Phases of a host's clocks: slow ticks at `slow` + 0.5 k s, fast ticks at `fast` + 0.2 k s, for
/// every whole k from 0. A profile with clocks of another period P starts them at the same phases
/// modulo P.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct HostClock {
    /// When the first 500 ms tick comes, below 500 ms.
    pub slow: Duration,
    /// When the first 200 ms tick comes, below 200 ms.
    pub fast: Duration,
}

/// Phase in the processing of one instant: arrivals come first, then the slow tick, then the fast
/// one.
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

/// The clocks of an endpoint's host ([`HostClock`]) in half of the memory: the instants of their
/// first ticks as 32-bit numbers, ns.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LocalClock {
    slow: u32,
    fast: u32,
}

impl LocalClock {
    pub fn new(host: HostClock) -> Self {
        let ns =
            |phase: Duration| u32::try_from(phase.nanos()).expect("a first tick within 500 ms");
        LocalClock { slow: ns(host.slow), fast: ns(host.fast) }
    }

    #[inline(always)]
    pub fn host(self) -> HostClock {
        let phase = |ns| Duration::from_nanos(u64::from(ns));
        HostClock { slow: phase(self.slow), fast: phase(self.fast) }
    }
}

/// Equally spaced ticks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Grid {
    first: u64,
    period: u64,
}

impl Grid {
    /// A tick every `period`, the first at `phase` (modulo the period).
    fn new(phase: Duration, usual: Duration, period: Duration) -> Self {
        let period = period.nanos();
        // A phase that was drawn for this period needs no division.
        let first = if period == usual.nanos() { phase.nanos() } else { phase.nanos() % period };
        Grid { first, period }
    }

    /// Number of ticks before `at`, or, if `inclusive`, up to and including it.
    fn ticks(self, at: Instant, inclusive: bool) -> u64 {
        let reach = at.nanos().saturating_add(u64::from(inclusive));
        match reach.checked_sub(self.first + 1) {
            Some(past) => self.whole_periods(past) + 1,
            None => 0,
        }
    }

    /// Whole periods in `span` ns. The usual periods are constants, which makes the division
    /// faster.
    fn whole_periods(self, span: u64) -> u64 {
        const SLOW_NS: u64 = SLOW.nanos();
        const FAST_NS: u64 = FAST.nanos();
        match self.period {
            SLOW_NS => span / SLOW_NS,
            FAST_NS => span / FAST_NS,
            period => span / period,
        }
    }

    /// The instant of tick `number`, counted from 0.
    fn tick(self, number: u64) -> Instant {
        Instant::from_nanos(self.first) + Duration::from_nanos(self.period) * number
    }

    /// Number of ticks up to `moment` at which the host has counted round-trip and idle times.
    /// Within a tick the timers run first, so the stamp of a segment that a timer sends does not
    /// include this tick.
    pub fn counts(self, moment: Moment) -> u64 {
        self.ticks(moment.at, moment.phase == Phase::Fast)
    }

    /// When a timer of `n` ticks set at `moment` expires: at the n-th tick after it. A tick at that
    /// instant counts if it has not been served yet.
    pub fn deadline(self, moment: Moment, n: u64) -> Instant {
        let done = self.ticks(moment.at, moment.phase != Phase::Events);
        self.tick(done.saturating_add(n) - 1)
    }

    /// The next tick at which delayed acknowledgements go out.
    pub fn next_fast(self, moment: Moment) -> Instant {
        let done = self.ticks(moment.at, moment.phase == Phase::Fast);
        self.tick(done)
    }
}

impl HostClock {
    /// Ticks of this host every `period`, at the phase of its slow clock.
    pub(crate) fn slow(self, period: Duration) -> Grid {
        Grid::new(self.slow, SLOW, period)
    }
    /// Ticks of this host every `period`, at the phase of its fast clock.
    pub(crate) fn fast(self, period: Duration) -> Grid {
        Grid::new(self.fast, FAST, period)
    }
    /// Ticks every `period` from the start of the run on, common to all hosts.
    pub(crate) fn common(period: Duration) -> Grid {
        Grid { first: 0, period: period.nanos() }
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
        assert_eq!(ms(clock.slow(SLOW).deadline(moment(0, Phase::Events), 6)), 2830);
        assert_eq!(ms(clock.slow(SLOW).deadline(moment(329, Phase::Events), 3)), 1330);
        // At the instant of a tick an arrival is served before it, and a timer of the tick after
        // it.
        assert_eq!(ms(clock.slow(SLOW).deadline(moment(830, Phase::Events), 3)), 1830);
        assert_eq!(ms(clock.slow(SLOW).deadline(moment(830, Phase::Slow), 3)), 2330);
        assert_eq!(ms(clock.slow(SLOW).deadline(moment(831, Phase::Events), 3)), 2330);
    }

    #[test]
    fn counting_includes_a_tick_only_after_it() {
        let clock = HostClock { slow: Duration::from_millis(330), fast: Duration::ZERO };
        let counts = |at, phase| clock.slow(SLOW).counts(moment(at, phase));
        assert_eq!(counts(0, Phase::Events), 0);
        assert_eq!(counts(330, Phase::Events), 0);
        assert_eq!(counts(330, Phase::Slow), 0);
        assert_eq!(counts(330, Phase::Fast), 1);
        assert_eq!(counts(331, Phase::Events), 1);
        assert_eq!(counts(1330, Phase::Events), 2);
    }

    #[test]
    fn another_period_keeps_the_phase_modulo_itself() {
        let clock = HostClock { slow: Duration::from_millis(337), fast: Duration::from_millis(70) };
        let ten = clock.slow(Duration::from_millis(10));
        assert_eq!(ten.counts(moment(7, Phase::Events)), 0);
        assert_eq!(ten.counts(moment(107, Phase::Events)), 10);
        assert_eq!(ten.counts(moment(108, Phase::Events)), 11);
        assert_eq!(ms(clock.fast(Duration::from_millis(50)).next_fast(moment(0, Phase::Fast))), 20);
        let common = HostClock::common(Duration::from_millis(100));
        assert_eq!(ms(common.next_fast(moment(201, Phase::Events))), 300);
        assert_eq!(ms(common.next_fast(moment(300, Phase::Events))), 300);
    }

    #[test]
    fn fast_ticks() {
        let clock = HostClock { slow: Duration::ZERO, fast: Duration::from_millis(70) };
        assert_eq!(ms(clock.fast(FAST).next_fast(moment(0, Phase::Events))), 70);
        assert_eq!(ms(clock.fast(FAST).next_fast(moment(270, Phase::Events))), 270);
        assert_eq!(ms(clock.fast(FAST).next_fast(moment(270, Phase::Fast))), 470);
        assert_eq!(ms(clock.fast(FAST).next_fast(moment(271, Phase::Events))), 470);
    }
}
