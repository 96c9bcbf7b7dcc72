//! What an acknowledgement shows: delivered data, round-trip times, delivery rate.

use packet::{Duration, Instant};

use super::Tracker;
use super::rate::{Newest, Rate};
use super::scoreboard::Record;
use crate::congestion::{AckSample, CaState, EcnMode, Report};
use crate::segment::{Flags, Segment};
use crate::send_state::SendState;

/// What one acknowledgement has shown so far.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct AckInfo {
    /// The cumulative acknowledgement advances; `fresh` of its bytes had not been reported by SACK.
    pub advances: bool,
    /// First sequence number that was not acknowledged before.
    pub from: u64,
    fresh: u64,
    /// Bytes newly delivered, acknowledged cumulatively or by SACK.
    pub delivered: u64,
    /// Segments newly delivered, acknowledged cumulatively or by SACK.
    pub segments: u32,
    /// Bytes found lost.
    pub lost: u64,
    /// SACK blocks, or a duplicate without SACK, newly report a segment.
    pub reported: bool,
    /// A segment was delivered that was sent before the timeout and not retransmitted (F-RTO).
    pub original: bool,
    pub duplicate: Option<(u64, u64)>,
    newest: Option<Newest>,
    /// Sending times of the first and the last segment newly acknowledged cumulatively, and of
    /// those newly reported by SACK; without retransmitted ones.
    acked_span: Option<(Instant, Instant)>,
    sacked_span: Option<(Instant, Instant)>,
    /// The cumulative acknowledgement has given RACK a sample of the round trip.
    timed: bool,
    /// A segment acknowledged cumulatively had been retransmitted: its round trip is ambiguous
    /// (Karn's algorithm).
    resent_acked: bool,
}

impl AckInfo {
    /// Sending time of the oldest segment newly reported by SACK that was never retransmitted.
    pub fn reported_from(&self) -> Option<Instant> {
        self.sacked_span.map(|(first, _)| first)
    }

    /// Takes a segment that is acknowledged cumulatively and was not reported by SACK before.
    #[inline]
    fn take_acked(&mut self, record: &Record) {
        if record.ever_resent {
            self.resent_acked = true;
        } else {
            self.acked_span = Some(stretch(self.acked_span, record.at));
        }
        self.fresh += record.bytes();
    }

    /// Takes a segment that is newly delivered, cumulatively or by SACK. The sender's current state
    /// (after a timeout, for instance) ends at `recovery_point`.
    #[inline]
    fn take(
        &mut self,
        (number, record): (u64, &Record),
        recovery_point: u64,
        rate: &mut Rate,
        now: Instant,
    ) {
        self.delivered += record.bytes();
        self.segments += 1;
        self.original |= !record.ever_resent && record.end <= recovery_point;
        rate.deliver(number, record, &mut self.newest, now);
    }
}

impl Tracker {
    /// Reports to a control that reads marks in the manner of DCTCP what an acknowledgement shows:
    /// bytes delivered, and the marked ones among them.
    #[inline]
    pub fn report_marks(&mut self, snd: &SendState, delivered: u64, marked: u64) {
        if self.flags.ecn == EcnMode::Dctcp {
            self.control.on_report(&Report { flight: snd.flight(), delivered, marked });
        }
    }

    /// Takes the segments that the cumulative acknowledgement `ack` covers. `answers_earlier`:
    /// whether the acknowledgement is known to answer a segment sent before the given instant.
    #[inline(always)]
    pub fn take_cumulative(
        &mut self,
        ack: u64,
        answers_earlier: impl Fn(Instant) -> bool,
        recovery_point: u64,
        now: Instant,
        info: &mut AckInfo,
    ) {
        let min_rtt = self.min_rtt.get();
        let Tracker { board, rate, reordering, .. } = self;
        while let Some(record) = board.first_below(ack) {
            if !record.sacked {
                info.take_acked(record);
                let ambiguous = record.answers_first_copy(min_rtt, now)
                    || record.ever_resent && answers_earlier(record.at);
                info.take((board.first(), record), recovery_point, rate, now);
                reordering.deliver(record, ambiguous, true, now);
                info.timed |= !ambiguous;
            }
            board.pop_first();
        }
    }

    /// Takes the segments up to `ack` at once, with the results of [`Tracker::take_cumulative`],
    /// while none in flight was reported, lost or retransmitted. Returns `None` if `ack` covers no
    /// whole segment, or if a segment sent later than the first has been delivered.
    #[inline(always)]
    pub fn take_run(&mut self, ack: u64, now: Instant) -> Option<AckInfo> {
        let (first, last, count) = self.board.run_below(ack)?;
        if !self.reordering.is_later(first) {
            return None;
        }
        let bytes = last.end - first.seq;
        let mut info = AckInfo {
            advances: true,
            fresh: bytes,
            delivered: bytes,
            segments: count as u32,
            acked_span: Some((first.at, last.at)),
            ..AckInfo::default()
        };
        self.rate.delivered += bytes - last.bytes();
        self.rate.deliver(self.board.first() + count - 1, last, &mut info.newest, now);
        self.reordering.deliver(last, false, true, now);
        self.board.pop_run(count, bytes);
        Some(info)
    }

