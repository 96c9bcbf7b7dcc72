//! PIE's parameters, with RFC 8033's names.

use packet::params::{Field, Kind, Value};
use packet::units::Unit;

use crate::buffer::{ECN, LIMIT, LIMIT_BYTES, PACKET_BYTES, TIME};

const GAIN: Kind = Kind::Real { unit: Unit::None, min: 0.0, max: 1e3, open: false };

/// A field whose default is the profile's business.
const fn by_profile(
    name: &'static str,
    kind: Kind,
    meaning: &'static str,
    source: &'static str,
) -> Field {
    Field { name, meaning, kind, default: Value::Unset, source }
}

/// Every parameter of PIE.
pub(super) const FIELDS: &[Field] = &[
    Field {
        name: "profile",
        meaning: "rfc8033: the RFC; linux: sch_pie; docsis: RFC 8034, for a cable modem.",
        kind: Kind::Choice(&["rfc8033", "linux", "docsis"]),
        default: Value::Choice("rfc8033"),
        source: "constructed",
    },
    by_profile(
        "target",
        TIME,
        "Target queueing delay (QDELAY_REF). 15 ms; docsis: 10 ms.",
        "RFC 8033 (recalled); read: Linux, ns-3, CableLabs' simulator",
    ),
    by_profile(
        "t_update",
        crate::periodic::PERIOD,
        "Time between updates. 15 ms; docsis: 16 ms.",
        "RFC 8033 (recalled); read: Linux, ns-3, CableLabs' simulator",
    ),
    by_profile(
        "alpha",
        GAIN,
        "Gain of the delay's distance from the target, in Hz, not multiplied by t_update. 0.125; \
         docsis: 0.25.",
        "RFC 8033 (recalled); read: Linux 2/16, ns-3, CableLabs' simulator",
    ),
    by_profile(
        "beta",
        GAIN,
        "Gain of the delay's growth, in Hz. 1.25; docsis: 2.5.",
        "RFC 8033 (recalled); read: Linux 20/16, ns-3, CableLabs' simulator",
    ),
    by_profile(
        "max_burst",
        Kind::Real { unit: Unit::Time, min: 0.0, max: 1e3, open: false },
        "How long after a quiet time no packet is signalled. 150 ms; docsis: 142 ms.",
        "RFC 8033 (recalled); read: Linux, CableLabs' simulator (ns-3's code has 15 ms)",
    ),
    by_profile(
        "delay",
        Kind::Choice(&["timestamp", "rate", "line"]),
        "How the delay is measured: timestamp, how long the last packet sent had waited; rate, the \
         backlog over a measured departure rate; line, the backlog over the line's rate (not in \
         linux). rfc8033, linux: timestamp; docsis: always line.",
        "read: Linux, ns-3; the RFC's own default is rate (recalled)",
    ),
    by_profile(
        "mean_packet_bytes",
        PACKET_BYTES,
        "A backlog of at most two such packets is never signalled (linux: below two MTUs). \
         rfc8033: 1000; linux: 1500 and the link's header_bytes; docsis: 1024.",
        "ns-3 MeanPktSize; read: Linux psched_mtu, counted as packets are: of two full-sized ones \
         that wait none is spared; CableLabs' simulator",
    ),
    Field {
        name: "cap_drop",
        meaning: "Whether p rises by at most 2 % at an update once it is 10 %.",
        kind: Kind::Switch,
        default: Value::Switch(true),
        source: "RFC 8033 section 5.5, optional (recalled); read: Linux, ns-3, dummynet",
    },
    Field {
        name: "derandomise",
        meaning: "Whether signals are spaced: none until the probabilities of 0.85 packets have \
                  gathered, certain at 8.5.",
        kind: Kind::Switch,
        default: Value::Switch(true),
        source: "RFC 8033 section 5.4 (recalled); read: Linux (ns-3: off)",
    },
    by_profile(
        "mark_ecnth",
        Kind::Real { unit: Unit::None, min: 0.0, max: 1.0, open: false },
        "With ecn: probability from which on (linux: above which) packets are dropped, not marked. \
         0.1; not in docsis.",
        "RFC 8033 section 5.1 (recalled); read: Linux, ns-3, dummynet",
    ),
    by_profile(
        "limit",
        LIMIT,
        "Packets that may wait, not counting the one being transmitted. rfc8033, linux: 1000 \
         unless limit_bytes is given; docsis: none unless given.",
        "read: Linux; RFC 8033 has no number",
    ),
    Field {
        meaning: "IP bytes that may wait. docsis: what the line sends in 100 ms; others: no such \
                  limit unless given.",
        source: "read: CableLabs' simulator",
        ..LIMIT_BYTES
    },
    ECN,
];
