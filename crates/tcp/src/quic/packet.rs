//! The frames of a QUIC packet, how they are stored in a [`Segment`], and their length on the wire.
//!
//! | field of the segment | meaning |
//! | --- | --- |
//! | `stamp` | packet number |
//! | SYN | a packet of the handshake: Initial and Handshake packets share one number space here |
//! | `seq`, `len`, FIN | the piece of CRYPTO or STREAM data |
//! | ACK | the packet has an ACK frame; `ack`: largest number (low 32 bits), CE count (high bits) |
//! | `sack` | ranges of the ACK frame as on the wire, and its delay in units of 8 µs |
//! | `echo` | count of ECT(1) of the ACK frame |
//! | `accurate` | count of ECT(0) of the ACK frame; in the highest bits HANDSHAKE_DONE and PING |

use packet::Duration;

use super::acks::{Acks, EcnCounts};
use super::data::Piece;
use super::rules::QuicRules;
use crate::segment::{Flags, RANGE_BYTES, Segment};

/// IPv4 and UDP headers.
pub(super) const IP_UDP: u32 = 28;
/// The tag of AEAD_AES_128_GCM (RFC 9001 section 5.3).
const TAG: u32 = 16;
/// Bits of HANDSHAKE_DONE and PING in [`Segment::accurate`].
const DONE: u32 = 1 << 31;
const PING: u32 = 1 << 30;
/// `ack_delay_exponent` of 3 (RFC 9000 section 18.2): units of 8 µs.
const DELAY_UNIT: u64 = 8_000;

/// Length of a number as a variable-length integer, bytes (RFC 9000 section 16).
pub(super) const fn varint(value: u64) -> u32 {
    match value {
        0..64 => 1,
        64..16_384 => 2,
        16_384..1_073_741_824 => 4,
        _ => 8,
    }
}

/// Length of a packet number in bytes, where `acked` is the largest acknowledged one (RFC 9000
/// section 17.1 and appendix A.2).
pub(super) fn number_bytes(number: u64, acked: Option<u64>) -> u32 {
    let unacked = acked.map_or(number + 1, |acked| number - acked);
    match unacked {
        0..128 => 1,
        128..32_768 => 2,
        32_768..8_388_608 => 3,
        _ => 4,
    }
}

/// Bytes of a packet besides its frames: the header and the tag (RFC 9000 sections 17.2 and 17.3).
/// A long header has version, both connection IDs, the length of a token and that of the packet.
pub(super) fn around(rules: &QuicRules, handshake: bool, number: u32) -> u32 {
    let id = u32::from(rules.connection_id);
    let header = if handshake { 1 + 4 + 2 * (1 + id) + 1 + 2 } else { 1 + id };
    header + number + TAG
}

/// Bytes of the header of a frame with data at offset `seq` (RFC 9000 sections 19.6 and 19.8):
/// type, stream ID and offset, which is left out at 0; a CRYPTO frame has a length as well, which
/// the last STREAM frame of a packet omits.
pub(super) fn data_header(handshake: bool, seq: u64) -> u32 {
    let offset = seq.saturating_sub(1);
    match (handshake, offset) {
        (true, _) => 1 + varint(offset) + 2,
        (false, 0) => 2,
        (false, _) => 2 + varint(offset),
    }
}

/// An ACK frame.
#[derive(Clone, Copy, Debug)]
pub(super) struct AckFrame {
    pub largest: u64,
    pub delay: Duration,
    pub counts: EcnCounts,
    count: u8,
    bytes: [u8; RANGE_BYTES],
}

/// Writes variable-length integers (RFC 9000 section 16) while there is room.
struct Writer {
    bytes: [u8; RANGE_BYTES],
    at: usize,
}

impl Writer {
    fn put(&mut self, value: u64) -> bool {
        let len = varint(value) as usize;
        let Some(place) = self.bytes.get_mut(self.at..self.at + len) else { return false };
        place.copy_from_slice(&value.to_be_bytes()[8 - len..]);
        place[0] |= (len.trailing_zeros() as u8) << 6;
        self.at += len;
        true
    }
}

/// Reads a variable-length integer; returns it and the position of the next one.
fn read(bytes: &[u8; RANGE_BYTES], at: usize) -> Option<(u64, usize)> {
    let first = *bytes.get(at)?;
    let len = 1 << (first >> 6);
    let rest = bytes.get(at + 1..at + len)?;
    let value = rest.iter().fold(u64::from(first & 63), |value, &b| value << 8 | u64::from(b));
    Some((value, at + len))
}

