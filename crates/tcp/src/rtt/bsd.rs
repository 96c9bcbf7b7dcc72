//! The 4.4BSD estimator as in FreeBSD: fixed point, in ticks (500 ms in 2.2, 10 ms in 4.x).
//!
//! Jacobson, *Congestion Avoidance and Control* (SIGCOMM 1988), with srtt kept times 32 and
//! rttvar times 16. The timeout is computed from V = srtt + 4 rttvar, in ticks.

use packet::{Duration, Rounded};

use crate::rtt::{RTT_SAMPLES_TO_KEEP, Rtt};

/// Multipliers of successive timeouts; the last one is used for all further ones.
const BACKOFF: [u32; 7] = [1, 2, 4, 8, 16, 32, 64];
/// Scale of srtt (`TCP_RTT_SCALE`), and of rttvar (`TCP_RTTVAR_SCALE`).
const RTT_SCALE: i64 = 32;
const RTTVAR_SCALE: i64 = 16;
/// Units per second of the times in a host route.
const RTM_RTTUNIT: i64 = 1_000_000;
/// After more successive timeouts than this the estimate is taken for wrong and started again.
const LOSING: u8 = 3;

/// The clock by which timers expire.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Callouts {
    /// The host's slow clock: a timer of n ticks expires at the n-th tick.
    Host,
    /// Each connection has exact timers of its own.
    Connection,
}

/// Settings of the estimator. Timeouts are in ticks.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Bsd {
    pub tick: Duration,
    pub initial: u32,
    pub min: u32,
    pub max: u32,
    pub callouts: Callouts,
    /// Ticks added to the number of ticks that a timed round trip crosses: 1 where the counter
    /// starts at 1 (2.2), 0 where it is a difference (4.x).
    pub timing_adds: u64,
    /// Whether V is at least the minimum before it is multiplied (FreeBSD 3.2 and later; whether
    /// 2.2.8 did so is not known).
    pub floor_v: bool,
    /// Rounded times of round trips of few ticks, as most are.
    pub short: ShortTrips,
}

/// The times of 0 to 31 ticks of some length, rounded.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ShortTrips([Rounded; 32]);

impl ShortTrips {
    pub fn of(tick: Duration) -> Self {
        ShortTrips(std::array::from_fn(|ticks| Rounded::of(tick * ticks as u64)))
    }
}

impl Bsd {
    /// The duration of `ticks` ticks of the clock as a rounded time.
    #[inline]
    pub fn rounded(&self, ticks: u64) -> Rounded {
        let short = self.short.0.get(ticks as usize);
        short.copied().unwrap_or_else(|| Rounded::of(self.tick * ticks))
    }

    pub fn fresh(&self) -> Rtt {
        // No sample yet: V is the initial timeout.
        let initial = u64::from(self.initial);
        Rtt { rttvar: 4 * initial as i64, rto: initial, ..Rtt::default() }
    }

    /// The smoothed round-trip time.
    pub fn smoothed(&self, rtt: &Rtt) -> Duration {
        Duration::from_nanos(rtt.srtt as u64 * self.tick.nanos() / RTT_SCALE as u64)
    }

    /// V: the smoothed round-trip time plus four mean deviations, in ticks.
    fn v(rtt: &Rtt) -> u64 {
        (((rtt.srtt >> 3) + rtt.rttvar) >> 2) as u64
    }

    /// Updates the estimate with a round-trip time of `m` ticks.
    pub fn sample(&self, rtt: &mut Rtt, m: u64) {
        let m = m.min(1 << 16) as i64;
        if rtt.srtt == 0 {
            rtt.srtt = m << 5;
            rtt.rttvar = m << 3;
        } else {
            let delta = ((m - 1) << 2) - (rtt.srtt >> 3);
            rtt.srtt = (rtt.srtt + delta).max(1);
            rtt.rttvar = (rtt.rttvar + delta.abs() - (rtt.rttvar >> 2)).max(1);
        }
        rtt.shift = 0;
        rtt.samples = (rtt.samples + 1).min(RTT_SAMPLES_TO_KEEP);
        let (min, max) = (u64::from(self.min), u64::from(self.max));
        rtt.rto = Self::v(rtt).clamp(min.max(m as u64 + 2).min(max), max);
    }

    /// One unit of srtt and one of rttvar in the units of a host route, which are 1 us
    /// (`RTM_RTTUNIT`). They are whole numbers, as in C: at 10 ms 312 and 625, at 500 ms 15,625 and
    /// 31,250.
    fn route_units(&self) -> (i64, i64) {
        let hz = 1_000_000_000 / self.tick.nanos() as i64;
        (RTM_RTTUNIT / (hz * RTT_SCALE), RTM_RTTUNIT / (hz * RTTVAR_SCALE))
    }

