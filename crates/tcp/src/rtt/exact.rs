//! RFC 6298 with times in nanoseconds, not rounded to any clock unless the profile has a tick.

use packet::Duration;

use crate::rtt::Rtt;
use crate::timer_wheel::TimerWheel;

/// RFC 6298 (5.7): the timeout of the first data after a retransmitted SYN, ns.
const AFTER_SYN_TIMEOUT: u64 = 3_000_000_000;
/// G of RFC 6298 where times are exact, ns.
const GRANULARITY: u64 = 1_000_000;

/// Settings of the estimator.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Exact {
    /// Timeout before the first sample.
    pub initial: Duration,
    pub min: Duration,
    /// The least that four mean deviations add to the smoothed round-trip time (Linux's form of a
    /// minimum); zero for RFC 6298's rule.
    pub margin: Duration,
    pub max: Duration,
    /// Round-trip times are counted in ticks of this length, at least one, and timeouts rounded up
    /// to them; zero for exact times.
    pub tick: Duration,
    /// Any new acknowledgement ends the back-off, as in ns-3; else only a sample does.
    pub any_ack_ends_backoff: bool,
    /// The timer wheel of the host's kernel.
    pub wheel: TimerWheel,
}

impl Exact {
    pub fn fresh(&self) -> Rtt {
        Rtt { rto: self.initial.nanos(), ..Rtt::default() }
    }

    /// The round-trip time for a difference of stamps, in nanoseconds or ticks.
    pub fn span(&self, elapsed: u64) -> Duration {
        match self.tick {
            Duration::ZERO => Duration::from_nanos(elapsed),
            tick => tick * elapsed.max(1),
        }
    }

    pub fn sample(&self, rtt: &mut Rtt, round_trip: Duration) {
        let r = round_trip.nanos();
        rtt.backed_off = false;
        if !rtt.sampled {
            (rtt.sampled, rtt.srtt, rtt.rttvar) = (true, r as i64, (r / 2) as i64);
        } else {
            let (srtt, rttvar) = (rtt.srtt as u64, rtt.rttvar as u64);
            rtt.rttvar = ((3 * rttvar + srtt.abs_diff(r)) / 4) as i64;
            rtt.srtt = ((7 * srtt + r) / 8) as i64;
        }
        rtt.rto = self.estimate(rtt);
    }

    /// The timeout by the filter, without back-off: RFC 6298 (2.3) and (2.4).
    fn estimate(&self, rtt: &Rtt) -> u64 {
        let granularity = GRANULARITY.max(self.tick.nanos()).max(self.margin.nanos());
        let rto = rtt.srtt as u64 + granularity.max(4 * rtt.rttvar as u64);
        let rto = rto.max(self.min.nanos()).min(self.max.nanos());
        match self.tick {
            Duration::ZERO => rto,
            tick => rto.next_multiple_of(tick.nanos()),
        }
    }

    /// New data was acknowledged.
    pub fn on_advance(&self, rtt: &mut Rtt) {
        rtt.shift = 0;
        if self.any_ack_ends_backoff && rtt.sampled {
            rtt.rto = self.estimate(rtt);
        }
    }

    /// `tcp_update_metrics`: the smoothed round-trip time, us times 8; none after a timeout until
    /// the next sample.
    pub fn linux_metrics(&self, rtt: &Rtt) -> Option<u32> {
        let known = rtt.sampled && !rtt.backed_off;
        known.then(|| u32::try_from(rtt.srtt as u64 / 125).unwrap_or(u32::MAX))
    }

    /// `tcp_init_metrics`: if the cached round-trip time of earlier connections (us times 8) is
    /// longer than the estimate, it determines the first timeout, as in the filter with a deviation
    /// of half of it. The filter itself does not change.
    pub fn start_by_linux(&self, rtt: &mut Rtt, round_trip: u32) {
        let kept = u64::from(round_trip) * 125;
        if kept > rtt.srtt as u64 {
            rtt.rto = kept + (2 * kept).max(self.margin.nanos());
        }
    }

    pub fn back_off(&self, rtt: &mut Rtt) {
        rtt.backed_off = true;
        rtt.rto = (2 * rtt.rto).min(self.max.nanos());
    }

    pub fn on_established(&self, rtt: &mut Rtt, repeated: bool) {
        rtt.shift = 0;
        if repeated {
            rtt.rto = AFTER_SYN_TIMEOUT;
        }
    }
}

