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
    /// Accurate ECN: packets, and bytes for the option.
    pub(super) counters: Counters,
    pub(super) bytes: Bytes,
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
