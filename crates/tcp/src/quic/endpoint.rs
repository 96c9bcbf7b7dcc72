//! One end of a QUIC connection: the calls of a driver, and the choice of the next packet.

use std::sync::Arc;

use packet::Instant;

use super::data::Piece;
use super::packet::{AckFrame, Content, IP_UDP, ack_frame, around, data_header, number_bytes};
use super::path::Path;
use super::rtt::RttEstimate;
use super::rules::{AMPLIFICATION, PADDED, QuicRules};
use super::space::{Fate, Sent, Space};
use crate::connection::{Connection, State};
use crate::endpoint::Deadline;
use crate::output::Outbox;
use crate::probe::Counters;
use crate::profile::Profile;
use crate::segment::{Flags, Segment};

/// Indices of the packet number spaces: that of the handshake, and that of data.
pub(super) const HANDSHAKE: usize = 0;
pub(super) const DATA: usize = 1;

/// One end of one connection of QUIC. [`Endpoint`](crate::Endpoint) says how to drive it.
#[derive(Clone, Debug)]
pub struct QuicEndpoint {
    pub(super) rules: QuicRules,
    pub(super) conn: Connection,
    pub(super) spaces: [Space; 2],
    pub(super) path: Path,
    pub(super) rtt: RttEstimate,
    pub(super) counters: Counters,
    pub(super) client: bool,
    /// All of the peer's handshake has arrived.
    pub(super) complete: bool,
    /// For a client: it has sent a packet under the handshake keys. For a server: it has received
    /// one, so that the client's address is validated (RFC 9000 section 8.1).
    pub(super) has_keys: bool,
    /// The handshake is confirmed (RFC 9001 section 4.1.2): its keys are discarded.
    pub(super) confirmed: bool,
    /// HANDSHAKE_DONE is to go out.
    pub(super) done_due: bool,
    /// The program has closed.
    pub(super) closing: bool,
    /// ECN validation has not failed (RFC 9000 section 13.4.2).
    pub(super) ecn_works: bool,
    /// One packet may go beyond a window that was just reduced (RFC 9002 section 7.3.2).
    pub(super) recovery_packet: bool,
    /// Since an event there may be a packet to send.
    pub(super) may_have_more: bool,
    /// Probe timeouts in a row (`pto_count`).
    pub(super) timeouts: u32,
    /// When the loss detection timer expires.
    pub(super) timer: Instant,
    /// When pacing allows the packet that waits for it.
    paced: Instant,
    /// UDP payload bytes received; `sent` has those sent. (For the anti-amplification limit.)
    pub(super) received: u64,
    sent: u64,
    /// Start of the idle time: the last arrival, or the first ack-eliciting packet sent after it.
    pub(super) quiet_since: Instant,
    /// An ack-eliciting packet was sent since the last arrival.
    pub(super) sent_since: bool,
    /// The peer's flow control credit, bytes beyond what is acknowledged.
    credit: u64,
}

impl QuicEndpoint {
    pub(crate) fn new(profile: &Arc<Profile>) -> Self {
        let rules = profile.quic.expect("a profile of QUIC");
        QuicEndpoint {
            conn: Connection::default(),
            spaces: Default::default(),
            path: Path::new(profile, &rules),
            rtt: RttEstimate::new(rules.initial_rtt),
            counters: Counters::default(),
            client: false,
            complete: false,
            has_keys: false,
            confirmed: false,
            done_due: false,
            closing: false,
            ecn_works: true,
            recovery_packet: false,
            may_have_more: false,
            timeouts: 0,
            timer: Instant::NEVER,
            paced: Instant::NEVER,
            received: 0,
            sent: 0,
            quiet_since: Instant::ZERO,
            sent_since: false,
            credit: profile.window,
            rules,
        }
    }

