//! Runs of consecutive arrivals that a queue dropped: times in which it admitted nothing.

use packet::Instant;

/// Follows the runs of dropped arrivals and keeps the longest. A run lasts from its first drop to
/// the next arrival that is admitted (the "cutter" of Järvinen et al., *Harsh RED*).
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct DropRun {
    packets: u64,
    since: Instant,
    longest_ns: u64,
    longest_packets: u64,
}

impl DropRun {
    /// Whether the last arrival was dropped.
    #[inline]
    pub fn is_open(&self) -> bool {
        self.packets > 0
    }
    /// Counts an arrival that was dropped.
    pub fn refused(&mut self, now: Instant) {
        if !self.is_open() {
            self.since = now;
        }
        self.packets += 1;
        self.longest_packets = self.longest_packets.max(self.packets);
    }
    /// Ends the run: an arrival was admitted, or the simulation ends.
    pub fn end(&mut self, now: Instant) {
        if self.is_open() {
            self.longest_ns = self.longest_ns.max(now.since(self.since).nanos());
            self.packets = 0;
        }
    }
    /// Takes the longest run of this port and of another one.
    pub fn merge(&mut self, more: &DropRun) {
        self.longest_ns = self.longest_ns.max(more.longest_ns);
        self.longest_packets = self.longest_packets.max(more.longest_packets);
    }
    /// Duration of the longest run, in seconds.
    pub fn longest_s(&self) -> f64 {
        self.longest_ns as f64 / 1e9
    }
    /// Number of packets of the run that dropped most.
    pub fn longest_packets(&self) -> u64 {
        self.longest_packets
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ms(t: u64) -> Instant {
        Instant::from_nanos(t * 1_000_000)
    }

    #[test]
    fn the_longest_time_and_the_most_packets_may_be_of_different_runs() {
        let mut run = DropRun::default();
        run.end(ms(1));
        for t in [10, 11, 12] {
            run.refused(ms(t));
        }
        run.end(ms(15)); // three packets, 5 ms
        run.refused(ms(20));
        run.end(ms(28)); // one packet, 8 ms
        run.refused(ms(30));
        assert!(run.is_open());
        run.end(ms(31));
        assert_eq!((run.longest_s(), run.longest_packets()), (0.008, 3));
        run.end(ms(99));
        assert_eq!(run.longest_s(), 0.008, "no run is open");
    }
}
