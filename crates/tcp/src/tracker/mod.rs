//! What a sender records of its segments in flight and of the path, for its congestion control:
//! scoreboard, delivery rates, round-trip times, use of the window, pacing.

mod ack;
mod burst;
mod min_rtt;
mod rate;
mod reordering;
mod scoreboard;

use packet::{Duration, Instant};

use crate::congestion::{Control, ControlFlags, EcnMode};
use crate::ecn::{EcnFeedback, EcnState};
use crate::send_state::{Chunk, SendState};
pub(crate) use ack::{AckInfo, Seen};
pub(crate) use burst::Bursts;
pub(crate) use min_rtt::MinRtt;
pub(crate) use rate::{Newest, Rate};
use reordering::Reordering;
pub(crate) use scoreboard::Record;
use scoreboard::Scoreboard;

/// The segments in flight of one connection, and its congestion control.
#[derive(Clone, Debug)]
pub(crate) struct Tracker {
    pub control: Box<dyn Control>,
    pub flags: ControlFlags,
    pub board: Scoreboard,
    pub rate: Rate,
    pub reordering: Reordering,
    pub min_rtt: MinRtt,
    /// Smoothed round-trip time, as the sender estimates it.
    pub srtt: Duration,
    pub pacer: Pacer,
    /// State of bursts (segments handed down as one packet), if pacing counts these.
    pub bursts: Option<Bursts>,
    /// SACK blocks of the last acknowledgement that had any, as sequence numbers.
    reported: [(u64, u64); 3],
    /// The current round trip ends when a segment is delivered that was sent after this many bytes
    /// had been delivered.
    round_end: u64,
    usage: CwndUsage,
    /// When data was last sent.
    sent_at: Instant,
}

/// Whether the congestion window limits the sending, and how much of it is used (Linux's
/// `tcp_cwnd_validate`).
#[derive(Clone, Copy, Debug, Default)]
struct CwndUsage {
    /// The window has limited the sending since `until` was set.
    limited: bool,
    /// Largest number of bytes in flight since `until` was set.
    most: u64,
    /// Highest sequence number sent, plus one, when `limited` or `most` was last set.
    until: u64,
}

/// Spreads segments over the round trip (Linux's `tcp_update_skb_after_send`), segment by segment
/// (a simplification), or burst by burst ([`Bursts`]).
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Pacer {
    pub on: bool,
    /// Number of segments sent without pacing so far, at most [`UNPACED`].
    unpaced: u8,
    /// Pacing rate, bytes per second; 0 if unknown.
    rate: u64,
    /// When the next segment or burst may be sent.
    pub next: Instant,
}

/// Number of segments sent before pacing begins.
const UNPACED: u8 = 10;

impl Pacer {
    /// A segment is sent. Returns when the next one may be sent, `None` for at once.
    #[inline]
    fn on_sent(&mut self, bytes: u64, now: Instant) -> Option<Instant> {
        if !self.on {
            return None;
        }
        if self.unpaced < UNPACED || self.rate == 0 {
            self.unpaced = (self.unpaced + 1).min(UNPACED);
            return None;
        }
        let gap = self.gap(bytes);
        // If this segment was sent late, the next gap is shorter by that time, by half at most.
        let credit = now.since(self.next).nanos().min(gap / 2);
        self.next = now + Duration::from_nanos(gap - credit);
        Some(self.next)
    }

    /// Time that `bytes` take at the pacing rate, ns.
    #[inline]
    fn gap(&self, bytes: u64) -> u64 {
        let gap = u128::from(bytes) * 1_000_000_000 / u128::from(self.rate);
        gap.min(u128::from(u32::MAX) * 1_000) as u64
    }
}

/// The result of sending a segment.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Sent {
    /// Number of the segment's record, if it is a retransmission.
    pub retransmission_of: Option<u64>,
    /// When pacing allows the next segment, if not at once.
    pub next: Option<Instant>,
}

impl Tracker {
    /// A tracker with this control; its segments are paced if `paces` is set or the control paces.
    pub fn new(control: Box<dyn Control>, paces: bool) -> Self {
        let rate = Rate::new(control.flags().rates);
        Tracker::with(control, (Scoreboard::new(), rate), paces)
    }

    fn with(control: Box<dyn Control>, (board, rate): (Scoreboard, Rate), paces: bool) -> Self {
        let flags = control.flags();
        Tracker {
            flags,
            control,
            board,
            rate,
            reordering: Reordering::new(),
            min_rtt: MinRtt::new(),
            srtt: Duration::ZERO,
            pacer: Pacer { on: paces || flags.paced, ..Pacer::default() },
            bursts: None,
            reported: [(0, 0); 3],
            round_end: 0,
            usage: CwndUsage::default(),
            sent_at: Instant::ZERO,
        }
    }

    /// A tracker for a new connection with this control, in the memory of the old one.
    pub fn renewed(mut self, control: Box<dyn Control>, paces: bool) -> Self {
        self.board.reset();
        let rate = self.rate.renewed(control.flags().rates);
        Tracker::with(control, (self.board, rate), paces)
    }

