//! Edges of time, at which a port's counts are read: the end of each second, the beginning and the
//! end of the measured interval. Between two edges a packet costs its counts and one comparison.

use packet::Instant;

use super::Meter;
use crate::packet_class::ClassCounts;

/// The next edges, of arrivals and of departures.
#[derive(Clone, Copy, Debug)]
pub(super) struct Edges {
    /// The first arrival at this instant or later is the first after an edge.
    pub arrivals: Instant,
    /// Whether arrivals before that instant lie in the measured interval.
    pub arriving: bool,
    /// The first transmission that ends at this instant or later is the first after an edge.
    pub departures: Instant,
    /// Whether departures before that instant lie in the measured interval.
    pub departing: bool,
    /// Departures before the measured interval: packets, bytes and sum of waiting times in ns.
    departed_before: [u64; 3],
}

impl Edges {
    /// Edges at time zero, so that the first packet computes the next ones.
    pub fn new() -> Edges {
        Edges {
            arrivals: Instant::ZERO,
            arriving: false,
            departures: Instant::ZERO,
            departing: false,
            departed_before: [0; 3],
        }
    }

    /// Makes the next packet compute the edges anew: the end of the measured interval has moved.
    pub fn look_again(&mut self) {
        (self.arrivals, self.departures) = (Instant::ZERO, Instant::ZERO);
    }
}

impl Meter {
    /// Handles the first arrival after an edge, at `now`.
    #[cold]
    #[inline(never)]
    pub(super) fn arrives_after_edge(&mut self, now: Instant) {
        self.count_arrivals();
        self.arrivals.move_to(now);
        let window = self.settings.window;
        self.edges.arriving = window.contains(now);
        let turns = match now {
            _ if self.edges.arriving => window.to,
            _ if now < window.from => window.from,
            _ => Instant::NEVER,
        };
        self.edges.arrivals = turns.min(self.arrivals.ends());
    }

    /// Adds the arrivals since the last call to the current second.
    fn count_arrivals(&mut self) {
        let all: u64 = self.arrived.iter().map(ClassCounts::total).sum();
        let [counted] = self.arrivals.total();
        self.arrivals.add_now([all - counted]);
    }

    /// Handles the first transmission after an edge, from `start` until `finish`. Returns whether
    /// it ends within the run.
    #[cold]
    #[inline(never)]
    pub(super) fn departs_after_edge(
        &mut self,
        start: Instant,
        finish: Instant,
        bytes: u32,
    ) -> bool {
        let window = self.settings.window;
        if finish >= window.from && !self.edges.departing {
            self.edges.departing = true;
            self.edges.departed_before = self.departed.total();
        }
        if finish > window.to {
            self.outlasts(start, bytes);
            return false;
        }
        let edge = match self.edges.departing {
            false => window.from,
            true if start >= window.from => window.to,
            true => {
                // The caller adds the whole transmission, so its part before the interval is taken
                // off. The edge at zero does this for the next packet of the frame too.
                let before = window.from.since(start).nanos();
                self.measured.busy_ns = self.measured.busy_ns.wrapping_sub(before);
                Instant::ZERO
            }
        };
        self.departed.move_to(finish);
        self.edges.departures = edge.min(self.departed.ends());
        true
    }

    /// Counts a transmission that begins at `start` and ends after the measured interval.
    fn outlasts(&mut self, start: Instant, bytes: u32) {
        let window = self.settings.window;
        self.outlasted.0 += 1;
        self.outlasted.1 += u64::from(bytes);
        self.measured.busy_ns += window.to.since(start.max(window.from)).nanos();
    }

    /// Ends the run: stores what was counted since the last edges.
    pub(super) fn close_edges(&mut self) {
        self.count_arrivals();
        if self.edges.departing {
            let [packets, bytes, _] = self.departed.total();
            let [packets_before, bytes_before, _] = self.edges.departed_before;
            self.measured.departures = packets - packets_before;
            self.measured.departure_bytes = bytes - bytes_before;
        }
    }
}
