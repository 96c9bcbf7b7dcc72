//! What can happen to a packet in a queue: the one list of what can be recorded there.

use crate::Packet;

/// Why a queue marked or dropped a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Why {
    /// A random early decision of the algorithm (RED's band between the thresholds).
    Early,
    /// The algorithm's certain decision (RED above max_th).
    Forced,
    /// The buffer was full.
    Overflow,
    /// A later acknowledgement in the same queue says all that this one did. No sign of
    /// congestion, and never a mark.
    Superseded,
}

impl Why {
    /// Every cause, in the order used by counters.
    pub const ALL: [Why; 4] = [Why::Early, Why::Forced, Why::Overflow, Why::Superseded];

    /// Every cause of a mark, likewise.
    pub const OF_MARKS: [Why; 3] = [Why::Early, Why::Forced, Why::Overflow];

    /// The name used in tables.
    pub const fn name(self) -> &'static str {
        match self {
            Why::Early => "early",
            Why::Forced => "forced",
            Why::Overflow => "overflow",
            Why::Superseded => "superseded",
        }
    }
}

/// What a queue discipline tells its driver, in the order it happens.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Event {
    /// The packet was accepted.
    Queued {
        /// The driver's handle.
        id: u32,
    },
    /// The packet was marked "congestion experienced"; it stays in the queue.
    Marked {
        /// The driver's handle.
        id: u32,
        /// The cause.
        why: Why,
    },
    /// The packet is gone. The driver may reuse its handle.
    Dropped {
        /// The packet.
        packet: Packet,
        /// The cause.
        why: Why,
    },
}
