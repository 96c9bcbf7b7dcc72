//! RED-PD's parameters.

use packet::params::{Field, Kind, Value};
use packet::units::Unit;

use super::flow::MOST_LISTS;
use crate::buffer::{ECN, LIMIT, PACKET_BYTES, PACKETS, PROBABILITY};

const LISTS: Kind = Kind::whole(Unit::Count, 1, MOST_LISTS as u64);

/// Every parameter of RED-PD.
pub(super) const FIELDS: &[Field] = &[
    Field::new("K", LISTS, Value::Whole(3))
        .meaning("In how many of the last N lists a flow is monitored.")
        .source("read: ns-2.35 XinRegular_"),
    Field::new("N", LISTS, Value::Whole(5))
        .meaning("Lists of flows with RED drops that are kept.")
        .source("read: ns-2.35 MaxHighDRFlowHist_"),
    Field::new("R", Kind::from(Unit::Time, 0.001, 100.0), Value::Real(0.040))
        .meaning("Target round trip time: flows faster than a TCP flow of this are monitored.")
        .source("read: ns-2.35 target_rtt_"),
    Field::new("max_listed", Kind::whole(Unit::Count, 1, 1_000_000), Value::Whole(50))
        .meaning("Most flows in a list; those that lost most bytes.")
        .source("read: ns-2.35 MaxDropList_"),
    Field::new("unresponsive_test", Kind::Switch, Value::Switch(true))
        .meaning("Whether flows that do not respond are looked for, and dropped harder.")
        .source("read: ns-2.35 unresponsive_test_"),
    Field::new("noidle", Kind::Switch, Value::Switch(false))
        .meaning(
            "Whether the pre-filter spares unresponsive flows too while at most one packet waits.",
        )
        .source("read: ns-2.35 noidle_"),
    Field::new("inner", Kind::Choice(&["ns2", "fj93"]), Value::Choice("ns2"))
        .meaning("Whose RED stands behind the filter, in packets: ns2 (with wait) or fj93.")
        .source("constructed: the scripts ran in ns-2"),
    Field::new("min_th", PACKETS, Value::Real(10.0))
        .meaning("RED's lower threshold; below it responsive flows pass the filter.")
        .source("read: ns-2.35, example scripts of RED-PD"),
    Field::new("max_th", PACKETS, Value::Real(33.0))
        .meaning("RED's upper threshold.")
        .source("read: ns-2.35, example scripts of RED-PD"),
    Field::new("w_q", PROBABILITY, Value::Real(0.002))
        .meaning("Weight of the newest sample in RED's average.")
        .source("Floyd and Jacobson 1993"),
    Field::new("max_p", PROBABILITY, Value::Real(0.1))
        .meaning("RED's probability, before spacing, where the average reaches max_th.")
        .source("read: ns-2.35 linterm_ 10"),
    Field::new("gentle", Kind::Switch, Value::Switch(true))
        .meaning(
            "Whether RED's probability grows from max_p to 1 between max_th and twice max_th, \
             instead of jumping to 1.",
        )
        .source("read: ns-2.35 gentle_"),
    Field::new("mean_packet_bytes", PACKET_BYTES, Value::Whole(1000))
        .meaning(
            "Mean packet size: at the line's rate it is the clock by which RED's average ages \
             while the line idles.",
        )
        .source("read: ns-2.35, example scripts of RED-PD"),
    Field::new("limit", LIMIT, Value::Whole(100))
        .meaning("Packets that may wait, not counting the one being transmitted.")
        .source("read: ns-2.35, example scripts of RED-PD (50 or 100)"),
    ECN,
];
