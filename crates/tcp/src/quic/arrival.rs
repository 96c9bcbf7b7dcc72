//! Processing of a packet that arrives: its ACK frame, its data, the progress of the handshake.

use packet::{Duration, Ecn, Instant};

use super::acks::Arrival;
use super::data::Piece;
use super::endpoint::{DATA, HANDSHAKE, QuicEndpoint};
use super::packet::{AckFrame, Content, IP_UDP};
use super::path::{Acked, Seen};
use super::space::{Fate, Sent};
use crate::congestion::Cause;
use crate::connection::{State, Transition};
use crate::segment::{Flags, Segment};

impl QuicEndpoint {
    /// A packet has arrived.
    pub(crate) fn on_segment(&mut self, segment: &Segment, now: Instant) {
        if self.conn.state == State::Failed || !segment.is_quic() {
            return;
        }
        let content = Content::of(segment);
        if self.conn.state == State::Listen {
            let opens = content.handshake && !segment.flags.has(Flags::ACK);
            if !opens {
                return;
            }
            self.conn.state = State::SynReceived;
        }
        let blocked = self.is_amplification_limited();
        self.received += u64::from(segment.ip_bytes() - IP_UDP);
        (self.quiet_since, self.sent_since, self.may_have_more) = (now, false, true);
        let at = usize::from(!content.handshake);
        if !self.can_read(at, &content) {
            return;
        }
        self.has_keys |= self.is_of_keys(segment, &content);
        self.spaces[at].acks.on_packet(
            Arrival {
                number: u64::from(segment.stamp),
                eliciting: content.is_eliciting(),
                urgent: content.handshake || content.piece.is_some_and(|piece| piece.fin),
                ecn: segment.ecn,
                at: now,
            },
            &self.rules.acks,
        );
        if let Some(frame) = AckFrame::of(segment) {
            self.on_ack(at, &frame, now);
        }
        if let Some(piece) = content.piece {
            self.take(at, piece, now);
        }
        if content.done && self.client {
            self.confirm(now);
        }
        if blocked {
            self.unblock(now);
        }
    }

    /// `OnDatagramReceived` of RFC 9002, appendix A.6: a server that was blocked and may send again
    /// sends a probe if its timer would have expired by now.
    fn unblock(&mut self, now: Instant) {
        if !self.is_amplification_limited() {
            self.set_timer(now);
            if self.timer <= now {
                self.on_loss_timer(now);
            }
        }
    }

    /// Whether there are keys to read a packet of this space. What follows the server's hello is in Handshake packets:
    /// a client without the hello discards them (RFC 9001 section 5.7 allows to keep them).
    fn can_read(&self, space: usize, content: &Content) -> bool {
        match space {
            HANDSHAKE if self.client && !self.has_server_hello() => {
                content.piece.is_none_or(|piece| piece.seq == 1)
            }
            HANDSHAKE => !self.confirmed,
            _ => self.complete || (!self.client && self.rules.zero_rtt && self.has_hello()),
        }
    }

    /// Whether a client shows by this packet that it has the keys of the handshake: it acknowledges the server's hello,
    /// or sends what follows its own.
    fn is_of_keys(&self, segment: &Segment, content: &Content) -> bool {
        let beyond = 1 + u64::from(self.rules.client_hello);
        let finished = content.piece.is_some_and(|piece| piece.seq >= beyond);
        !self.client && content.handshake && (finished || segment.flags.has(Flags::ACK))
    }

    /// Takes data that has arrived.
    fn take(&mut self, at: usize, piece: Piece, now: Instant) {
        let before = self.spaces[DATA].incoming.closed();
        self.spaces[at].incoming.take(piece);
        if at == HANDSHAKE {
            self.on_crypto(now);
        } else if self.spaces[DATA].incoming.closed() && !before {
            let transition = self.conn.on_peer_closed();
            self.follow(transition);
        }
    }

    /// Acts on a change of state. An end that is over still answers repeated packets.
    fn follow(&mut self, transition: Transition) {
        match transition {
            Transition::None => {}
            Transition::TimeWait => self.conn.state = State::TimeWait,
            Transition::Closed => self.conn.end(State::Closed),
        }
    }

