//! What goes out and when: the driver's poll, the calls of BSD's `tcp_output`, Nagle's rule.

use packet::{Ecn, Instant};

use crate::clock::Moment;
use crate::ecn::EcnFeedback;
use crate::endpoint::{Endpoint, State};
use crate::profile::{IdleRule, SynAck};
use crate::segment::{Flags, STAMP_BYTES, Segment};
use crate::send_state::{Chunk, SendState};
use crate::sender::{ClassicSender, Sender};

/// Where segments are written to: asked for a place only when there is a segment.
pub trait Outbox {
    /// The place of the next segment.
    fn place(&mut self) -> &mut Segment;
}

impl Outbox for Option<Segment> {
    fn place(&mut self) -> &mut Segment {
        self.insert(Segment::default())
    }
}

impl Endpoint {
    /// The next segment to send, if any: call until `None` after every other call.
    pub fn poll_send(&mut self, now: Instant) -> Option<Segment> {
        let mut segment = None;
        self.poll_send_into(&mut segment, now);
        segment
    }

    /// Whether [`Endpoint::poll_send`] may have something to say; where not, asking it is idle.
    #[inline]
    pub fn may_send(&self) -> bool {
        self.in_call || self.output_due || self.snd.resend || self.has_writes()
    }

    /// As [`Endpoint::poll_send`], but writes the segment where it is to stay; `false` if there
    /// is none. (Moving a segment just written costs as much as making it.)
    #[inline]
    pub fn poll_send_into(&mut self, out: &mut impl Outbox, now: Instant) -> bool {
        let moment = self.moment(now);
        loop {
            if !self.in_call && !self.begin_call(moment) {
                return false;
            }
            if self.output(out, moment) {
                return true;
            }
            self.in_call = false;
        }
    }

    /// Begins the next output call, if one is due: first what an event asked for, then, once the
    /// connection is open, what the program wrote and its close.
    #[inline(always)]
    fn begin_call(&mut self, moment: Moment) -> bool {
        self.call_resends = false;
        if self.output_due {
            self.output_due = false;
        } else if self.snd.resend {
            self.call_resends = true;
        } else if self.has_writes() {
            self.take_writes(moment);
        } else {
            return false;
        }
        self.call_idle = self.snd.idle();
        self.unpaired = false;
        self.in_call = true;
        true
    }

    /// One segment of the call under way; `false` if there is no more. (Before a connection and
    /// after its end nothing asks for a call.)
    #[inline]
    fn output(&mut self, out: &mut impl Outbox, moment: Moment) -> bool {
        match self.state {
            State::SynSent | State::SynReceived => self.output_opening(out, moment),
            _ => self.output_open(out, moment),
        }
    }

    #[inline]
    fn output_opening(&mut self, out: &mut impl Outbox, moment: Moment) -> bool {
        let accepting = self.state == State::SynReceived;
        if self.snd.nxt == 0 {
            let again = self.snd.max > 0;
            self.counters.resent_syn += u16::from(again);
            let flags = if accepting { Flags::SYN.with(Flags::ACK) } else { Flags::SYN };
            let flags =
                flags.with(self.opening_ecn_flags(accepting, again)).with(Flags::again(again));
            let out = out.place();
            self.segment(out, 0, 0, flags, moment);
            out.ecn = self.opening_ecn();
            out.extra += self.profile.opening.options;
            if accepting {
                self.register_syn_ack(moment);
            } else {
                self.announce(out, moment);
                self.register(0, 1, moment);
            }
            if self.sack {
                out.sack.push(0, 0);
            }
            self.snd.nxt = 1;
            return true;
        }
        let owed = accepting && self.receiver.ack_now;
        if owed {
            self.segment(out.place(), self.snd.max, 0, Flags::ACK, moment);
        }
        owed
    }

    /// What the opener's SYN offers.
    fn announce(&mut self, out: &mut Segment, moment: Moment) {
        if self.profile.recovery.kind.selective() {
            out.sack.push(0, 0);
        }
        if self.profile.timestamps {
            self.put_stamp(out, moment);
        }
    }

    /// A SYN cache or sink does not time its SYN-ACK; a sink has no timer at all
    /// (FreeBSD 4.5's tcp_syncache.c, ns-2's tcp-sink.cc).
    fn register_syn_ack(&mut self, moment: Moment) {
        let rule = self.profile.opening.syn_ack;
        self.register(0, 1, moment);
        if matches!(rule, SynAck::Cache | SynAck::Sink) {
            self.timed = u64::MAX;
        }
        if rule == SynAck::Sink {
            self.rexmt_at = Instant::NEVER;
        }
    }

