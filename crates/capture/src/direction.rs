//! One direction of a connection in sequence space.

use crate::headers::{ACK, FIN, RST, SYN, Segment};
use crate::marks::{Marks, Recent};
use crate::units::Open;

/// Largest window in bytes (RFC 7323, section 2.3): no segment can be further ahead.
const WINDOW: u32 = 1 << 30;
/// A segment that fills a hole within this time of the highest segment was reordered; a later one
/// is a retransmission. Used until the handshake has shown the round-trip time. Wireshark's value.
const REORDERING_NS: i64 = 3_000_000;
/// Longest time from a duplicate acknowledgement to a fast retransmission. Wireshark's value.
const FAST_NS: i64 = 20_000_000;

/// How a segment relates to its sender's earlier ones.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A segment in order, or beyond all data seen so far.
    New,
    /// A retransmission, whether or not the first transmission was seen.
    Resent,
    /// A segment out of order: sent before segments that were captured earlier.
    Reordered,
    /// A keep-alive: at most one byte, before the next sequence number, only to be acknowledged.
    KeepAlive,
    /// A window probe: one byte sent into a closed window.
    Probe,
}

/// Sequence numbers and counts of the packets of one side.
#[derive(Default)]
pub struct Direction {
    /// Whether any packet of this side was seen.
    pub seen: bool,
    pub mss: Option<u16>,
    pub shift: Option<u8>,
    /// Initial sequence number, if the SYN was captured.
    pub first: Option<u32>,
    /// Largest window advertised, bytes.
    pub window: u64,
    /// Payload of all packets, retransmissions included, bytes.
    pub payload: u64,
    /// ECN code points and ECN feedback of the packets.
    pub ecn: Marks,
    /// Number of duplicates: packets that were captured a second time.
    pub copies: u32,
    recent: Recent,
    /// Number of segments with payload, and number of retransmissions among them.
    pub segments: u64,
    pub resent: u64,
    pub resent_bytes: u64,
    pub reordered: u64,
    /// Number of retransmitted SYNs and FINs.
    pub control_resent: u32,
    pub duplicate_acks: u64,
    pub keep_alives: u32,
    pub fin: bool,
    /// Bytes in sequence space from the first byte seen (or the SYN) to the highest one.
    pub bytes: u64,
    /// How many of `bytes` the other side has acknowledged.
    pub acked: u64,
    /// The unit of application data that is not complete yet.
    pub unit: Option<Open>,
    /// Whether the other side has sent new data since this side's last data.
    pub interrupted: bool,
    /// Whether the last segment with new data was full-sized.
    pub full: bool,
    /// A segment whose acknowledgement gives a round-trip time: the value of `bytes` at its end,
    /// and its time of capture, ns.
    pub sample: Option<(u64, i64)>,
    /// Sequence number after the highest byte of payload.
    high: Option<u32>,
    /// Wireshark's state of a direction: next sequence number (SYN and FIN count) and when it was
    /// reached; last acknowledgement, its time and repetitions; last window field.
    next: Option<u32>,
    next_at: i64,
    ack: u32,
    ack_at: i64,
    repeated: u32,
    raw_window: u16,
    /// Whether the last segment was a keep-alive or a probe.
    requested: bool,
}

/// Whether `a` comes after `b` in sequence space.
fn after(a: u32, b: u32) -> bool {
    a.wrapping_sub(b) as i32 > 0
}

impl Direction {
    /// Takes a segment of this side; `other` is the opposite direction, `round_trip_ns` the
    /// duration of the handshake.
    ///
    /// The rule of retransmission is that of Wireshark 4 (`tcp.analysis.retransmission`, with fast
    /// and spurious ones). A segment with payload, SYN or FIN that begins before the highest byte
    /// seen and is no keep-alive is *resent* in three cases: all of it is acknowledged; two
    /// duplicate acknowledgements within the last 20 ms requested it; or it comes more than a
    /// round-trip time after the highest segment, or ends where that one ends. Otherwise it was
    /// *reordered*.
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
        // A segment that starts with the byte of a window probe and has more is new data.
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

    /// Whether a packet is a copy of a recent one, as a mirror port of both directions makes.
    pub fn is_copy(&mut self, segment: &Segment, at: i64) -> bool {
        let is_copy = self.recent.has(segment, at);
        self.copies += u32::from(is_copy);
        is_copy
    }

    /// Bytes of the side's sequence space in no captured packet: the capture lacks at least these.
    pub fn missed(&self) -> u64 {
        if self.seen { self.bytes.saturating_sub(self.payload) } else { 0 }
    }

    /// Stores the sequence number and the options of a SYN.
    pub fn opened(&mut self, segment: &Segment) {
        self.first = Some(segment.seq);
        self.mss = segment.options.mss;
        self.shift = segment.options.window_shift;
        self.high.get_or_insert(segment.seq.wrapping_add(1));
    }

    /// Advances to the end of a segment. Returns its payload beyond everything before it, bytes:
    /// progress in sequence space, in which holes of the capture count.
    pub fn advance(&mut self, segment: &Segment) -> u64 {
        let begin = segment.seq.wrapping_add(u32::from(segment.has(SYN)));
        let high = *self.high.get_or_insert(begin);
        self.reach(high, begin.wrapping_add(segment.payload))
    }

    /// Advances a side whose packets are not captured to an acknowledgement number of the other
    /// side.
    pub fn advance_to(&mut self, ack: u32) -> u64 {
        let high = *self.high.get_or_insert(ack);
        // An advance by a single byte is taken as the side's FIN.
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

    /// Number of this side's bytes that an acknowledgement of the other side covers.
    pub fn covered(&self, ack: u32) -> u64 {
        let Some(high) = self.high else { return 0 };
        if after(ack, high) {
            return self.bytes; // `ack` covers a FIN, or data that the capture missed
        }
        self.bytes.saturating_sub(u64::from(high.wrapping_sub(ack)))
    }

    /// This direction in the connection that continues a cut one: what is known of the path and of
    /// sequence numbers is kept, and all counts begin at zero.
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

    /// Whether a sequence number of this side is known yet.
    pub fn begun(&self) -> bool {
        self.high.is_some()
    }
}
