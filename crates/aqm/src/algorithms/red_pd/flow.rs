//! One flow's account: the bytes that it lost in each list, and how its drop probability moves.

use packet::{Duration, Instant, math};

/// Largest number of lists that may be kept.
pub(super) const MOST_LISTS: usize = 16;
/// Number of raises of P_f that are remembered for the test of responsiveness.
const MEMORY: usize = 5;
/// Largest step by which P_f is lowered.
const STEP: f64 = 0.05;

/// What a raise of P_f remembers of the interval: the flow's arrival rate in bytes per second and
/// its loss rate, a share.
type Past = (f64, f64);

#[derive(Clone, Debug, Default)]
pub(super) struct Flow {
    /// The flow's bytes in the current interval: those that arrived, that RED dropped, and that
    /// the pre-filter dropped.
    pub arrived: u64,
    pub lost: u64,
    pub filtered: u64,
    /// Bytes of the flow that RED dropped, in each list; 0 if the flow is not in the list.
    pub lists: [u64; MOST_LISTS],
    /// The pre-filter's drop probability P_f for the flow, if it is monitored.
    pub p: Option<f64>,
    pub unresponsive: bool,
    /// Packets that survived the pre-filter since it dropped one.
    pub count: u32,
    /// When P_f was last changed, if ever.
    pub changed: Option<Instant>,
    past: [Past; MEMORY],
    raises: usize,
}

/// The P_f of a newly monitored flow, whose share of the drop rate `u` is `r`.
pub(super) fn first(r: f64, u: f64) -> f64 {
    r.min(2.0 * u).min(0.5)
}

/// P_f after a raise from `p` by `r`.
pub(super) fn raised(p: f64, r: f64, unresponsive: bool) -> f64 {
    let factor = if unresponsive { 3.0 } else { 2.0 };
    let next = if r > p { factor * p } else { p + (factor - 1.0) * r };
    if next > 1.0 { 1.0 - (1.0 - p) / factor } else { next }
}

/// P_f after a step down from `p`; `None`: the flow is no longer monitored.
pub(super) fn relaxed(p: f64, unresponsive: bool) -> Option<f64> {
    let (factor, least) = if unresponsive { (1.5, 0.0025) } else { (2.0, 0.005) };
    if p <= least {
        None
    } else if p > factor * STEP {
        Some(p - STEP)
    } else {
        Some(p / factor)
    }
}

impl Flow {
    /// In how many lists the flow is, and the bytes it lost in them.
    pub fn listed(&self) -> (usize, u64) {
        let entries = self.lists.iter().filter(|bytes| **bytes > 0);
        (entries.count(), self.lists.iter().sum())
    }

    /// Whether the flow is unresponsive: in most pairs of remembered raises its arrival rate has
    /// not fallen with the square root of its loss rate.
    fn does_not_respond(&self) -> bool {
        let past = &self.past[..self.raises.min(MEMORY)];
        let (mut good, mut bad) = (0, 0);
        for &(rate1, p1) in past {
            for &(rate2, p2) in past {
                if p1 < p2 && p1 / p2 > 0.1 {
                    let held = rate2 / rate1 > math::sqrt(p1 / p2);
                    (good, bad) = (good + u32::from(!held), bad + u32::from(held));
                }
            }
        }
        match good {
            0 => bad >= 3,
            _ => bad >= 4 * good,
        }
    }

    /// Begins to monitor the flow, or raises P_f. `r` is its share of the drop rate `u`.
    pub fn raise(&mut self, r: f64, u: f64, elapsed: Duration, now: Instant, tests: bool) {
        self.p = Some(match self.p {
            None => first(r, u),
            Some(p) => {
                self.unresponsive |= tests && self.does_not_respond();
                raised(p, r, self.unresponsive)
            }
        });
        self.changed = Some(now);
        let losses = (self.lost + self.filtered) as f64 / self.arrived as f64;
        self.past[self.raises % MEMORY] = (self.arrived as f64 / elapsed.secs_f64(), losses);
        self.raises += 1;
    }