    /// Starts the control after the handshake; `srtt` is zero if that measured no round trip.
    pub fn begin(&mut self, snd: &mut SendState, srtt: Duration, now: Instant) {
        self.srtt = srtt;
        if srtt > Duration::ZERO {
            self.min_rtt.update(srtt, now);
        }
        self.control.on_open(&mut snd.win, srtt, now);
        self.set_pace(snd);
    }

    /// Whether the control gets the feedback it needs, by what the handshake agreed on. As in
    /// Linux, a control that needs to know which data was marked is replaced without such feedback;
    /// a scalable one must be (RFC 9331 section 4.3).
    pub fn is_served(&self, ecn: EcnState) -> bool {
        match self.flags.ecn {
            EcnMode::Classic => true,
            EcnMode::Dctcp => ecn.on(),
            EcnMode::Scalable => ecn.feedback == EcnFeedback::Accurate,
        }
    }

    /// Replaces the congestion control.
    pub fn replace(&mut self, control: Box<dyn Control>, paces: bool) {
        self.flags = control.flags();
        self.control = control;
        self.rate.enable(self.flags.rates);
        self.pacer.on = paces || self.flags.paced;
    }

    /// Updates the pacing rate from the control.
    #[inline]
    pub fn set_pace(&mut self, snd: &SendState) {
        if self.pacer.on || self.bursts.is_some() {
            self.pacer.rate =
                self.control.pacing_rate(&snd.win, &snd.flight(), self.srtt).unwrap_or(0);
        }
    }

    /// `chunk` is sent; `snd.max` does not include it yet.
    #[inline(always)]
    pub fn on_sent(&mut self, snd: &mut SendState, chunk: Chunk, now: Instant) -> Sent {
        let bytes = chunk.end() - chunk.seq;
        let in_flight = self.board.in_flight;
        self.rate.begin(in_flight, snd.una == snd.max, now);
        if in_flight == 0 {
            let app_limited = self.rate.is_app_limited();
            self.control.on_tx_start(&mut snd.win, self.sent_at, app_limited, now);
            if self.flags.own_window {
                self.set_pace(snd);
            }
        }
        self.sent_at = now;
        let retransmission_of = (chunk.seq < snd.max).then(|| self.board.find(chunk.seq));
        let joined = self.is_in_burst();
        let next = if self.bursts.is_some() {
            self.on_burst_sent(snd, chunk, retransmission_of, now)
        } else {
            self.pacer.on_sent(bytes, now)
        };
        if let Some(number) = retransmission_of {
            self.resend(number, chunk, now, in_flight + bytes);
        }
        if chunk.end() > snd.max {
            let seq = chunk.seq.max(snd.max);
            self.board.push(Record {
                seq,
                end: chunk.end(),
                at: now,
                delivered: self.rate.delivered,
                fin: chunk.fin(),
                joined,
                ..Record::default()
            });
            self.rate.note(self.board.first(), self.board.end() - 1, in_flight + bytes);
        }
        self.note_usage(snd, chunk);
        self.run_dry_if_done(snd, chunk.end(), now);
        Sent { retransmission_of, next }
    }

    /// Records a retransmission, which in a classic recovery may cover several records.
    fn resend(&mut self, first: u64, chunk: Chunk, now: Instant, in_flight: u64) {
        let mut number = first;
        loop {
            if !self.board.get(number).sacked {
                self.board.resend(number, now, self.rate.delivered);
                self.rate.note(self.board.first(), number, in_flight);
            }
            number += 1;
            if number == self.board.end() || self.board.get(number).seq >= chunk.end() {
                return;
            }
        }
    }

    fn note_usage(&mut self, snd: &SendState, chunk: Chunk) {
        let limited = self.board.in_flight + snd.mss() > snd.win.cwnd;
        let until = snd.max.max(chunk.end());
        let out = until - snd.una;
        let usage = &mut self.usage;
        if limited || snd.una >= usage.until || (!usage.limited && out > usage.most) {
            *usage = CwndUsage { limited, most: out, until };
        }
    }

    /// Whether the window limited the sending (Linux's `tcp_is_cwnd_limited`).
    fn window_limited(&self, snd: &SendState) -> bool {
        let slow_start = snd.win.cwnd < snd.win.ssthresh;
        self.usage.limited || (slow_start && snd.win.cwnd < 2 * self.usage.most)
    }

    /// Notes when the program has nothing more to send though the window has room.
    pub fn run_dry_if_done(&mut self, snd: &SendState, sent_to: u64, now: Instant) {
        let out_of_data = sent_to.max(snd.max) >= snd.end && self.board.waiting == 0;
        if out_of_data && self.board.in_flight < snd.win.cwnd {
            self.rate.run_dry(now);
        }
    }