    #[inline]
    fn output_open(&mut self, out: &mut impl Outbox, moment: Moment) -> bool {
        if self.ecn.feedback == EcnFeedback::Dctcp && self.owes_before() {
            self.output_before(out.place(), moment);
            return true;
        }
        let resends = self.snd.resend;
        let chunk = if resends {
            self.snd.resend = false;
            Some(self.first_unacknowledged())
        } else if self.call_resends {
            return false;
        } else {
            self.choose(moment)
        };
        if let Some(chunk) = chunk {
            self.snd.nxt = if resends { self.snd.nxt.max(chunk.end()) } else { chunk.end() };
            self.send(out.place(), chunk, moment);
            self.in_call = self.may_choose();
            return true;
        }
        let owed = self.receiver.ack_now;
        if owed {
            self.pure_ack(out.place(), moment);
            if self.ecn.feedback == EcnFeedback::Accurate {
                // The one that answered the SYN-ACK has gone (RFC 9768 section 3.2.2.1).
                self.begin_feedback();
            }
            // Nothing else can follow: the question need not be asked again.
            self.in_call = false;
        }
        owed
    }

    /// Whether there is data or a FIN to choose from. Where not, an output call would find nothing but
    /// an acknowledgement that is due: most calls of a receiver, and of a sender who has sent all.
    #[inline]
    pub(crate) fn may_choose(&self) -> bool {
        let in_order = match &self.sender {
            Sender::Classic(classic) => classic.recovery.sends_in_order(),
            Sender::Rack(_) => false,
        };
        let some = if in_order { self.snd.has_rest() } else { !self.snd.is_through() };
        some || self.snd.resend
    }

    #[inline(always)]
    fn choose(&mut self, moment: Moment) -> Option<Chunk> {
        if self.snd.is_through() {
            return None;
        }
        let Sender::Classic(classic) = &self.sender else { return self.choose_rack(moment) };
        if self.ecn.held {
            return None;
        }
        let reno = classic.control.is_reno();
        let chunk = if reno { self.allowed(&self.snd)? } else { self.allowed_tracked(moment)? };
        if self.closes_after_pause(moment) { self.allowed_after_pause() } else { Some(chunk) }
    }

    /// What the windows let go with a control that may pace, and sets its window itself.
    #[cold]
    fn allowed_tracked(&mut self, moment: Moment) -> Option<Chunk> {
        let Sender::Classic(classic) = &self.sender else { return None };
        let (inflation, paced_to) = classic.control.beyond(moment.at);
        let inflated = SendState { cwnd: self.snd.cwnd + inflation, ..self.snd };
        let chunk = self.allowed(&inflated)?;
        if let Some(next) = paced_to {
            self.life_at = next;
            return None;
        }
        Some(chunk)
    }

    /// The first unacknowledged segment, which a classic sender is to send again.
    fn first_unacknowledged(&self) -> Chunk {
        match &self.sender {
            Sender::Classic(classic) => classic.recovery.first(&self.snd),
            Sender::Rack(_) => self.snd.chunk(self.snd.una, u64::MAX),
        }
    }

    /// What the windows let go.
    #[inline(always)]
    fn allowed(&self, snd: &SendState) -> Option<Chunk> {
        let Sender::Classic(ClassicSender { recovery, .. }) = &self.sender else { return None };
        let rules = &self.profile.recovery;
        if self.profile.output.bsd {
            self.bsd_next(recovery.next_part(rules, snd)?)
        } else {
            recovery.next(rules, snd)
        }
    }

    #[cold]
    fn allowed_after_pause(&self) -> Option<Chunk> {
        self.allowed(&self.snd)
    }

    /// Whether a pause has closed the congestion window to the initial one.
    #[inline(always)]
    fn closes_after_pause(&mut self, moment: Moment) -> bool {
        match self.profile.idle {
            IdleRule::Off | IdleRule::Decay => return false,
            IdleRule::SinceReceived if !self.snd.idle() => return false,
            _ => {}
        }
        let floor = self.profile.initial_window(&self.snd);
        let rtt = &self.profile.rtt;
        let closes = self.snd.cwnd > floor
            && rtt.idle_too_long(&self.rtt, self.active_at, self.clock, moment);
        if closes {
            self.close_window(floor, moment);
        }
        closes
    }

    #[cold]
    fn close_window(&mut self, floor: u64, moment: Moment) {
        let Sender::Classic(classic) = &mut self.sender else { return };
        let idle = moment.at.since(self.active_at);
        if classic.control.on_restart(&mut self.snd, idle, moment.at) {
            self.active_at = moment.at;
        } else {
            self.snd.cwnd = floor;
        }
    }

    /// BSD's choice: silly-window avoidance and Nagle's rule, judged for the whole call.
    #[inline(always)]
    fn bsd_next(&self, chunk: Chunk) -> Option<Chunk> {
        let f = &self.snd;
        let to_end = chunk.seq + u64::from(chunk.len) == f.end;
        let sends_data = chunk.len > 0
            && (u64::from(chunk.len) == f.mss()
                || (self.call_idle && to_end)
                || u64::from(chunk.len) >= f.window() / 2
                || chunk.seq < f.max
                || self.receiver.ack_now);
        // With SACK a FIN is offered only where it is due.
        let sends_fin = chunk.fin() && (!f.fin_sent || chunk.seq == f.una || self.sack);
        (sends_data || sends_fin).then_some(chunk)
    }

