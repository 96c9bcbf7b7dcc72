//! The 4.4BSD estimator as in FreeBSD 2.2: fixed point, in ticks of 500 ms.
//!
//! Jacobson, *Congestion Avoidance and Control* (SIGCOMM 1988), with srtt kept times 32 and
//! rttvar times 16. A round trip is measured as 1 plus the ticks crossed.

/// Smallest and largest timeout, in ticks.
const MIN: u32 = 2;
const MAX: u32 = 128;
/// Multipliers of successive timeouts; the last one stays.
const BACKOFF: [u32; 7] = [1, 2, 4, 8, 16, 32, 64];
/// After more timeouts than this the estimate is thought to be wrong and started anew.
const LOSING: u8 = 3;

#[derive(Clone, Copy, Debug)]
pub(crate) struct Ticks {
    /// Smoothed round trip times 32; 0 before the first sample.
    srtt: i32,
    /// Mean deviation times 16.
    rttvar: i32,
    /// Timeout in force.
    rto: u32,
    /// Timeouts since the last sample.
    shift: u8,
    /// Whether V is at least [`MIN`] before it is multiplied (FreeBSD 3.2; whether 2.2.8 did so
    /// is not known).
    floor_v: bool,
}

impl Ticks {
    pub fn new(floor_v: bool) -> Self {
        // No sample yet: V = 24 / 4 = 6 ticks.
        Ticks { srtt: 0, rttvar: 24, rto: 6, shift: 0, floor_v }
    }

    /// Smoothed round trip plus four deviations, in ticks.
    fn v(&self) -> u32 {
        (((self.srtt >> 3) + self.rttvar) >> 2) as u32
    }

    /// A round trip of `m` ticks was measured.
    pub fn sample(&mut self, m: u64) {
        let m = m.min(1 << 16) as i32;
        if self.srtt == 0 {
            self.srtt = m << 5;
            self.rttvar = m << 3;
        } else {
            let delta = ((m - 1) << 2) - (self.srtt >> 3);
            self.srtt = (self.srtt + delta).max(1);
            self.rttvar = (self.rttvar + delta.abs() - (self.rttvar >> 2)).max(1);
        }
        self.shift = 0;
        self.rto = self.v().clamp(MIN.max(m as u32 + 2).min(MAX), MAX);
    }

    pub fn back_off(&mut self) -> u8 {
        self.shift = self.shift.saturating_add(1);
        let base = if self.floor_v { self.v().max(MIN) } else { self.v() };
        let factor = BACKOFF[usize::from(self.shift).min(BACKOFF.len() - 1)];
        self.rto = (base * factor).clamp(MIN, MAX);
        if self.shift > LOSING {
            // As in the code, without a change of scale; the next sample counts as a first one.
            self.rttvar += self.srtt >> 5;
            self.srtt = 0;
        }
        self.shift
    }

    pub fn rto(&self) -> u64 {
        u64::from(self.rto)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn after(samples: &[u64]) -> [i32; 4] {
        let mut t = Ticks::new(true);
        samples.iter().for_each(|&m| t.sample(m));
        [t.srtt, t.rttvar, t.v() as i32, t.rto as i32]
    }
    fn timeouts(samples: &[u64], floor_v: bool, n: usize) -> Vec<u32> {
        let mut t = Ticks::new(floor_v);
        samples.iter().for_each(|&m| t.sample(m));
        let mut seen = vec![t.rto];
        for _ in 0..n {
            t.back_off();
            seen.push(t.rto);
        }
        seen
    }

    #[test]
    fn filter_vectors() {
        // m: srtt, rttvar, V, RTO, computed by hand from the 1998 code.
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
        // V = 2 and V = 0: the floor makes both 3, 4, 8, 16.
        assert_eq!(timeouts(&[1; 10], true, 3)[1..], [4, 8, 16]);
        assert_eq!(timeouts(&[1; 40], true, 3), [3, 4, 8, 16]);
        assert_eq!(timeouts(&[1; 40], false, 3), [3, 2, 2, 2]);
    }

    #[test]
    fn after_four_timeouts_the_estimate_starts_anew() {
        let mut t = Ticks::new(true);
        t.sample(2);
        (0..4).for_each(|_| {
            t.back_off();
        });
        // The fourth timeout is still computed from V = 6; then rttvar 16 + (64 >> 5).
        assert_eq!((t.rto, t.srtt, t.rttvar), (96, 0, 18));
        t.back_off();
        assert_eq!(t.rto, 128);
        t.sample(1);
        assert_eq!((t.srtt, t.rttvar, t.rto, t.shift), (32, 8, 3, 0));
    }
}
