//! What packets carry: segments of connections, datagrams of streams.

use packet::{Ecn, Instant};
use tcp::Segment;

/// What an IP packet carries.
#[derive(Clone, Copy)]
pub(crate) enum Payload {
    /// A segment of a connection.
    Segment(Segment),
    Datagram(Datagram),
}

#[derive(Clone, Copy)]
pub(crate) struct Datagram {
    /// How many its stream has sent before it.
    pub(super) number: u64,
    sent: Instant,
    pub(super) bytes: u32,
    /// Code point of the IP header.
    pub(super) ecn: Ecn,
}

impl Datagram {
    /// Number so and so of its stream.
    pub(super) fn new(number: u64, sent: Instant, bytes: u32, ecn: Ecn) -> Datagram {
        Datagram { number, sent, bytes, ecn }
    }

    /// How many its stream had sent before it, and when it was sent.
    #[inline]
    pub(crate) fn origin(&self) -> (u64, Instant) {
        (self.number, self.sent)
    }

    /// Payload.
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
