//! One direction of a connection in sequence space.

use crate::headers::{ACK, FIN, RST, SYN, Segment};
use crate::marks::{Marks, Recent};
use crate::units::Open;

/// Further ahead than any window (RFC 7323, 2.3: 2^30 bytes) no segment can be.
const WINDOW: u32 = 1 << 30;
/// Until the handshake has shown the round-trip time, a segment that fills a hole within this time
/// of the highest one came out of order; later it was retransmitted. Wireshark's value.
const REORDERING_NS: i64 = 3_000_000;
/// How soon after a duplicate acknowledgement a fast retransmission comes. Wireshark's value.
const FAST_NS: i64 = 20_000_000;

/// How a segment relates to its sender's earlier ones.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// In order, or beyond what was seen so far.
    New,
    /// Sent before, whether or not that one was seen.
    Resent,
    /// Sent before others that were seen earlier.
    Reordered,
    /// A byte or none from before the next one, only to be acknowledged.
    KeepAlive,
    /// One byte into a closed window.
    Probe,
}

/// What the capture says of one side's packets.
#[derive(Default)]
pub struct Direction {
    /// Whether any packet of this side was seen.
    pub seen: bool,
    pub mss: Option<u16>,
    pub shift: Option<u8>,
    /// The first sequence number, where its SYN was seen.
    pub first: Option<u32>,
    /// Largest window advertised, bytes.
    pub window: u64,
    /// Payload of all its packets, those retransmitted included, bytes.
    pub payload: u64,
    /// What its packets say of ECN.
    pub ecn: Marks,
    /// Packets that came twice.
    pub copies: u32,
    recent: Recent,
    /// Segments with payload, and those of them that were retransmitted.
    pub segments: u64,
    pub resent: u64,
    pub resent_bytes: u64,
    pub reordered: u64,
    /// SYNs and FINs retransmitted.
    pub control_resent: u32,
    pub duplicate_acks: u64,
    pub keep_alives: u32,
    pub fin: bool,
    /// Payload in sequence space, from the first byte seen (or the SYN) to the highest.
    pub bytes: u64,
    /// How much of it the other side has acknowledged.
    pub acked: u64,
    /// The unit that is being sent.
    pub unit: Option<Open>,
    /// Whether the other side has sent something new since this one's last data.
    pub interrupted: bool,
    /// Whether its last new segment was as large as segments get.
    pub full: bool,
    /// A segment on its way to the other end: bytes up to its end, when it passed.
    pub sample: Option<(u64, i64)>,
    /// The sequence number behind the highest byte of payload.
    high: Option<u32>,
    /// What Wireshark keeps of a direction: the next sequence number (SYN and FIN count), when it
    /// was reached, the last acknowledgement, when it was seen, its repetitions, the last window.
    next: Option<u32>,
    next_at: i64,
    ack: u32,
    ack_at: i64,
    repeated: u32,
    raw_window: u16,
    /// Whether the last segment was a keep-alive or a probe.
    requested: bool,
}

/// `a` is behind `b` in sequence space.
fn after(a: u32, b: u32) -> bool {
    a.wrapping_sub(b) as i32 > 0
}

impl Direction {
    /// Takes a segment of this side; `other` is the opposite direction, `round_trip_ns` the
    /// duration of the handshake.
    ///
    /// The rule of retransmission is that of Wireshark 4 (`tcp.analysis.retransmission`, with
    /// fast and spurious ones). A segment with payload, SYN or FIN that begins before the highest
    /// byte seen and is no keep-alive is *resent* in three cases: all of it is acknowledged; two
    /// duplicate acknowledgements within the last 20 ms requested it; or it comes later than a
    /// round trip after the highest one or ends with it. Otherwise it was *reordered*.
    pub fn take(
        &mut self,
        segment: &Segment,
        at: i64,
        other: &Direction,
        round_trip_ns: Option<i64>,
    ) -> Kind {
        self.count_repetition(segment, other);
        let kind = self.kind(segment, at, other, round_trip_ns);
        let control = segment.has(SYN | FIN);
        let payload = segment.payload;
        match kind {
            Kind::KeepAlive => self.keep_alives += 1,
            Kind::Resent if payload > 0 => {
                self.resent += 1;
                self.resent_bytes += u64::from(payload);
            }
            Kind::Resent => self.control_resent += u32::from(control),
            Kind::Reordered => self.reordered += 1,
            _ => {}
        }
        if payload > 0 && !matches!(kind, Kind::KeepAlive | Kind::Probe) {
            self.segments += 1;
            self.payload += u64::from(payload);
        }
        self.ecn.take(segment);
        let end = segment.seq.wrapping_add(payload).wrapping_add(u32::from(control));
        if kind != Kind::Probe && self.next.is_none_or(|next| after(end, next)) {
            self.next = Some(end);
            self.next_at = at;
        }
        self.ack = segment.ack;
        self.ack_at = at;
        self.raw_window = segment.window;
        self.requested = matches!(kind, Kind::KeepAlive | Kind::Probe);
        self.seen = true;
        self.fin |= segment.has(FIN);
        kind
    }

