//! Reno's congestion control: RFC 5681 with appropriate byte counting (RFC 3465), in slow start
//! without its limit L, as Linux's `tcp_slow_start`.

use packet::Instant;

use super::{Cause, Control, Entry, Repair, Report};
use crate::flight::Flight;

/// The registry's line.
pub(crate) const ENTRY: Entry = Entry {
    name: "reno",
    summary: "additive increase of one segment per round trip, half at congestion",
    source: "RFC 5681, 3465; slow start counts all bytes acknowledged, as Linux (the limit of two \
             segments per acknowledgement is left out)",
    make: || Box::new(Reno::default()),
};

#[derive(Clone, Debug, Default)]
pub(super) struct Reno {
    /// Bytes acknowledged in congestion avoidance and not yet turned into a segment.
    credit: u64,
}

impl Control for Reno {
    fn on_ack(&mut self, flight: &mut Flight, report: &Report) {
        let repairing = matches!(report.repairing, Repair::Recovery | Repair::Reduction);
        if repairing || !report.window_limited {
            return;
        }
        let rest = slow_start(flight, report.acked);
        self.credit += rest;
        if rest > 0 && self.credit >= flight.cwnd {
            self.credit -= flight.cwnd;
            flight.cwnd += flight.mss();
        }
    }

    fn on_congestion(&mut self, flight: &mut Flight, _cause: Cause, _now: Instant) {
        self.credit = 0;
        flight.ssthresh = (flight.cwnd / 2).max(2 * flight.mss());
    }

    fn reset(&mut self) {
        *self = Reno::default();
    }

    fn boxed(&self) -> Box<dyn Control> {
        Box::new(self.clone())
    }
}

/// Slow start by what was acknowledged, up to ssthresh; returns what is left for congestion
/// avoidance (Linux's `tcp_slow_start`).
pub(super) fn slow_start(flight: &mut Flight, acked: u64) -> u64 {
    if flight.cwnd >= flight.ssthresh {
        return acked;
    }
    let grown = (flight.cwnd + acked).min(flight.ssthresh);
    let used = grown - flight.cwnd;
    flight.cwnd = grown;
    acked - used
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::congestion::testing::report;

    #[test]
    fn a_window_doubles_below_the_threshold_and_gains_a_segment_above() {
        let mut flight = Flight { cwnd: 10_000, ssthresh: 20_000, mss: 1_000, ..Flight::default() };
        let mut reno = Reno::default();
        let report = report(10_000);
        reno.on_ack(&mut flight, &report);
        assert_eq!(flight.cwnd, 20_000);
        (0..2).for_each(|_| reno.on_ack(&mut flight, &report));
        assert_eq!(flight.cwnd, 21_000);
        reno.on_congestion(&mut flight, Cause::Loss, Instant::ZERO);
        assert_eq!(flight.ssthresh, 10_500);
    }
}
