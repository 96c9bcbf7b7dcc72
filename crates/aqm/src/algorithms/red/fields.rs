//! RED's parameters as users write them: the paper's symbols where it has them.

use packet::params::{Field, Kind, Value};
use packet::units::Unit;

use crate::buffer::{BYTES, LIMIT, PACKET_BYTES, PACKETS, PROBABILITY, TIME};

/// Every parameter of RED.
pub(super) const FIELDS: &[Field] = &[
    Field::new("profile", Kind::Choice(super::settings::PROFILES), Value::Choice("fj93"))
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
        .meaning(
            "Average queue below which every packet passes. fj93, ns3, altq: 5; ns2, ns2-fixed: \
             half of what the line sends in 5 ms, at least 5; linux: max_th/3.",
        )
        .source("Floyd and Jacobson 1993; defaults of ns-2.35, ns-3, ALTQ, tc"),
    Field::new("max_th", PACKETS, Value::Unset)
        .meaning(
            "Average queue from which on every packet is signalled (with gentle: the probability \
             grows on from max_p). fj93, ns3, altq: 15; ns2, ns2-fixed: 3 min_th; linux: 3 min_th \
             if that is given, else a quarter of the limit.",
        )
        .source("Floyd and Jacobson 1993; defaults of ns-2.35, ns-3, ALTQ, tc"),
    Field::new("w_q", PROBABILITY, Value::Unset)
        .meaning(
            "Weight of the newest sample in the average. altq and linux need a power of two. fj93, \
             ns3: 0.002; ns2, ns2-fixed: 1 - exp(-1/K), K ten round trips of 100 ms in packet \
             times; altq: 1/512 (1/128 below 300 packets/s, 1/64 below 50); linux: the largest \
             that lets a burst of (2 min_th + max_th)/3 packets pass.",
        )
        .source("Floyd and Jacobson 1993; defaults of ns-2.35, ns-3, ALTQ, tc"),
    Field::new("max_p", PROBABILITY, Value::Unset)
        .meaning(
            "Probability of a signal, before spacing, where the average reaches max_th. fj93, ns3, \
             linux: 0.02; ns2, ns2-fixed, altq: 0.1.",
        )
        .source("Floyd and Jacobson 1993; defaults of ns-2.35, ns-3, ALTQ, tc"),
    Field::new("gentle", Kind::Switch, Value::Unset)
        .meaning(
            "Whether the probability grows from max_p to 1 between max_th and twice max_th, \
             instead of jumping to 1. ns2, ns3: true; others: false (impossible in altq and \
             linux).",
        )
        .source("S. Floyd, note on the gentle variant, 2000; defaults of ns-2.35, ns-3"),
    Field::new("wait", Kind::Switch, Value::Unset)
        .meaning(
            "Whether signals are at least 1/p_b packets apart. ns2, ns2-fixed, ns3: true; others: \
             false (altq has one rule of its own, with the same upper end and no lower one).",
        )
        .source("ns-2.35, ns-3"),
    Field::new("queue_in_bytes", Kind::Switch, Value::Unset)
        .meaning(
            "Whether queue, average, thresholds and limit are counted in bytes, thresholds and \
             limit being multiplied by mean_packet_bytes. ns2, linux: true; ns3: true if \
             limit_bytes is given; others: false; ns2-fixed counts the limit in bytes in either \
             case.",
        )
        .source("ns-2.35 queue_in_bytes_, ns-3 MaxSize, Linux sch_red"),
    Field::new("byte_probability", Kind::Switch, Value::Unset)
        .meaning(
            "Whether the probability grows with the packet's size: fj93 scales p_b by \
             size/max_packet_bytes; ns2, ns2-fixed, ns3 scale p_a by size/mean_packet_bytes and \
             count in mean packets. ns2, ns2-fixed: true; ns3: as queue_in_bytes; others: false.",
        )
        .source("Floyd and Jacobson 1993; ns-2.35 bytes_; ns-3 MaxSize"),
    Field::new("mean_packet_bytes", PACKET_BYTES, Value::Unset)
        .meaning(
            "Mean packet size: the factor from packets to bytes, and the packet of the idle clock. \
             fj93, altq, linux: 1000; ns2, ns2-fixed, ns3: 500.",
        )
        .source("ns-2.35 mean_pktsize_ 500, ns-3 MeanPktSize 500, ALTQ; else constructed"),
    Field::new("max_packet_bytes", PACKET_BYTES, Value::Whole(1500))
        .meaning("Largest packet, to which byte_probability of fj93 refers.")
        .source("Floyd and Jacobson 1993 (symbol); value constructed: Ethernet's MTU"),
    Field::new("idle_packet_time", TIME, Value::Unset)
        .meaning(
            "Transmission time of one packet, the clock by which the average ages while the line \
             idles. fj93, ns2, ns2-fixed, linux: mean_packet_bytes at the line's rate; ns3: \
             mean_packet_bytes at 1.5 Mbit/s whatever the line (LinkBandwidth's default: set this \
             to bind it to the line); altq: 800 us, or mean_packet_bytes at the line's rate if \
             that is given.",
        )
        .source("Floyd and Jacobson 1993 (s); ns-3 LinkBandwidth 1.5 Mb/s; ALTQ 1000 B at 10 Mb/s"),
    Field::new("limit", LIMIT, Value::Unset)
        .meaning(
            "Packets that may wait, not counting the one being transmitted; multiplied by \
             mean_packet_bytes where the limit is in bytes (ns2, ns2-fixed, ns3, linux). fj93, \
             altq, linux: 60; ns2, ns2-fixed: 50; ns3: 25. altq raises it to max_th.",
        )
        .source("ns-2.35 Queue limit_, ns-3 MaxSize, ALTQ; fj93 and linux constructed"),
    Field::new("limit_bytes", BYTES, Value::Unset)
        .meaning("IP bytes that may wait, in place of limit (fj93 allows both). Not in altq.")
        .source("Linux sch_red limit"),
    Field::new("ecn", Kind::Switch, Value::Switch(false))
        .meaning("Whether ECN-capable packets are marked where others are dropped by a signal.")
        .source("ns-2.35 setbit_, ns-3 UseEcn, Linux and ALTQ flags: all off"),
    Field::new("harddrop", Kind::Switch, Value::Unset)
        .meaning(
            "Whether ECN-capable packets too are dropped where the signal is certain (average at \
             or above max_th; gentle: twice max_th). linux: false; others: true (fixed in ns2, \
             ns2-fixed, altq).",
        )
        .source("RFC 3168 section 7; ns-3 UseHardDrop, Linux flag harddrop"),
    Field::new("use_mark_p", Kind::Switch, Value::Unset)
        .meaning(
            "ns2 only: no certain drops at all; the average above max_th is tested at random with \
             p_b = 1 (gentle: as it grows), and hits with p_b of at least mark_p drop even \
             ECN-capable packets. Default true there.",
        )
        .source("ns-2.35 use_mark_p_"),
    Field::new("mark_p", Kind::from(Unit::None, 0.0, 1e9), Value::Real(0.1))
        .meaning("ns2 with use_mark_p only: p_b from which on packets are dropped, not marked.")
        .source("ns-2.35 mark_p_"),
    Field::new("ns1_compat", Kind::Switch, Value::Unset)
        .meaning(
            "Whether the count of packets since the last signal behaves as in ns-1 after a certain \
             drop. ns2, ns2-fixed: true keeps it (also after an overflow), false clears it; ns3, \
             inverted: true clears it, false keeps it. Default false.",
        )
        .source("ns-2.35 ns1_compat_, ns-3 Ns1Compat"),
];