    /// Marks the segment of a record as lost.
    pub fn mark_lost(&mut self, snd: &SendState, number: u64, now: Instant) {
        let bytes = self.board.get(number).bytes();
        let lost = self.rate.lose(self.rate.snapshot_of(number), bytes, now);
        self.board.mark_lost(number);
        self.control.on_lost(&snd.win, &lost);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::congestion::{linux_reno, make_usual};
    use crate::send_state::Window;

    fn at(ms: u64) -> Instant {
        Instant::ZERO + Duration::from_millis(ms)
    }

    /// Ten segments of 100 B are in flight, which is all that was written.
    pub(super) fn ten_out() -> (Tracker, SendState) {
        let mut tracker = Tracker::new(linux_reno(), false);
        let mut snd = SendState {
            una: 1,
            max: 1,
            end: 1_001,
            win: Window { cwnd: 2_000, mss: 100, ..Window::default() },
            ..SendState::default()
        };
        while snd.max < snd.end {
            let chunk = snd.chunk(snd.max, u64::MAX);
            tracker.on_sent(&mut snd, chunk, Instant::ZERO);
            snd.max = chunk.end();
        }
        (tracker, snd)
    }

    #[test]
    fn a_segment_keeps_the_next_back_for_its_time_at_the_pace() {
        // Even the slowest pacing delays the next segment by 2^32 - 1 us at most.
        for (rate, bytes, micros) in
            [(1_000_000, 1_500, 1_500), (1, 4_000, 4_000_000_000), (1, 5_000, 4_294_967_295)]
        {
            let mut pacer = Pacer { on: true, unpaced: UNPACED, rate, next: at(0) };
            let next = pacer.on_sent(bytes, at(0));
            assert_eq!(next, Some(Instant::ZERO + Duration::from_micros(micros)), "{bytes}");
        }
    }

    #[test]
    fn the_handshake_may_show_a_round_trip() {
        for srtt in [Duration::ZERO, Duration::from_millis(50)] {
            let (mut tracker, mut snd) = ten_out();
            tracker.begin(&mut snd, srtt, at(60));
            assert_eq!((tracker.srtt, tracker.min_rtt.get()), (srtt, srtt));
            // The first sample is the smallest whatever it is.
            tracker.min_rtt.update(Duration::from_millis(80), at(100));
            let least = if srtt == Duration::ZERO { Duration::from_millis(80) } else { srtt };
            assert_eq!(tracker.min_rtt.get(), least);
        }
    }

    #[test]
    fn who_takes_over_is_paced_if_it_or_the_profile_asks() {
        for (control, paces, on) in [
            ("reno", false, false),
            ("reno", true, true),
            ("bbr", false, true),
            ("bbr", true, true),
        ] {
            let (mut tracker, _) = ten_out();
            tracker.replace(make_usual(control), paces);
            assert_eq!(tracker.pacer.on, on, "{control} {paces}");
        }
    }

    #[test]
    fn what_was_out_at_most_is_counted_for_a_flight() {
        // Linux's `tcp_cwnd_validate`: the maximum is taken anew when the flight in which it was
        // noted is acknowledged, or when more is in flight.
        let mut tracker = Tracker::new(linux_reno(), false);
        let mut snd = SendState {
            una: 1,
            max: 1,
            win: Window { cwnd: 10_000, mss: 100, ..Window::default() },
            ..SendState::default()
        };
        let mut most = |una, to| {
            snd.una = una;
            tracker.note_usage(&snd, Chunk::new(snd.max, (to - snd.max) as u32, false));
            snd.max = to;
            tracker.usage.most
        };
        assert_eq!(
            [most(1, 101), most(51, 151), most(101, 161), most(101, 191)],
            [100, 100, 60, 90]
        );
    }

    #[test]
    fn what_a_timeout_takes_for_lost_may_still_arrive_and_begins_no_flight() {
        let (mut tracker, mut snd) = ten_out();
        tracker.rate.enable(true);
        (0..10).for_each(|number| tracker.mark_lost(&snd, number, at(300)));
        assert_eq!(tracker.board.in_flight, 0);
        let chunk = snd.chunk(1, u64::MAX);
        tracker.on_sent(&mut snd, chunk, at(300));
        let first_at =
            |tracker: &Tracker, number| tracker.rate.snapshot_of(number).unwrap().first_at;
        assert_eq!(first_at(&tracker, 0), at(0), "a sample spans the timeout");
        // All is acknowledged: new data begins a flight.
        (snd.una, snd.end) = (1_001, 1_101);
        let chunk = snd.chunk(1_001, u64::MAX);
        tracker.on_sent(&mut snd, chunk, at(400));
        assert_eq!(first_at(&tracker, 10), at(400));
    }

    #[test]
    fn the_program_is_the_limit_where_the_window_has_room_left() {
        // All ten segments are in flight, and more is written later.
        for (cwnd, room) in [(1_000, false), (1_001, true)] {
            let (mut tracker, mut snd) = ten_out();
            tracker.rate = Rate::default();
            snd.win.cwnd = cwnd;
            tracker.run_dry_if_done(&snd, 0, at(1));
            tracker.rate.begin(1_000, false, at(2));
            assert_eq!(tracker.rate.is_app_limited(), room, "{cwnd}");
        }
    }
}