    /// Processes an ACK frame: `OnAckReceived` of RFC 9002, appendix A.7.
    fn on_ack(&mut self, at: usize, frame: &AckFrame, now: Instant) {
        if frame.largest >= self.spaces[at].next {
            return; // it acknowledges a packet never sent (RFC 9000 section 13.1)
        }
        let before = self.path.in_flight;
        let space = &mut self.spaces[at];
        let advances = space.largest_acked.is_none_or(|largest| frame.largest > largest);
        space.largest_acked = space.largest_acked.max(Some(frame.largest));
        let mut acked = Acked::default();
        let mut newest = None;
        for (start, end) in frame.ranges() {
            let start = start.max(self.spaces[at].first);
            for number in (start..end).rev() {
                if let Some(sent) = self.take_acked(at, number, &mut acked, now)
                    && number == frame.largest
                {
                    newest = Some(sent);
                }
            }
        }
        if acked.packets == 0 {
            return;
        }
        let rtt = newest.map(|sent| self.sample(at, &sent, frame.delay, now));
        let marked = if advances { self.check_marks(at, frame, &acked, before, now) } else { 0 };
        let lost = self.detect_lost(at, before, now);
        let seen = Seen { rtt, srtt: self.rtt.measured(), lost, marked, before };
        self.path.on_ack(acked, seen, now);
        self.spaces[at].trim();
        if self.is_validated() {
            self.timeouts = 0;
        }
        self.set_timer(now);
        if at == DATA && self.closing && self.spaces[DATA].out.is_finished() {
            let fin_wait =
                matches!(self.conn.state, State::FinWait1 | State::Closing | State::LastAck);
            if fin_wait {
                let transition = self.conn.on_fin_acked();
                self.follow(transition);
            }
        }
    }

    /// A packet is acknowledged; returns its record if it was in flight.
    fn take_acked(
        &mut self,
        at: usize,
        number: u64,
        acked: &mut Acked,
        now: Instant,
    ) -> Option<Sent> {
        let space = &mut self.spaces[at];
        let record = space.get(number)?;
        let (sent, was) = (*record, record.fate);
        if !matches!(was, Fate::Out | Fate::Lost) {
            return None;
        }
        record.fate = Fate::Acked;
        if sent.seq < sent.end {
            space.out.on_acked(sent.seq, sent.end);
        }
        if let Some(highest) = sent.reports {
            space.acks.on_known(highest);
        }
        if was == Fate::Lost {
            return None; // it was only late; the reduction is not undone
        }
        space.eliciting_out -= 1;
        let sampled = (at == DATA).then_some(number);
        self.path.take_acked(sampled, &sent, acked, now);
        Some(sent)
    }

    /// Measures the round trip of the packet with the largest number acknowledged (RFC 9002 section
    /// 5.1).
    fn sample(&mut self, at: usize, sent: &Sent, delay: Duration, now: Instant) -> Duration {
        let latest = now.since(sent.at);
        let delay = match at {
            HANDSHAKE => Duration::ZERO,
            _ if self.confirmed => delay.min(self.rules.acks.max_delay),
            _ => delay,
        };
        self.rtt.update(latest, delay, now);
        if at == HANDSHAKE && !self.client && sent.seq == 1 {
            // The datagram with a server's hello has an Initial and a Handshake packet: each is a sample.
            self.rtt.update(latest, delay, now);
        }
        latest
    }

    /// Processes the ECN counts of an ACK frame: `ProcessECN` of RFC 9002, and the validation of
    /// RFC 9000 section 13.4.2.1. Returns the bytes taken to have been marked.
    fn check_marks(
        &mut self,
        at: usize,
        frame: &AckFrame,
        acked: &Acked,
        before: u64,
        now: Instant,
    ) -> u64 {
        let known = std::mem::replace(&mut self.spaces[at].counted, frame.counts);
        let Some(mine) = self.rules.ecn.filter(|_| self.ecn_works) else { return 0 };
        let grown =
            |of: fn(&super::acks::EcnCounts) -> u64| of(&frame.counts).checked_sub(of(&known));
        let other = if mine == Ecn::Ect1 { grown(|c| c.ect0) } else { grown(|c| c.ect1) };
        let (ce, all) = (grown(|c| c.ce), grown(|c| c.ect0 + c.ect1 + c.ce));
        let valid = other == Some(0) && all.is_some_and(|all| all >= acked.capable);
        let Some(ce) = ce.filter(|_| valid) else {
            self.ecn_works = false;
            return 0;
        };
        if ce == 0 {
            return 0;
        }
        if !self.path.reads_marks()
            && self.path.on_congestion(Cause::Mark, acked.sent_last, before, now)
        {
            self.counters.ecn_reductions += 1;
        }
        acked.bytes * ce / all.unwrap_or(ce).max(ce)
    }
}