    /// Takes the SACK blocks of an acknowledgement.
    // Out of line, since most acknowledgements have no blocks.
    #[inline(never)]
    pub fn take_reports(
        &mut self,
        segment: &Segment,
        recovery_point: u64,
        now: Instant,
        info: &mut AckInfo,
    ) {
        info.duplicate = segment.sack.duplicate(segment.ack);
        let number = |offset: u32| segment.ack + u64::from(offset);
        let mut blocks = [(0, 0); 3];
        for (block, &(start, end)) in blocks.iter_mut().zip(segment.sack.as_slice()) {
            *block = (number(start), number(end));
            self.take_new_part(*block, recovery_point, now, info);
        }
        self.reported = blocks;
    }

    /// Takes the part of `block` that the last acknowledgement's blocks did not cover; otherwise
    /// the work for each acknowledgement would grow with the window.
    fn take_new_part(
        &mut self,
        block: (u64, u64),
        recovery_point: u64,
        now: Instant,
        info: &mut AckInfo,
    ) {
        let (mut at, end) = block;
        while at < end {
            let known = self.reported.iter().find(|known| known.0 <= at && at < known.1);
            if let Some(known) = known {
                at = known.1;
                continue;
            }
            let later = self.reported.iter().map(|known| known.0).filter(|&start| start > at);
            let stop = later.min().unwrap_or(end).min(end);
            self.take_part((at, stop), block, recovery_point, now, info);
            at = stop;
        }
    }

    /// Takes the segments that have a byte in `part` and that `block` covers whole.
    fn take_part(
        &mut self,
        part: (u64, u64),
        block: (u64, u64),
        recovery_point: u64,
        now: Instant,
        info: &mut AckInfo,
    ) {
        let mut number = self.board.find(part.0);
        while number < self.board.end() && self.board.get(number).seq < part.1 {
            let record = self.board.get(number);
            if !record.is_reported(block.1) {
                return;
            }
            if !record.sacked && record.seq >= block.0 {
                let record = self.board.report(number);
                info.reported = true;
                if !record.ever_resent {
                    info.sacked_span = Some(stretch(info.sacked_span, record.at));
                }
                let ambiguous = record.answers_first_copy(self.min_rtt.get(), now);
                info.take((number, &record), recovery_point, &mut self.rate, now);
                self.reordering.deliver(&record, ambiguous, !info.timed, now);
            }
            number += 1;
        }
    }

    /// Counts duplicate acknowledgements without SACK (Linux's `tcp_add_reno_sack` and
    /// `tcp_remove_reno_sacks`): each means that some segment has arrived; of the segments
    /// acknowledged next, one filled the hole and the others had been counted. `goes_on`: the rest
    /// of the count remains after an advance; `counts`: a further duplicate is counted.
    #[cold]
    pub fn count_duplicates(
        &mut self,
        segment: &Segment,
        mss: u64,
        (goes_on, counts): (bool, bool),
        info: &mut AckInfo,
    ) {
        let dupacks = self.board.dupacks;
        if info.advances {
            // Without SACK nothing shows which copy has arrived (`tcp_clean_rtx_queue`).
            info.original &= !info.resent_acked;
            let known = dupacks.min(info.segments.saturating_sub(1));
            info.segments -= known;
            info.delivered = info.delivered.saturating_sub(u64::from(known) * mss);
            self.board.set_dupacks(if goes_on { dupacks - known } else { 0 }, mss);
            return;
        }
        let bare = segment.len == 0 && !segment.flags.any(Flags::SYN.with(Flags::FIN));
        if bare && counts && u64::from(dupacks) + 1 < self.board.len() {
            self.board.set_dupacks(dupacks + 1, mss);
            info.delivered += mss;
            info.reported = true;
        }
    }

    /// The round trips that an acknowledgement shows: of the segment sent first, and of the one sent
    /// last, which is the path's (Linux's `tcp_clean_rtx_queue`).
    #[inline(always)]
    pub fn round_trips(&mut self, info: &AckInfo, now: Instant) -> Option<(Duration, Duration)> {
        let acked = info.acked_span.filter(|_| !info.resent_acked);
        let (first, last) = acked.or(info.sacked_span)?;
        // As in Linux, a segment reported by SACK takes precedence for the path.
        let path = now.since(info.sacked_span.map_or(last, |(_, last)| last));
        self.min_rtt.update(path, now);
        Some((now.since(first), path))
    }

