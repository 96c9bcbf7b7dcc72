//! What a connection keeps of ECN.

use super::accurate::Counters;
use super::dctcp::Before;
use super::option::Bytes;
use super::rules::EcnFeedback;
use crate::segment::Flags;

/// ECN of one connection, as far as all have it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct EcnState {
    /// What both SYNs agreed on.
    pub feedback: EcnFeedback,
    /// Receiver: what every segment that goes out says of marks: ECE, or, of accurate ECN, the
    /// counter or the answer to a SYN or SYN-ACK.
    pub echo_flags: Flags,
    /// Sender: the next new data segment says CWR.
    pub cwr: bool,
    /// Sender: nothing new goes out before the retransmission timer expires.
    pub held: bool,
}

/// What only connections with more than RFC 3168's feedback remember.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Memory {
    /// DCTCP's echo.
    pub(super) before: Before,
    /// With accurate feedback: the handshake showed that the path may not let the flags or capable packets
    /// through (RFC 9768 sections 3.1.4.2, 3.2.2.4), so that what goes out is not capable.
    pub(super) incapable: bool,
    /// With accurate feedback: the segment that is read has a newer timestamp than all before.
    pub(super) newest: bool,
    /// It came to an end whose FIN had been acknowledged before.
    waits_alone: bool,
    /// Accurate ECN: packets, and bytes for the option.
    pub(super) counters: Counters,
    pub(super) bytes: Bytes,
}

/// What both roles of an end with accurate ECN have counted (RFC 9768 section 3.2.1), from 0.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MarksSeen {
    /// Marked packets that the peer has reported, modulo 256.
    pub delivered_ce: u8,
    /// Marked packets that have come, modulo 256.
    pub received_ce: u8,
    /// Bytes with ECT(0), CE and ECT(1) that the peer has reported, modulo 2^24; those without a mark by its option alone.
    pub delivered_bytes: [u32; 3],
    /// Bytes that came with ECT(0), CE and ECT(1), modulo 2^24.
    pub received_bytes: [u32; 3],
}

impl Memory {
    /// Whether what goes out must not be ECN-capable, by what the handshake showed.
    pub fn is_incapable(&self) -> bool {
        self.incapable
    }

    /// A segment is about to be read; `newest`: its timestamp is newer than all before; `waits_alone`: it comes to an
    /// end whose FIN has been acknowledged.
    pub fn note_order(&mut self, newest: bool, waits_alone: bool) {
        (self.newest, self.waits_alone) = (newest, waits_alone);
    }

    /// Whether the segment that was read last came to an end whose FIN had been acknowledged before.
    pub fn waits_alone(&self) -> bool {
        self.waits_alone
    }

    /// What begins there came twice, all of it known.
    pub fn note_repeated(&mut self, start: u64) {
        self.bytes.note_repeated(start);
    }

    pub fn seen(&self) -> MarksSeen {
        let (received_ce, delivered_ce) = self.counters.seen();
        let [received_bytes, delivered_bytes] = self.bytes.seen();
        MarksSeen { delivered_ce, received_ce, delivered_bytes, received_bytes }
    }
}

impl EcnState {
    /// Whether both SYNs agreed.
    pub fn on(self) -> bool {
        self.feedback != EcnFeedback::None
    }

    /// The window was reduced, for whatever reason: the peer is notified (RFC 3168 section 6.1.2),
    /// unless its feedback is accurate (RFC 9768 section 3.1.5).
    pub fn reduced(&mut self) {
        self.cwr = matches!(self.feedback, EcnFeedback::Classic | EcnFeedback::Dctcp);
    }
}