    fn count_repetition(&mut self, segment: &Segment, other: &Direction) {
        // An acknowledgement that answers a keep-alive or a probe is no duplicate.
        let same = segment.payload == 0
            && !other.requested
            && segment.window != 0
            && segment.window == self.raw_window
            && Some(segment.seq) == self.next
            && segment.ack == self.ack
            && self.seen
            && segment.has(ACK)
            && !segment.has(SYN | FIN | RST);
        if same {
            self.repeated += 1;
            self.duplicate_acks += 1;
        } else if segment.ack != self.ack {
            self.repeated = 0;
        }
    }

    fn kind(
        &self,
        segment: &Segment,
        at: i64,
        other: &Direction,
        round_trip_ns: Option<i64>,
    ) -> Kind {
        let control = segment.has(SYN | FIN);
        let (seq, payload) = (segment.seq, segment.payload);
        let Some(next) = self.next else { return Kind::New };
        if payload == 1 && seq == next && other.seen && other.raw_window == 0 {
            return Kind::Probe;
        }
        if payload <= 1 && seq == next.wrapping_sub(1) && !control && !segment.has(RST) {
            return Kind::KeepAlive;
        }
        if payload == 0 && !control {
            return Kind::New;
        }
        let end = seq.wrapping_add(payload);
        if payload > 0 && other.ack != 0 && !after(end, other.ack) {
            return Kind::Resent;
        }
        // One byte back with more than that byte: a probe of the window goes on.
        if !after(next, seq) || (payload > 1 && seq == next.wrapping_sub(1)) {
            return Kind::New;
        }
        if other.repeated >= 2 && other.ack == seq && at - other.ack_at < FAST_NS {
            return Kind::Resent;
        }
        let recent = at - self.next_at < round_trip_ns.unwrap_or(REORDERING_NS);
        if recent && next != end.wrapping_add(u32::from(control)) {
            Kind::Reordered
        } else {
            Kind::Resent
        }
    }

    /// Whether a packet is a copy of one just before, as a mirror port of both directions makes.
    pub fn is_copy(&mut self, segment: &Segment, at: i64) -> bool {
        let is_copy = self.recent.has(segment, at);
        self.copies += u32::from(is_copy);
        is_copy
    }

    /// Bytes that lie in its sequence space but in no packet: the capture lacks at least these.
    pub fn missed(&self) -> u64 {
        if self.seen { self.bytes.saturating_sub(self.payload) } else { 0 }
    }

    /// Notes what a SYN says.
    pub fn opened(&mut self, segment: &Segment) {
        self.first = Some(segment.seq);
        self.mss = segment.options.mss;
        self.shift = segment.options.window_shift;
        self.high.get_or_insert(segment.seq.wrapping_add(1));
    }

    /// Payload of a segment that lies beyond everything before it, bytes: progress in sequence
    /// space, so what the capture missed in between counts.
    pub fn advance(&mut self, segment: &Segment) -> u64 {
        let begin = segment.seq.wrapping_add(u32::from(segment.has(SYN)));
        let high = *self.high.get_or_insert(begin);
        self.reach(high, begin.wrapping_add(segment.payload))
    }

    /// Advances a side of which no packet is seen to what the other side acknowledges.
    pub fn advance_to(&mut self, ack: u32) -> u64 {
        let high = *self.high.get_or_insert(ack);
        // The one byte alone is its FIN.
        if ack.wrapping_sub(high) == 1 { 0 } else { self.reach(high, ack) }
    }

    fn reach(&mut self, high: u32, end: u32) -> u64 {
        let new = end.wrapping_sub(high);
        if !after(end, high) || new > WINDOW {
            return 0;
        }
        self.high = Some(end);
        self.bytes += u64::from(new);
        u64::from(new)
    }

    /// How many of this side's bytes an acknowledgement of the other one covers.
    pub fn covered(&self, ack: u32) -> u64 {
        let Some(high) = self.high else { return 0 };
        if after(ack, high) {
            return self.bytes; // its FIN, or what the capture missed
        }
        self.bytes.saturating_sub(u64::from(high.wrapping_sub(ack)))
    }

    /// A new begin at this place of the sequence space, with all counts at zero.
    pub fn continued(&self) -> Direction {
        Direction {
            seen: self.seen,
            mss: self.mss,
            shift: self.shift,
            fin: self.fin,
            high: self.high,
            next: self.next,
            next_at: self.next_at,
            ack: self.ack,
            ack_at: self.ack_at,
            repeated: self.repeated,
            raw_window: self.raw_window,
            requested: self.requested,
            ..Direction::default()
        }
    }

    /// Whether sequence numbers of this side mean anything yet.
    pub fn begun(&self) -> bool {
        self.high.is_some()
    }
}
