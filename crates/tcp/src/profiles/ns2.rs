//! The one-way agents of ns-2.35: Agent/TCP with its sink.

use packet::params::{BadParams, Field, Kind, Params, Value};
use packet::{About, Duration};

use super::fields::{self, OFF, ON, field};
use super::parts::{self, Parts};
use crate::congestion::Controls;
use crate::ecn::{EchoCut, EcnRules};
use crate::entry::Entry;
use crate::profile::{Ending, Opening, Output, Profile, SynAck};
use crate::recovery::{Implementation, Leaving};
use crate::rtt::{Ns2, RttRules};

/// This profile's entry in the list of profiles.
pub(crate) const ENTRY: Entry = Entry {
    about: About {
        name: "ns2",
        summary: "One-way agents of ns-2.35: packets counted, a SYN but no FIN, the sink acknowledges \
                  every packet",
        year: 2011,
        source: "read from ns-2.35: packets of 1,000 B and 40 B of headers, window of 20, initial \
                 window of 2 and threshold of 20 packets, RFC 2988 timeouts of 0.2 to 60 s on 10 ms \
                 ticks, 3 s at first, limited transmit, bug_fix_",
        deviations: "bytes are counted where ns-2 counts packets, and a short packet occupies the \
                     line like a full one; both ends are sender and sink; recovery = \"sack\" is RFC \
                     6675, Agent/TCP/Sack1 is \"sack1\"; for want of a FIN a connection is over when all \
                     data is acknowledged, which the other end learns without a packet; no back-off of the timer by a second echo at a window of one, no \
                     maxburst, overhead or send timers",
        fields: FIELDS,
    },
    build,
};

const DEFAULT: &str = "default of ns-2.35";

const FIELDS: &[Field] = &[
    field(fields::MSS, Value::Whole(1_000), DEFAULT),
    field(fields::WINDOW, Value::Whole(20_000), "20 packets of 1,000 B, the default of ns-2.35"),
    field(fields::INITIAL_WINDOW, Value::Whole(2), DEFAULT),
    field(fields::RECOVERY, Value::Choice("reno"), "Agent/TCP/Reno; Agent/TCP alone is Tahoe"),
    field(fields::CONGESTION, Value::Choice("reno-ns2"), "Agent/TCP of ns-2.35"),
    fields::DUPACK_THRESHOLD,
    EXIT_RECOVERY_FIX,
    field(fields::LIMITED_TRANSMIT, ON, "singledup_ of ns-2.35"),
    field(fields::RTO_MIN, Value::Real(0.2), DEFAULT),
    field(fields::TICK, Value::Real(0.01), DEFAULT),
    field(fields::DELAYED_ACK, Value::Real(0.1), "the delayed-ACK sink of ns-2.35"),
    field(
        fields::ACK_EVERY,
        Value::Whole(1),
        "the plain sink of ns-2.35; 2 is the delayed-ACK one",
    ),
    field(
        fields::DELAYED_ACK_CLOCK,
        Value::Choice("connection"),
        "ns-2.35: after the first packet",
    ),
    field(fields::TIMESTAMPS, OFF, DEFAULT),
    field(fields::F_RTO, OFF, DEFAULT),
    fields::ECN,
    fields::ECN_FEEDBACK,
    fields::ECN_RECEIVER,
    field(fields::IDLE_RESTART, OFF, "ns-2.35: no timer runs while nothing is outstanding"),
    field(fields::INITIAL_SSTHRESH, Value::Unset, "the window (ssthresh_ = 0 of ns-2.35)"),
    field(fields::RTO_INITIAL, Value::Real(3.0), "rtxcur_init_ of ns-2.35"),
    field(fields::SYN_LINEAR, Value::Whole(0), "rtt_backoff of ns-2.35"),
    field(fields::SYN_RETRIES, Value::Unset, "without limit: max_connects_ = -1 of ns-2.35"),
    field(
        fields::SYN_ACK_RETRIES,
        Value::Unset,
        "none: a sink has no timer, it answers a SYN as often as that comes",
    ),
    field(fields::CONNECT_LIMIT, Value::Unset, "none in ns-2.35"),
];

/// How NewReno leaves a recovery.
pub(super) const EXIT_RECOVERY_FIX: Field = Field::new("exit_recovery_fix", Kind::Switch, OFF)
    .meaning(
        "NewReno leaves a recovery with no more than a packet beyond what is outstanding, as RFC \
         6582 has it; else with the window that the recovery began with, in a burst. Without \
         meaning for other kinds of recovery.",
    )
    .source("exit_recovery_fix_ = 0 in ns-default.tcl of ns-2.35");

fn build(params: &Params, controls: &Controls) -> Result<Profile, BadParams> {
    if params.given("synack_retries") {
        let why = "means nothing here: a sink has no timer, it answers every SYN; leave it out";
        return Err(BadParams::new("synack_retries", why));
    }
    let parts = Parts::read(params, controls)?;
    let mut profile = Profile {
        output: Output { whole_packets: true, ..parts::PLAIN_OUTPUT },
        ending: Ending::Silent,
        max_resends: u8::MAX,
        ..common(ENTRY.about.name, &parts, false)?
    };
    profile.opening.syn_ack = SynAck::Sink;
    profile.ecn.waiting_mark_outlasts_cwr = true;
    profile.ecn.repeats_are_capable = true;
    // `TcpAgent::timeout`: where nothing has been acknowledged, wnd_init_ becomes 1.
    profile.opening.loss_closes_window = true;
    if params.switch("exit_recovery_fix") {
        profile.recovery.leaving = Leaving::Outstanding;
    }
    Ok(profile)
}

/// The parts of a profile that the one-way agents and FullTcp share.
pub(super) fn common(
    name: &'static str,
    parts: &Parts,
    any_ack_ends_backoff: bool,
) -> Result<Profile, BadParams> {
    let rtt = Ns2 {
        tick: parts.counted_tick()?,
        initial: parts.start.rto,
        min: parts.rto_min,
        max: Duration::from_secs(60),
        any_ack_ends_backoff,
    };
    let common = parts.profile(name, RttRules::Ns2(rtt), Implementation::Ns2);
    Ok(Profile {
        initial_ssthresh: parts.start.ssthresh(parts.window),
        // SYNs have no options. A lost SYN leaves a threshold of two packets; the first window of
        // FullTcp is nevertheless that of the settings (`delay_growth_`).
        opening: Opening {
            options: 0,
            loss_cuts_threshold: true,
            loss_closes_window: false,
            ..common.opening
        },
        ecn: EcnRules { cut: EchoCut::Half, ..common.ecn },
        ..common
    })
}
