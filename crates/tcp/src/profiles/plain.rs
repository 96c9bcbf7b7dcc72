//! The RFCs' TCP with exact times, for comparison with other simulators.

use packet::params::{BadParams, Field, Kind, Params, Value};
use packet::{About, Duration};

use super::fields::{self, OFF, ON, field};
use super::parts::{self, Parts};
use super::start::Start;
use crate::ecn::{EchoCut, EcnRules};
use crate::host_cache::Remembers;
use crate::profile::{Ending, IdleRule, Opening, Profile, SynAck, TimeLimit};
use crate::recovery::{Implementation, RecoveryKind};
use crate::registry::Entry;
use crate::rtt::{Exact, RttRules};

/// The registry's line.
pub(crate) const ENTRY: Entry = Entry {
    about: About {
        name: "plain",
        summary: "NewReno with SACK by the RFCs, timers exact",
        year: 2012,
        source: "RFC 5681, 6298, 6582, 6675, 3042, 3390; constructed: FIN on the last data segment, \
                 no Nagle, one segment timed at a time and none in recovery, ACK at the second \
                 segment whatever its size, new data outside recovery limited by all outstanding \
                 bytes, no rescue retransmission, constant receive window",
        deviations: "SACK bytes are not on the wire; no RST; RFC 6582's timer rule \
                     restarts on every partial ACK; a repeated SYN is answered by a bare ACK, and \
                     keeps asking for ECN",
        fields: FIELDS,
    },
    build,
};

const FIELDS: &[Field] = &[
    fields::MSS,
    field(fields::WINDOW, Value::Whole(65_535), "largest window without scaling"),
    field(fields::INITIAL_WINDOW, Value::Whole(3), "RFC 3390 at an MSS of 1,460 B"),
    Field {
        name: "sack",
        meaning: "Short for recovery: true means \"sack\", false \"newreno\".",
        kind: Kind::Switch,
        default: Value::Unset,
        source: "constructed",
    },
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
    Field {
        name: "ecn_cut",
        meaning: "What an ECN echo leaves of the window. rfc3168: half; of less than two segments one, \
                  and nothing new goes out before the timer expires. rfc5681: half, but at least two \
                  segments, as after a loss; Linux and FreeBSD do so.",
        kind: Kind::Choice(&["rfc3168", "rfc5681"]),
        default: Value::Choice("rfc3168"),
        source: "RFC 3168 section 6.1.2, as in ns-2.35; RFC 5681 equation 4",
    },
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

fn build(params: &Params) -> Result<Profile, BadParams> {
    let parts = Parts::read(params)?;
    let start = Start::read(params);
    let mut recovery = parts.rules(Implementation::Rfc);
    if params.given("sack") {
        recovery.kind = by_switch(params)?;
    }
    Ok(Profile {
        name: ENTRY.about.name,
        mss: parts.mss as u16,
        window: parts.window,
        initial_segments: parts.initial_segments,
        initial_ssthresh: start.ssthresh(u64::MAX),
        congestion: parts.congestion.boxed(),
        rtt: RttRules::Exact(Exact {
            initial: start.rto,
            min: parts.rto_min,
            margin: Duration::ZERO,
            max: Duration::from_secs(60),
            tick: parts.tick,
        }),
        recovery,
        ack: parts.ack(),
        idle: if parts.idle_restart { IdleRule::SinceSent } else { IdleRule::Off },
        output: parts::PLAIN_OUTPUT,
        opening: Opening {
            syn_ack: SynAck::Timer,
            waits: start.waits(),
            options: 4,
            handshake_grows: false,
            loss_cuts_threshold: false,
            loss_closes_window: true,
        },
        ending: Ending::Fin,
        rto_check: parts.rto_check(),
        timestamps: parts.timestamps,
        ecn: EcnRules { cut: echo_cut(params, &parts)?, ..parts.ecn },
        max_resends: 12,
        connect_limit: start.life(),
        time_wait: TimeLimit::Exact(Duration::from_secs(60)),
        remembers: Remembers::Nothing,
    })
}

fn echo_cut(params: &Params, parts: &Parts) -> Result<EchoCut, BadParams> {
    let asked = parts.ecn.cut;
    match (params.choice("ecn_cut"), parts.ecn.on) {
        (cut, _) if matches!(asked, EchoCut::Beta(_)) => {
            if cut == "rfc5681" {
                let why = "\"rfc5681\" contradicts beta_ecn, which says what a mark leaves; leave one out";
                return Err(BadParams::new("ecn_cut", why));
            }
            Ok(asked)
        }
        ("rfc5681", false) => {
            let why = "\"rfc5681\" means nothing without ecn = true; set both or none";
            Err(BadParams::new("ecn_cut", why))
        }
        ("rfc5681", true) => Ok(EchoCut::AsLoss),
        _ => Ok(EchoCut::Half),
    }
}

fn by_switch(params: &Params) -> Result<RecoveryKind, BadParams> {
    let kind = if params.switch("sack") { RecoveryKind::Sack } else { RecoveryKind::NewReno };
    if params.given("recovery") && parts::kind(params.choice("recovery")) != kind {
        return Err(BadParams::new("sack", "contradicts recovery; leave one of the two out"));
    }
    Ok(kind)
}
