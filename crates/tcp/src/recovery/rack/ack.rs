//! What an acknowledgement tells a sender: what was delivered, how long it took, how fast it went.

use packet::{Duration, Instant};

use super::RackSender;
use super::rate::{Newest, Rate};
use super::scoreboard::Record;
use crate::clock::{HostClock, Moment, Phase};
use crate::congestion::AckSample;
use crate::ecn::EchoReader;
use crate::recovery::Detection;
use crate::rtt::{Rtt, RttRules};
use crate::segment::{Flags, Segment};
use crate::send_state::SendState;

/// What one acknowledgement has told so far.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct AckInfo {
    /// Bytes the cumulative acknowledgement advances, and those of them not reported before.
    pub acked: u64,
    fresh: u64,
    /// Bytes and segments delivered by either way.
    pub delivered: u64,
    pub segments: u32,
    /// Bytes found lost.
    pub lost: u64,
    /// Something was reported that was not known.
    pub reported: bool,
    /// A segment was delivered that was sent once, before the timeout (F-RTO).
    pub original: bool,
    /// The report of a duplicate.
    pub duplicate: Option<(u64, u64)>,
    newest: Option<Newest>,
    /// When the first and the last of the segments acknowledged, and reported, were sent.
    acked_span: Option<(Instant, Instant)>,
    sacked_span: Option<(Instant, Instant)>,
    /// The cumulative acknowledgement has told RACK a round trip.
    timed: bool,
    /// One acknowledged had been sent again: its round trip is ambiguous (Karn).
    resent_acked: bool,
}

impl AckInfo {
    /// A segment is acknowledged cumulatively that was not reported before.
    #[inline]
    fn take_acked(&mut self, record: &Record) {
        if record.ever_resent {
            self.resent_acked = true;
        } else {
            self.acked_span = Some(stretch(self.acked_span, record.at));
        }
        self.fresh += record.bytes();
    }

    /// A segment is delivered, by whichever way it is told, to a sender whose timeout (or other
    /// state) ends at `recovery_point`.
    #[inline]
    fn take(&mut self, record: &Record, recovery_point: u64, rate: &mut Rate, now: Instant) {
        self.delivered += record.bytes();
        self.segments += 1;
        self.original |= !record.ever_resent && record.end <= recovery_point;
        rate.deliver(record, &mut self.newest, now);
    }
}

/// What the endpoint lends.
pub(crate) struct AckContext<'a> {
    pub snd: &'a mut SendState,
    pub rtt: &'a mut Rtt,
    pub rules: &'a RttRules,
    /// What acknowledgements say of marks.
    pub ecn: EchoReader<'a>,
    pub clock: HostClock,
    pub moment: Moment,
}

impl AckContext<'_> {
    /// Whether the timestamp echoed says that the acknowledgement answers a segment sent before
    /// this (RFC 3522 section 3.2).
    pub fn answers_earlier(&self, segment: &Segment, sent: Instant) -> bool {
        let moment = Moment { at: sent, phase: Phase::Events };
        let stamp = self.rules.timestamp(self.clock, moment);
        segment.flags.has(Flags::STAMPED) && segment.echo.wrapping_sub(stamp) > 1 << 31
    }
}

/// What an acknowledgement led to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Outcome {
    /// Fast recovery began.
    pub entered: bool,
    /// The window was reduced: the peer is to be told (RFC 3168).
    pub reduced: bool,
    /// That answered marks.
    pub by_echo: bool,
    /// A timeout turned out to be spurious.
    pub spurious_rto: bool,
}

impl RackSender {
    /// An acknowledgement of what is out, or a report.
    pub fn on_ack(&mut self, cx: &mut AckContext, segment: &Segment) -> Outcome {
        let now = cx.moment.at;
        let in_flight_before = self.board.in_flight;
        let mut info = AckInfo::default();
        if segment.ack > cx.snd.una {
            self.take_cumulative(cx, segment, now, &mut info);
        }
        if segment.sack.is_telling() {
            self.take_reports(segment, now, &mut info);
        }
        if self.settings.detection == Detection::DupAcks {
            self.count_duplicates(cx.snd, segment, &mut info);
        }
        if info.reported {
            // RFC 8985 section 7.2: no probe while something is reported; RACK has its own timer.
            self.timers.probe = Instant::NEVER;
        }
        let rtt = self.measure(cx, segment, &info);
        let mut outcome = Outcome::default();
        let marked = cx.ecn.marked_bytes(segment, info.delivered, cx.snd.mss(), false);
        let echoes = cx.ecn.echoes(segment, marked);
        if echoes {
            // RFC 4015 step 2: there was congestion, whatever turns out (as in Linux).
            self.undo = None;
        }
        self.judge(cx, segment, &mut info, &mut outcome);
        if echoes {
            self.answer_marks(cx.snd, now, &mut outcome);
        }
        let round = info.newest.is_some_and(|n| n.prior_delivered() >= self.round_end);
        if round {
            self.round_end = self.rate.delivered;
        }
        let report = AckSample {
            now,
            delivered: info.delivered,
            acked: info.fresh,
            segments: if info.acked > 0 { info.segments } else { 0 },
            lost: info.lost,
            marked,
            in_flight_before,
            in_flight: self.board.in_flight,
            rtt,
            srtt: self.srtt,
            min_rtt: self.min_rtt.get(),
            rate: self.rate.sample(info.newest, self.min_rtt.get(), now),
            round,
            window_limited: self.window_limited(cx.snd),
            next_send: self.paced_to,
            ca_state: self.state,
            paced: self.is_paced(),
        };
        self.steer(cx.snd, &info, &report);
        if info.acked > 0 {
            self.restart_timers(now);
        }
        self.run_dry_if_done(cx.snd, 0, now);
        outcome
    }

