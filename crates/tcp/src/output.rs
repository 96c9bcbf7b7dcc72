//! Which segments are sent and when: the driver's poll, the calls of BSD's `tcp_output`.

use packet::Instant;

use crate::clock::Moment;
use crate::connection::State;
use crate::ecn::EcnFeedback;
use crate::endpoint::TcpEndpoint;
use crate::profile::{IdleRule, SynAck};
use crate::receiver::Offer;
use crate::segment::{Flags, STAMP_BYTES, Segment};
use crate::send_state::Chunk;

/// A destination for segments. A slot is requested only when there is a segment to write.
pub trait Outbox {
    /// The slot for the next segment.
    fn place(&mut self) -> &mut Segment;
}

impl Outbox for Option<Segment> {
    fn place(&mut self) -> &mut Segment {
        self.insert(Segment::default())
    }
}

impl TcpEndpoint {
    /// Returns the next segment to send, as [`Endpoint::poll_send`](crate::Endpoint::poll_send)
    /// does.
    #[cfg(test)]
    pub fn poll_send(&mut self, now: Instant) -> Option<Segment> {
        let mut segment = None;
        self.poll_send_into(&mut segment, now);
        segment
    }

    /// Whether [`TcpEndpoint::poll_send_into`] may have a segment; if not, it need not be called.
    #[inline]
    pub fn may_send(&self) -> bool {
        self.call.active || self.call.due || self.tx.snd.resend || self.has_writes()
    }

    /// Writes the next segment to send into `out`; returns `false` if there is none. To be called
    /// until then after every other call. (Moving a segment would cost as much as making it.)
    #[inline]
    pub fn poll_send_into(&mut self, out: &mut impl Outbox, now: Instant) -> bool {
        let moment = self.call.moment(now);
        loop {
            if !self.call.active && !self.begin_call(moment) {
                return false;
            }
            if self.output(out, moment) {
                return true;
            }
            self.call.active = false;
        }
    }

    /// Begins the next output call, if one is due: first for an event, then for a fast retransmit,
    /// then, once the connection is open, for data that the program wrote and its close.
    #[inline(always)]
    fn begin_call(&mut self, moment: Moment) -> bool {
        self.call.resends = false;
        if self.call.due {
            self.call.due = false;
        } else if self.tx.snd.resend {
            self.call.resends = true;
        } else if self.has_writes() {
            self.take_writes(moment);
        } else {
            return false;
        }
        self.call.begin(self.tx.snd.idle());
        true
    }

    /// Writes one segment of the current output call; returns `false` if there is no more. (Before
    /// a connection and after its end no call is due.)
    #[inline]
    fn output(&mut self, out: &mut impl Outbox, moment: Moment) -> bool {
        match self.conn.state {
            State::SynSent | State::SynReceived => self.output_opening(out, moment),
            State::Listen if self.call.refuses => self.output_reset(out),
            _ => self.output_open(out, moment),
        }
    }

    #[inline]
    fn output_opening(&mut self, out: &mut impl Outbox, moment: Moment) -> bool {
        let accepting = self.conn.state == State::SynReceived;
        if self.tx.snd.nxt == 0 {
            let retransmission = self.tx.snd.max > 0;
            self.counters.resent_syn += u16::from(retransmission);
            let flags = if accepting { Flags::SYN.with(Flags::ACK) } else { Flags::SYN };
            let flags = flags
                .with(self.opening_ecn_flags(accepting, retransmission))
                .with(Flags::retransmission(retransmission));
            let out = out.place();
            self.segment(out, 0, 0, flags, moment);
            out.ecn = self.opening_ecn();
            out.extra += self.profile.opening.options;
            if accepting {
                self.register_syn_ack(moment);
            } else {
                self.announce(out, moment);
                self.time_syn(moment);
            }
            if self.conn.sack {
                out.sack.push(0, 0);
            }
            self.tx.snd.nxt = 1;
            return true;
        }
        let owed = accepting && self.rx.ack_now;
        if owed {
            self.segment(out.place(), self.tx.snd.max, 0, Flags::ACK, moment);
        }
        owed
    }

