//! Bursts: how many segments Linux hands down as one packet, which segmentation offload (TSO, GSO)
//! cuts up (`tcp_tso_segs`, `tcp_write_xmit`), and when it waits for room for more of them
//! (`tcp_tso_should_defer`). A burst is sent at once, and pacing counts its whole length
//! (`tcp_update_skb_after_send`).

use packet::{Duration, Instant};

use super::{Pacer, Tracker, UNPACED};
use crate::congestion::BurstSize;
use crate::send_state::{Chunk, SendState};

/// Largest burst, bytes: GSO_LEGACY_MAX_SIZE less MAX_TCP_HEADER, 320 B on x86-64, and less one
/// (`sk_dst_gso_max_size`).
const MOST_BYTES: u64 = 65_536 - 320 - 1;
/// sk_pacing_shift: a burst is what the pacing rate sends in 1/1,024 s.
const PACING_SHIFT: u32 = 10;
/// net.ipv4.tcp_tso_rtt_log: the bonus for near peers is halved for each 2^9 us of the smallest
/// round trip.
const RTT_LOG: u32 = 9;
/// net.ipv4.tcp_tso_win_divisor: with room for a third of the window a burst never waits.
const WINDOW_PARTS: u64 = 3;
/// A burst waits only this long after the one before, and only for an acknowledgement expected within it.
const WAIT: Duration = Duration::from_millis(1);

/// The bursts of one connection.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Bursts {
    /// Largest number of segments of a burst (gso_max_segs of the device).
    most: u64,
    /// Bytes of the current burst that are still to be sent.
    pub left: u64,
    /// The current or last burst has several segments.
    several: bool,
}

impl Bursts {
    pub fn new(most: u16) -> Self {
        Bursts { most: u64::from(most), left: 0, several: false }
    }

    /// Whether the segment sent last ended a burst of several.
    pub fn ends(&self) -> bool {
        self.several && self.left == 0
    }
}

/// Number of segments of a burst (`tcp_tso_autosize`): those of `mss` bytes that `rate` bytes per
/// second (0: unknown) send in 1/1,024 s, at least `least`, and more for a near peer. `min_rtt` is
/// zero before the first sample.
fn autosize(rate: u64, min_rtt: Duration, mss: u64, least: u64) -> u64 {
    let paced = if rate == 0 { MOST_BYTES } else { rate >> PACING_SHIFT };
    let halvings = (min_rtt.nanos() / 1_000) >> RTT_LOG;
    let near = if min_rtt == Duration::ZERO { 0 } else { MOST_BYTES >> halvings.min(63) };
    let bytes = paced + near;
    (bytes.min(MOST_BYTES) / mss).max(least)
}

impl Pacer {
    /// A burst is sent. Returns when the next one may be sent, `None` for at once. The first ten
    /// segments are not paced.
    fn on_burst(&mut self, bytes: u64, segments: u64, now: Instant) -> Option<Instant> {
        let late = now.since(self.next).nanos();
        self.next = self.next.max(now);
        self.unpaced = (u64::from(self.unpaced) + segments).min(u64::from(UNPACED)) as u8;
        if !self.on || self.rate == 0 || self.unpaced < UNPACED {
            return None;
        }
        let gap = self.gap(bytes);
        self.next += Duration::from_nanos(gap - late.min(gap / 2));
        Some(self.next)
    }
}

impl Tracker {
    /// Largest number of segments of a burst now (`tcp_tso_segs`).
    fn burst_segments(&self, snd: &SendState, bursts: &Bursts) -> u64 {
        let (rate, mss) = (self.pacer.rate, snd.mss());
        let segments = match self.control.burst_size(rate, mss) {
            BurstSize::AtLeast(least) => autosize(rate, self.min_rtt.get(), mss, least),
            BurstSize::Segments(segments) => segments,
        };
        segments.min(bursts.most).max(1)
    }