    /// Resets the end for a new connection, keeping heap buffers.
    pub(crate) fn reset(&mut self, profile: &Arc<Profile>) {
        let mut spaces = std::mem::take(&mut self.spaces);
        spaces.iter_mut().for_each(Space::renew);
        *self = QuicEndpoint { spaces, ..QuicEndpoint::new(profile) };
    }

    pub(crate) fn write(&mut self, bytes: u64, _now: Instant) {
        assert!(!self.closing, "write() after close()");
        self.spaces[DATA].out.write(bytes);
        self.may_have_more = true;
    }

    pub(crate) fn stop_writing(&mut self, _now: Instant) -> u64 {
        self.spaces[DATA].out.stop();
        self.spaces[DATA].out.end - 1
    }

    pub(crate) fn close(&mut self, _now: Instant) {
        self.closing = true;
        self.queue_fin();
    }

    /// Queues the FIN after the program's close, once data may be sent.
    pub(super) fn queue_fin(&mut self) {
        let open = matches!(self.conn.state, State::Established | State::CloseWait);
        if self.closing && open {
            self.conn.on_close();
            self.spaces[DATA].out.fin = true;
            self.may_have_more = true;
        }
    }

    pub(crate) fn on_window(&mut self, bytes: u32, _now: Instant) {
        self.credit = u64::from(bytes);
        self.may_have_more = true;
    }

    /// Whether the connection is over, and the end only answers repeated packets.
    fn is_over(&self) -> bool {
        matches!(self.conn.state, State::TimeWait | State::Closed | State::Failed)
    }

    /// When this end gives up if nothing arrives (RFC 9000 section 10.1); [`Instant::NEVER`] if it
    /// awaits no answer.
    fn gives_up_at(&self) -> Instant {
        let waits = self.spaces.iter().any(|space| space.eliciting_out > 0)
            || matches!(self.conn.state, State::SynSent | State::SynReceived);
        if waits {
            self.quiet_since + self.rules.idle_timeout.max(self.rtt.pto() * 3)
        } else {
            Instant::NEVER
        }
    }

    pub(crate) fn next_timeout(&self) -> Option<Deadline> {
        if self.is_over() {
            return None;
        }
        let slow = self.timer.min(self.paced).min(self.gives_up_at());
        let fast = self.spaces.iter().map(|space| space.acks.deadline()).min();
        let fast = fast.unwrap_or(Instant::NEVER);
        if slow <= fast {
            (slow != Instant::NEVER).then_some(Deadline { at: slow, order: 0 })
        } else {
            Some(Deadline { at: fast, order: 1 })
        }
    }

    pub(crate) fn on_timeout(&mut self, now: Instant) {
        if self.is_over() {
            return;
        }
        if self.gives_up_at() <= now {
            self.conn.end(State::Failed);
            return;
        }
        let slow = self.timer <= now || self.paced <= now;
        if self.timer <= now {
            self.on_loss_timer(now);
        }
        if self.paced <= now {
            self.paced = Instant::NEVER;
        }
        if !slow {
            self.spaces.iter_mut().for_each(|space| space.acks.on_timer(now));
        }
        self.may_have_more = true;
    }

    pub(crate) fn may_send(&self) -> bool {
        self.may_have_more
    }

    pub(crate) fn poll_send_into(&mut self, out: &mut impl Outbox, now: Instant) -> bool {
        if !self.may_have_more || self.conn.state == State::Failed {
            return false;
        }
        let Some(content) = self.choose(now) else {
            self.may_have_more = false;
            return false;
        };
        self.send(out.place(), content, now);
        true
    }

    /// The ACK frame for a packet, if there is news to report and room for it.
    fn ack_for(&self, content: &Content, now: Instant) -> Option<AckFrame> {
        let acks = &self.spaces[usize::from(!content.handshake)].acks;
        let ack = acks.has_news().then(|| ack_frame(acks, now)).flatten()?;
        let fits = self.wire(content, Some(&ack)) <= u32::from(self.rules.datagram);
        (fits || !content.is_eliciting()).then_some(ack)
    }

