//! DualPI2's parameters.

use alloc::format;

use packet::params::{BadParams, Field, Kind, Params, Value};
use packet::units::Unit;

use crate::buffer::{LIMIT, LIMIT_BYTES, PACKET_BYTES, TIME};

const GAIN: Kind = Kind::Real { unit: Unit::None, min: 0.0, max: 1e3, open: false };
const DELAY: Kind = Kind::Real { unit: Unit::Time, min: 0.0, max: 1e3, open: false };
const COUNT: Kind = Kind::Whole { unit: Unit::Packets, min: 0, max: 1_000_000 };

/// Every parameter.
pub(super) const FIELDS: &[Field] = &[
    Field {
        name: "profile",
        meaning: "rfc9332: the RFC's appendix A; linux: sch_dualpi2.",
        kind: Kind::Choice(&["rfc9332", "linux"]),
        default: Value::Choice("rfc9332"),
        source: "constructed",
    },
    Field {
        name: "target",
        meaning: "Target delay of the older queue.",
        kind: TIME,
        default: Value::Real(0.015),
        source: "RFC 9332 (recalled); read: Linux",
    },
    Field {
        name: "t_update",
        meaning: "Time between updates. rfc9332: 15 ms; linux: 16 ms.",
        kind: crate::periodic::PERIOD,
        default: Value::Unset,
        source: "RFC 9332 min(target, RTT_max/3) (recalled); read: Linux",
    },
    Field {
        name: "alpha",
        meaning: "Gain per update of the delay's distance from the target, in 1/s, t_update \
                  included. rfc9332: 0.15; linux: 41/256.",
        kind: GAIN,
        default: Value::Unset,
        source: "RFC 9332 0.1 Tupdate/RTT_max^2 (recalled); read: Linux",
    },
    Field {
        name: "beta",
        meaning: "Gain per update of the delay's growth, in 1/s. rfc9332: 3; linux: 819/256.",
        kind: GAIN,
        default: Value::Unset,
        source: "RFC 9332 0.3/RTT_max (recalled); read: Linux",
    },
    Field {
        name: "k",
        meaning: "Coupling: the scalable queue is marked with k p'.",
        kind: Kind::Real { unit: Unit::None, min: 0.0, max: 100.0, open: true },
        default: Value::Real(2.0),
        source: "RFC 9332 (recalled); read: Linux",
    },
    Field {
        name: "min_th",
        meaning: "rfc9332 only: stay in the scalable queue from which on it marks of its own. \
                  0.8 ms.",
        kind: DELAY,
        default: Value::Unset,
        source: "RFC 9332 (recalled)",
    },
    Field {
        name: "range",
        meaning: "rfc9332 only: how much longer until it marks all. 0.4 ms.",
        kind: DELAY,
        default: Value::Unset,
        source: "RFC 9332 (recalled)",
    },
    Field {
        name: "th_len",
        meaning: "rfc9332 only: packets in the scalable queue behind the departing one up to which \
                  that is not marked for its delay: the floor of slow lines. 1.",
        kind: COUNT,
        default: Value::Unset,
        source: "RFC 9332 A.2, lines 5a to 5d (Th_len); read: a transcription",
    },
    Field {
        name: "step",
        meaning: "linux only: stay in the scalable queue above which it marks all. 1 ms.",
        kind: DELAY,
        default: Value::Unset,
        source: "read: Linux",
    },
    Field {
        name: "step_packets",
        meaning: "linux only: packets left in the scalable queue above which it marks all, in place \
                  of step.",
        kind: COUNT,
        default: Value::Unset,
        source: "read: Linux (step_in_packets)",
    },
    Field {
        name: "min_qlen_step",
        meaning: "linux only: packets that an arrival must find in the scalable queue for the step \
                  to count for it. 0.",
        kind: COUNT,
        default: Value::Unset,
        source: "read: Linux (skb_apply_step)",
    },
    Field {
        name: "min_backlog",
        meaning: "IP bytes left in both queues below which neither is signalled for the controller, \
                  and with rfc9332 not for the delay either. rfc9332: 0; linux: twice mtu.",
        kind: Kind::Whole { unit: Unit::Bytes, min: 0, max: 1_000_000_000 },
        default: Value::Unset,
        source: "RFC 9332 A.1 has none (PIE's, RFC 8033 section 4.1, is two packets); read: Linux \
                 (must_drop)",
    },
    Field {
        name: "drop_overload",
        meaning: "linux only: whether the scalable queue drops when k p' is above 1; otherwise p' \
                  is kept from exceeding 1/k.",
        kind: Kind::Switch,
        default: Value::Switch(true),
        source: "read: Linux",
    },
    Field {
        name: "c_weight",
        meaning: "Least share of the line for the classic queue, in percent.",
        kind: Kind::Whole { unit: Unit::None, min: 1, max: 99 },
        default: Value::Whole(10),
        source: "read: Linux",
    },
    Field {
        name: "mtu",
        meaning: "Largest packet: the scheduler's first credit, half of linux's min_backlog, and the room that rfc9332 wants for an arrival within limit_bytes.",
        kind: PACKET_BYTES,
        default: Value::Whole(1514),
        source: "read: Linux psched_mtu on Ethernet",
    },
    Field {
        name: "limit",
        meaning: "Packets that may wait in both queues; 10000 unless limit_bytes is given.",
        kind: LIMIT,
        default: Value::Unset,
        source: "read: Linux",
    },
    LIMIT_BYTES,
];

/// The fields that a profile does not have.
pub(super) const fn foreign(linux: bool) -> &'static [&'static str] {
    if linux { &["min_th", "range", "th_len"] } else { &["step", "step_packets", "min_qlen_step"] }
}

/// Refuses what the profile does not have.
pub(super) fn refuse_what_is_not_there(params: &Params) -> Result<(), BadParams> {
    let profile = params.choice("profile");
    let linux = profile == "linux";
    let why = if linux {
        "Linux marks above a step, not along a ramp; use step, step_packets, min_qlen_step"
    } else {
        "the RFC marks along a ramp; use min_th, range, th_len"
    };
    let refuse = |field: &str, why: &str| {
        let value = params.written(field);
        let text = format!("{value} is not possible with profile \"{profile}\": {why}");
        Err(BadParams::new(field, text))
    };
    if let Some(field) = foreign(linux).iter().find(|field| params.given(field)) {
        return refuse(field, why);
    }
    if params.given("step") && params.given("step_packets") {
        let why = "is in place of step: give a time or a number of packets, not both";
        return Err(BadParams::new("step_packets", why));
    }
    if profile != "linux" && !params.switch("drop_overload") {
        return refuse("drop_overload", "the RFC drops in overload; write true or leave it out");
    }
    Ok(())
}