    /// Sends a reset in answer to an acknowledgement of an unknown connection; the end goes on
    /// listening.
    #[cold]
    fn output_reset(&mut self, out: &mut impl Outbox) -> bool {
        let refused = Segment { ack: self.tx.snd.nxt, flags: Flags::ACK, ..Segment::default() };
        out.place().refuse(&refused);
        self.counters.segments_sent += 1;
        self.forget_opening();
        true
    }

    /// Adds the options that the opener's SYN offers: SACK permitted, and timestamps.
    fn announce(&mut self, out: &mut Segment, moment: Moment) {
        if self.profile.recovery.kind.selective() {
            out.sack.push(0, 0);
        }
        if self.profile.timestamps {
            self.put_stamp(out, moment);
        }
    }

    /// Starts timing and timer of a SYN-ACK. A SYN cache or sink does not time it; a sink has no
    /// timer at all (FreeBSD 4.5's tcp_syncache.c, ns-2's tcp-sink.cc).
    fn register_syn_ack(&mut self, moment: Moment) {
        let rule = self.profile.opening.syn_ack;
        self.time_syn(moment);
        if matches!(rule, SynAck::Cache | SynAck::Sink) {
            self.conn.syn.sent = u64::MAX;
        }
        if rule == SynAck::Sink {
            self.conn.syn.expires = Instant::NEVER;
        }
    }

    /// Updates timing, timer and idle rule for a SYN or SYN-ACK that is sent.
    fn time_syn(&mut self, moment: Moment) {
        let (rules, host, snd) = (&self.profile.rtt, self.clock.host(), &mut self.tx.snd);
        if snd.max == 0 {
            // Only the first transmission is timed (Karn's algorithm).
            self.conn.syn.sent = rules.stamp(host, moment);
            snd.max = 1;
        }
        if self.conn.syn.expires == Instant::NEVER {
            self.conn.syn.expires = rules.deadline(&self.tx.rtt, host, moment);
        }
        if self.profile.idle == IdleRule::SinceSent {
            snd.active_at = moment.at;
        }
    }

    #[inline]
    fn output_open(&mut self, out: &mut impl Outbox, moment: Moment) -> bool {
        if self.conn.ecn.feedback == EcnFeedback::Dctcp && self.owes_before() {
            self.output_before(out.place(), moment);
            return true;
        }
        let resends = self.tx.snd.resend;
        if self.call.resends && !resends {
            return false;
        }
        let chunk = self.choose(moment);
        self.tx.snd.resend = false;
        if let Some(chunk) = chunk {
            self.tx.snd.nxt = if resends { self.tx.snd.nxt.max(chunk.end()) } else { chunk.end() };
            self.send(out.place(), chunk, moment);
            self.call.active = self.tx.sender.may_choose(&self.tx.snd);
            return true;
        }
        let owed = self.rx.ack_now;
        if owed {
            self.pure_ack(out.place(), moment);
            if self.conn.ecn.feedback == EcnFeedback::Accurate {
                // The ACK of the SYN-ACK is sent; the counters follow (RFC 9768 section 3.2.2.1).
                self.begin_feedback();
            }
            // Nothing else can follow, so the call ends here.
            self.call.active = false;
        }
        owed
    }

