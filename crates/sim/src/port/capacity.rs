//! Lines whose rate changes during a run: what a packet needs is taken from the line's capacity
//! over time, so that a packet that is being sent when the rate changes goes on at the new rate.
//!
//! A line gets its packets in the order in which it sends them, with the instants at which their
//! transmissions begin. Both forms of a port know these, so both get equal times.

mod gated;
mod opportunities;
mod steps;
mod walk;

use packet::Instant;
use record::{Capacity, Window};

pub use gated::Gated;
pub use opportunities::{BYTES as OPPORTUNITY_BYTES, Listed, Opportunities, Schedule};
pub use steps::Steps;
pub use walk::{Walk, WalkSettings};

/// The time, ns, at which a packet counts as sent if the line has no capacity left for it: later
/// than every run ends, and early enough that delays may be added.
const FAR: u64 = 1 << 62;

/// A line's capacity over time.
#[derive(Clone, Debug)]
pub enum Changing {
    /// A rate that is constant between steps.
    Steps(Measured<Steps>),
    /// Instants at which up to 1,500 bytes, or a given number, leave.
    Opportunities(Measured<Opportunities>),
    /// A rate by steps, of a line that is closed at times.
    Gated(Measured<Gated>),
}

/// A kind of capacity, and how much of it was used in the measured interval.
#[derive(Clone, Debug)]
pub struct Measured<T> {
    of: T,
    window: Window,
    used: u128,
}

impl Changing {
    /// A line whose rate changes by steps.
    pub fn steps(of: Steps, window: Window) -> Self {
        Changing::Steps(Measured { of, window, used: 0 })
    }

    /// A line that sends at opportunities.
    pub fn opportunities(of: Opportunities, window: Window) -> Self {
        Changing::Opportunities(Measured { of, window, used: 0 })
    }

    /// A line that is closed at times.
    pub fn gated(of: Gated, window: Window) -> Self {
        Changing::Gated(Measured { of, window, used: 0 })
    }

    /// When a transmission of `bytes` that begins at `start` will end; `fresh`: the line was idle
    /// before it (see [`Wire::end_of`](super::Wire::end_of)).
    #[cold]
    pub fn end_of(&mut self, start: Instant, bytes: u64, fresh: bool) -> Instant {
        let start = start.nanos();
        Instant::from_nanos(match self {
            Changing::Steps(steps) => {
                let end = steps.of.end_of(start, bytes);
                let (from, to) = steps.window.nanos();
                let (from, to) = (start.max(from), end.min(to));
                if from < to {
                    steps.used += steps.of.offered(from, to);
                }
                end
            }
            Changing::Gated(gated) => {
                let (end, used) = gated.of.end_of(start, bytes, gated.window.nanos());
                gated.used += used;
                end
            }
            Changing::Opportunities(trace) => {
                let (from, to) = trace.window.nanos();
                let used = &mut trace.used;
                trace.of.end_of(start, bytes, fresh, &mut |at, bytes| {
                    if from <= at && at <= to {
                        *used += u128::from(bytes);
                    }
                })
            }
        })
    }

    /// Capacity in the measured interval, and the share of it that was used.
    pub fn measured(&mut self) -> Capacity {
        let (bits, used, window) = match self {
            Changing::Steps(steps) => {
                let (from, to) = steps.window.nanos();
                let bits = |units: u128| units as f64 / 1e9;
                (bits(steps.of.offered(from, to)), bits(steps.used), steps.window)
            }
            Changing::Gated(gated) => {
                let (from, to) = gated.window.nanos();
                let bits = |units: u128| units as f64 / 1e9;
                (bits(gated.of.offered(from, to)), bits(gated.used), gated.window)
            }
            Changing::Opportunities(trace) => {
                let (from, to) = trace.window.nanos();
                let bits = |bytes: u128| bytes as f64 * 8.0;
                (bits(trace.of.offered(from, to)), bits(trace.used), trace.window)
            }
        };
        let share = if bits > 0.0 { used / bits } else { 0.0 };
        Capacity { mean_bits_per_s: bits / window.seconds(), used: Some(share) }
    }
}

#[cfg(test)]
mod tests {
    use packet::Duration;

    use super::*;

    #[test]
    fn of_a_line_that_offers_nothing_none_is_used() {
        let second = |s| Instant::ZERO + Duration::from_secs(s);
        let window = Window { from: second(1), to: second(2) };
        let steps = Steps::new(&[(0, 0), (5_000_000_000, 1)], None).unwrap();
        let Capacity { mean_bits_per_s, used } = Changing::steps(steps, window).measured();
        assert_eq!((mean_bits_per_s, used), (0.0, Some(0.0)));
    }
}
