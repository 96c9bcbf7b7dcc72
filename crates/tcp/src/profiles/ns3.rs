//! The TCP of ns-3.44 (TcpSocketBase).

use packet::params::{BadParams, Field, Kind, Params, Value};
use packet::{About, Duration};

use super::fields::{self, OFF, ON, field};
use super::parts::Parts;
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
        name: "ns3",
        summary: "TcpSocketBase of ns-3.44: NewReno with SACK where it differs from the RFCs",
        year: 2025,
        source: "read from ns-3.44 (TcpSocketBase): the first segment of data is acknowledged at once \
                 (ProcessSynRcvd); any new ACK ends the back-off of the timer (NewAck); with SACK each \
                 partial ACK sends a segment, only the first starts the timer anew, and an ACK that reports \
                 more beyond a hole grows nothing (ProcessAck); an ECN echo begins a state of its own \
                 (EnterCwr); all else as in plain, with which ns-3 was compared figure by figure",
        deviations: "PRR and ns-3's own controls are not there (its TcpNewReno halves what is out less one \
                     segment more); as plain: SACK bytes are not on the wire, no RST, FIN on the last data \
                     segment, constant receive window",
        fields: FIELDS,
    },
    build,
};

const SOCKET: &str = "recalled: attribute of TcpSocket";
const BASE: &str = "recalled: attribute of TcpSocketBase";

const FIELDS: &[Field] = &[
    field(fields::MSS, Value::Whole(536), "recalled: TcpSocket::SegmentSize"),
    field(fields::WINDOW, Value::Whole(131_072), "recalled: TcpSocket::RcvBufSize"),
    field(fields::INITIAL_WINDOW, Value::Whole(10), "recalled: TcpSocket::InitialCwnd"),
    field(fields::RECOVERY, Value::Choice("sack"), "recalled: TcpSocketBase::Sack = true"),
    Field::new("impatient", Kind::Switch, ON)
        .meaning(
            "In a recovery with SACK only the first partial ACK starts the retransmission timer anew, so that \
             many losses end in a timeout (\"Impatient\" in RFC 6582 section 4); off as in RFC 6298 (5.3), \
             to see what that does. Recovery without SACK always does so here.",
        )
        .source("ns-3.44 (TcpSocketBase::ProcessAck)"),
    field(fields::CONGESTION, Value::Choice("rfc5681"), "constructed: RFC 5681"),
    fields::DUPACK_THRESHOLD,
    field(fields::LIMITED_TRANSMIT, ON, "recalled: TcpSocketBase::LimitedTransmit = true"),
    field(fields::RTO_MIN, Value::Real(1.0), "recalled: TcpSocketBase::MinRto"),
    field(fields::TICK, Value::Real(0.0), "constructed: exact times (ClockGranularity is 1 ms)"),
    field(fields::DELAYED_ACK, Value::Real(0.2), "recalled: TcpSocket::DelAckTimeout"),
    field(fields::ACK_EVERY, Value::Whole(2), "recalled: TcpSocket::DelAckCount"),
    field(fields::DELAYED_ACK_CLOCK, Value::Choice("connection"), SOCKET),
    field(fields::TIMESTAMPS, ON, "recalled: TcpSocketBase::Timestamp = true"),
    field(fields::F_RTO, OFF, "ns-3.44 has none"),
    fields::ECN,
    fields::ECN_FEEDBACK,
    fields::ECN_RECEIVER,
    field(fields::IDLE_RESTART, OFF, BASE),
    field(fields::INITIAL_SSTHRESH, Value::Unset, "unbounded: recalled, InitialSlowStartThreshold"),
    field(fields::RTO_INITIAL, Value::Real(3.0), "recalled: TcpSocket::ConnTimeout"),
    field(fields::SYN_LINEAR, Value::Whole(0), "RFC 6298 (5.5)"),
    field(fields::SYN_RETRIES, Value::Whole(6), "recalled: TcpSocket::ConnCount"),
    field(fields::SYN_ACK_RETRIES, Value::Whole(6), "recalled: TcpSocket::ConnCount"),
    field(fields::CONNECT_LIMIT, Value::Unset, "none: retransmissions are counted"),
];

fn build(params: &Params, controls: &Controls) -> Result<Profile, BadParams> {
    let parts = Parts::read(params, controls)?;
    let rtt = Exact {
        initial: parts.start.rto,
        min: parts.rto_min,
        margin: Duration::ZERO,
        max: Duration::from_secs(60),
        tick: parts.tick,
        any_ack_ends_backoff: true,
        wheel: TimerWheel::EXACT,
    };
    let mut profile = parts.profile(ENTRY.about.name, RttRules::Exact(rtt), Implementation::Rfc);
    let with_sack = profile.recovery.kind == RecoveryKind::Sack;
    if !with_sack {
        params.without_effect("impatient", "goes with recovery = \"sack\"; leave it out")?;
    }
    profile.recovery.partial_ack_sends = with_sack;
    profile.recovery.reports_hold_growth = with_sack;
    profile.recovery.impatient_with_sack = with_sack && params.switch("impatient");
    profile.ecn.cut = EchoCut::AsLoss;
    // Any other control answers an echo in its own way, and may have no threshold.
    profile.recovery.cwr_state = parts.congestion.classic().is_some();
    profile.ack.first = true;
    Ok(profile)
}

#[cfg(test)]
mod tests {
    use packet::params::Raw;

    use super::*;

    fn built(given: &[(&str, Raw)]) -> Result<Profile, BadParams> {
        let raw: Vec<_> = given.iter().map(|(n, v)| ((*n).to_owned(), v.clone())).collect();
        build(
            &Params::check(FIELDS, &raw).expect("settings that the table knows"),
            &Controls::ours(),
        )
    }

    #[test]
    fn what_ns3_does_with_sack_it_does_with_sack_alone() {
        let rules = |given: &[(&str, Raw)]| {
            let rules = built(given).map(|profile| profile.recovery);
            rules.map(|r| [r.partial_ack_sends, r.reports_hold_growth, r.impatient_with_sack])
        };
        let newreno = ("recovery", Raw::Text("newreno".into()));
        let patient = ("impatient", Raw::Bool(false));
        assert_eq!(rules(&[]).ok(), Some([true; 3]));
        assert_eq!(rules(std::slice::from_ref(&patient)).ok(), Some([true, true, false]));
        assert_eq!(rules(std::slice::from_ref(&newreno)).ok(), Some([false; 3]));
        assert_eq!(rules(&[newreno, patient]).unwrap_err().field, "impatient");
    }
}
