//! CAKE's parameters.

use packet::params::{BadParams, Field, Kind, Params, Value};
use packet::units::Unit;

use super::hosts::WAYS;
use crate::buffer::{PACKET_BYTES, TIME};
use crate::shells::flows::HASH_SEED;

/// Bytes added to a packet, or its least size.
const FEW_BYTES: Kind = Kind::Whole { unit: Unit::Bytes, min: 0, max: 256 };

/// Every parameter.
pub(super) const FIELDS: &[Field] = &[
    Field {
        name: "rate",
        meaning: "Rate that it sends at, which ought to be a little less than the line's; as fast \
                  as the line takes packets unless given.",
        kind: Kind::Real { unit: Unit::Rate, min: 512.0, max: 1e13, open: false },
        default: Value::Unset,
        source: "read: Linux sch_cake, unlimited",
    },
    Field {
        name: "tins",
        meaning: "How code points divide packets: besteffort (one tin), diffserv3, diffserv4, \
                  diffserv8, precedence (eight tins).",
        kind: Kind::Choice(&["besteffort", "diffserv3", "diffserv4", "diffserv8", "precedence"]),
        default: Value::Choice("diffserv3"),
        source: "read: Linux sch_cake",
    },
    Field {
        name: "isolation",
        meaning: "Who has a queue: all together (flowblind), each source host, destination host \
                  or pair of them (srchost, dsthost, hosts), or each flow: with equal turns \
                  (flows), or with turns in inverse proportion to the bulk queues of its source \
                  host, its destination host, or the busier of the two (dual-srchost, \
                  dual-dsthost, triple-isolate).",
        kind: Kind::Choice(&[
            "flowblind",
            "srchost",
            "dsthost",
            "hosts",
            "flows",
            "dual-srchost",
            "dual-dsthost",
            "triple-isolate",
        ]),
        default: Value::Choice("triple-isolate"),
        source: "read: Linux sch_cake",
    },
    Field {
        name: "target",
        meaning: "Time in a queue that is acceptable for good; in each tin at least 1.5 times \
                  the transmission time of mtu at its rate.",
        kind: Kind::Real { unit: Unit::Time, min: 0.0, max: 1e3, open: false },
        default: Value::Real(0.005),
        source: "read: Linux sch_cake",
    },
    Field {
        name: "interval",
        meaning: "How long packets must stay too long before the first signal, about the longest \
                  common round trip; in each tin longer by what its target is made longer, and \
                  at least twice that.",
        kind: TIME,
        default: Value::Real(0.1),
        source: "read: Linux sch_cake",
    },
    Field {
        name: "ingress",
        meaning: "Whether dropped packets are charged as if they were sent: the shaper stands \
                  behind the narrow link, not before it. It then also signals later where there \
                  are many bulk queues.",
        kind: Kind::Switch,
        default: Value::Switch(false),
        source: "read: Linux sch_cake",
    },
    Field {
        name: "ack_filter",
        meaning: "Which pure acknowledgements are dropped when a later one of their flow comes to \
                  their queue: none (no), the oldest of two or more (filter), also a single one \
                  right before it (aggressive).",
        kind: Kind::Choice(&["no", "filter", "aggressive"]),
        default: Value::Choice("no"),
        source: "read: Linux sch_cake",
    },
    Field {
        name: "ecn",
        meaning: "Whether ECN-capable packets are marked where others are dropped by a signal.",
        kind: Kind::Switch,
        default: Value::Switch(true),
        source: "read: Linux sch_cake, which has no such switch",
    },
    Field {
        name: "memory_limit",
        meaning: "IP bytes that may wait in all queues together; with a rate four intervals of \
                  it, at least 4 MiB, and never more than 10240 packets of mtu unless given.",
        kind: Kind::Whole { unit: Unit::Bytes, min: 1, max: 1_000_000_000_000 },
        default: Value::Unset,
        source: "read: Linux sch_cake",
    },
    Field {
        name: "overhead",
        meaning: "Bytes that the link adds to each packet; they count for the rate and for turns.",
        kind: FEW_BYTES,
        default: Value::Whole(0),
        source: "constructed: none",
    },
    Field {
        name: "mpu",
        meaning: "Least size of a packet on the link, overhead included.",
        kind: FEW_BYTES,
        default: Value::Whole(0),
        source: "read: Linux sch_cake",
    },
    Field {
        name: "framing",
        meaning: "What the link makes of a packet with its overhead: nothing else (none), cells \
                  of 53 bytes with 48 of it (atm), one more byte for each 64 (ptm).",
        kind: Kind::Choice(&["none", "atm", "ptm"]),
        default: Value::Choice("none"),
        source: "read: Linux sch_cake, noatm",
    },
    Field {
        name: "mtu",
        meaning: "Largest packet: with a rate no packet that stayed for less than four of its \
                  transmission times at its tin's rate is signalled. Without one there is no \
                  such guard, and a slow line is signalled for its own transmission times.",
        kind: PACKET_BYTES,
        default: Value::Whole(1514),
        source: "read: Linux psched_mtu on Ethernet",
    },
    Field {
        name: "queues",
        meaning: "Queues in each tin, in sets of eight; a multiple of eight.",
        kind: Kind::Whole { unit: Unit::Count, min: 8, max: 65_528 },
        default: Value::Whole(1024),
        source: "read: Linux sch_cake CAKE_QUEUES, CAKE_SET_WAYS",
    },
    HASH_SEED,
];

/// Refuses what the table cannot.
pub(super) fn check(params: &Params) -> Result<(), BadParams> {
    let queues = params.whole("queues");
    if queues.is_multiple_of(WAYS as u64) {
        return Ok(());
    }
    let why = alloc::format!(
        "{queues} is not a multiple of {WAYS}: queues come in sets of {WAYS}; write for example {}",
        queues.next_multiple_of(WAYS as u64)
    );
    Err(BadParams::new("queues", why))
}