    /// Sends payload or a FIN.
    fn send(&mut self, out: &mut Segment, chunk: Chunk, moment: Moment) {
        let retransmission = chunk.seq < self.tx.snd.max;
        if chunk.len > 0 {
            self.counters.data_sent += 1;
            self.counters.resent_data += u32::from(retransmission);
        } else {
            self.counters.resent_fin += u16::from(retransmission);
        }
        self.on_sent(chunk, moment);
        self.tx.snd.max = self.tx.snd.max.max(chunk.end());
        self.tx.snd.fin_sent |= chunk.fin();
        let flags = if chunk.fin() { Flags::ACK.with(Flags::FIN) } else { Flags::ACK };
        let flags = flags.with(Flags::retransmission(retransmission));
        self.segment(out, chunk.seq, chunk.len, flags, moment);
        if chunk.len > 0 {
            self.rx.on_data_sent(moment.at);
            if self.profile.output.pushes {
                self.mark_push(out, retransmission);
            }
        }
        if self.profile.output.whole_packets {
            // ns-2 counts packets: a short last packet is as long as a full one.
            out.extra += self.tx.snd.win.mss - chunk.len as u16;
        }
        if self.conn.ecn.on() && chunk.len > 0 {
            self.make_capable(out, retransmission);
        }
    }

    /// Sets PSH as Linux does: at the end of written data (`tcp_push`), and on the last segment of
    /// a burst that is handed to the device as one packet (`__tcp_transmit_skb`). Without the
    /// parameter `tso_autosize`, a burst is two full segments (`tcp_tso_segs`; more only above 12
    /// Mbit/s).
    fn mark_push(&mut self, out: &mut Segment, retransmission: bool) {
        if let Some(ends) = self.tx.sender.ends_burst() {
            if ends || out.end() >= self.tx.snd.end {
                out.push();
            }
            return;
        }
        let full =
            u64::from(out.len) == self.tx.snd.mss() && !retransmission && self.profile.output.pairs;
        if full && self.call.unpaired || out.end() >= self.tx.snd.end {
            out.push();
        }
        self.call.unpaired = full && !self.call.unpaired;
    }

    pub(crate) fn pure_ack(&mut self, out: &mut Segment, moment: Moment) {
        let f = &self.tx.snd;
        let repeats = self.profile.output.bsd && f.fin_sent && f.una <= f.end && f.nxt == f.max;
        if !repeats {
            let max = f.max;
            return self.segment(out, max, 0, Flags::ACK, moment);
        }
        // BSD: in this state every segment has the FIN flag, so an ACK has the FIN's sequence
        // number.
        let (sender, mut cx) = self.lend(moment);
        sender.on_fin_repeated(&mut cx);
        self.segment(out, self.tx.snd.end, 0, Flags::ACK.with(Flags::FIN), moment);
    }

    /// Builds a segment; every segment carries the acknowledgement.
    // Inlined: a call with seven arguments for each packet would cost as much as its body.
    #[inline(always)]
    fn segment(&mut self, out: &mut Segment, seq: u64, len: u32, flags: Flags, moment: Moment) {
        out.seq = seq;
        out.ack = self.rx.next;
        out.len = len;
        out.flags = flags.with(self.conn.ecn.echo_flags);
        out.ecn = self.usual_ecn();
        out.extra = 0;
        if self.conn.stamps {
            self.put_stamp(out, moment);
        }
        if self.conn.sack && self.rx.has_report() {
            out.sack = self.rx.report();
        } else {
            out.sack.clear();
        }
        out.accurate = 0;
        if self.conn.ecn.feedback == EcnFeedback::Accurate && self.profile.ecn.option {
            self.put_accecn(out);
        }
        if let Some(Offer { bytes, scale }) =
            self.rx.on_ack_sent(&self.profile.ack, flags.has(Flags::SYN))
        {
            out.offer(bytes, scale);
        }
        self.counters.segments_sent += 1;
    }

    /// The timestamps option (RFC 7323).
    fn put_stamp(&self, out: &mut Segment, moment: Moment) {
        out.flags = out.flags.with(Flags::STAMPED);
        out.stamp = self.profile.rtt.timestamp(self.clock.host(), moment);
        out.echo = self.rx.recent;
        out.extra += STAMP_BYTES as u16;
    }
}
