//! CAKE's parameters.

use packet::params::{BadParams, Field, Kind, Params, Value};
use packet::units::Unit;

use super::hosts::WAYS;
use crate::buffer::{BYTES, PACKET_BYTES, TIME};
use crate::shells::flows::HASH_SEED;

/// The range of `overhead` and `mpu`.
const FEW_BYTES: Kind = Kind::whole(Unit::Bytes, 0, 256);

/// Every parameter of CAKE.
pub(super) const FIELDS: &[Field] = &[
    Field::new("rate", Kind::from(Unit::Rate, 512.0, 1e13), Value::Unset)
        .meaning(
            "Rate that it sends at, which ought to be a little less than the line's; as fast as \
             the line takes packets unless given.",
        )
        .source("read: Linux sch_cake, unlimited"),
    Field::new(
        "tins",
        Kind::Choice(&["besteffort", "diffserv3", "diffserv4", "diffserv8", "precedence"]),
        Value::Choice("diffserv3"),
    )
    .meaning(
        "How code points divide packets: besteffort (one tin), diffserv3, diffserv4, \
             diffserv8, precedence (eight tins).",
    )
    .source("read: Linux sch_cake"),
    Field::new(
        "isolation",
        Kind::Choice(&[
            "flowblind",
            "srchost",
            "dsthost",
            "hosts",
            "flows",
            "dual-srchost",
            "dual-dsthost",
            "triple-isolate",
        ]),
        Value::Choice("triple-isolate"),
    )
    .meaning(
        "Who has a queue: all together (flowblind), each source host, destination host or pair \
             of them (srchost, dsthost, hosts), or each flow: with equal turns (flows), or with \
             turns in inverse proportion to the bulk queues of its source host, its destination \
             host, or the busier of the two (dual-srchost, dual-dsthost, triple-isolate).",
    )
    .source("read: Linux sch_cake"),
    Field::new("target", Kind::from(Unit::Time, 0.0, 1e3), Value::Real(0.005))
        .meaning(
            "Time in a queue that is acceptable for good; in each tin at least 1.5 times the \
             transmission time of mtu at its rate.",
        )
        .source("read: Linux sch_cake"),
    Field::new("interval", TIME, Value::Real(0.1))
        .meaning(
            "How long packets must stay too long before the first signal, about the longest common \
             round trip; in each tin longer by what its target is made longer, and at least twice \
             that.",
        )
        .source("read: Linux sch_cake"),
    Field::new("ingress", Kind::Switch, Value::Switch(false))
        .meaning(
            "Whether dropped packets are charged as if they were sent: the shaper stands behind \
             the narrow link, not before it. It then also signals later where there are many bulk \
             queues.",
        )
        .source("read: Linux sch_cake"),
    Field::new("ack_filter", Kind::Choice(&["no", "filter", "aggressive"]), Value::Choice("no"))
        .meaning(
            "Which pure acknowledgements are dropped when a later one of their flow comes to their \
             queue: none (no), the oldest of two or more (filter), also a single one right before \
             it (aggressive).",
        )
        .source("read: Linux sch_cake"),
    Field::new("ecn", Kind::Switch, Value::Switch(true))
        .meaning("Whether ECN-capable packets are marked where others are dropped by a signal.")
        .source("read: Linux sch_cake, which has no such switch"),
    Field::new("memory_limit", BYTES, Value::Unset)
        .meaning(
            "IP bytes that may wait in all queues together; with a rate four intervals of it, at \
             least 4 MiB, and never more than 10240 packets of mtu unless given.",
        )
        .source("read: Linux sch_cake"),
    Field::new("overhead", FEW_BYTES, Value::Whole(0))
        .meaning("Bytes that the link adds to each packet; they count for the rate and for turns.")
        .source("constructed: none"),
    Field::new("mpu", FEW_BYTES, Value::Whole(0))
        .meaning("Least size of a packet on the link, overhead included.")
        .source("read: Linux sch_cake"),
    Field::new("framing", Kind::Choice(&["none", "atm", "ptm"]), Value::Choice("none"))
        .meaning(
            "What the link makes of a packet with its overhead: nothing else (none), cells of 53 \
             bytes with 48 of it (atm), one more byte for each 64 (ptm).",
        )
        .source("read: Linux sch_cake, noatm"),
    Field::new("mtu", PACKET_BYTES, Value::Whole(1514))
        .meaning(
            "Largest packet: with a rate no packet that stayed for less than four of its \
             transmission times at its tin's rate is signalled. Without one there is no such \
             guard, and a slow line is signalled for its own transmission times.",
        )
        .source("read: Linux psched_mtu on Ethernet"),
    Field::new("queues", Kind::whole(Unit::Count, 8, 65_528), Value::Whole(1024))
        .meaning("Queues in each tin, in sets of eight; a multiple of eight.")
        .source("read: Linux sch_cake CAKE_QUEUES, CAKE_SET_WAYS"),
    Field::new("turns", Kind::Choice(&["exact", "whole"]), Value::Choice("exact"))
        .meaning(
            "A flow's turn, a part of the quantum where its host has several: to 2^-16 byte (exact), or in whole \
             bytes that are rounded at random (whole), so that flows do not follow each other in a fixed order.",
        )
        .source("whole: Linux sch_cake, cake_get_flow_quantum; exact: constructed, nothing is drawn"),
    Field::new("autorate", Kind::Switch, Value::Switch(false))
        .meaning(
            "Whether the shaper follows an estimate of the rate at which packets arrive, for ingress behind a link that \
             varies: 15/16 of it, set anew every 250 ms at most; rate is the first estimate.",
        )
        .source("read: Linux 7.3 sch_cake autorate-ingress"),
    Field::new("tx_queues", Kind::whole(Unit::Count, 1, 64), Value::Whole(1))
        .meaning(
            "Queues of the device, each with a CAKE of its own; together they send at rate, which those that \
             are active share in equal parts (cake_mq). 1: cake.",
        )
        .source("read: Linux 7.3 sch_cake, cake_mq"),
    HASH_SEED,
];

/// Refuses values and combinations that the ranges of single parameters do not exclude.
pub(super) fn check(params: &Params) -> Result<(), BadParams> {
    if params.switch("autorate") && params.whole("tx_queues") > 1 {
        let why = "true is not possible here: with tx_queues the kernel refuses it; leave one out";
        return Err(BadParams::new("autorate", why));
    }
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
