//! Adaptive RED's parameters as users write them.

use packet::params::{Field, Kind, Value};

use super::profiles::{FLOYD, PROFILES};
use crate::buffer::{BYTES, ECN, LIMIT, PACKET_BYTES, PACKETS, PROBABILITY, TIME};
use crate::by_profile::{by_profile, named};

/// Every parameter of adaptive RED.
pub(super) const FIELDS: &[Field] = &[
    Field::new("profile", named!(PROFILES), Value::Choice(FLOYD.name))
        .meaning(
            "The implementation to follow, with its defaults: floyd (the report on the RED of \
             1993), ns2, ns3, altq, linux.",
        )
        .source("constructed"),
    Field::new("target_delay", TIME, Value::Unset)
        .meaning(
            "Delay at the line's rate of which min_th is half, in packets, but at least 5. 5 ms \
             unless given; not with min_th, not in linux.",
        )
        .source("read: ns-2.35 targetdelay_, ns-3 TargetDelay"),
    Field::new("min_th", PACKETS, Value::Unset)
        .meaning(
            "Average queue below which every packet passes. From target_delay unless given; linux: \
             max_th/3.",
        )
        .source("Floyd, Gummadi and Shenker 2001 (read in ns-2.35)"),
    Field::new("max_th", PACKETS, Value::Unset)
        .meaning(
            "Average queue at which the probability reaches max_p. 3 min_th; linux: 3 min_th if \
             that is given, else a quarter of the limit.",
        )
        .source("Floyd, Gummadi and Shenker 2001 (read in ns-2.35)"),
    Field::new("w_q", PROBABILITY, Value::Unset)
        .meaning(
            "Weight of the newest sample in the average; from automatic_w_q unless given. linux: a \
             power of two, unless given the largest that lets a burst of (2 min_th + max_th)/3 \
             packets pass.",
        )
        .source("Floyd, Gummadi and Shenker 2001 (read in ns-2.35)"),
    Field::new("automatic_w_q", Kind::Choice(&["second", "ten-rtt", "tenth-second"]), Value::Unset)
        .meaning(by_profile!(
            "What the average remembers where w_q is not given, C being packets/s: second 1 - \
             exp(-1/C), ten-rtt 1 - exp(-1/(10 rtt C)) with rtt = max(100 ms, 3/C), tenth-second 1 \
             - exp(-10/C).",
            PROFILES,
            automatic_w_q
        ))
        .source("read: ns-2.35 q_weight_ 0, -1, -2"),
    Field::new("max_p", PROBABILITY, Value::Unset)
        .meaning(by_profile!(
            "First value of the probability where the average reaches max_th.",
            PROFILES,
            max_p
        ))
        .source("read: ns-2.35 linterm_, ns-3 LInterm, tc"),
    Field::new("alpha", PROBABILITY, Value::Unset)
        .meaning("Largest step up of max_p; a step is at most max_p/4. 0.01 (fixed in linux).")
        .source("Floyd, Gummadi and Shenker 2001 (read in ns-2.35)"),
    Field::new("beta", PROBABILITY, Value::Unset)
        .meaning("Factor of a step down of max_p. 0.9 (fixed in linux).")
        .source("Floyd, Gummadi and Shenker 2001 (read in ns-2.35)"),
    Field::new("top", PROBABILITY, Value::Unset)
        .meaning("No step up from here on. 0.5 (fixed in linux).")
        .source("Floyd, Gummadi and Shenker 2001 (read in ns-2.35)"),
    Field::new("bottom", PROBABILITY, Value::Unset)
        .meaning(by_profile!("No step down from here on.", PROFILES, bottom))
        .source("Floyd, Gummadi and Shenker 2001 (recalled); read: ns-2.35 bottom_, ns-3 Bottom"),
    Field::new("interval", TIME, Value::Unset)
        .meaning("Shortest time between two steps. 500 ms (linux: the period of its timer, fixed).")
        .source("Floyd, Gummadi and Shenker 2001 (read in ns-2.35)"),
    Field::new("gentle", Kind::Switch, Value::Unset)
        .meaning(
            "Whether the probability grows from max_p to 1 between max_th and twice max_th. True; \
             impossible in linux.",
        )
        .source("Floyd, Gummadi and Shenker 2001 (recalled); ns-2.35 gentle_, ns-3 Gentle"),
    Field::new("units", Kind::Choice(&["packet", "byte"]), Value::Unset)
        .meaning(by_profile!(
            "What queue, thresholds, limit and probability count. byte: floyd scales p_b by \
             size/max_packet_bytes, the others p_a by size/mean_packet_bytes.",
            PROFILES,
            units
        ))
        .source("Le et al., ToN 2007 (both modes); defaults of ns-2.35, ns-3"),
    Field::new("mean_packet_bytes", PACKET_BYTES, Value::Unset)
        .meaning(
            "Mean packet size: turns the line's rate into packets/s, packets into bytes, and is \
             the packet of the idle clock. floyd, altq, linux: 1000; ns2, ns3: 500.",
        )
        .source("ns-2.35 mean_pktsize_, ns-3 MeanPktSize; else constructed"),
    Field::new("max_packet_bytes", PACKET_BYTES, Value::Unset)
        .meaning("Largest packet, to which units = byte of floyd refers. 1500.")
        .source("Floyd and Jacobson 1993 (symbol); value constructed: Ethernet's MTU"),
    Field::new("limit", LIMIT, Value::Unset)
        .meaning(by_profile!(
            "Packets that may wait; multiplied by mean_packet_bytes where the queue is counted in \
             bytes.",
            PROFILES,
            limit
        ))
        .source("ns-2.35 limit_, ns-3 MaxSize; floyd and linux constructed"),
    Field::new("limit_bytes", BYTES, Value::Unset)
        .meaning("IP bytes that may wait, in place of limit, where the queue is counted in bytes.")
        .source("Linux sch_red limit"),
    ECN.source("ns-2.35 setbit_, ns-3 UseEcn, Linux flag: all off"),
    Field::new(
        "ecn_above_max",
        Kind::Choice(&["drop", "mark_in_gentle", "mark_always"]),
        Value::Unset,
    )
    .meaning(
        "What a signal does to an ECN-capable packet where the average is at or above max_th: \
             drop, mark below twice max_th only, or mark always. floyd, altq: drop; ns2: use_mark_p's \
             rule, and without it as ns3; ns3: mark_in_gentle; linux: mark_always, or drop.",
    )
    .source("Le et al., SIGCOMM 2003 and ToN 2007; ns-3 UseHardDrop, Linux harddrop"),
    Field::new("use_mark_p", Kind::Switch, Value::Unset)
        .meaning(
            "ns2 only: no certain drops; all is tested at random, and hits with a p_b of 0.1 or \
             more drop even ECN-capable packets. True there unless ecn_above_max is given.",
        )
        .source("read: ns-2.35 use_mark_p_, mark_p_"),
];
