//! The payload of packets: segments of connections, or datagrams of streams.

use packet::{Ecn, Instant};
use tcp::Segment;

/// The payload of an IP packet.
#[derive(Clone, Copy)]
pub(crate) enum Payload {
    /// A segment of a connection.
    Segment(Segment),
    Datagram(Datagram),
}

#[derive(Clone, Copy)]
pub(crate) struct Datagram {
    /// Number of datagrams that the stream had sent before this one.
    pub(super) number: u64,
    sent: Instant,
    pub(super) bytes: u32,
    /// ECN code point of the IP header.
    pub(super) ecn: Ecn,
}

impl Datagram {
    /// Datagram `number` of its stream, sent at `sent`.
    pub(super) fn new(number: u64, sent: Instant, bytes: u32, ecn: Ecn) -> Datagram {
        Datagram { number, sent, bytes, ecn }
    }

    /// Number of datagrams that the stream had sent before, and the time of sending.
    #[inline]
    pub(crate) fn origin(&self) -> (u64, Instant) {
        (self.number, self.sent)
    }

    /// Length of the payload, bytes.
    #[inline]
    pub(crate) fn bytes(&self) -> u32 {
        self.bytes
    }
}

impl Default for Payload {
    fn default() -> Self {
        Payload::Segment(Segment::default())
    }
}
