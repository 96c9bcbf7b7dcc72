//! Header prediction (Jacobson 1990): most segments that arrive and most that go out are the next
//! in order, of a connection in which nothing is repaired, reported or marked. These are processed
//! here, inlined; everything else goes through [`SendAlgorithm`], out of line.

use packet::Instant;

use crate::clock::Moment;
use crate::connection::State;
use crate::ecn::EcnFeedback;
use crate::endpoint::TcpEndpoint;
use crate::host_metrics::HostMetrics;
use crate::profile::IdleRule;
use crate::receiver::Trip;
use crate::segment::{Flags, Segment};
use crate::send_algorithm::{AfterAck, SendAlgorithm};
use crate::send_state::Chunk;

/// Flags that the simulator keeps with a segment, and that no TCP header has.
const NOTES: Flags = Flags::STAMPED.with(Flags::RETRANSMISSION);

impl TcpEndpoint {
    /// A segment has arrived.
    #[inline(always)]
    pub fn on_segment(&mut self, segment: &Segment, now: Instant) {
        if self.expects(segment) {
            self.on_expected(segment, now);
        } else {
            self.on_segment_cached(segment, &HostMetrics::NONE, now);
        }
    }

    /// Whether a segment has nothing but an acknowledgement and, perhaps, the next data in order,
    /// on an open connection without ECN, which this end may have closed.
    #[inline(always)]
    fn expects(&self, segment: &Segment) -> bool {
        segment.flags.without(NOTES) == Flags::ACK
            && !segment.resets()
            && matches!(self.conn.state, State::Established | State::FinWait1)
            && self.conn.ecn.feedback == EcnFeedback::None
            && segment.ack <= self.tx.snd.max
            && (segment.len == 0 || self.rx.expects(segment))
    }

    /// Processes a segment that `expects` accepts, with the results of
    /// [`TcpEndpoint::on_segment_cached`].
    #[inline(always)]
    fn on_expected(&mut self, segment: &Segment, now: Instant) {
        let moment = self.call.event(now);
        if self.profile.idle == IdleRule::SinceReceived {
            self.tx.snd.active_at = now;
        }
        if self.conn.stamps {
            self.rx.on_stamp(segment);
        }
        if let Some(window) = segment.window() {
            self.note_window(segment.ack, window);
        }
        // A fast retransmit of BSD makes an output call of its own.
        self.call.due = self.on_ack_alone(segment, moment) == AfterAck::Output;
        if self.call.closing && self.all_acknowledged() {
            self.on_fin_acked(moment);
        }
        if segment.len > 0 {
            let trip = Trip { rules: &self.profile.rtt, rtt: &self.tx.rtt };
            self.rx.take_next(segment, &self.profile.ack, trip, self.clock.host(), moment);
        }
        // No output call is needed if there is nothing to send.
        self.call.due &= self.rx.ack_now || self.tx.sender.may_choose(&self.tx.snd);
    }

    /// Processes the acknowledgement number of a segment, which covers no more than was sent.
    #[inline(always)]
    pub(crate) fn on_ack(&mut self, segment: &Segment, moment: Moment) -> AfterAck {
        if self.conn.ecn.on() {
            return self.on_any_ack(segment, moment);
        }
        self.on_ack_alone(segment, moment)
    }

    /// Processes an acknowledgement number ([`TcpEndpoint::on_ack`]) on a connection without ECN.
    #[inline(always)]
    fn on_ack_alone(&mut self, segment: &Segment, moment: Moment) -> AfterAck {
        if segment.ack <= self.tx.snd.una && self.tx.snd.idle() {
            return AfterAck::Output; // nothing is in flight, as at a receiver
        }
        let (sender, mut cx) = self.lend(moment);
        if let Some(classic) = sender.classic()
            && segment.ack > cx.snd.una
            && segment.sack.is_empty()
            && classic.is_calm()
        {
            classic.take_calm_ack(&mut cx, segment);
            return AfterAck::Output;
        }
        if let Some(rack) = sender.rack()
            && segment.ack > cx.snd.una
            && !segment.sack.reports()
            && rack.take_calm_ack(cx.snd, cx.rtt, &cx.profile.rtt, segment.ack, moment.at)
        {
            return AfterAck::Output;
        }
        self.on_any_ack(segment, moment)
    }

    #[inline(never)]
    fn on_any_ack(&mut self, segment: &Segment, moment: Moment) -> AfterAck {
        let (sender, mut cx) = self.lend(moment);
        sender.on_ack(&mut cx, segment)
    }

    /// The next chunk to send, if any.
    #[inline(always)]
    pub(crate) fn choose(&mut self, moment: Moment) -> Option<Chunk> {
        if self.tx.snd.is_through() && !self.tx.snd.resend {
            return None;
        }
        // The usual case: a full segment of new data that fits into the windows, with more data
        // after it.
        let snd = &self.tx.snd;
        let end = snd.max + snd.mss();
        let fits = end < snd.end && end <= snd.una + snd.win.cwnd.min(snd.window());
        if fits && snd.nxt == snd.max && !snd.resend && !self.conn.ecn.held && self.goes_on(moment)
        {
            let chunk = Chunk::new(snd.max, u32::from(snd.win.mss), false);
            if let Some(classic) = self.tx.sender.classic()
                && classic.is_calm()
            {
                return Some(chunk);
            }
        }
        if let Some(rack) = self.tx.sender.rack()
            && let Some(choice) = rack.choose_next(&self.tx.snd)
        {
            return choice;
        }
        self.choose_any(moment)
    }

    /// Whether the idle rule cannot have reduced the window.
    #[inline(always)]
    fn goes_on(&self, moment: Moment) -> bool {
        match self.profile.idle {
            IdleRule::Off | IdleRule::Decay => true,
            IdleRule::SinceReceived => !self.tx.snd.idle(),
            IdleRule::SinceSent => {
                let (since, rules) = (self.tx.snd.active_at, &self.profile.rtt);
                moment.at == since
                    || !rules.idle_too_long(&self.tx.rtt, since, self.clock.host(), moment)
            }
        }
    }

    #[inline(never)]
    fn choose_any(&mut self, moment: Moment) -> Option<Chunk> {
        let call_idle = self.call.idle;
        let (sender, mut cx) = self.lend(moment);
        sender.next(&mut cx, call_idle)
    }

    /// `chunk` is sent: the sender records it.
    #[inline(always)]
    pub(crate) fn on_sent(&mut self, chunk: Chunk, moment: Moment) {
        let (sender, mut cx) = self.lend(moment);
        sender.on_sent(&mut cx, chunk);
    }
}
