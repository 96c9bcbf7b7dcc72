//! What a queue may know of a packet.

use crate::Instant;

/// The two ECN bits of the IP header (RFC 3168 section 5).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
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
    /// Whether a queue may mark instead of drop. A packet already marked counts as marked again.
    pub const fn can_be_marked(self) -> bool {
        !matches!(self, Ecn::NotEct)
    }
}

/// A packet as a queue sees it. The body stays with the driver under `id`.
///
/// Not `Copy`: a packet is in one place, sent once or dropped once.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Packet {
    /// The driver's handle of the body.
    pub id: u32,
    /// Directional flow (5-tuple) number.
    pub flow: u64,
    /// IP length in bytes, without framing (aqm.md rule 0.2(7)).
    pub bytes: u32,
    /// ECN field; a queue that marks sets it to [`Ecn::Ce`].
    pub ecn: Ecn,
    /// When the packet reached this queue.
    pub arrived: Instant,
}

/// What waits in a queue. The packet on the wire is not in the queue.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Backlog {
    /// Packets waiting.
    pub packets: u32,
    /// Their IP bytes.
    pub bytes: u64,
}
