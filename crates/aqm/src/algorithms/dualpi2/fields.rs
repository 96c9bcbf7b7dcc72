//! DualPI2's parameters.

use alloc::format;

use packet::params::{BadParams, Field, Kind, Params, Value};
use packet::units::Unit;

use crate::buffer::{GAIN, LIMIT, LIMIT_BYTES, PACKET_BYTES, TIME};

const DELAY: Kind = Kind::from(Unit::Time, 0.0, 1e3);
const COUNT: Kind = Kind::whole(Unit::Packets, 0, 1_000_000);

/// Every parameter of DualPI2.
pub(super) const FIELDS: &[Field] = &[
    Field::new("profile", Kind::Choice(&["rfc9332", "linux"]), Value::Choice("rfc9332"))
        .meaning("rfc9332: the RFC's appendix A; linux: sch_dualpi2.")
        .source("constructed"),
    Field::new("target", TIME, Value::Real(0.015))
        .meaning("Target delay of the older queue.")
        .source("RFC 9332 (recalled); read: Linux"),
    Field::new("t_update", crate::periodic::PERIOD, Value::Unset)
        .meaning("Time between updates. rfc9332: 15 ms; linux: 16 ms.")
        .source("RFC 9332 min(target, RTT_max/3) (recalled); read: Linux"),
    Field::new("alpha", GAIN, Value::Unset)
        .meaning(
            "Gain per update of the delay's distance from the target, in 1/s, t_update included. \
             rfc9332: 0.15; linux: 41/256.",
        )
        .source("RFC 9332 0.1 Tupdate/RTT_max^2 (recalled); read: Linux"),
    Field::new("beta", GAIN, Value::Unset)
        .meaning("Gain per update of the delay's growth, in 1/s. rfc9332: 3; linux: 819/256.")
        .source("RFC 9332 0.3/RTT_max (recalled); read: Linux"),
    Field::new("k", Kind::above(Unit::None, 0.0, 100.0), Value::Real(2.0))
        .meaning("Coupling: the scalable queue is marked with k p'.")
        .source("RFC 9332 (recalled); read: Linux"),
    Field::new("min_th", DELAY, Value::Unset)
        .meaning(
            "rfc9332 only: stay in the scalable queue from which on it marks of its own. 0.8 ms.",
        )
        .source("RFC 9332 (recalled)"),
    Field::new("range", DELAY, Value::Unset)
        .meaning("rfc9332 only: how much longer until it marks all. 0.4 ms.")
        .source("RFC 9332 (recalled)"),
    Field::new("th_len", COUNT, Value::Unset)
        .meaning(
            "rfc9332 only: packets in the scalable queue behind the departing one up to which that \
             is not marked for its delay: the floor of slow lines. 1.",
        )
        .source("RFC 9332 A.2, lines 5a to 5d (Th_len); read: a transcription"),
    Field::new("step", DELAY, Value::Unset)
        .meaning("linux only: stay in the scalable queue above which it marks all. 1 ms.")
        .source("read: Linux"),
    Field::new("step_packets", COUNT, Value::Unset)
        .meaning(
            "linux only: packets left in the scalable queue above which it marks all, in place of \
             step.",
        )
        .source("read: Linux (step_in_packets)"),
    Field::new("min_qlen_step", COUNT, Value::Unset)
        .meaning(
            "linux only: packets that an arrival must find in the scalable queue for the step to \
             count for it. 0.",
        )
        .source("read: Linux (skb_apply_step)"),
    Field::new("any_ect", Kind::Switch, Value::Unset)
        .meaning(
            "linux only: whether every ECN-capable packet goes to the scalable queue, ECT(0) too. \
             false.",
        )
        .source("read: Linux ecn_mask, tc any_ect and l4s_ect"),
    Field::new("nqb", Kind::Switch, Value::Switch(false))
        .meaning(
            "Whether packets with DSCP 45 (NQB) that are not scalable senders' go to the scalable queue, where \
             they are neither marked nor dropped by a signal.",
        )
        .source(
            "RFC 9956 and RFC 9332 allow it; read: Linux's third class \
             (DUALPI2_C_LLLL), to which a tc filter sends them. Off: no kernel looks at the DSCP itself",
        ),
    Field::new("drop_enqueue", Kind::Switch, Value::Unset)
        .meaning(
            "linux only: whether the controller's signals are given on arrival, not at departure (the step \
             stays there). false.",
        )
        .source("read: Linux drop_early, tc drop_enqueue and drop_dequeue"),
    Field::new("min_backlog", Kind::whole(Unit::Bytes, 0, 1_000_000_000), Value::Unset)
        .meaning(
            "IP bytes left in both queues below which neither is signalled for the controller, and \
             with rfc9332 not for the delay either. rfc9332: 0; linux: twice mtu.",
        )
        .source(
            "RFC 9332 A.1 has none (PIE's, RFC 8033 section 4.1, is two packets); read: Linux \
             (must_drop)",
        ),
    Field::new("drop_overload", Kind::Switch, Value::Switch(true))
        .meaning(
            "linux only: whether the scalable queue drops when k p' is above 1; otherwise p' is \
             kept from exceeding 1/k.",
        )
        .source("read: Linux"),
    Field::new("c_weight", Kind::whole(Unit::None, 1, 99), Value::Whole(10))
        .meaning("Least share of the line for the classic queue, in percent.")
        .source("read: Linux"),
    Field::new("mtu", PACKET_BYTES, Value::Whole(1514))
        .meaning(
            "Largest packet: the scheduler's first credit, half of linux's min_backlog, and the \
             room that rfc9332 wants for an arrival within limit_bytes.",
        )
        .source("read: Linux psched_mtu on Ethernet"),
    Field::new("limit", LIMIT, Value::Unset)
        .meaning("Packets that may wait in both queues; 10000 unless limit_bytes is given.")
        .source("read: Linux"),
    LIMIT_BYTES,
];

/// The parameters that a profile does not have.
pub(super) const fn foreign(linux: bool) -> &'static [&'static str] {
    if linux {
        &["min_th", "range", "th_len"]
    } else {
        &["step", "step_packets", "min_qlen_step", "any_ect", "drop_enqueue"]
    }
}

/// Refuses parameters that the profile does not have.
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
