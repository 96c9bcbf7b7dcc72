//! Reno's congestion control as Linux has it (`tcp_reno_cong_avoid`, `tcp_reno_ssthresh`): RFC 5681
//! in whole segments, counting what is acknowledged (RFC 3465, in slow start without its limit L).

use packet::Instant;

use super::growth::{Increase, segments};
use super::{Cause, Control, Entry, Report};
use crate::flight::Flight;

/// The registry's line.
pub(crate) const ENTRY: Entry = Entry {
    name: "reno",
    summary: "additive increase of one segment per round trip, half at congestion",
    source: "RFC 5681, 3465, in whole segments as Linux's tcp_cong.c; slow start counts all \
             segments acknowledged (the limit of two per acknowledgement is left out)",
    make: || Box::new(Reno::default()),
};

#[derive(Clone, Debug, Default)]
pub(super) struct Reno {
    increase: Increase,
}

impl Control for Reno {
    fn on_ack(&mut self, flight: &mut Flight, report: &Report) {
        if !report.may_grow() {
            return;
        }
        let rest = Increase::slow_start(flight, report.segments);
        if rest > 0 {
            self.increase.add(flight, segments(flight), rest);
        }
    }

    fn on_congestion(&mut self, flight: &mut Flight, _cause: Cause, _now: Instant) {
        self.increase.forget();
        flight.ssthresh = u64::from((segments(flight) >> 1).max(2)) * flight.mss();
    }

    fn reset(&mut self) {
        *self = Reno::default();
    }

    fn boxed(&self) -> Box<dyn Control> {
        Box::new(self.clone())
    }
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
        // Half of 21 segments is ten.
        reno.on_congestion(&mut flight, Cause::Loss, Instant::ZERO);
        assert_eq!(flight.ssthresh, 10_000);
        flight.cwnd = 3_000;
        reno.on_congestion(&mut flight, Cause::Timeout, Instant::ZERO);
        assert_eq!(flight.ssthresh, 2_000);
    }
}
