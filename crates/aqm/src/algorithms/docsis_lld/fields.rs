//! Parameters of Low Latency DOCSIS, with the specification's names where it has them.

use packet::params::{Field, Kind, Value};
use packet::units::Unit;

use crate::buffer::{BYTES, GAIN, LIMIT_BYTES, TIME};
use crate::shells::flows::HASH_SEED;

const MODEL: &str = "read: docsis-ns3";
const DELAY: Kind = Kind::from(Unit::Time, 0.0, 1e3);

/// Every parameter of Low Latency DOCSIS.
pub(super) const FIELDS: &[Field] = &[
    Field::new("target", TIME, Value::Real(0.010))
        .meaning("Target delay of the classic queue (LATENCY_TARGET).")
        .source(MODEL),
    Field::new("t_update", crate::periodic::PERIOD, Value::Real(0.016))
        .meaning("Time between updates.")
        .source(MODEL),
    Field::new("alpha", GAIN, Value::Real(0.25))
        .meaning("Gain of the classic delay's distance from the target, in Hz.")
        .source(MODEL),
    Field::new("beta", GAIN, Value::Real(2.5))
        .meaning("Gain of its growth, in Hz.")
        .source(MODEL),
    Field::new("max_burst", DELAY, Value::Real(0.142))
        .meaning("How long after a quiet time nothing is dropped.")
        .source(MODEL),
    Field::new("k", Kind::above(Unit::None, 0.0, 100.0), Value::Real(2.0))
        .meaning("Coupling: the low-latency queue is marked with k times the root of the classic queue's p.")
        .source(MODEL),
    Field::new("max_th", TIME, Value::Real(0.001))
        .meaning("Delay of the low-latency queue from which on it marks all, where two frames of 2,000 B take less than the begin of the ramp; else later.")
        .source(MODEL),
    Field::new("range", TIME, Value::Real(524_288e-9))
        .meaning("Width of the ramp below it.")
        .source("read: docsis-ns3 (2^19 ns)"),
    Field::new("estimator", Kind::Choice(&["virtual", "backlog"]), Value::Choice("virtual"))
        .meaning(
            "How the low-latency queue's delay is estimated: virtual, of a queue that drains at the line's rate, as a modem does, \
             whose packets wait for grants; backlog, of the bytes that wait, as the termination system does downstream.",
        )
        .source("read: docsis-ns3 (qdelayCoupledV, qdelayCoupledL)"),
    Field::new("loop_delay", DELAY, Value::Real(0.005))
        .meaning("virtual only: how long packets wait for grants without congestion; what waits longer lengthens the virtual queue.")
        .source("constructed: between 2 and 9 ms of a MAP interval of 2 ms; docsis-ns3 computes it from the channel"),
    Field::new("protection", Kind::Switch, Value::Switch(true))
        .meaning("Whether flows that build a queue are sent to the classic one.")
        .source("RFC 9957"),
    Field::new("critical", TIME, Value::Unset)
        .meaning("Delay from which on flows are judged (CRITICALqL), by default that from which on all are marked.")
        .source(MODEL),
    Field::new("critical_score", TIME, Value::Real(0.004))
        .meaning("Score from which on packets are sent away at that delay, and from less at more (CRITICALqLSCORE).")
        .source(MODEL),
    Field::new("c_weight", Kind::whole(Unit::None, 1, 99), Value::Whole(10))
        .meaning("Least share of the line for the classic queue, in percent.")
        .source("read: docsis-ns3 (26 of 256)"),
    Field {
        meaning: "IP bytes that may wait in the classic queue, by default what the line sends in 100 ms.",
        source: MODEL,
        ..LIMIT_BYTES
    },
    Field::new("low_limit_bytes", BYTES, Value::Unset)
        .meaning("IP bytes that may wait in the low-latency queue, by default what the line sends in 10 ms, and at least 4,000.")
        .source(MODEL),
    HASH_SEED,
];