    /// Windows and pace.
    fn steer(&mut self, snd: &mut SendState, info: &AckInfo, report: &AckSample) {
        self.control.on_ack(snd, report);
        if self.is_led() {
            let safe = info.acked > 0 && info.lost == 0;
            self.prr.on_ack(snd, self.board.in_flight, info.delivered, safe);
        }
        self.set_pace(snd);
    }

    fn take_cumulative(
        &mut self,
        cx: &mut AckContext,
        segment: &Segment,
        now: Instant,
        info: &mut AckInfo,
    ) {
        let snd = &mut *cx.snd;
        info.acked = segment.ack - snd.una;
        snd.una = segment.ack;
        snd.nxt = snd.nxt.max(segment.ack);
        let min_rtt = self.min_rtt.get();
        let RackSender { board, rate, reordering, recovery_point, .. } = self;
        while let Some(record) = board.first_below(segment.ack) {
            if !record.sacked {
                info.take_acked(record);
                let ambiguous = record.answers_first_copy(min_rtt, now)
                    || record.ever_resent && cx.answers_earlier(segment, record.at);
                info.take(record, *recovery_point, rate, now);
                reordering.deliver(record, ambiguous, true, now);
                info.timed |= !ambiguous;
            }
            board.pop_first();
        }
    }

    /// The blocks of an acknowledgement.
    // Out of line: most have none.
    #[inline(never)]
    fn take_reports(&mut self, segment: &Segment, now: Instant, info: &mut AckInfo) {
        info.duplicate = segment.sack.duplicate(segment.ack);
        let number = |offset: u32| segment.ack + u64::from(offset);
        let mut blocks = [(0, 0); 3];
        for (block, &(start, end)) in blocks.iter_mut().zip(segment.sack.as_slice()) {
            *block = (number(start), number(end));
            self.take_new_part(*block, now, info);
        }
        self.reported = blocks;
    }

    /// What the blocks of the last acknowledgement covered is not looked at again, or each would
    /// cost as much as the window is long.
    fn take_new_part(&mut self, block: (u64, u64), now: Instant, info: &mut AckInfo) {
        let (mut at, end) = block;
        while at < end {
            let known = self.reported.iter().find(|known| known.0 <= at && at < known.1);
            if let Some(known) = known {
                at = known.1;
                continue;
            }
            let later = self.reported.iter().map(|known| known.0).filter(|&start| start > at);
            let stop = later.min().unwrap_or(end).min(end);
            self.take_block(at, stop, now, info);
            at = stop;
        }
    }

    fn take_block(&mut self, start: u64, end: u64, now: Instant, info: &mut AckInfo) {
        let mut number = self.board.find(start);
        while number < self.board.end() && self.board.get(number).is_reported(end) {
            let record = self.board.get(number);
            if !record.sacked && record.seq >= start {
                let record = self.board.report(number);
                info.reported = true;
                if !record.ever_resent {
                    info.sacked_span = Some(stretch(info.sacked_span, record.at));
                }
                let ambiguous = record.answers_first_copy(self.min_rtt.get(), now);
                info.take(&record, self.recovery_point, &mut self.rate, now);
                self.reordering.deliver(&record, ambiguous, !info.timed, now);
            }
            number += 1;
        }
    }

    /// Round trips: from the segment sent first for the timeout, from the one sent last for the
    /// path (Linux's `tcp_clean_rtx_queue`); returns the latter.
    fn measure(
        &mut self,
        cx: &mut AckContext,
        segment: &Segment,
        info: &AckInfo,
    ) -> Option<Duration> {
        let now = cx.moment.at;
        let acked = info.acked_span.filter(|_| !info.resent_acked);
        let Some((first, last)) = acked.or(info.sacked_span) else {
            if info.acked > 0 && segment.flags.has(Flags::STAMPED) {
                self.measure_echo(cx, segment);
            }
            return None;
        };
        // As there, a report has the last word on the path.
        let path = now.since(info.sacked_span.map_or(last, |(_, last)| last));
        self.min_rtt.learn(path, now);
        cx.rules.learn(cx.rtt, now.since(first));
        self.note_rtt(cx);
        Some(path)
    }

    /// Only the echoed timestamp tells which copy was answered.
    fn measure_echo(&mut self, cx: &mut AckContext, segment: &Segment) {
        cx.rules.sample_echo(cx.rtt, segment.echo, cx.clock, cx.moment);
        self.note_rtt(cx);
    }

    fn note_rtt(&mut self, cx: &AckContext) {
        self.srtt = cx.rules.srtt(cx.rtt);
        self.rto = cx.rules.rto(cx.rtt);
    }
}

fn stretch(span: Option<(Instant, Instant)>, at: Instant) -> (Instant, Instant) {
    span.map_or((at, at), |(first, last)| (first.min(at), last.max(at)))
}
