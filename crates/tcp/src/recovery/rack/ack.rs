//! What an acknowledgement tells a sender: what was delivered, how long it took, how fast it went.

use packet::{Duration, Instant};

use super::Rack;
use super::board::Record;
use super::rate::{Newest, Rate};
use crate::clock::{HostClock, Moment, Phase};
use crate::congestion::Report;
use crate::ecn::Hearing;
use crate::flight::Flight;
use crate::recovery::Detection;
use crate::rtt::{Rtt, RttRules};
use crate::segment::{Flags, Segment};

/// What one acknowledgement has told so far.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct News {
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

impl News {
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
    /// state) ends at `point`.
    #[inline]
    fn take(&mut self, record: &Record, point: u64, rate: &mut Rate, now: Instant) {
        self.delivered += record.bytes();
        self.segments += 1;
        self.original |= !record.ever_resent && record.end <= point;
        rate.deliver(record, &mut self.newest, now);
    }
}

/// What the endpoint lends.
pub(crate) struct Desk<'a> {
    pub flight: &'a mut Flight,
    pub rtt: &'a mut Rtt,
    pub rules: &'a RttRules,
    /// What acknowledgements say of marks.
    pub ecn: Hearing<'a>,
    pub clock: HostClock,
    pub moment: Moment,
}

impl Desk<'_> {
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
    /// A timeout turned out to be needless.
    pub needless: bool,
}

impl Rack {
    /// An acknowledgement of what is out, or a report.
    pub fn on_ack(&mut self, desk: &mut Desk, segment: &Segment) -> Outcome {
        let now = desk.moment.at;
        let in_flight_before = self.board.in_flight;
        let mut news = News::default();
        if segment.ack > desk.flight.una {
            self.take_cumulative(desk, segment, now, &mut news);
        }
        if segment.sack.is_telling() {
            self.take_reports(segment, now, &mut news);
        }
        if self.today.detection == Detection::Duplicates {
            self.count_duplicates(desk.flight, segment, &mut news);
        }
        if news.reported {
            // RFC 8985 section 7.2: no probe while something is reported; RACK has its own timer.
            self.timers.probe = Instant::NEVER;
        }
        let rtt = self.measure(desk, segment, &news);
        let mut outcome = Outcome::default();
        let marked = desk.ecn.marked_bytes(segment, news.delivered, desk.flight.mss(), false);
        let echoes = desk.ecn.echoes(segment, marked);
        if echoes {
            // RFC 4015 step 2: there was congestion, whatever turns out (as in Linux).
            self.undo = None;
        }
        self.judge(desk, segment, &mut news, &mut outcome);
        if echoes {
            self.answer_marks(desk.flight, now, &mut outcome);
        }
        let round = news.newest.is_some_and(|n| n.prior_delivered() >= self.round_end);
        if round {
            self.round_end = self.rate.delivered;
        }
        let report = Report {
            now,
            delivered: news.delivered,
            acked: news.fresh,
            segments: if news.acked > 0 { news.segments } else { 0 },
            lost: news.lost,
            marked,
            in_flight_before,
            in_flight: self.board.in_flight,
            rtt,
            srtt: self.srtt,
            min_rtt: self.min_rtt.get(),
            rate: self.rate.sample(news.newest, self.min_rtt.get(), now),
            round,
            window_limited: self.window_limited(desk.flight),
            next_send: self.paced_to,
            repairing: self.state,
            paced: self.is_paced(),
        };
        self.steer(desk.flight, &news, &report);
        if news.acked > 0 {
            self.restart_timers(now);
        }
        self.run_dry_if_done(desk.flight, 0, now);
        outcome
    }

    /// Windows and pace.
    fn steer(&mut self, flight: &mut Flight, news: &News, report: &Report) {
        self.control.on_ack(flight, report);
        if self.is_led() {
            let safe = news.acked > 0 && news.lost == 0;
            self.prr.on_ack(flight, self.board.in_flight, news.delivered, safe);
        }
        self.set_pace(flight);
    }