#[cfg(test)]
mod tests {
    use packet::Instant;

    use super::*;
    use crate::clock::{HostClock, Moment, Phase};
    use crate::rtt::RttRules;

    fn rules(min: Duration, tick: Duration) -> Exact {
        Exact {
            initial: Duration::from_secs(1),
            min,
            margin: Duration::ZERO,
            max: Duration::from_secs(60),
            tick,
            any_ack_ends_backoff: false,
            wheel: TimerWheel::EXACT,
        }
    }

    #[test]
    fn filter_follows_rfc_6298() {
        let ms = Duration::from_millis;
        let exact = rules(ms(200), Duration::ZERO);
        let rules = RttRules::Exact(exact);
        let mut e = rules.fresh();
        exact.sample(&mut e, ms(100));
        assert_eq!(rules.rto(&e), ms(300));
        exact.sample(&mut e, ms(200));
        // rttvar = (3*50 + 100)/4 = 62.5, srtt = (700 + 200)/8 = 112.5
        assert_eq!(rules.rto(&e), Duration::from_micros(362_500));
        assert_eq!(rules.back_off(&mut e, None), 1);
        assert_eq!(rules.rto(&e), ms(725));
        rules.on_advance(&mut e);
        assert_eq!(rules.rto(&e), ms(725), "only a sample undoes the back-off");
        assert_eq!(rules.back_off(&mut e, None), 1, "the count of timeouts begins anew");
        exact.sample(&mut e, ms(100));
        assert!(rules.rto(&e) < ms(400));
        (0..20).for_each(|_| {
            rules.back_off(&mut e, None);
        });
        assert_eq!(rules.rto(&e), ms(60_000));
    }

    #[test]
    fn any_acknowledgement_ends_the_back_off_where_the_rules_say_so() {
        let ms = Duration::from_millis;
        let exact = Exact { any_ack_ends_backoff: true, ..rules(ms(200), Duration::ZERO) };
        let rules = RttRules::Exact(exact);
        let mut e = rules.fresh();
        rules.back_off(&mut e, None);
        rules.on_advance(&mut e);
        assert_eq!(rules.rto(&e), ms(2_000), "nothing is known that it could go back to");
        exact.sample(&mut e, ms(100));
        rules.back_off(&mut e, None);
        assert_eq!(rules.rto(&e), ms(600));
        rules.on_advance(&mut e);
        assert_eq!(rules.rto(&e), ms(300));
    }

    #[test]
    fn the_minimum_holds() {
        let exact = rules(Duration::from_secs(1), Duration::ZERO);
        let mut e = exact.fresh();
        exact.sample(&mut e, Duration::from_millis(1));
        assert_eq!(e.rto, 1_000_000_000);
    }

    #[test]
    fn a_tick_rounds_samples_down_and_timeouts_up() {
        let ms = Duration::from_millis;
        let exact = rules(ms(300), ms(100));
        let mut e = exact.fresh();
        // No tick crossed counts as one: srtt 100, rttvar 50: 300 ms.
        assert_eq!((exact.span(0), exact.span(3)), (ms(100), ms(300)));
        exact.sample(&mut e, exact.span(0));
        assert_eq!(e.rto, 300_000_000);
        // 300: rttvar = (150 + 200)/4 = 87.5, srtt = 1000/8 = 125: 475 ms, five ticks.
        exact.sample(&mut e, exact.span(3));
        assert_eq!(e.rto, 500_000_000);
    }

    #[test]
    fn half_a_round_trip_is_half_the_estimate() {
        let rules = RttRules::Exact(rules(Duration::from_millis(200), Duration::ZERO));
        let mut e = rules.fresh();
        rules.sample_span(&mut e, Duration::from_millis(100));
        assert_eq!(rules.half_round_trip(&e), Duration::from_millis(50));
    }

    #[test]
    fn a_timeout_ends_at_a_tick_of_the_kernel_s_wheel() {
        let ms = Duration::from_millis;
        let exact = Exact { wheel: TimerWheel::of(1_000), ..rules(ms(200), Duration::ZERO) };
        let rtt = Rtt { rto: ms(1_000).nanos(), ..exact.fresh() };
        let now = Moment { at: Instant::ZERO, phase: Phase::Events };
        let end = RttRules::Exact(exact).deadline(&rtt, HostClock::default(), now);
        assert_eq!(end, Instant::ZERO + ms(1_024));
    }
}
