//! Statuses, codes and structures of the C interface, and their conversion from and to Rust types.
//! The comments also become those of `include/aqmlab.h`.

use packet::{Ack, DropReason, Ecn, Event, Header, Instant, Packet};

use crate::queue::{Misuse, cause};

/// Result of a function: AQMLAB_OK, AQMLAB_NONE, or an error, which is negative.
pub type Status = i32;

/// Success.
pub const AQMLAB_OK: i32 = 0;
/// Success without a result: no packet to send, no future update, or no gauge of that name.
pub const AQMLAB_NONE: i32 = 1;
/// A required pointer is null.
pub const AQMLAB_ERROR_NULL: i32 = -1;
/// An argument is out of its range, a text is not UTF-8, or a pointer is not aligned.
pub const AQMLAB_ERROR_ARGUMENT: i32 = -2;
/// The time is before that of an earlier call, or more than 146 years after creation.
pub const AQMLAB_ERROR_TIME: i32 = -3;
/// The queue cannot be created; the error text says why.
pub const AQMLAB_ERROR_REFUSED: i32 = -4;
/// The library failed in this call or an earlier call for this queue; please report this bug. The
/// queue can only be destroyed; packets in it are lost.
pub const AQMLAB_ERROR_BROKEN: i32 = -5;

/// Not-ECT: not ECN-capable. The AQMLAB_ECN_... numbers are the bits of the IP header's ECN field.
pub const AQMLAB_ECN_NOT_ECT: u8 = 0;
/// ECT(1): ECN-capable, for L4S.
pub const AQMLAB_ECN_ECT1: u8 = 1;
/// ECT(0): ECN-capable.
pub const AQMLAB_ECN_ECT0: u8 = 2;
/// CE: congestion experienced.
pub const AQMLAB_ECN_CE: u8 = 3;

/// The packet carries data, SYN or FIN, or is not TCP.
pub const AQMLAB_ACK_NO: u8 = 0;
/// A pure acknowledgement that must arrive: a duplicate, or one with new SACK blocks, flags or
/// other signals besides its acknowledgement number.
pub const AQMLAB_ACK_NEEDED: u8 = 1;
/// A pure acknowledgement whose only news is a higher number: it supersedes earlier such ones of
/// its flow.
pub const AQMLAB_ACK_NEWER: u8 = 2;

/// Event: the packet was accepted. It may still be dropped later.
pub const AQMLAB_QUEUED: u8 = 0;
/// Event: the packet was marked CE; it stays in the queue or is being dequeued.
pub const AQMLAB_MARKED: u8 = 1;
/// Event: the packet was dropped. The caller may free its body and reuse its id.
pub const AQMLAB_DROPPED: u8 = 2;

/// No reason, for events that need none.
pub const AQMLAB_WHY_NONE: u8 = 0;
/// Reason: the discipline's decision by a random draw (early drop or mark).
pub const AQMLAB_WHY_EARLY: u8 = 1;
/// Reason: the discipline's decision without a random draw (forced drop or mark).
pub const AQMLAB_WHY_FORCED: u8 = 2;
/// Reason: the buffer was full.
pub const AQMLAB_WHY_OVERFLOW: u8 = 3;
/// Reason: a later acknowledgement of its flow supersedes it (ACK filtering).
pub const AQMLAB_WHY_SUPERSEDED: u8 = 4;

/// An arriving packet. Set unknown members to zero: most disciplines read bytes, flow and ecn only.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
pub struct PacketIn {
    /// Number of the flow, e.g. a hash of the 5-tuple.
    pub flow: u64,
    /// The caller's number for the packet, which events and departures contain.
    pub id: u32,
    /// IP length in bytes, 1 to 16777216.
    pub bytes: u32,
    /// Number of the source host, or a hash of its address.
    pub source: u16,
    /// Number of the destination host, or a hash of its address.
    pub destination: u16,
    /// Differentiated services code point, 0 to 63.
    pub dscp: u8,
    /// Kind of acknowledgement: AQMLAB_ACK_...
    pub ack: u8,
    /// ECN field of the IP header: AQMLAB_ECN_...
    pub ecn: u8,
}

/// A packet that was dequeued.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Departure {
    /// Time that the packet waited, in nanoseconds.
    pub waited_ns: u64,
    /// The caller's number of the packet.
    pub id: u32,
    /// IP length of the packet in bytes.
    pub bytes: u32,
    /// ECN field with which the packet must be sent: AQMLAB_ECN_...
    pub ecn: u8,
}

