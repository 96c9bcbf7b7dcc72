//! RED-PD's parameters.

use packet::params::{Field, Kind, Value};
use packet::units::Unit;

use super::flow::MOST_LISTS;
use crate::buffer::{ECN, LIMIT, PACKET_BYTES};

const PACKETS: Kind = Kind::Real { unit: Unit::Packets, min: 0.0, max: 1e8, open: true };
const PROBABILITY: Kind = Kind::Real { unit: Unit::None, min: 0.0, max: 1.0, open: true };
const LISTS: Kind = Kind::Whole { unit: Unit::Count, min: 1, max: MOST_LISTS as u64 };

/// Every parameter.
pub(super) const FIELDS: &[Field] = &[
    Field {
        name: "K",
        meaning: "In how many of the last N lists a flow is monitored.",
        kind: LISTS,
        default: Value::Whole(3),
        source: "read: ns-2.35 XinRegular_",
    },
    Field {
        name: "N",
        meaning: "Lists of flows with RED drops that are kept.",
        kind: LISTS,
        default: Value::Whole(5),
        source: "read: ns-2.35 MaxHighDRFlowHist_",
    },
    Field {
        name: "R",
        meaning: "Target round trip time: flows faster than a TCP flow of this are monitored.",
        kind: Kind::Real { unit: Unit::Time, min: 0.001, max: 100.0, open: false },
        default: Value::Real(0.040),
        source: "read: ns-2.35 target_rtt_",
    },
    Field {
        name: "max_listed",
        meaning: "Most flows in a list; those that lost most bytes.",
        kind: Kind::Whole { unit: Unit::Count, min: 1, max: 1_000_000 },
        default: Value::Whole(50),
        source: "read: ns-2.35 MaxDropList_",
    },
    Field {
        name: "unresponsive_test",
        meaning: "Whether flows that do not respond are looked for, and dropped harder.",
        kind: Kind::Switch,
        default: Value::Switch(true),
        source: "read: ns-2.35 unresponsive_test_",
    },
    Field {
        name: "noidle",
        meaning: "Whether the pre-filter spares unresponsive flows too while at most one packet \
                  waits.",
        kind: Kind::Switch,
        default: Value::Switch(false),
        source: "read: ns-2.35 noidle_",
    },
    Field {
        name: "inner",
        meaning: "Whose RED stands behind the filter, in packets: ns2 (with wait) or fj93.",
        kind: Kind::Choice(&["ns2", "fj93"]),
        default: Value::Choice("ns2"),
        source: "constructed: the scripts ran in ns-2",
    },
    Field {
        name: "min_th",
        meaning: "RED's lower threshold; below it responsive flows pass the filter.",
        kind: PACKETS,
        default: Value::Real(10.0),
        source: "read: ns-2.35, example scripts of RED-PD",
    },
    Field {
        name: "max_th",
        meaning: "RED's upper threshold.",
        kind: PACKETS,
        default: Value::Real(33.0),
        source: "read: ns-2.35, example scripts of RED-PD",
    },
    Field {
        name: "w_q",
        meaning: "Weight of the newest sample in RED's average.",
        kind: PROBABILITY,
        default: Value::Real(0.002),
        source: "Floyd and Jacobson 1993",
    },
    Field {
        name: "max_p",
        meaning: "RED's probability, before spacing, where the average reaches max_th.",
        kind: PROBABILITY,
        default: Value::Real(0.1),
        source: "read: ns-2.35 linterm_ 10",
    },
    Field {
        name: "gentle",
        meaning: "Whether RED's probability grows from max_p to 1 between max_th and twice \
                  max_th, instead of jumping to 1.",
        kind: Kind::Switch,
        default: Value::Switch(true),
        source: "read: ns-2.35 gentle_",
    },
    Field {
        name: "mean_packet_bytes",
        meaning: "Mean packet size: at the line's rate it is the clock by which RED's average \
                  ages while the line idles.",
        kind: PACKET_BYTES,
        default: Value::Whole(1000),
        source: "read: ns-2.35, example scripts of RED-PD",
    },
    Field {
        name: "limit",
        meaning: "Packets that may wait, not counting the one being transmitted.",
        kind: LIMIT,
        default: Value::Whole(100),
        source: "read: ns-2.35, example scripts of RED-PD (50 or 100)",
    },
    ECN,
];