    /// Whether `chunk`, new data that the windows allow, waits until the next acknowledgement makes
    /// room for a longer burst (`tcp_tso_should_defer`).
    pub fn defers(&mut self, snd: &SendState, chunk: Chunk, now: Instant) -> bool {
        let Some(bursts) = self.bursts else { return false };
        let (mss, rest) = (snd.mss(), snd.end - chunk.seq);
        // A millisecond after the last burst it does not wait. (Linux requires more than a
        // millisecond, but its clock never shows exactly one.)
        if bursts.left > 0 || rest <= mss || now >= self.pacer.next + WAIT {
            return false;
        }
        let offered = snd.una + snd.window() - chunk.seq;
        let room = snd.win.cwnd.saturating_sub(self.board.in_flight);
        let limit = room.min(offered);
        let share = snd.window().min(snd.win.cwnd) / WINDOW_PARTS;
        if limit >= self.burst_segments(snd, &bursts) * mss || limit >= share {
            return false;
        }
        let Some(first) = self.board.first_sent_at() else { return false };
        let soon = Duration::from_nanos(self.srtt.nanos() / 2).min(WAIT);
        if first + self.srtt > now + soon {
            return false;
        }
        if limit > rest && snd.fin_queued {
            return false;
        }
        if room < offered && room <= rest {
            self.note_limited(snd);
        }
        true
    }

    /// `chunk` is sent; returns when pacing allows the next burst. `again`: the record of a
    /// retransmission, which must not have been updated yet.
    pub(super) fn on_burst_sent(
        &mut self,
        snd: &SendState,
        chunk: Chunk,
        again: Option<u64>,
        now: Instant,
    ) -> Option<Instant> {
        let mut bursts = self.bursts?;
        let len = u64::from(chunk.len);
        if bursts.left > 0 {
            bursts.left = bursts.left.saturating_sub(len);
            self.bursts = Some(bursts);
            return None;
        }
        let mss = snd.mss();
        let room = snd.win.cwnd.saturating_sub(self.board.in_flight) / mss;
        let most = self.burst_segments(snd, &bursts).min(room).max(1);
        let (bytes, segments) = match again {
            Some(number) => self.board.take_run(number, most),
            None => {
                // `tcp_cwnd_test`: a burst is half of the window at most.
                let most = most.min(snd.win.cwnd / mss / 2).max(1);
                let there = (snd.end - chunk.seq).min(snd.una + snd.window() - chunk.seq);
                let bytes = (most * mss).min(there);
                (bytes, bytes.div_ceil(mss))
            }
        };
        self.bursts =
            Some(Bursts { left: bytes.saturating_sub(len), several: segments > 1, ..bursts });
        self.pacer.on_burst(bytes, segments, now)
    }

    /// Whether the rest of a burst is still to be sent at once.
    #[inline]
    pub fn is_in_burst(&self) -> bool {
        self.bursts.is_some_and(|bursts| bursts.left > 0)
    }

    /// Ends the current burst: nothing more is sent now.
    pub fn end_burst(&mut self) {
        if let Some(bursts) = &mut self.bursts {
            bursts.left = 0;
        }
    }

