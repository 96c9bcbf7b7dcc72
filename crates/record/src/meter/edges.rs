//! The instants at which a port's counts are read: a second is over, the measured interval begins or is
//! over. Between two of them a packet costs its counts and one comparison.

use packet::Instant;

use super::Meter;
use crate::packet_class::ClassCounts;

/// The next of these instants, of arrivals and of departures.
#[derive(Clone, Copy, Debug)]
pub(super) struct Edges {
    /// The first arrival at this instant or later is the first after an edge.
    pub arrivals: Instant,
    /// Whether what arrives before it lies in the measured interval.
    pub arriving: bool,
    /// The first transmission that ends at this instant or later is the first after an edge.
    pub departures: Instant,
    /// Whether what departs before it lies in the measured interval.
    pub departing: bool,
    /// What had departed before the measured interval began: packets, bytes and waiting time in ns.
    departed_before: [u64; 3],
}

impl Edges {
    /// Nothing is known of the time before the first packet.
    pub fn new() -> Edges {
        Edges {
            arrivals: Instant::ZERO,
            arriving: false,
            departures: Instant::ZERO,
            departing: false,
            departed_before: [0; 3],
        }
    }

    /// Looks at the clock anew with the next packet: the measured interval has another end.
    pub fn look_again(&mut self) {
        (self.arrivals, self.departures) = (Instant::ZERO, Instant::ZERO);
    }
}

impl Meter {
    /// The first arrival after an edge comes at `now`.
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

    /// Adds to the second under way what has arrived since this was last called.
    fn count_arrivals(&mut self) {
        let all: u64 = self.arrived.iter().map(ClassCounts::total).sum();
        let [counted] = self.arrivals.total();
        self.arrivals.add_now([all - counted]);
    }

    /// The first transmission after an edge lasts from `start` until `finish`. Returns whether it ends
    /// within the run.
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
                // The whole transmission will be added, and that of the next packet of its frame.
                let before = window.from.since(start).nanos();
                self.measured.busy_ns = self.measured.busy_ns.wrapping_sub(before);
                Instant::ZERO
            }
        };
        self.departed.move_to(finish);
        self.edges.departures = edge.min(self.departed.ends());
        true
    }

    /// A transmission from `start` on ends after the measured interval.
    fn outlasts(&mut self, start: Instant, bytes: u32) {
        let window = self.settings.window;
        self.outlasted.0 += 1;
        self.outlasted.1 += u64::from(bytes);
        self.measured.busy_ns += window.to.since(start.max(window.from)).nanos();
    }

    /// The run is over: what was counted since the last edges gets its place.
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