    /// Lowers P_f, or ceases to monitor the flow.
    pub fn relax(&mut self, now: Instant) {
        self.changed = Some(now);
        self.p = self.p.and_then(|p| relaxed(p, self.unresponsive));
        if self.p.is_none() {
            self.unresponsive = false;
            self.raises = 0;
            self.count = 0;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn published_steps() {
        let close = |a: f64, b: f64| assert!((a - b).abs() < 1e-12, "{a} is not {b}");
        close(raised(0.08, 0.02, false), 0.10);
        close(raised(0.08, 0.2, false), 0.16);
        close(raised(0.08, 0.02, true), 0.12);
        close(raised(0.08, 0.2, true), 0.24);
        close(raised(0.6, 0.7, false), 0.8);
        close(raised(0.4, 0.5, true), 0.8);
        close(raised(0.5, 0.6, false), 1.0);
        close(relaxed(0.12, false).unwrap(), 0.07);
        close(relaxed(0.08, false).unwrap(), 0.04);
        close(relaxed(0.08, true).unwrap(), 0.03);
        close(relaxed(0.06, true).unwrap(), 0.04);
        close(relaxed(1.5 * STEP, true).unwrap(), STEP);
        assert_eq!((relaxed(0.005, false), relaxed(0.0025, true)), (None, None));
        assert!(relaxed(0.005, true).is_some());
        close(first(0.06, 0.02), 0.04);
        close(first(0.03, 0.02), 0.03);
        close(first(0.9, 0.8), 0.5);
    }

    /// A flow with these remembered raises.
    fn remembered(past: &[Past]) -> Flow {
        let mut flow = Flow::default();
        for (place, raise) in past.iter().enumerate() {
            flow.past[place % MEMORY] = *raise;
        }
        flow.raises = past.len();
        flow
    }

    #[test]
    fn a_constant_rate_is_found_out_after_three_pairs() {
        let constant = [(1e6, 0.01), (1e6, 0.02), (1e6, 0.04), (1e6, 0.05)];
        assert!(!remembered(&constant[..2]).does_not_respond());
        assert!(remembered(&constant[..3]).does_not_respond());
        // A flow whose rate falls with the square root of its losses responds.
        let yielding = constant.map(|(rate, p)| (rate * math::sqrt(0.01 / p), p));
        assert!(!remembered(&yielding).does_not_respond());
        // Pairs with loss rates more than ten times apart are not counted.
        assert!(!remembered(&[(1e6, 0.001), (1e6, 0.02), (1e6, 0.5)]).does_not_respond());
        // Four pairs without a response outweigh one with it. Here the rate fell after one raise.
        let mixed = [(4e6, 0.01), (1e6, 0.02), (1e6, 0.021), (1e6, 0.022)];
        assert!(!remembered(&mixed).does_not_respond());
        // Only five raises are remembered: the sixth replaces the first.
        let six = [(9e6, 0.01), (1e6, 0.02), (1e6, 0.03), (1e6, 0.04), (1e6, 0.05), (1e6, 0.06)];
        assert!(!remembered(&six[..5]).does_not_respond());
        assert!(remembered(&six).does_not_respond());
    }

    #[test]
    fn two_good_pairs_need_eight_bad_ones_and_at_the_root_a_pair_is_good() {
        // Pairs of raises show a response if the rate falls to the square root of p1/p2 or below.
        // From the first raise on it falls to 0.6: a response in the two pairs with losses of 0.02,
        // but not in those with 0.03 and 0.04, nor in the five of constant rate: 2 against 7.
        let seven = [(1e6 / 0.6, 0.01), (1e6, 0.02), (1e6, 0.02), (1e6, 0.03), (1e6, 0.04)];
        assert!(!remembered(&seven).does_not_respond());
        // Four times the losses and half the rate: exactly the square root, a response.
        let root = [(2e6, 0.01), (1e6, 0.04), (1e6, 0.04), (1e6, 0.04)];
        assert!(!remembered(&root).does_not_respond());
        // Pairs with loss rates exactly ten times apart are not counted.
        let far = [(1e6, 0.1), (1e6, 1.0), (1e6, 1.0), (1e6, 1.0)];
        assert!(!remembered(&far).does_not_respond());
    }

    #[test]
    fn a_raise_remembers_rate_and_losses_and_tests_only_if_set() {
        for tests in [true, false] {
            let mut flow = Flow::default();
            for lost in [1_000, 2_000, 4_000, 8_000] {
                (flow.arrived, flow.lost, flow.filtered) = (100_000, lost, lost);
                let (elapsed, now) = (packet::Duration::from_millis(100), Instant::ZERO);
                flow.raise(0.02, 0.02, elapsed, now, tests);
            }
            assert_eq!(flow.past[..4], [(1e6, 0.02), (1e6, 0.04), (1e6, 0.08), (1e6, 0.16)]);
            assert_eq!(flow.unresponsive, tests);
        }
    }
}
