//! PIE's parameters, with RFC 8033's names.

use packet::params::{Field, Kind, Value};
use packet::units::Unit;

use crate::buffer::{ECN, GAIN, LIMIT, LIMIT_BYTES, PACKET_BYTES, TIME};

/// Every parameter of PIE.
pub(super) const FIELDS: &[Field] = &[
    Field::new("profile", Kind::Choice(&["rfc8033", "linux", "docsis"]), Value::Choice("rfc8033"))
        .meaning("rfc8033: the RFC; linux: sch_pie; docsis: RFC 8034, for a cable modem.")
        .source("constructed"),
    Field::new("target", TIME, Value::Unset)
        .meaning("Target queueing delay (QDELAY_REF). 15 ms; docsis: 10 ms.")
        .source("RFC 8033 (recalled); read: Linux, ns-3, CableLabs' simulator"),
    Field::new("t_update", crate::periodic::PERIOD, Value::Unset)
        .meaning("Time between updates. 15 ms; docsis: 16 ms.")
        .source("RFC 8033 (recalled); read: Linux, ns-3, CableLabs' simulator"),
    Field::new("alpha", GAIN, Value::Unset)
        .meaning(
            "Gain of the delay's distance from the target, in Hz, not multiplied by t_update. \
             0.125; docsis: 0.25.",
        )
        .source("RFC 8033 (recalled); read: Linux 2/16, ns-3, CableLabs' simulator"),
    Field::new("beta", GAIN, Value::Unset)
        .meaning("Gain of the delay's growth, in Hz. 1.25; docsis: 2.5.")
        .source("RFC 8033 (recalled); read: Linux 20/16, ns-3, CableLabs' simulator"),
    Field::new("max_burst", Kind::from(Unit::Time, 0.0, 1e3), Value::Unset)
        .meaning("How long after a quiet time no packet is signalled. 150 ms; docsis: 142 ms.")
        .source("RFC 8033 (recalled); read: Linux, CableLabs' simulator (ns-3's code has 15 ms)"),
    Field::new("delay", Kind::Choice(&["timestamp", "rate", "line"]), Value::Unset)
        .meaning(
            "How the delay is measured: timestamp, how long the last packet sent had waited; rate, \
             the backlog over a measured departure rate; line, the backlog over the line's rate \
             (not in linux). rfc8033, linux: timestamp; docsis: always line.",
        )
        .source("read: Linux, ns-3; the RFC's own default is rate (recalled)"),
    Field::new("mean_packet_bytes", PACKET_BYTES, Value::Unset)
        .meaning(
            "A backlog of at most two such packets is never signalled (linux: below two MTUs). \
             rfc8033: 1000; linux: 1500 and the link's header_bytes; docsis: 1024.",
        )
        .source(
            "ns-3 MeanPktSize; read: Linux psched_mtu, counted as packets are: of two full-sized \
             ones that wait none is spared; CableLabs' simulator",
        ),
    Field::new("cap_drop", Kind::Switch, Value::Switch(true))
        .meaning("Whether p rises by at most 2 % at an update once it is 10 %.")
        .source("RFC 8033 section 5.5, optional (recalled); read: Linux, ns-3, dummynet"),
    Field::new("derandomise", Kind::Switch, Value::Switch(true))
        .meaning(
            "Whether signals are spaced: none until the probabilities of 0.85 packets have \
             gathered, certain at 8.5.",
        )
        .source("RFC 8033 section 5.4 (recalled); read: Linux (ns-3: off)"),
    Field::new("mark_ecnth", Kind::from(Unit::None, 0.0, 1.0), Value::Unset)
        .meaning(
            "With ecn: probability from which on (linux: above which) packets are dropped, not \
             marked. 0.1; not in docsis.",
        )
        .source("RFC 8033 section 5.1 (recalled); read: Linux, ns-3, dummynet"),
    Field::new("limit", LIMIT, Value::Unset)
        .meaning(
            "Packets that may wait, not counting the one being transmitted. rfc8033, linux: 1000 \
             unless limit_bytes is given; docsis: none unless given.",
        )
        .source("read: Linux; RFC 8033 has no number"),
    Field {
        meaning: "IP bytes that may wait. docsis: what the line sends in 100 ms; others: no such \
                  limit unless given.",
        source: "read: CableLabs' simulator",
        ..LIMIT_BYTES
    },
    ECN,
];
