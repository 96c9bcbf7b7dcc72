//! How a RACK sender processes an acknowledgement: deliveries, round trips, marks, windows.

use packet::{Duration, Instant};

use super::RackSender;
use crate::clock::{HostClock, Moment, Phase};
use crate::congestion::AckSample;
use crate::ecn::EchoReader;
use crate::recovery::rules::Detection;
use crate::rtt::{Rtt, RttRules};
use crate::segment::{Flags, Segment};
use crate::send_state::SendState;
use crate::tracker::{AckInfo, Seen};

/// What the endpoint lends the sender for one acknowledgement.
pub(crate) struct AckContext<'a> {
    pub snd: &'a mut SendState,
    pub rtt: &'a mut Rtt,
    pub rules: &'a RttRules,
    /// A reader of the ECN feedback.
    pub ecn: EchoReader<'a>,
    pub clock: HostClock,
    pub moment: Moment,
}

impl AckContext<'_> {
    /// Whether the echoed timestamp shows that the acknowledgement answers a segment sent before
    /// `sent` (RFC 3522 section 3.2).
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
    /// The window was reduced: the peer is to be notified (RFC 3168).
    pub reduced: bool,
    /// The reduction answered marks, not losses.
    pub by_echo: bool,
    /// A timeout turned out to be spurious.
    pub spurious_rto: bool,
}

impl RackSender {
    /// Processes an acknowledgement of segments in flight, cumulative or by SACK.
    pub fn process_ack(&mut self, cx: &mut AckContext, segment: &Segment) -> Outcome {
        let now = cx.moment.at;
        let in_flight_before = self.tracker.board.in_flight;
        let mut info = AckInfo::default();
        info.from = cx.snd.una;
        if segment.ack > cx.snd.una {
            info.advances = true;
            (cx.snd.una, cx.snd.nxt) = (segment.ack, cx.snd.nxt.max(segment.ack));
            let earlier = |sent| cx.answers_earlier(segment, sent);
            self.tracker.take_cumulative(segment.ack, earlier, self.recovery_point, now, &mut info);
        }
        if segment.sack.reports() {
            self.tracker.take_reports(segment, self.recovery_point, now, &mut info);
        }
        self.tracker.reordering.measure(cx.snd.mss());
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
        self.tracker.report_marks(cx.snd, info.delivered, marked);
        let echoes = cx.ecn.echoes(segment, marked);
        if echoes {
            self.forbid_restoring();
        }
        self.judge(cx, segment, &mut info, &mut outcome);
        if echoes {
            // A recovery may have begun.
            self.forbid_restoring();
            self.answer_marks(cx.snd, now, &mut outcome);
        }
        let any_order = self.grows_in_any_order();
        let seen = Seen { now, rtt, marked, in_flight_before, ca_state: self.state, any_order };
        let sample = self.tracker.sample(cx.snd, &info, seen);
        self.steer(cx.snd, &info, &sample);
        if info.advances || self.reports_older_data(&info) {
            self.restart_timers(now);
        }
        self.tracker.run_dry_if_done(cx.snd, 0, now);
        outcome
    }

    /// Where more reordering was seen than the threshold, data that is reported selectively grows the
    /// window as well (Linux's `tcp_may_raise_cwnd`); else the cumulative acknowledgement has to advance
    /// (RFC 5681).
    fn grows_in_any_order(&self) -> bool {
        self.tracker.reordering.degree(self.settings.threshold) > self.settings.threshold
    }

    /// Whether the acknowledgement reports data sent before the first hole was retransmitted: the
    /// answer to that retransmission is still to come, so the timeout starts anew (Linux's
    /// `tcp_clean_rtx_queue`). Linux has one timer for both, so RACK's reordering timer must not
    /// run.
    fn reports_older_data(&self, info: &AckInfo) -> bool {
        let sent = info.reported_from().zip(self.tracker.board.first_sent_at());
        sent.is_some_and(|(reported, first)| reported < first)
            && self.timers.reorder == Instant::NEVER
    }

    /// Updates windows and pacing after an acknowledgement.
    fn steer(&mut self, snd: &mut SendState, info: &AckInfo, sample: &AckSample) {
        self.tracker.control.on_ack(&mut snd.win, sample);
        if self.is_led() {
            let safe = info.advances && info.lost == 0;
            self.prr.on_ack(snd, self.tracker.board.in_flight, info.delivered, safe);
        }
        self.tracker.set_pace(snd);
    }

    /// Measures round trips: from the segment sent first for the timeout, from the one sent last
    /// for the path (Linux's `tcp_clean_rtx_queue`); returns the latter.
    fn measure(
        &mut self,
        cx: &mut AckContext,
        segment: &Segment,
        info: &AckInfo,
    ) -> Option<Duration> {
        let now = cx.moment.at;
        let Some((first, path)) = self.tracker.round_trips(info, now) else {
            if info.advances && segment.flags.has(Flags::STAMPED) {
                self.measure_echo(cx, segment);
            }
            return None;
        };
        cx.rules.sample_span(cx.rtt, first);
        self.note_rtt(cx);
        Some(path)
    }

    /// Measures by the echoed timestamp, which alone shows which copy was answered.
    fn measure_echo(&mut self, cx: &mut AckContext, segment: &Segment) {
        cx.rules.sample_echo(cx.rtt, segment.echo, cx.clock, cx.moment);
        self.note_rtt(cx);
    }

    fn note_rtt(&mut self, cx: &AckContext) {
        self.tracker.srtt = cx.rules.srtt(cx.rtt);
        self.rto = cx.rules.rto(cx.rtt);
    }
}