    fn take_cumulative(
        &mut self,
        desk: &mut Desk,
        segment: &Segment,
        now: Instant,
        news: &mut News,
    ) {
        let flight = &mut *desk.flight;
        news.acked = segment.ack - flight.una;
        flight.una = segment.ack;
        flight.nxt = flight.nxt.max(segment.ack);
        let min_rtt = self.min_rtt.get();
        let Rack { board, rate, order, point, .. } = self;
        while let Some(record) = board.first_below(segment.ack) {
            if !record.sacked {
                news.take_acked(record);
                let ambiguous = record.answers_first_copy(min_rtt, now)
                    || record.ever_resent && desk.answers_earlier(segment, record.at);
                news.take(record, *point, rate, now);
                order.deliver(record, ambiguous, true, now);
                news.timed |= !ambiguous;
            }
            board.pop_first();
        }
    }

    /// The blocks of an acknowledgement.
    // Out of line: most have none.
    #[inline(never)]
    fn take_reports(&mut self, segment: &Segment, now: Instant, news: &mut News) {
        news.duplicate = segment.sack.duplicate(segment.ack);
        let number = |offset: u32| segment.ack + u64::from(offset);
        let mut blocks = [(0, 0); 3];
        for (block, &(start, end)) in blocks.iter_mut().zip(segment.sack.as_slice()) {
            *block = (number(start), number(end));
            self.take_new_part(*block, now, news);
        }
        self.reported = blocks;
    }

    /// What the blocks of the last acknowledgement covered is not looked at again, or each would
    /// cost as much as the window is long.
    fn take_new_part(&mut self, block: (u64, u64), now: Instant, news: &mut News) {
        let (mut at, end) = block;
        while at < end {
            let known = self.reported.iter().find(|known| known.0 <= at && at < known.1);
            if let Some(known) = known {
                at = known.1;
                continue;
            }
            let later = self.reported.iter().map(|known| known.0).filter(|&start| start > at);
            let stop = later.min().unwrap_or(end).min(end);
            self.take_block(at, stop, now, news);
            at = stop;
        }
    }

    fn take_block(&mut self, start: u64, end: u64, now: Instant, news: &mut News) {
        let mut number = self.board.find(start);
        while number < self.board.end() && self.board.get(number).is_reported(end) {
            let record = self.board.get(number);
            if !record.sacked && record.seq >= start {
                let record = self.board.report(number);
                news.reported = true;
                if !record.ever_resent {
                    news.sacked_span = Some(stretch(news.sacked_span, record.at));
                }
                let ambiguous = record.answers_first_copy(self.min_rtt.get(), now);
                news.take(&record, self.point, &mut self.rate, now);
                self.order.deliver(&record, ambiguous, !news.timed, now);
            }
            number += 1;
        }
    }

    /// Round trips: from the segment sent first for the timeout, from the one sent last for the
    /// path (Linux's `tcp_clean_rtx_queue`); returns the latter.
    fn measure(&mut self, desk: &mut Desk, segment: &Segment, news: &News) -> Option<Duration> {
        let now = desk.moment.at;
        let acked = news.acked_span.filter(|_| !news.resent_acked);
        let Some((first, last)) = acked.or(news.sacked_span) else {
            if news.acked > 0 && segment.flags.has(Flags::STAMPED) {
                self.measure_echo(desk, segment);
            }
            return None;
        };
        // As there, a report has the last word on the path.
        let path = now.since(news.sacked_span.map_or(last, |(_, last)| last));
        self.min_rtt.learn(path, now);
        desk.rules.learn(desk.rtt, now.since(first));
        self.note_rtt(desk);
        Some(path)
    }

    /// Only the echoed timestamp tells which copy was answered.
    fn measure_echo(&mut self, desk: &mut Desk, segment: &Segment) {
        desk.rules.sample_echo(desk.rtt, segment.echo, desk.clock, desk.moment);
        self.note_rtt(desk);
    }

    fn note_rtt(&mut self, desk: &Desk) {
        self.srtt = desk.rules.srtt(desk.rtt);
        self.rto = desk.rules.rto(desk.rtt);
    }
}

fn stretch(span: Option<(Instant, Instant)>, at: Instant) -> (Instant, Instant) {
    span.map_or((at, at), |(first, last)| (first.min(at), last.max(at)))
}
