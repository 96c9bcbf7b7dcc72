//! The ECN state of a connection.

use super::accurate::Counters;
use super::dctcp::Before;
use super::option::Bytes;
use super::rules::EcnFeedback;
use crate::segment::Flags;

/// The part of a connection's ECN state that every connection has, with any kind of feedback.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct EcnState {
    /// The feedback that both SYNs negotiated.
    pub feedback: EcnFeedback,
    /// Receiver: the ECN flags of every segment sent: ECE, or with accurate ECN the counter or the
    /// answer to a SYN or SYN-ACK.
    pub echo_flags: Flags,
    /// Sender: the next new data segment carries CWR.
    pub cwr: bool,
    /// Sender: no new data is sent before the retransmission timer expires.
    pub held: bool,
}

/// State that only connections with more than RFC 3168's feedback have.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Memory {
    /// State of DCTCP's echo of marks.
    pub(super) before: Before,
    /// With accurate feedback: the handshake showed that the path may not let the flags or
    /// ECN-capable packets through (RFC 9768 sections 3.1.4.2, 3.2.2.4), so that no packet is sent
    /// as ECN-capable.
    pub(super) incapable: bool,
    /// With accurate feedback: the segment being processed has a newer timestamp than all earlier
    /// ones.
    pub(super) newest: bool,
    /// The segment being processed reached an end whose FIN had been acknowledged before.
    waits_alone: bool,
    /// Counters of packets, for accurate ECN.
    pub(super) counters: Counters,
    /// Counters of bytes, for the option of accurate ECN.
    pub(super) bytes: Bytes,
}

/// Counters of an end with accurate ECN as sender and as receiver (RFC 9768 section 3.2.1), from 0.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MarksSeen {
    /// Marked packets that the peer has reported, modulo 256.
    pub delivered_ce: u8,
    /// Marked packets that have arrived, modulo 256.
    pub received_ce: u8,
    /// Bytes with ECT(0), CE and ECT(1) that the peer has reported, modulo 2^24; unmarked bytes are
    /// reported by the option only.
    pub delivered_bytes: [u32; 3],
    /// Bytes that arrived with ECT(0), CE and ECT(1), modulo 2^24.
    pub received_bytes: [u32; 3],
}

impl Memory {
    /// Whether the handshake showed that packets must not be sent as ECN-capable.
    pub fn is_incapable(&self) -> bool {
        self.incapable
    }

    /// Notes the order of a segment before it is processed. `newest`: its timestamp is newer than
    /// all earlier ones; `waits_alone`: it reached an end whose FIN has been acknowledged.
    pub fn note_order(&mut self, newest: bool, waits_alone: bool) {
        (self.newest, self.waits_alone) = (newest, waits_alone);
    }

    /// Whether the last segment reached an end whose FIN had been acknowledged before.
    pub fn waits_alone(&self) -> bool {
        self.waits_alone
    }

    /// The segment that begins at `start` arrived twice, with no new data.
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
    /// Whether both SYNs agreed on ECN.
    pub fn on(self) -> bool {
        self.feedback != EcnFeedback::None
    }

    /// The congestion window was reduced, for whatever reason: CWR notifies the peer (RFC 3168
    /// section 6.1.2), unless its feedback is accurate (RFC 9768 section 3.1.5).
    pub fn reduced(&mut self) {
        self.cwr = matches!(self.feedback, EcnFeedback::Classic | EcnFeedback::Dctcp);
    }
}