    /// Builds the sample of an acknowledgement for the control.
    #[inline(always)]
    pub fn sample(&mut self, snd: &SendState, info: &AckInfo, seen: Seen) -> AckSample {
        let Seen { now, rtt, marked, in_flight_before, ca_state, any_order } = seen;
        let round = info.newest.is_some_and(|n| n.prior_delivered >= self.round_end);
        if round {
            self.round_end = self.rate.delivered;
        }
        AckSample {
            now,
            flight: snd.flight(),
            delivered: info.delivered,
            acked: info.fresh,
            segments: if info.advances || any_order { info.segments } else { 0 },
            lost: info.lost,
            marked,
            in_flight_before,
            in_flight: self.board.in_flight,
            rtt,
            srtt: self.srtt,
            min_rtt: self.min_rtt.get(),
            rate: self.rate.sample(info.newest, self.min_rtt.get(), now),
            round,
            window_limited: self.window_limited(snd),
            next_send: self.pacer.next,
            ca_state,
            paced: self.pacer.on,
        }
    }
}

/// Parts of a sample that the tracker does not know itself.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Seen {
    pub now: Instant,
    /// Round-trip time of the path, if it was measured.
    pub rtt: Option<Duration>,
    /// Bytes reported to have been marked.
    pub marked: u64,
    pub in_flight_before: u64,
    pub ca_state: CaState,
    /// Data reported by SACK grows the window too (Linux's `tcp_may_raise_cwnd`).
    pub any_order: bool,
}

fn stretch(span: Option<(Instant, Instant)>, at: Instant) -> (Instant, Instant) {
    span.map_or((at, at), |(first, last)| (first.min(at), last.max(at)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tracker::tests::ten_out;

    /// Bytes newly delivered by each of these SACK blocks, reported one after the other.
    fn delivered(blocks: &[(u32, u32)]) -> Vec<u64> {
        let (mut tracker, _) = ten_out();
        let segment = |&(from, to)| {
            let (mut segment, mut info) =
                (Segment { ack: 1, ..Segment::default() }, AckInfo::default());
            segment.sack.push(from - 1, to - 1);
            tracker.take_reports(&segment, 0, Instant::ZERO, &mut info);
            info.delivered
        };
        blocks.iter().map(segment).collect()
    }

    #[test]
    fn a_report_delivers_what_was_not_reported_before() {
        assert_eq!(delivered(&[(201, 301), (301, 401), (101, 501)]), [100, 100, 200]);
        assert_eq!(delivered(&[(401, 601), (201, 801), (201, 801)]), [200, 400, 0]);
        assert_eq!(delivered(&[(801, 1_001), (101, 1_001)]), [200, 700]);
    }

    #[test]
    fn a_segment_counts_once_the_rest_of_it_is_reported() {
        // Blocks that begin or end inside segments of 100 B.
        assert_eq!(delivered(&[(150, 301), (101, 301)]), [100, 100]);
        assert_eq!(delivered(&[(101, 250), (101, 301)]), [100, 100]);
        assert_eq!(delivered(&[(150, 250), (101, 401), (101, 401)]), [0, 300, 0]);
        assert_eq!(delivered(&[(150, 250), (250, 401)]), [0, 100]);
    }

    #[test]
    fn without_reports_a_bare_acknowledgement_says_that_a_segment_arrived() {
        // RFC 5681 section 2: a duplicate has no data, SYN and FIN; and it counts only if `counts`
        // says so.
        let flags = [Flags::ACK, Flags::ACK.with(Flags::FIN), Flags::ACK.with(Flags::SYN)];
        for (len, flags, counts, dupacks) in [
            (0, flags[0], true, 1),
            (0, flags[0], false, 0),
            (1, flags[0], true, 0),
            (1, flags[0], false, 0),
            (0, flags[1], true, 0),
            (0, flags[2], true, 0),
        ] {
            let ((mut tracker, snd), mut info) = (ten_out(), AckInfo::default());
            let segment = Segment { ack: 1, len, flags, ..Segment::default() };
            tracker.count_duplicates(&segment, snd.mss(), (false, counts), &mut info);
            assert_eq!(
                (tracker.board.dupacks, info.delivered),
                (dupacks, 100 * u64::from(dupacks))
            );
        }
    }

    #[test]
    fn duplicates_report_all_segments_but_the_one_that_is_missing() {
        let ((mut tracker, snd), mut info) = (ten_out(), AckInfo::default());
        let segment = Segment { ack: 1, flags: Flags::ACK, ..Segment::default() };
        for _ in 0..12 {
            tracker.count_duplicates(&segment, snd.mss(), (false, true), &mut info);
        }
        assert_eq!((tracker.board.dupacks, info.delivered), (9, 900));
    }
}