/// An event of a packet in the queue.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct EventOut {
    /// The caller's number of the packet.
    pub id: u32,
    /// Kind of event: AQMLAB_QUEUED, AQMLAB_MARKED or AQMLAB_DROPPED.
    pub what: u8,
    /// Reason of the event: AQMLAB_WHY_...
    pub why: u8,
}

/// Counts since creation. Always arrived = sent + dropped + waiting.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Stats {
    /// Number of packets passed to aqmlab_enqueue.
    pub arrived: u64,
    /// Number of packets accepted, including those that were dropped later.
    pub queued: u64,
    /// Number of packets marked CE.
    pub marked: u64,
    /// Number of packets dropped, for any reason.
    pub dropped: u64,
    /// Number of packets dropped by a random draw of the discipline (AQMLAB_WHY_EARLY).
    pub dropped_early: u64,
    /// Number of packets dropped by the discipline without a random draw (AQMLAB_WHY_FORCED).
    pub dropped_forced: u64,
    /// Number of packets dropped because the buffer was full.
    pub dropped_overflow: u64,
    /// Number of acknowledgements dropped because a later one supersedes them.
    pub dropped_superseded: u64,
    /// Number of packets dequeued.
    pub sent: u64,
    /// Number of packets waiting.
    pub waiting: u64,
    /// IP bytes passed to aqmlab_enqueue.
    pub arrived_bytes: u64,
    /// IP bytes dropped.
    pub dropped_bytes: u64,
    /// IP bytes dequeued.
    pub sent_bytes: u64,
    /// IP bytes waiting.
    pub waiting_bytes: u64,
}

pub(super) const fn status(misuse: Misuse) -> Status {
    match misuse {
        Misuse::Time => AQMLAB_ERROR_TIME,
        Misuse::Argument => AQMLAB_ERROR_ARGUMENT,
    }
}

fn ecn_from(bits: u8) -> Result<Ecn, Status> {
    Ok(match bits {
        AQMLAB_ECN_NOT_ECT => Ecn::NotEct,
        AQMLAB_ECN_ECT1 => Ecn::Ect1,
        AQMLAB_ECN_ECT0 => Ecn::Ect0,
        AQMLAB_ECN_CE => Ecn::Ce,
        _ => return Err(AQMLAB_ERROR_ARGUMENT),
    })
}

pub(super) const fn ecn_bits(ecn: Ecn) -> u8 {
    match ecn {
        Ecn::NotEct => AQMLAB_ECN_NOT_ECT,
        Ecn::Ect1 => AQMLAB_ECN_ECT1,
        Ecn::Ect0 => AQMLAB_ECN_ECT0,
        Ecn::Ce => AQMLAB_ECN_CE,
    }
}

/// The number AQMLAB_WHY_... of a reason: its index in `DropReason::ALL`, counted from 1.
fn why_code(why: DropReason) -> u8 {
    cause(why) as u8 + 1
}

impl PacketIn {
    pub(super) fn read(&self) -> Result<Packet, Status> {
        let ack = match self.ack {
            AQMLAB_ACK_NO => Ack::No,
            AQMLAB_ACK_NEEDED => Ack::Needed,
            AQMLAB_ACK_NEWER => Ack::Newer,
            _ => return Err(AQMLAB_ERROR_ARGUMENT),
        };
        if self.dscp > 63 {
            return Err(AQMLAB_ERROR_ARGUMENT);
        }
        let (dscp, source, destination) = (self.dscp, self.source, self.destination);
        Ok(Packet {
            id: self.id,
            flow: self.flow,
            bytes: self.bytes,
            ecn: ecn_from(self.ecn)?,
            arrived: Instant::ZERO,
            header: Header { dscp, ack, source, destination },
        })
    }
}

pub(super) fn event_out(event: Event) -> EventOut {
    match event {
        Event::Queued { id } => EventOut { id, what: AQMLAB_QUEUED, why: AQMLAB_WHY_NONE },
        Event::Marked { id, why } => EventOut { id, what: AQMLAB_MARKED, why: why_code(why) },
        Event::Dropped { packet, why } => {
            EventOut { id: packet.id, what: AQMLAB_DROPPED, why: why_code(why) }
        }
    }
}
