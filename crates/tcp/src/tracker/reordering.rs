//! What the order of arrivals tells: RFC 8985 section 6.2, steps 1 to 4.

use packet::{Duration, Instant};

use super::scoreboard::Record;

/// Recoveries for which a wider reordering window lasts (step 4).
const PERSIST: u8 = 16;

/// RACK's memory of one connection.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Reordering {
    /// Which transmission the newest delivered segment was (RACK.xmit_ts), and the last round trip
    /// (RACK.rtt). The count settles what was sent first among segments of one instant, which
    /// RFC 8985 leaves to their sequence numbers (constructed).
    turn: u64,
    pub rtt: Duration,
    /// The highest number delivered (RACK.fack).
    highest: u64,
    pub reordering_seen: bool,
    /// The reordering window in quarters of the smallest round trip, and for how many more
    /// recoveries.
    quarters: u8,
    persist: u8,
    /// Duplicates are counted again once this is acknowledged (RACK.dsack_round).
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
            round: 0,
        }
    }

    /// Whether a segment was sent after the newest delivered one (RACK_sent_after).
    pub fn is_later(&self, record: &Record) -> bool {
        record.turn > self.turn
    }

    /// Steps 2 and 3: a segment is delivered for the first time. `ambiguous`: it had been sent
    /// again and the acknowledgement may be of the first copy; else its round trip is the one that
    /// holes wait for, also where it was not sent last, if `timed` (of one acknowledgement Linux
    /// takes what is acknowledged cumulatively last, `tcp_rack_advance`).
    #[inline]
    pub fn deliver(&mut self, record: &Record, ambiguous: bool, timed: bool, now: Instant) {
        if record.end > self.highest {
            self.highest = record.end;
        } else if !record.ever_resent {
            self.reordering_seen = true;
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

    /// Step 4: a duplicate was reported; once per round trip the window widens.
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

    /// Step 4: how long a hole is taken for reordering; at most a smoothed round trip. `settled`:
    /// a loss is being repaired, or as many segments are reported as the threshold asks.
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
