//! Events that a queue reports about a packet, and the reasons of drops and marks: the one list
//! that counters, traces and tables use.

use crate::Packet;

/// Why a queue marked or dropped a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum DropReason {
    /// A random early decision of the algorithm (RED's band between the thresholds).
    Early,
    /// The algorithm's certain decision (RED above max_th).
    Forced,
    /// The buffer was full.
    Overflow,
    /// ACK filtering: a later acknowledgement in the queue makes this one unnecessary. It is no
    /// sign of congestion, and never the reason of a mark.
    AckFiltered,
}

impl DropReason {
    /// Every reason, in the order used by counters.
    pub const ALL: [DropReason; 4] =
        [DropReason::Early, DropReason::Forced, DropReason::Overflow, DropReason::AckFiltered];

    /// Name of the reason in tables of results.
    pub const fn name(self) -> &'static str {
        match self {
            DropReason::Early => "early",
            DropReason::Forced => "forced",
            DropReason::Overflow => "overflow",
            DropReason::AckFiltered => "superseded",
        }
    }
}

/// Why a queue marked a packet: any reason but [`DropReason::AckFiltered`].
pub type MarkReason = DropReason;

/// What a queue discipline reports to its driver (the simulator or another program that calls the
/// discipline), in the order it happens.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Event {
    /// The packet was accepted.
    Queued {
        /// Handle of the packet in the program that calls the queue discipline.
        id: u32,
    },
    /// The packet was marked "congestion experienced"; it stays in the queue.
    Marked {
        /// Handle of the packet in the program that calls the queue discipline.
        id: u32,
        /// Why the packet was marked.
        why: MarkReason,
    },
    /// The packet is gone. The program that calls the discipline may reuse its handle.
    Dropped {
        /// The dropped packet.
        packet: Packet,
        /// Why the packet was dropped.
        why: DropReason,
    },
}