    /// Sends payload or a FIN.
    fn send(&mut self, out: &mut Segment, chunk: Chunk, moment: Moment) {
        let again = chunk.seq < self.snd.max;
        if chunk.len > 0 {
            self.counters.data_sent += 1;
            self.counters.resent_data += u32::from(again);
        } else {
            self.counters.resent_fin += u16::from(again);
        }
        match &mut self.sender {
            Sender::Rack(rack) => {
                self.rexmt_at = rack.on_sent(&mut self.snd, chunk, moment.at);
                self.active_at = moment.at;
            }
            Sender::Classic(ClassicSender { recovery, control, .. }) => {
                recovery.on_sent(&self.snd, chunk);
                control.on_sent(&mut self.snd, chunk, moment.at);
            }
        }
        self.snd.fin_sent |= chunk.fin();
        let flags = if chunk.fin() { Flags::ACK.with(Flags::FIN) } else { Flags::ACK };
        let flags = flags.with(Flags::again(again));
        self.segment(out, chunk.seq, chunk.len, flags, moment);
        if chunk.len > 0 {
            self.receiver.on_data_sent(moment.at);
            if matches!(self.sender, Sender::Rack(_)) {
                self.mark_push(out, again);
            }
        }
        if self.profile.output.whole_packets {
            // ns-2 counts packets: the last one is as long as any.
            out.extra += self.snd.mss - chunk.len as u16;
        }
        if self.ecn.on() && chunk.len > 0 {
            self.make_capable(out, again);
        }
        self.register(chunk.seq, chunk.end(), moment);
    }

    /// Linux hands down two full segments as one where it can (`tcp_tso_segs`: two at least, more only
    /// above 12 Mbit/s), and the last of these has PSH (`__tcp_transmit_skb`); so has the end of
    /// what was written (`tcp_push`).
    fn mark_push(&mut self, out: &mut Segment, again: bool) {
        let full = u64::from(out.len) == self.snd.mss() && !again && self.profile.output.pairs;
        if full && self.unpaired || out.end() >= self.snd.end {
            out.push();
        }
        self.unpaired = full && !self.unpaired;
    }

    /// Accounts for numbers `seq..end` that go out: timing, timer, idle rule.
    fn register(&mut self, seq: u64, end: u64, moment: Moment) {
        let new = seq.max(self.snd.max);
        if end > new {
            // Only numbers never sent before are timed (Karn).
            if self.timed == u64::MAX {
                self.timed = new;
                self.timed_at = self.profile.rtt.stamp(self.clock, moment);
            }
            self.snd.max = end;
        }
        if self.rexmt_at == Instant::NEVER {
            self.rexmt_at = self.profile.rtt.deadline(&self.rtt, self.clock, moment);
        }
        if self.profile.idle == IdleRule::SinceSent {
            self.active_at = moment.at;
        }
    }

    pub(crate) fn pure_ack(&mut self, out: &mut Segment, moment: Moment) {
        let f = &self.snd;
        let repeats = self.profile.output.bsd && f.fin_sent && f.una <= f.end && f.nxt == f.max;
        if !repeats {
            let max = f.max;
            return self.segment(out, max, 0, Flags::ACK, moment);
        }
        // BSD: the state still says FIN, so the number steps back onto it.
        if self.rexmt_at == Instant::NEVER {
            self.rexmt_at = self.profile.rtt.deadline(&self.rtt, self.clock, moment);
        }
        self.segment(out, self.snd.end, 0, Flags::ACK.with(Flags::FIN), moment);
    }

    /// Builds a segment; whatever goes out carries the acknowledgement.
    // Once for each packet: a call with seven arguments would cost as much as it does.
    #[inline(always)]
    fn segment(&mut self, out: &mut Segment, seq: u64, len: u32, flags: Flags, moment: Moment) {
        out.seq = seq;
        out.ack = self.receiver.next;
        out.len = len;
        out.flags = flags.with(self.ecn.echo_flags);
        out.ecn = Ecn::NotEct;
        out.extra = 0;
        if self.stamps {
            self.put_stamp(out, moment);
        }
        if self.sack && self.receiver.has_report() {
            out.sack = self.receiver.report();
        } else {
            out.sack.clear();
        }
        out.accurate = 0;
        if self.ecn.feedback == EcnFeedback::Accurate && self.profile.ecn.option {
            self.put_accecn(out);
        }
        self.receiver.on_ack_sent();
        self.counters.segments_sent += 1;
    }

    /// The timestamps option (RFC 7323).
    fn put_stamp(&self, out: &mut Segment, moment: Moment) {
        out.flags = out.flags.with(Flags::STAMPED);
        out.stamp = self.profile.rtt.timestamp(self.clock, moment);
        out.echo = self.receiver.recent;
        out.extra += STAMP_BYTES as u16;
    }
}