    /// Notes that the window limits the sending, not the program, though it has room left.
    fn note_limited(&mut self, snd: &SendState) {
        self.usage = super::CwndUsage { limited: true, most: snd.outstanding(), until: snd.max };
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::congestion::make_usual;

    const MSS: u64 = 1_448;

    #[test]
    fn a_burst_is_what_the_pace_makes_in_a_millisecond() {
        // tcp_tso_autosize at 5, 12, 24, 100 and 1,000 Mbit/s: 610 B, 1,464 B, 2,929 B, 12,207 B, 122,070 B.
        let far = Duration::from_millis(20);
        let by = |mbits: u64, trip, least| autosize(mbits * 125_000, trip, MSS, least);
        let sizes = [5, 12, 24, 100, 1_000].map(|mbits| by(mbits, far, 2));
        assert_eq!(sizes, [2, 2, 2, 8, 45]);
        assert_eq!(by(1, far, 1), 1, "bbr_min_tso_segs");
        // Neither rate nor round trip is known yet.
        assert_eq!(autosize(0, Duration::ZERO, MSS, 2), 45);
        assert_eq!(by(12, Duration::ZERO, 2), 2);
        // 65,215 B more, halved for each 512 us of the smallest round trip.
        let near = [100, 511, 512, 1_024, 1_536, 2_048, 2_560, 3_072];
        let sizes = near.map(|us| by(12, Duration::from_micros(us), 2));
        assert_eq!(sizes, [45, 45, 23, 12, 6, 3, 2, 2]);
    }

    #[test]
    fn a_window_that_waits_for_its_own_room_was_used() {
        // Ten segments of 100 B are in flight since 0 ms, and the acknowledgement of the first is
        // due at 1 ms; the pacing rate allows 97 in a millisecond. If the peer's window is no
        // larger than the congestion window, the peer's window is the limit.
        let at = |us| Instant::ZERO + Duration::from_micros(us);
        for (window, limited) in [(1 << 20, true), (1_200, false)] {
            let (mut tracker, mut snd) = super::super::tests::ten_out();
            tracker.bursts = Some(Bursts::new(u16::MAX));
            (tracker.pacer.rate, tracker.srtt) = (10_000_000, Duration::from_millis(1));
            (snd.win.cwnd, snd.window, snd.end) = (1_200, window, 5_001);
            let chunk = snd.new_chunk().expect("room for two");
            assert!(!tracker.defers(&snd, chunk, at(499)), "half a round trip is too long");
            assert!(!tracker.usage.limited);
            assert!(tracker.defers(&snd, chunk, at(500)));
            assert_eq!(tracker.usage.limited, limited);
            assert!(!tracker.defers(&snd, chunk, at(1_000)), "a millisecond after the last burst");
            // With room for a third of the window, or for all data and its FIN, nothing waits.
            snd.win.cwnd = 1_500;
            assert_eq!(tracker.defers(&snd, chunk, at(500)), !limited);
            (snd.win.cwnd, snd.end, snd.fin_queued) = (1_350, 1_301, true);
            assert_eq!(tracker.defers(&snd, chunk, at(500)), !limited);
        }
    }

    #[test]
    fn controls_have_sizes_of_their_own() {
        let size = |name: &str, mbits: u64| make_usual(name).burst_size(mbits * 125_000, MSS);
        // prague_burst_shift = 12: a burst is what the pacing rate sends in 1/4,096 s.
        let sizes = [5, 12, 24, 100, 1_000].map(|mbits| size("prague", mbits));
        assert_eq!(sizes, [1, 1, 1, 2, 21].map(BurstSize::Segments));
        assert_eq!(size("cubic", 1), BurstSize::AtLeast(2));
        assert_eq!(size("bbr3", 1), BurstSize::AtLeast(2));
        // bbr_min_tso_rate: BBR has no rate yet.
        assert_eq!(size("bbr", 100), BurstSize::AtLeast(1));
    }

    #[test]
    fn the_pace_counts_the_whole_burst() {
        let at = |us| Instant::ZERO + Duration::from_micros(us);
        let mut pacer = Pacer { on: true, rate: 1_000_000, ..Pacer::default() };
        // The first eight segments of 1,000 B are not paced; the tenth is, with its whole burst.
        assert_eq!(pacer.on_burst(8_000, 8, at(0)), None);
        assert_eq!(pacer.on_burst(2_000, 2, at(0)), Some(at(2_000)));
        // A delay of 500 us shortens the next gap by as much, a longer one by half of the gap.
        assert_eq!(pacer.on_burst(4_000, 4, at(2_500)), Some(at(6_000)));
        assert_eq!(pacer.on_burst(4_000, 4, at(9_000)), Some(at(11_000)));
        // A sender that is not paced records when it sent.
        let mut free = Pacer { rate: 1_000_000, ..Pacer::default() };
        assert_eq!((free.on_burst(90_000, 90, at(7)), free.next), (None, at(7)));
    }
}
