//! What passes between a C program and the functions of `c.rs`: statuses, codes and structures,
//! and how they stand for this crate's own. Comments are those of `include/aqmlab.h`.

use packet::{Ack, DropReason, Ecn, Event, Header, Instant, Packet};

use crate::queue::{Misuse, cause};

/// Answer of a function: AQMLAB_OK, AQMLAB_NONE, or an error, which is negative.
pub type Status = i32;

/// Done.
pub const AQMLAB_OK: i32 = 0;
/// Done, and there is none: no packet to send, no update to come, no gauge of that name.
pub const AQMLAB_NONE: i32 = 1;
/// A pointer is null that must not be.
pub const AQMLAB_ERROR_NULL: i32 = -1;
/// An argument is out of its range, a text is not UTF-8, or a pointer is not aligned.
pub const AQMLAB_ERROR_ARGUMENT: i32 = -2;
/// The time lies before that of an earlier call, or more than 146 years after creation.
pub const AQMLAB_ERROR_TIME: i32 = -3;
/// The queue cannot be created; the error text says why.
pub const AQMLAB_ERROR_REFUSED: i32 = -4;
/// The library failed in this call or an earlier one for this queue: a bug, please report it. The
/// queue can only be destroyed; packets in it are lost.
pub const AQMLAB_ERROR_BROKEN: i32 = -5;

/// The transport does not understand ECN. These are the two bits of the IP header.
pub const AQMLAB_ECN_NOT_ECT: u8 = 0;
/// ECN-capable, codepoint 1 (L4S).
pub const AQMLAB_ECN_ECT1: u8 = 1;
/// ECN-capable, codepoint 0.
pub const AQMLAB_ECN_ECT0: u8 = 2;
/// Congestion experienced.
pub const AQMLAB_ECN_CE: u8 = 3;

/// The packet carries data, SYN or FIN, or is not TCP.
pub const AQMLAB_ACK_NO: u8 = 0;
/// A pure acknowledgement that must arrive: a duplicate, or with news besides its number.
pub const AQMLAB_ACK_NEEDED: u8 = 1;
/// A pure acknowledgement that says all that earlier ones of its flow said, and more.
pub const AQMLAB_ACK_NEWER: u8 = 2;

/// The packet was accepted. It may still be dropped later.
pub const AQMLAB_QUEUED: u8 = 0;
/// The packet was marked "congestion experienced"; it stays in the queue or is just leaving.
pub const AQMLAB_MARKED: u8 = 1;
/// The packet is gone: the caller may free its body and use its id again.
pub const AQMLAB_DROPPED: u8 = 2;

/// Cause of an event that needs none.
pub const AQMLAB_WHY_NONE: u8 = 0;
/// A random early decision of the discipline.
pub const AQMLAB_WHY_EARLY: u8 = 1;
/// A certain decision of the discipline.
pub const AQMLAB_WHY_FORCED: u8 = 2;
/// The buffer was full.
pub const AQMLAB_WHY_OVERFLOW: u8 = 3;
/// A later acknowledgement of its flow says all that it said.
pub const AQMLAB_WHY_SUPERSEDED: u8 = 4;

/// A packet that arrives. Set what is not known to zero: most disciplines look at bytes, flow and
/// ecn only.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
pub struct PacketIn {
    /// Flow: any number that is the same for packets of one flow, e.g. a hash of the 5-tuple.
    pub flow: u64,
    /// The caller's name for the packet; comes back in events and departures.
    pub id: u32,
    /// IP length in bytes, 1 to 16777216.
    pub bytes: u32,
    /// Source host: its number, or a hash of its address.
    pub source: u16,
    /// Destination host, numbered as the source host is.
    pub destination: u16,
    /// Differentiated services code point, 0 to 63.
    pub dscp: u8,
    /// AQMLAB_ACK_...
    pub ack: u8,
    /// AQMLAB_ECN_...: the two ECN bits of the IP header.
    pub ecn: u8,
}

/// A packet that leaves.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Departure {
    /// Nanoseconds that it waited.
    pub waited_ns: u64,
    /// The packet.
    pub id: u32,
    /// Its IP length in bytes.
    pub bytes: u32,
    /// AQMLAB_ECN_...: what its header must say now.
    pub ecn: u8,
}

/// Something that happened to a packet in the queue.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct EventOut {
    /// The packet.
    pub id: u32,
    /// AQMLAB_QUEUED, AQMLAB_MARKED or AQMLAB_DROPPED.
    pub what: u8,
    /// AQMLAB_WHY_...
    pub why: u8,
}

/// What happened since creation. Always arrived = sent + dropped + waiting.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Stats {
    /// Packets handed to aqmlab_enqueue.
    pub arrived: u64,
    /// Packets accepted, those included that were dropped later.
    pub queued: u64,
    /// Packets marked.
    pub marked: u64,
    /// Packets dropped, whatever the cause.
    pub dropped: u64,
    /// Packets dropped at random.
    pub dropped_early: u64,
    /// Packets dropped by a certain decision.
    pub dropped_forced: u64,
    /// Packets dropped because the buffer was full.
    pub dropped_overflow: u64,
    /// Dropped because a later acknowledgement says all that they said.
    pub dropped_superseded: u64,
    /// Packets sent.
    pub sent: u64,
    /// Packets waiting.
    pub waiting: u64,
    /// IP bytes handed to aqmlab_enqueue.
    pub arrived_bytes: u64,
    /// IP bytes dropped.
    pub dropped_bytes: u64,
    /// IP bytes sent.
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

/// AQMLAB_WHY_... are the causes in the order of `DropReason::ALL`, from 1 on.
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
