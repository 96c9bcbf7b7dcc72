//! The RFCs' TCP with exact times, for comparison with other simulators.

use packet::params::{BadParams, Field, Kind, Params, Value};
use packet::{About, Duration};

use super::fields::{self, OFF, ON, field};
use super::parts::{self, Parts};
use crate::congestion::Controls;
use crate::ecn::EchoCut;
use crate::entry::Entry;
use crate::profile::Profile;
use crate::recovery::{Implementation, RecoveryKind};
use crate::rtt::{Exact, RttRules};
use crate::timer_wheel::TimerWheel;

/// This profile's entry in the list of profiles.
pub(crate) const ENTRY: Entry = Entry {
    about: About {
        name: "plain",
        summary: "NewReno with SACK by the RFCs, timers exact",
        year: 2012,
        source: "RFC 5681, 6298, 6582, 6675, 3042, 3390; constructed: FIN on the last data segment, \
                 no Nagle, one segment timed at a time and none in recovery, ACK at the second \
                 segment whatever its size, new data outside recovery limited by all outstanding \
                 bytes, no rescue retransmission, constant receive window",
        deviations: "SACK bytes are not on the wire; no RST where a connection is given up; a repeated SYN is answered by a bare ACK, and \
                     keeps asking for ECN",
        fields: FIELDS,
    },
    build,
};

const FIELDS: &[Field] = &[
    fields::MSS,
    field(fields::WINDOW, Value::Whole(65_535), "largest window without scaling"),
    field(fields::INITIAL_WINDOW, Value::Whole(3), "RFC 3390 at an MSS of 1,460 B"),
    Field::new("sack", Kind::Switch, Value::Unset)
        .meaning("Short for recovery: true means \"sack\", false \"newreno\".")
        .source("constructed"),
    field(fields::RECOVERY, Value::Choice("sack"), "constructed"),
    field(fields::CONGESTION, Value::Choice("rfc5681"), "RFC 5681"),
    fields::DUPACK_THRESHOLD,
    field(fields::LIMITED_TRANSMIT, ON, "RFC 3042"),
    field(fields::RTO_MIN, Value::Real(1.0), "RFC 6298 (2.4)"),
    field(fields::TICK, Value::Real(0.0), "constructed: exact times"),
    field(fields::DELAYED_ACK, Value::Real(0.2), "constructed; RFC 1122 allows 0.5 s"),
    field(fields::ACK_EVERY, Value::Whole(2), "RFC 1122 section 4.2.3.2"),
    field(fields::DELAYED_ACK_CLOCK, Value::Choice("connection"), "constructed"),
    field(fields::TIMESTAMPS, OFF, "constructed"),
    field(fields::F_RTO, OFF, "constructed"),
    fields::ECN,
    Field::new("ecn_cut", Kind::Choice(&["rfc3168", "rfc5681"]), Value::Choice("rfc3168"))
        .meaning(
            "What an ECN echo leaves of the window. rfc3168: half; of less than two segments one, \
             and nothing new goes out before the timer expires. rfc5681: half of its whole segments, \
             but at least two, as after a loss; ns-3, Linux and FreeBSD leave at least two. Controls that are \
             no Reno of classic senders answer in their own way.",
        )
        .source("RFC 3168 section 6.1.2, as in ns-2.35; RFC 5681 equation 4"),
    fields::ECN_FEEDBACK,
    fields::ECN_RECEIVER,
    fields::ACCECN_OPTION,
    fields::BETA_ECN,
    field(fields::IDLE_RESTART, ON, "RFC 5681 section 4.1"),
    field(fields::INITIAL_SSTHRESH, Value::Unset, "unbounded: RFC 5681 section 3.1"),
    field(fields::RTO_INITIAL, Value::Real(1.0), "RFC 6298 (2.1)"),
    field(fields::SYN_LINEAR, Value::Whole(0), "RFC 6298 (5.5)"),
    field(fields::SYN_RETRIES, Value::Whole(12), "constructed; connect_limit ends it before"),
    field(fields::SYN_ACK_RETRIES, Value::Whole(12), "constructed; connect_limit ends it before"),
    field(fields::CONNECT_LIMIT, Value::Real(75.0), "constructed: as in 4.4BSD"),
];

fn build(params: &Params, controls: &Controls) -> Result<Profile, BadParams> {
    let parts = Parts::read(params, controls)?;
    let rtt = Exact {
        initial: parts.start.rto,
        min: parts.rto_min,
        margin: Duration::ZERO,
        max: Duration::from_secs(60),
        tick: parts.tick,
        any_ack_ends_backoff: false,
        wheel: TimerWheel::EXACT,
    };
    let mut profile = parts.profile(ENTRY.about.name, RttRules::Exact(rtt), Implementation::Rfc);
    if params.given("sack") {
        profile.recovery.kind = by_switch(params)?;
    }
    profile.ecn.cut = echo_cut(params, &parts)?;
    Ok(profile)
}

fn echo_cut(params: &Params, parts: &Parts) -> Result<EchoCut, BadParams> {
    let requested = parts.ecn.cut;
    if parts.congestion.classic().is_none() {
        let why = "goes with the Reno of classic senders (congestion = \"reno-bsd\", \"rfc5681\", \
                   \"reno-ns2\"); any other control answers an echo in its own way; leave it out";
        return params.without_effect("ecn_cut", why).map(|()| requested);
    }
    match (params.choice("ecn_cut"), parts.ecn.on) {
        ("rfc3168", _) if matches!(requested, EchoCut::Beta(_)) => Ok(requested),
        (cut, _) if matches!(requested, EchoCut::Beta(_)) => {
            let why = "contradicts beta_ecn, which says what a mark leaves; leave one out";
            Err(BadParams::new("ecn_cut", format!("\"{cut}\" {why}")))
        }
        ("rfc3168", _) => Ok(EchoCut::Half),
        (cut, false) => {
            let why = "means nothing without ecn = true; set both or none";
            Err(BadParams::new("ecn_cut", format!("\"{cut}\" {why}")))
        }
        (_, true) => Ok(EchoCut::AsLoss),
    }
}

fn by_switch(params: &Params) -> Result<RecoveryKind, BadParams> {
    let kind = if params.switch("sack") { RecoveryKind::Sack } else { RecoveryKind::NewReno };
    if !params.given("recovery") {
        params.ignore("recovery"); // its default does not apply
    } else if parts::kind(params.choice("recovery")) != kind {
        return Err(BadParams::new("sack", "contradicts recovery; leave one of the two out"));
    }
    Ok(kind)
}
