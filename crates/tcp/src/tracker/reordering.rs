//! RACK's state of deliveries and reordering: RFC 8985 section 6.2, steps 1 to 4.

use packet::{Duration, Instant};

use super::scoreboard::Record;

/// Number of recoveries for which a wider reordering window lasts (step 4).
const PERSIST: u8 = 16;

/// Largest degree of reordering, segments (net.ipv4.tcp_max_reordering).
const MOST: u64 = 300;

/// RACK's state of one connection.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Reordering {
    /// Ordinal number of the transmission of the newest delivered segment (for RACK.xmit_ts). It
    /// orders segments sent at one instant, for which RFC 8985 uses sequence numbers (our choice).
    turn: u64,
    /// Last round-trip time (RACK.rtt).
    pub rtt: Duration,
    /// Highest sequence number delivered (RACK.fack).
    highest: u64,
    pub reordering_seen: bool,
    /// The reordering window in quarters of the smallest round trip, and for how many more
    /// recoveries a wider one lasts.
    quarters: u8,
    persist: u8,
    /// Largest number of segments by which a segment was seen to arrive late (Linux's
    /// `tp->reordering`; smaller values count as its initial value).
    degree: u32,
    /// Lowest sequence number that the current acknowledgement found late; `u64::MAX` for none.
    late: u64,
    /// Sequence number whose acknowledgement lets duplicates count again (RACK.dsack_round).
    round: u64,
}

impl Reordering {
    pub fn new() -> Self {
        Reordering {
            turn: 0,
            rtt: Duration::ZERO,
            highest: 0,
            reordering_seen: false,
            quarters: 1,
            persist: PERSIST,
            degree: 0,
            late: u64::MAX,
            round: 0,
        }
    }

    /// Notes that the segment that begins at `seq` has arrived late.
    pub fn note_late(&mut self, seq: u64) {
        self.late = self.late.min(seq);
    }

    /// Measures by how many segments the lowest late segment of one acknowledgement was late
    /// (`tcp_check_sack_reordering`).
    #[inline]
    pub fn measure(&mut self, mss: u64) {
        if self.late != u64::MAX {
            let segments = (self.highest.saturating_sub(self.late)).div_ceil(mss).min(MOST);
            self.degree = self.degree.max(segments as u32);
            self.late = u64::MAX;
        }
    }

    /// Number of segments reported above a hole that show it to be lost: the degree of reordering,
    /// at least `threshold`.
    #[inline]
    pub fn degree(&self, threshold: u32) -> u32 {
        self.degree.max(threshold)
    }

    /// Resets the degree, which was too large: a timeout came although as many segments as the
    /// initial threshold were reported (`tcp_enter_loss`).
    pub fn forget_degree(&mut self) {
        self.degree = 0;
    }

    /// Whether a segment was sent after the newest delivered one (RACK_sent_after).
    pub fn is_later(&self, record: &Record) -> bool {
        record.turn > self.turn
    }

    /// Steps 2 and 3: a segment is newly delivered. `ambiguous`: it was retransmitted, and the
    /// acknowledgement may be of the first copy. Otherwise, if `timed`, holes wait for its
    /// round-trip time, even if another segment was sent later (Linux takes the last segment that
    /// is acknowledged cumulatively, `tcp_rack_advance`).
    #[inline]
    pub fn deliver(&mut self, record: &Record, ambiguous: bool, timed: bool, now: Instant) {
        if record.end > self.highest {
            self.highest = record.end;
        } else if !record.ever_resent {
            self.reordering_seen = true;
            self.note_late(record.seq);
        }
        if ambiguous {
            return;
        }
        if timed {
            self.rtt = now.since(record.at);
        }
        if self.is_later(record) {
            self.turn = record.turn;
        }
    }

    /// Step 4: a duplicate was reported; once per round trip this widens the reordering window.
    pub fn on_duplicate(&mut self, una: u64, max: u64) {
        if una >= self.round {
            self.round = max;
            self.quarters = self.quarters.saturating_add(1);
            self.persist = PERSIST;
        }
    }

    /// Step 4: a recovery ends.
    pub fn on_recovered(&mut self) {
        self.persist = self.persist.saturating_sub(1);
        if self.persist == 0 {
            self.quarters = 1;
        }
    }

    /// Step 4: how long a hole is taken for reordering, not for a loss; at most a smoothed
    /// round-trip time. `settled`: a loss is being repaired, or as many segments are reported as
    /// the threshold requires.
    pub fn window(&self, settled: bool, min_rtt: Duration, srtt: Duration) -> Duration {
        if !self.reordering_seen && settled {
            return Duration::ZERO;
        }
        let window = min_rtt.nanos() / 4 * u64::from(self.quarters);
        Duration::from_nanos(window.min(srtt.nanos()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_degree_is_the_distance_to_the_highest_delivered() {
        // tcp_check_sack_reordering: metric = fack - low_seq, in whole segments, at most 300.
        let mut order = Reordering::new();
        let record = |seq: u64, ever_resent| Record {
            seq,
            end: seq + 100,
            ever_resent,
            ..Record::default()
        };
        let mut late = |highest, seq, resent| {
            order.deliver(&record(highest, false), true, false, Instant::ZERO);
            order.deliver(&record(seq, resent), true, false, Instant::ZERO);
            order.measure(100);
            order.degree(3)
        };
        assert_eq!(late(201, 1, false), 3);
        assert_eq!(late(401, 101, true), 3, "retransmitted: it may be the copy");
        assert_eq!(late(501, 101, false), 5);
        assert_eq!(late(601, 501, false), 5, "the most");
        assert_eq!(late(100_001, 1, false), 300);
        order.forget_degree();
        assert_eq!(order.degree(3), 3);
    }

    #[test]
    fn a_wider_window_lasts_for_sixteen_recoveries() {
        // RFC 8985 section 6.2, step 4.
        let mut order = Reordering { reordering_seen: true, ..Reordering::new() };
        let ms = Duration::from_millis;
        let window = |order: &Reordering| order.window(false, ms(40), ms(100));
        assert_eq!(window(&order), ms(10));
        order.on_duplicate(1, 1_001);
        order.on_duplicate(1_000, 2_001);
        assert_eq!(window(&order), ms(20), "once per round trip");
        order.on_duplicate(1_001, 2_001);
        assert_eq!(window(&order), ms(30));
        (0..15).for_each(|_| order.on_recovered());
        assert_eq!(window(&order), ms(30));
        order.on_recovered();
        assert_eq!(window(&order), ms(10));
    }
}