/// The ACK frame for the packets received (RFC 9000 section 19.3), with as many ranges as fit.
pub(super) fn ack_frame(acks: &Acks, now: packet::Instant) -> Option<AckFrame> {
    let (mut ranges, delay) = acks.report(now);
    let (mut start, end) = ranges.next()?;
    let largest = end - 1;
    let mut out = Writer { bytes: [0; RANGE_BYTES], at: 0 };
    let mut count = u8::from(out.put(largest - start));
    for (from, to) in ranges {
        let before = out.at;
        if !(out.put(start - to - 1) && out.put(to - from - 1)) {
            out.at = before;
            break;
        }
        (start, count) = (from, count + 1);
    }
    Some(AckFrame { largest, delay, counts: acks.counts, count, bytes: out.bytes })
}

impl AckFrame {
    /// Length of the frame on the wire, bytes.
    pub fn wire(&self) -> u32 {
        let EcnCounts { ect0, ect1, ce } = self.counts;
        let ecn =
            if self.counts.total() > 0 { varint(ect0) + varint(ect1) + varint(ce) } else { 0 };
        let delay = varint(self.delay.nanos() / DELAY_UNIT);
        let mut ranges = 0;
        for _ in 0..2 * u32::from(self.count) - 1 {
            ranges = read(&self.bytes, ranges).map_or(ranges, |(_, next)| next);
        }
        1 + varint(self.largest) + delay + varint(u64::from(self.count) - 1) + ranges as u32 + ecn
    }

    /// The ranges, highest first, each as its first packet number and the one after its last.
    pub fn ranges(&self) -> impl Iterator<Item = (u64, u64)> + '_ {
        let (mut at, mut next) = (0, Some(self.largest + 1));
        (0..self.count).map_while(move |i| {
            if i > 0 {
                let (gap, after) = read(&self.bytes, at)?;
                (next, at) = (next?.checked_sub(gap + 1), after);
            }
            let (more, after) = read(&self.bytes, at)?;
            let end = next?;
            let start = end.checked_sub(more + 1)?;
            (next, at) = (Some(start), after);
            Some((start, end))
        })
    }

    /// Writes the ACK frame into a segment.
    pub fn put(&self, segment: &mut Segment) {
        segment.flags = segment.flags.with(Flags::ACK);
        segment.ack = self.largest & 0xffff_ffff | self.counts.ce << 32;
        segment.echo = self.counts.ect1 as u32;
        segment.accurate |= self.counts.ect0 as u32 & (PING - 1);
        let delay = (self.delay.nanos() / DELAY_UNIT).min(u64::from(u16::MAX)) as u16;
        segment.sack.set_ranges(self.count, &self.bytes, delay);
    }

    /// The ACK frame of a segment, if it has one.
    pub fn of(segment: &Segment) -> Option<AckFrame> {
        let (count, bytes, delay) = segment.sack.ranges();
        segment.flags.has(Flags::ACK).then(|| AckFrame {
            largest: segment.ack & 0xffff_ffff,
            delay: Duration::from_nanos(u64::from(delay) * DELAY_UNIT),
            counts: EcnCounts {
                ect0: u64::from(segment.accurate & (PING - 1)),
                ect1: u64::from(segment.echo),
                ce: segment.ack >> 32,
            },
            count,
            bytes,
        })
    }
}

/// The frames of a packet other than its ACK frame.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Content {
    pub handshake: bool,
    pub piece: Option<Piece>,
    /// There is a HANDSHAKE_DONE frame.
    pub done: bool,
    /// There is a PING frame.
    pub ping: bool,
}

impl Content {
    /// The frames that a segment carries, other than its ACK frame.
    pub fn of(segment: &Segment) -> Content {
        let fin = segment.flags.has(Flags::FIN);
        let some = segment.len > 0 || fin;
        Content {
            handshake: segment.flags.has(Flags::SYN),
            piece: some.then_some(Piece { seq: segment.seq, len: segment.len, fin }),
            done: segment.accurate & DONE != 0,
            ping: segment.accurate & PING != 0,
        }
    }