    /// srtt and rttvar in the units of the host route, as `tcp_close` stores them.
    pub fn route_metrics(&self, rtt: &Rtt) -> (u32, u32) {
        let (srtt, rttvar) = self.route_units();
        let whole = |us: i64| u32::try_from(us).unwrap_or(u32::MAX);
        (whole(rtt.srtt * srtt), whole(rtt.rttvar * rttvar))
    }

    /// `tcp_mss`: the connection starts with the route's estimate. The timeout comes from a formula
    /// made for srtt times 8 and rttvar times 4, and so is 4 srtt + 8 rttvar; it holds until the
    /// first sample or timeout.
    pub fn start_by_route(&self, rtt: &mut Rtt, round_trip: u32, deviation: u32) {
        let (srtt, rttvar) = self.route_units();
        rtt.srtt = i64::from(round_trip) / srtt;
        rtt.rttvar = match deviation {
            0 => rtt.srtt * RTTVAR_SCALE / RTT_SCALE,
            _ => i64::from(deviation) / rttvar,
        };
        let ticks = (((rtt.srtt >> 2) + rtt.rttvar) >> 1) as u64;
        rtt.rto = ticks.clamp(u64::from(self.min), u64::from(self.max));
    }

    /// Sets the timeout after `shift` has been raised by one. The first `linear` timeouts do not
    /// multiply the wait, as in `tcp_syn_backoff` of FreeBSD 4.x.
    pub fn back_off(&self, rtt: &mut Rtt, linear: u8) {
        let (min, max) = (u64::from(self.min), u64::from(self.max));
        let base = if self.floor_v { Self::v(rtt).max(min) } else { Self::v(rtt) };
        let steps = usize::from(rtt.shift.saturating_sub(linear));
        let factor = BACKOFF[steps.min(BACKOFF.len() - 1)];
        rtt.rto = (base * u64::from(factor)).clamp(min, max);
        if rtt.shift > LOSING {
            // As in the BSD code, srtt is added to rttvar without a change of scale; the next
            // sample counts as a first one.
            rtt.rttvar += rtt.srtt >> 5;
            rtt.srtt = 0;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rtt::RttRules;

    /// Empty table: these tests record no rounded samples.
    const NOT_USED: ShortTrips = ShortTrips([Rounded::NONE; 32]);

    const RULES: Bsd = Bsd {
        tick: Duration::from_millis(500),
        initial: 6,
        min: 2,
        max: 128,
        callouts: Callouts::Host,
        timing_adds: 1,
        floor_v: true,
        short: NOT_USED,
    };

    fn after(samples: &[u64]) -> [i64; 4] {
        let mut t = RULES.fresh();
        samples.iter().for_each(|&m| RULES.sample(&mut t, m));
        [t.srtt, t.rttvar, Bsd::v(&t) as i64, t.rto as i64]
    }
    fn timeouts(samples: &[u64], floor_v: bool, n: usize) -> Vec<u64> {
        let rules = Bsd { floor_v, ..RULES };
        let mut t = rules.fresh();
        samples.iter().for_each(|&m| rules.sample(&mut t, m));
        let mut seen = vec![t.rto];
        for _ in 0..n {
            RttRules::Bsd(rules).back_off(&mut t, None);
            seen.push(t.rto);
        }
        seen
    }

    #[test]
    fn filter_vectors() {
        // srtt, rttvar, V and RTO after each sample, computed by hand from the 1998 code.
        let run = [1, 1, 2, 1, 1];
        let expected =
            [[32, 8, 3, 3], [28, 10, 3, 3], [29, 9, 3, 4], [26, 10, 3, 3], [23, 11, 3, 3]];
        for n in 0..run.len() {
            assert_eq!(after(&run[..=n]), expected[n], "after {} samples", n + 1);
        }
        assert_eq!(after(&[2]), [64, 16, 6, 6]);
        assert_eq!(after(&[2, 1]), [56, 20, 6, 6]);
        assert_eq!(after(&[2, 1, 1]), [49, 22, 7, 7]);
        assert_eq!(after(&[1; 40]), [7, 3, 0, 3]);
    }

    #[test]
    fn the_backoff_multiplies_v_not_the_timeout_in_force() {
        assert_eq!(timeouts(&[], true, 5), [6, 12, 24, 48, 96, 128]);
        assert_eq!(timeouts(&[1], true, 3), [3, 6, 12, 24]);
        assert_eq!(timeouts(&[2], true, 2), [6, 12, 24]);
        // V is 2 or 0: with the floor of 2 the timeouts are 4, 8 and 16 in both cases.
        assert_eq!(timeouts(&[1; 10], true, 3)[1..], [4, 8, 16]);
        assert_eq!(timeouts(&[1; 40], true, 3), [3, 4, 8, 16]);
        assert_eq!(timeouts(&[1; 40], false, 3), [3, 2, 2, 2]);
    }

    #[test]
    fn after_four_timeouts_the_estimate_starts_anew() {
        let mut t = RULES.fresh();
        RULES.sample(&mut t, 2);
        let back_off = |t: &mut Rtt| RttRules::Bsd(RULES).back_off(t, None);
        (0..4).for_each(|_| {
            back_off(&mut t);
        });
        // The fourth timeout is still computed from V = 6; then rttvar 16 + (64 >> 5).
        assert_eq!((t.rto, t.srtt, t.rttvar), (96, 0, 18));
        back_off(&mut t);
        assert_eq!(t.rto, 128);
        RULES.sample(&mut t, 1);
        assert_eq!((t.srtt, t.rttvar, t.rto, t.shift), (32, 8, 3, 0));
    }

    /// FreeBSD 4.x: 10 ms ticks, RTO 1 s to 64 s.
    const FINE: Bsd = Bsd {
        tick: Duration::from_millis(10),
        initial: 300,
        min: 100,
        max: 6_400,
        callouts: Callouts::Connection,
        timing_adds: 0,
        floor_v: true,
        short: NOT_USED,
    };

    #[test]
    fn syns_wait_five_times_alike_and_then_double() {
        let mut t = FINE.fresh();
        let mut at = 0;
        let sent: Vec<u64> = (0..9)
            .map(|_| {
                let now = at;
                at += t.rto / 100;
                RttRules::Bsd(FINE).back_off(&mut t, Some(4));
                now
            })
            .collect();
        assert_eq!(sent, [0, 3, 6, 9, 12, 15, 21, 33, 57]);
    }

    #[test]
    fn fine_ticks_give_the_same_filter_and_a_floor_of_a_second() {
        let mut t = FINE.fresh();
        FINE.sample(&mut t, 10);
        // srtt 320, rttvar 80: V = (40 + 80) >> 2 = 30 ticks, below the minimum of 100.
        assert_eq!((t.srtt, t.rttvar, t.rto), (320, 80, 100));
        let back_off = |t: &mut Rtt| RttRules::Bsd(FINE).back_off(t, None);
        back_off(&mut t);
        assert_eq!(t.rto, 200, "the floor is multiplied");
        // 60 ticks: delta = (59 << 2) - 40 = 196: srtt 516, rttvar 80 + 196 - 20 = 256:
        // V = (64 + 256) >> 2 = 80; the floor again; and m + 2 = 62 is below it.
        FINE.sample(&mut t, 60);
        assert_eq!((t.srtt, t.rttvar, t.rto), (516, 256, 100));
        // 120: delta = 476 - 64 = 412: srtt 928, rttvar 256 + 412 - 64 = 604: (116 + 604) >> 2.
        FINE.sample(&mut t, 120);
        assert_eq!((t.srtt, t.rttvar, t.rto), (928, 604, 180));
    }

    #[test]
    fn a_route_without_a_deviation_is_taken_to_vary_by_a_round_trip() {
        // `tcp_mss`: "default variation is +- 1 rtt". A unit of srtt is 312 us, one of rttvar 625 us.
        let mut t = FINE.fresh();
        FINE.start_by_route(&mut t, 1_248_000, 0);
        assert_eq!((t.srtt, t.rttvar, t.rto), (4_000, 2_000, 1_500));
        FINE.start_by_route(&mut t, 1_248_000, 625_000);
        assert_eq!((t.srtt, t.rttvar, t.rto), (4_000, 1_000, 1_000));
    }

    #[test]
    fn half_a_round_trip_of_ten_ticks_is_five() {
        let mut t = FINE.fresh();
        FINE.sample(&mut t, 10);
        assert_eq!(RttRules::Bsd(FINE).half_round_trip(&t), Duration::from_millis(50));
    }

    #[test]
    fn ticks_are_rounded_as_their_time_is() {
        let tick = Duration::from_millis(10);
        let rules = Bsd { short: ShortTrips::of(tick), ..FINE };
        for ticks in [0, 1, 2, 31, 32, 33, 1_000, u64::from(u32::MAX)] {
            assert_eq!(rules.rounded(ticks), Rounded::of(tick * ticks), "{ticks} ticks");
        }
    }
}