    /// The content of the next packet, if one may be sent.
    fn choose(&mut self, now: Instant) -> Option<Content> {
        self.path.app_limited = false;
        let mut blocked = false;
        for space in [HANDSHAKE, DATA] {
            if !self.may_use(space) {
                continue;
            }
            let content = self.choose_of(space, &mut blocked, now);
            let allowed = content.filter(|content| self.is_allowed(content, now));
            if allowed.is_some() {
                return allowed;
            }
        }
        if !blocked {
            self.path.run_dry(now);
        }
        None
    }

    /// Whether there are keys to send packets of this space.
    fn may_use(&self, space: usize) -> bool {
        match space {
            HANDSHAKE => !self.confirmed,
            _ if self.client => self.complete || self.rules.zero_rtt,
            _ => self.conn.state != State::Listen && self.has_hello(),
        }
    }

    /// The content of the next packet in one packet number space.
    fn choose_of(&mut self, at: usize, blocked: &mut bool, now: Instant) -> Option<Content> {
        let (handshake, done) = (at == HANDSHAKE, at == DATA && self.done_due);
        let empty = Content { handshake, done, ..Content::default() };
        let room = self.room(at, done, now);
        let credit = if handshake { u64::MAX } else { self.credit };
        let space = &self.spaces[at];
        if space.probes > 0 {
            let piece = space.out.choose(room, credit).or_else(|| self.repeated(at, room));
            return Some(Content { piece, ping: piece.is_none() && !done, ..empty });
        }
        if let Some(piece) = space.out.choose(room, credit) {
            let content = Content { piece: Some(piece), ..empty };
            if self.is_free(&content, now) {
                return Some(content);
            }
            *blocked = true;
        }
        let due = self.spaces[at].acks.due;
        (done || due).then_some(empty)
    }

    /// The data of a probe: the oldest in flight; in the second of two probes, the data after that.
    fn repeated(&self, at: usize, room: u32) -> Option<Piece> {
        let space = &self.spaces[at];
        let oldest = |from| space.out.oldest(room, from);
        let repeats = at == HANDSHAKE || self.rules.probe_data;
        repeats.then(|| oldest(space.probed).or_else(|| oldest(0)))?
    }

    /// Bytes of data for which a packet has room. An ACK frame takes room from new data only: lost
    /// data fits into one packet as before (but for a byte where packet numbers have become
    /// longer).
    fn room(&self, at: usize, done: bool, now: Instant) -> u32 {
        let (space, handshake) = (&self.spaces[at], at == HANDSHAKE);
        let news = space.acks.has_news() && !space.out.has_lost();
        let ack = if news { ack_frame(&space.acks, now) } else { None };
        let ack = ack.map_or(0, |ack| ack.wire());
        let header = data_header(handshake, space.out.next_seq());
        u32::from(self.rules.datagram)
            - around(&self.rules, handshake, number_bytes(space.next, space.largest_acked))
            - ack
            - u32::from(done)
            - header
    }

    /// UDP payload of a packet, bytes.
    fn wire(&self, content: &Content, ack: Option<&AckFrame>) -> u32 {
        let at = usize::from(!content.handshake);
        let number = number_bytes(self.spaces[at].next, self.spaces[at].largest_acked);
        let frames = content.wire() + ack.map_or(0, AckFrame::wire);
        let bytes = around(&self.rules, content.handshake, number) + frames;
        if content.handshake && self.is_initial(content) { bytes.max(PADDED) } else { bytes }
    }

    /// Whether a datagram has an Initial packet and is padded (RFC 9000 section 14.1): at a client
    /// each one until it has answered the server's hello, at a server the one with its hello.
    fn is_initial(&self, content: &Content) -> bool {
        if self.client { !self.has_keys } else { content.piece.is_some_and(|piece| piece.seq == 1) }
    }

