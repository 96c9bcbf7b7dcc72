//! The estimator of ns-2.35: Jacobson's filter in whole ticks, RFC 2988's timeout.
//!
//! srtt is kept times 8 and rttvar times 4. A round-trip time is the number of ticks crossed, at
//! least one. The ticks of all hosts lie on one grid, which begins at the start of the run.

use packet::Duration;

use crate::rtt::Rtt;

/// Settings of the estimator.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Ns2 {
    pub tick: Duration,
    /// Timeout before the first sample.
    pub initial: Duration,
    pub min: Duration,
    pub max: Duration,
    /// Any new acknowledgement ends the back-off, as in FullTcp; else only a sample does.
    pub any_ack_ends_backoff: bool,
}

/// Timeouts are multiplied by at most 2 to this power.
const MAX_SHIFT: u8 = 6;
/// After more successive timeouts than this the estimate is taken for wrong and started again.
const LOSING: u8 = 3;

impl Ns2 {
    pub fn fresh(&self) -> Rtt {
        Rtt { rto: self.initial.nanos(), ..Rtt::default() }
    }

    /// Updates the estimate with a round-trip time of `m` ticks.
    pub fn sample(&self, rtt: &mut Rtt, m: u64) {
        let m = m.clamp(1, 1 << 30) as i64;
        if rtt.srtt == 0 {
            rtt.srtt = m << 3;
            rtt.rttvar = m << 1;
        } else {
            let delta = m - (rtt.srtt >> 3);
            rtt.srtt = (rtt.srtt + delta).max(1);
            rtt.rttvar = (rtt.rttvar + delta.abs() - (rtt.rttvar >> 2)).max(1);
        }
        rtt.rto = (((rtt.rttvar << 3) + rtt.srtt) >> 3) as u64 * self.tick.nanos();
        rtt.shift = 0;
    }

    /// The timeout: the estimate, at least the minimum, then multiplied by the back-off. RFC 2988
    /// (2.4) comes before (5.5).
    pub fn timeout(&self, rtt: &Rtt) -> Duration {
        let base = Duration::from_nanos(rtt.rto).max(self.min);
        (base * (1 << rtt.shift.min(MAX_SHIFT))).min(self.max).max(self.tick * 2)
    }

    /// Called when `shift` has been raised by one: after too many timeouts discards the estimate.
    pub fn back_off(&self, rtt: &mut Rtt) {
        if rtt.shift > LOSING {
            rtt.rttvar += rtt.srtt >> 3;
            rtt.srtt = 0;
        }
    }

    pub fn on_advance(&self, rtt: &mut Rtt) {
        if self.any_ack_ends_backoff {
            rtt.shift = 0;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rtt::RttRules;

    const RULES: Ns2 = Ns2 {
        tick: Duration::from_millis(10),
        initial: Duration::from_secs(3),
        min: Duration::from_millis(200),
        max: Duration::from_secs(60),
        any_ack_ends_backoff: false,
    };
    fn ms(rtt: &Rtt) -> u64 {
        RULES.timeout(rtt).nanos() / 1_000_000
    }

    #[test]
    fn filter_vectors() {
        let mut rtt = RULES.fresh();
        assert_eq!(ms(&rtt), 3_000);
        // 10 ticks: srtt 80, rttvar 20: (160 + 80) >> 3 = 30 ticks.
        RULES.sample(&mut rtt, 10);
        assert_eq!((rtt.srtt, rtt.rttvar, ms(&rtt)), (80, 20, 300));
        // 14: delta 4: srtt 84, rttvar 20 + 4 - 5 = 19: (152 + 84) >> 3 = 29 ticks.
        RULES.sample(&mut rtt, 14);
        assert_eq!((rtt.srtt, rtt.rttvar, ms(&rtt)), (84, 19, 290));
        // 4: delta 4 - 10 = -6: srtt 78, rttvar 19 + 6 - 4 = 21: (168 + 78) >> 3 = 30.
        RULES.sample(&mut rtt, 4);
        assert_eq!((rtt.srtt, rtt.rttvar, ms(&rtt)), (78, 21, 300));
        // Less than a tick counts as one; the minimum is 200 ms.
        let mut near = RULES.fresh();
        RULES.sample(&mut near, 0);
        assert_eq!((near.srtt, near.rttvar, ms(&near)), (8, 2, 200));
    }

    #[test]
    fn the_minimum_is_multiplied_and_the_product_limited() {
        let rules = RttRules::Ns2(RULES);
        let mut rtt = RULES.fresh();
        RULES.sample(&mut rtt, 1);
        let seen: Vec<u64> = (0..9)
            .map(|_| {
                rules.back_off(&mut rtt, None);
                ms(&rtt)
            })
            .collect();
        assert_eq!(seen, [400, 800, 1_600, 3_200, 6_400, 12_800, 12_800, 12_800, 12_800]);
        assert_eq!(rtt.srtt, 0, "after the fourth timeout the estimate starts anew");
        rules.on_advance(&mut rtt);
        assert_eq!(ms(&rtt), 12_800, "only a sample ends the back-off");
        RULES.sample(&mut rtt, 10);
        assert_eq!(ms(&rtt), 300);
        let full = Ns2 { any_ack_ends_backoff: true, ..RULES };
        rules.back_off(&mut rtt, None);
        full.on_advance(&mut rtt);
        assert_eq!(ms(&rtt), 300);
    }

    #[test]
    fn half_a_round_trip_of_ten_ticks_is_five() {
        let mut rtt = RULES.fresh();
        RULES.sample(&mut rtt, 10);
        assert_eq!(RttRules::Ns2(RULES).half_round_trip(&rtt), RULES.tick * 5);
    }

    #[test]
    fn the_fourth_timeout_adds_an_eighth_of_the_estimate_to_its_deviation() {
        let mut rtt = RULES.fresh();
        RULES.sample(&mut rtt, 10);
        let seen = [(); 5].map(|()| {
            RttRules::Ns2(RULES).back_off(&mut rtt, None);
            (rtt.srtt, rtt.rttvar)
        });
        assert_eq!(seen, [(80, 20), (80, 20), (80, 20), (0, 30), (0, 30)]);
    }
}
