//! The fields of a packet that a queue may read.

use crate::Instant;

/// The two ECN bits of the IP header (RFC 3168 section 5).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum Ecn {
    /// The transport does not understand ECN: a signal must drop this packet.
    #[default]
    NotEct,
    /// ECN-capable transport, codepoint 1 (L4S in RFC 9331).
    Ect1,
    /// ECN-capable transport, codepoint 0.
    Ect0,
    /// Congestion experienced: marked by some queue on the way.
    Ce,
}

impl Ecn {
    /// Whether a queue may mark instead of drop. A packet that is marked already may be marked once
    /// more.
    pub const fn can_be_marked(self) -> bool {
        !matches!(self, Ecn::NotEct)
    }

    /// The two bits of an IP header (RFC 3168 section 5).
    pub const fn code_point(self) -> u8 {
        match self {
            Ecn::NotEct => 0b00,
            Ecn::Ect1 => 0b01,
            Ecn::Ect0 => 0b10,
            Ecn::Ce => 0b11,
        }
    }

    /// The ECN field: the two lowest bits of an IPv4 TOS byte or an IPv6 traffic class.
    pub const fn of_traffic_class(bits: u8) -> Ecn {
        match bits & 0b11 {
            0b00 => Ecn::NotEct,
            0b01 => Ecn::Ect1,
            0b10 => Ecn::Ect0,
            _ => Ecn::Ce,
        }
    }
}

/// A packet as a queue sees it. The body stays with the driver under `id`.
///
/// Not `Copy`: a packet is in one place, and is sent once or dropped once. The order of its fields
/// in memory is fixed, because disciplines in shared libraries read them directly.
#[derive(Clone, Debug, PartialEq, Eq)]
#[repr(C)]
pub struct Packet {
    /// Directional flow (5-tuple) number.
    pub flow: u64,
    /// The caller's handle for the packet; disciplines pass it on unchanged.
    pub id: u32,
    /// IP length in bytes, without framing.
    pub bytes: u32,
    /// Header fields that only some disciplines read.
    pub header: Header,
    /// ECN field; a queue that marks sets it to [`Ecn::Ce`].
    pub ecn: Ecn,
    /// When the packet reached this queue.
    pub arrived: Instant,
}

/// Header fields besides the ECN field that a queue may read. Most queues read none.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[repr(C)]
pub struct Header {
    /// Source host: its number, or a hash of its address.
    pub source: u16,
    /// Destination host, numbered as the source host is.
    pub destination: u16,
    /// Differentiated services code point, 0..64 (RFC 2474).
    pub dscp: u8,
    /// Whether the packet is a pure acknowledgement, and whether a filter may drop it.
    pub ack: Ack,
}

/// Kinds of packets for a queue that filters acknowledgements. The driver, which sees the bytes,
/// sets the kind; the queue never parses.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum Ack {
    /// The packet carries data, SYN or FIN, or is not TCP.
    #[default]
    No,
    /// A pure acknowledgement that must arrive: a duplicate, or one with new SACK blocks, flags or
    /// other signals besides its acknowledgement number.
    Needed,
    /// A pure acknowledgement that supersedes the earlier ones of its flow: it acknowledges all
    /// that they did, and more.
    Newer,
}

/// The packets that wait in a queue. The packet in transmission does not count.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Backlog {
    /// Packets waiting.
    pub packets: u32,
    /// IP bytes of these packets.
    pub bytes: u64,
}