    /// Whether window and pacing allow a packet now.
    fn is_free(&mut self, content: &Content, now: Instant) -> bool {
        let bytes = self.wire(content, self.ack_for(content, now).as_ref());
        if !self.path.fits(bytes) && !self.recovery_packet {
            return false;
        }
        let next = self.path.pacer.next(u64::from(bytes), now);
        self.paced = if next > now { next } else { Instant::NEVER };
        next <= now
    }

    /// Whether the anti-amplification limit allows a packet with this content.
    fn is_allowed(&self, content: &Content, now: Instant) -> bool {
        if self.has_valid_address() {
            return true;
        }
        let bytes = self.wire(content, self.ack_for(content, now).as_ref());
        self.sent + u64::from(bytes) <= AMPLIFICATION * self.received
    }

    /// Whether the anti-amplification limit stops a server until the client sends more.
    pub(super) fn is_amplification_limited(&self) -> bool {
        let full = u64::from(self.rules.datagram);
        !self.has_valid_address() && self.sent + full > AMPLIFICATION * self.received
    }

    /// Sends a packet.
    fn send(&mut self, out: &mut Segment, content: Content, now: Instant) {
        let at = usize::from(!content.handshake);
        let ack = self.ack_for(&content, now);
        let bytes = self.wire(&content, ack.as_ref());
        content.put(out);
        let mut reports = None;
        if let Some(ack) = &ack {
            ack.put(out);
            reports = self.spaces[at].acks.on_sent();
        }
        out.stamp = self.spaces[at].next as u32;
        out.ecn = self.rules.ecn.filter(|_| self.ecn_works).unwrap_or(packet::Ecn::NotEct);
        out.extra = (bytes + IP_UDP - 40 - out.len) as u16;
        self.count(out, content);
        self.sent += u64::from(bytes);
        let eliciting = content.is_eliciting();
        let delivered = if eliciting { self.charge(at, bytes, now) } else { 0 };
        let piece = content.piece.unwrap_or(Piece { seq: 0, len: 0, fin: false });
        self.has_keys |= at == HANDSHAKE && self.has_server_hello();
        let space = &mut self.spaces[at];
        space.push(Sent {
            at: now,
            delivered,
            seq: piece.seq,
            end: piece.end(),
            reports,
            bytes: bytes as u16,
            capable: out.ecn != packet::Ecn::NotEct,
            done: content.done,
            fate: if eliciting { Fate::Out } else { Fate::Ignored },
        });
        if content.piece.is_some() {
            space.out.on_sent(piece);
        } else if out.seq == 0 {
            out.seq = space.out.next;
        }
        if eliciting {
            if space.probes > 0 {
                (space.probes, space.probed) = (space.probes - 1, piece.end());
            }
            self.done_due &= !content.done;
            self.set_timer(now);
        }
    }

    /// Charges an ack-eliciting packet to the window; returns the bytes delivered so far.
    fn charge(&mut self, at: usize, bytes: u32, now: Instant) -> u64 {
        let numbers = (self.spaces[at].first, self.spaces[at].next);
        self.recovery_packet = false;
        if !std::mem::replace(&mut self.sent_since, true) {
            self.quiet_since = now;
        }
        self.path.on_sent(u64::from(bytes), (at == DATA).then_some(numbers), now)
    }

    /// Counts a packet, and flags it as a retransmission if its data was sent before.
    fn count(&mut self, out: &mut Segment, content: Content) {
        let counters = &mut self.counters;
        counters.segments_sent += 1;
        let Some(piece) = content.piece else { return };
        let again = piece.seq < self.spaces[usize::from(!content.handshake)].out.next;
        out.flags = out.flags.with(Flags::retransmission(again));
        match (content.handshake, piece.len > 0) {
            (true, _) => counters.resent_syn += u16::from(again),
            (false, false) => counters.resent_fin += u16::from(again),
            (false, true) => {
                counters.data_sent += 1;
                counters.resent_data += u32::from(again);
            }
        }
    }
}
