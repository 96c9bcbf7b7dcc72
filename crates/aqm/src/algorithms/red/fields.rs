//! RED's parameters as users write them: the paper's symbols where it has them.

use packet::params::{Field, Kind, Value};
use packet::units::Unit;

use super::profiles::{FJ93, PROFILES};
use crate::buffer::{BYTES, ECN, LIMIT, PACKET_BYTES, PACKETS, PROBABILITY, TIME};
use crate::by_profile::{by_profile, named};

/// Every parameter of RED.
pub(super) const FIELDS: &[Field] = &[
    Field::new("profile", named!(PROFILES), Value::Choice(FJ93.name))
        .meaning(
            "The implementation to follow, with its defaults: fj93 (the paper), ns2, ns2-fixed \
             (Harsh RED), ns3, altq (the UNC testbeds), linux.",
        )
        .source("constructed"),
    Field::new("preset", Kind::Choice(super::presets::PRESETS), Value::Unset)
        .meaning(
            "A published set of min_th, max_th, w_q and max_p with profile ns2-fixed and a limit \
             of 6 max_th, each unless it is written: RED and Harsh RED for an EDGE and an HSPA \
             link (edge-red 3, 9, 0.002, 0.1; edge-hred 3, 40, 0.2, 0.65; hspa-red 5, 20, 0.002, \
             0.1; hspa-hred 3, 50, 0.02, 0.65). None unless given.",
        )
        .source(
            "Järvinen et al. 2012, Table I; the limit constructed: large enough not to overflow",
        ),
    Field::new("min_th", PACKETS, Value::Unset)
        .meaning(by_profile!("Average queue below which every packet passes.", PROFILES, min_th))
        .source("Floyd and Jacobson 1993; defaults of ns-2.35, ns-3, ALTQ, tc"),
    Field::new("max_th", PACKETS, Value::Unset)
        .meaning(by_profile!(
            "Average queue from which on every packet is signalled (with gentle: the probability \
             grows on from max_p).",
            PROFILES,
            max_th
        ))
        .source("Floyd and Jacobson 1993; defaults of ns-2.35, ns-3, ALTQ, tc"),
    Field::new("w_q", PROBABILITY, Value::Unset)
        .meaning(by_profile!(
            "Weight of the newest sample in the average. altq and linux need a power of two.",
            PROFILES,
            w_q
        ))
        .source("Floyd and Jacobson 1993; defaults of ns-2.35, ns-3, ALTQ, tc"),
    Field::new("max_p", PROBABILITY, Value::Unset)
        .meaning(by_profile!(
            "Probability of a signal, before spacing, where the average reaches max_th.",
            PROFILES,
            max_p
        ))
        .source("Floyd and Jacobson 1993; defaults of ns-2.35, ns-3, ALTQ, tc"),
    Field::new("gentle", Kind::Switch, Value::Unset)
        .meaning(by_profile!(
            "Whether the probability grows from max_p to 1 between max_th and twice max_th, \
             instead of jumping to 1.",
            PROFILES,
            gentle
        ))
        .source("S. Floyd, note on the gentle variant, 2000; defaults of ns-2.35, ns-3"),
    Field::new("wait", Kind::Switch, Value::Unset)
        .meaning(by_profile!(
            "Whether signals are at least 1/p_b packets apart (altq has one rule of its own, with \
             the same upper end and no lower one).",
            PROFILES,
            wait
        ))
        .source("ns-2.35, ns-3"),
    Field::new("queue_in_bytes", Kind::Switch, Value::Unset)
        .meaning(by_profile!(
            "Whether queue, average, thresholds and limit are counted in bytes, thresholds and \
             limit being multiplied by mean_packet_bytes; ns2-fixed counts the limit in bytes in \
             either case.",
            PROFILES,
            queue_in_bytes
        ))
        .source("ns-2.35 queue_in_bytes_, ns-3 MaxSize, Linux sch_red"),
    Field::new("byte_probability", Kind::Switch, Value::Unset)
        .meaning(by_profile!(
            "Whether the probability grows with the packet's size: fj93 scales p_b by \
             size/max_packet_bytes; ns2, ns2-fixed, ns3 scale p_a by size/mean_packet_bytes and \
             count in mean packets.",
            PROFILES,
            byte_probability
        ))
        .source("Floyd and Jacobson 1993; ns-2.35 bytes_; ns-3 MaxSize"),
    Field::new("mean_packet_bytes", PACKET_BYTES, Value::Unset)
        .meaning(by_profile!(
            "Mean packet size: the factor from packets to bytes, and the packet of the idle clock.",
            PROFILES,
            mean_packet_bytes
        ))
        .source("ns-2.35 mean_pktsize_ 500, ns-3 MeanPktSize 500, ALTQ; else constructed"),
    Field::new("max_packet_bytes", PACKET_BYTES, Value::Whole(1500))
        .meaning("Largest packet, to which byte_probability of fj93 refers.")
        .source("Floyd and Jacobson 1993 (symbol); value constructed: Ethernet's MTU"),
    Field::new("idle_packet_time", TIME, Value::Unset)
        .meaning(by_profile!(
            "Transmission time of one packet, the clock by which the average ages while the line \
             idles.",
            PROFILES,
            idle_packet_time
        ))
        .source("Floyd and Jacobson 1993 (s); ns-3 LinkBandwidth 1.5 Mb/s; ALTQ 1000 B at 10 Mb/s"),
    Field::new("limit", LIMIT, Value::Unset)
        .meaning(by_profile!(
            "Packets that may wait, not counting the one being transmitted; multiplied by \
             mean_packet_bytes where the limit is in bytes (ns2, ns2-fixed, ns3, linux). altq \
             raises it to max_th.",
            PROFILES,
            limit
        ))
        .source("ns-2.35 Queue limit_, ns-3 MaxSize, ALTQ; fj93 and linux constructed"),
    Field::new("limit_bytes", BYTES, Value::Unset)
        .meaning("IP bytes that may wait, in place of limit (fj93 allows both). Not in altq.")
        .source("Linux sch_red limit"),
    ECN.source("ns-2.35 setbit_, ns-3 UseEcn, Linux and ALTQ flags: all off"),
    Field::new("harddrop", Kind::Switch, Value::Unset)
        .meaning(by_profile!(
            "Whether ECN-capable packets too are dropped where the signal is certain (average at \
             or above max_th; gentle: twice max_th).",
            PROFILES,
            harddrop
        ))
        .source("RFC 3168 section 7; ns-3 UseHardDrop, Linux flag harddrop"),
    Field::new("nodrop", Kind::Switch, Value::Unset)
        .meaning(by_profile!(
            "With ecn: whether packets that cannot be marked wait where others are marked, so that \
             the limit alone drops them.",
            PROFILES,
            nodrop
        ))
        .source("read: Linux flag nodrop"),
    Field::new("use_mark_p", Kind::Switch, Value::Unset)
        .meaning(by_profile!(
            "No certain drops at all; the average above max_th is tested at random with p_b = 1 \
             (gentle: as it grows), and hits with p_b of at least mark_p drop even ECN-capable \
             packets.",
            PROFILES,
            use_mark_p
        ))
        .source("ns-2.35 use_mark_p_"),
    Field::new("mark_p", Kind::from(Unit::None, 0.0, 1e9), Value::Real(0.1))
        .meaning("ns2 with use_mark_p only: p_b from which on packets are dropped, not marked.")
        .source("ns-2.35 mark_p_"),
    Field::new("ns1_compat", Kind::Switch, Value::Unset)
        .meaning(by_profile!(
            "Whether the count of packets since the last signal behaves as in ns-1 after a certain \
             drop. ns2, ns2-fixed: true keeps it (also after an overflow), false clears it; ns3, \
             inverted: true clears it, false keeps it.",
            PROFILES,
            ns1_compat
        ))
        .source("ns-2.35 ns1_compat_, ns-3 Ns1Compat"),
];