    /// Whether the packet is ack-eliciting (RFC 9000 section 13.2).
    pub fn is_eliciting(&self) -> bool {
        self.piece.is_some() || self.done || self.ping
    }

    /// Writes the frames into a new segment.
    pub fn put(&self, segment: &mut Segment) {
        *segment = Segment::default();
        segment.sack.set_ranges(0, &[0; RANGE_BYTES], 0);
        let syn = if self.handshake { Flags::SYN } else { Flags::NONE };
        let fin = self.piece.is_some_and(|piece| piece.fin);
        segment.flags = if fin { syn.with(Flags::FIN) } else { syn };
        if let Some(piece) = self.piece {
            (segment.seq, segment.len) = (piece.seq, piece.len);
        }
        let bit = |set, bit| if set { bit } else { 0 };
        segment.accurate = bit(self.done, DONE) | bit(self.ping, PING);
    }

    /// Length of these frames on the wire, bytes.
    pub fn wire(&self) -> u32 {
        let data = |piece: Piece| data_header(self.handshake, piece.seq) + piece.len;
        self.piece.map_or(0, data) + u32::from(self.done) + u32::from(self.ping)
    }
}

#[cfg(test)]
mod tests {
    use packet::{Ecn, Instant};

    use super::super::acks::Arrival;
    use super::super::rules::AckRules;
    use super::*;

    fn acks(numbers: &[u64], ecn: Ecn) -> Acks {
        let rules = AckRules { eliciting: 1, max_delay: Duration::ZERO, reordering: 1, ranges: 64 };
        let mut acks = Acks::default();
        for &number in numbers {
            let at = Instant::ZERO;
            acks.on_packet(Arrival { number, eliciting: true, urgent: false, ecn, at }, &rules);
        }
        acks
    }

    #[test]
    fn ranges_travel_as_gaps_and_lengths() {
        // RFC 9000 section 19.3.1: numbers 0 to 2, 5, 300 to 301.
        let acks = acks(&[0, 1, 2, 5, 300, 301], Ecn::Ect0);
        let now = Instant::ZERO + Duration::from_micros(20_001);
        let frame = ack_frame(&acks, now).unwrap();
        // The type, 2 B for 301 and for a delay of 2,500 units each, the count of ranges, the
        // ranges of 1 + (2 + 1) + (1 + 1), three ECN counts.
        assert_eq!(frame.wire(), 1 + 2 + 2 + 1 + 1 + 3 + 2 + 3);
        let mut segment = Segment::default();
        Content { ping: true, ..Content::default() }.put(&mut segment);
        frame.put(&mut segment);
        let read = AckFrame::of(&segment).unwrap();
        assert_eq!(read.ranges().collect::<Vec<_>>(), [(300, 302), (5, 6), (0, 3)]);
        assert_eq!((read.largest, read.delay), (301, Duration::from_micros(20_000)));
        assert_eq!(read.counts, EcnCounts { ect0: 6, ect1: 0, ce: 0 });
        assert!(Content::of(&segment).ping && segment.is_quic() && !segment.pushes());
    }

    #[test]
    fn an_acknowledgement_has_the_ranges_it_has_room_for() {
        let odd: Vec<u64> = (0..40).map(|n| 2 * n).collect();
        let frame = ack_frame(&acks(&odd, Ecn::NotEct), Instant::ZERO).unwrap();
        let ranges: Vec<_> = frame.ranges().collect();
        assert_eq!((ranges.len(), ranges[0], ranges[11]), (12, (78, 79), (56, 57)));
        assert_eq!(frame.wire(), 1 + 2 + 1 + 1 + 23);
    }

    #[test]
    fn headers_have_the_lengths_of_rfc_9000() {
        // RFC 9000 appendix A.2: with 0xabe8b3 acknowledged 0xac5c02 takes two bytes, 0xace8fe
        // three.
        let acked = Some(0xabe8b3);
        assert_eq!([0xac5c02, 0xace8fe].map(|number| number_bytes(number, acked)), [2, 3]);
        assert_eq!(number_bytes(0, None), 1);
        // RFC 9000 section 16.
        let values = [63, 64, 16_383, 16_384, 1_073_741_823, 1_073_741_824];
        assert_eq!(values.map(varint), [1, 2, 2, 4, 4, 8]);
        assert_eq!([1, 2, 65].map(|seq| data_header(false, seq)), [2, 3, 4]);
    }
}
