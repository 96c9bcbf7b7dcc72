//! A Linux host of today.

use packet::Duration;
use packet::params::{BadParams, Field, Kind, Params, Value};

use super::parts::{self, OFF, ON, Parts, field};
use crate::congestion;
use crate::profile::{Ending, IdleRule, Life, Opening, Profile, SynAck};
use crate::receiver::{AckPolicy, AtOnce};
use crate::recovery::{Manner, RecoveryKind, Today};
use crate::registry::Entry;
use crate::rtt::{Exact, RttRules};
use crate::window::Growth;

/// The registry's line.
pub(crate) const ENTRY: Entry = Entry {
    name: "linux",
    summary: "A Linux host of today: SACK, RACK-TLP, PRR, a choice of congestion controls, IW 10",
    year: 2021,
    source: "RFC 8985 (RACK-TLP), 6937 and 9937 (PRR), 6298, 5682, 2883, 6928, 7323; Linux 6 \
             where it differs (net/ipv4), as named at each rule",
    deviations: "constructed: windows and data in flight are counted in bytes, of segments of one \
                 instant it is known which was sent first, no Nagle, FIN on the last data segment \
                 and counted like a byte, constant receive window, pacing segment by segment (no \
                 TSO), a needless repair is taken back though copies are still out; left out: \
                 buffer autotuning, adaptive delay and ping-pong mode of acknowledgements, Linux's \
                 finer filter of the mean deviation, the repeated SYN that leaves the window, TCP \
                 Fast Open, small queues; a server gives up its SYN-ACK after 127 s; towards a peer \
                 without SACK NewReno of plain; SACK bytes are not on the wire",
    fields: FIELDS,
    build,
};

const FIELDS: &[Field] = &[
    parts::MSS,
    field(
        parts::WINDOW,
        Value::Whole(6 << 20),
        "constructed: the 6 MiB up to which Linux grows it (net.ipv4.tcp_rmem) from the start",
    ),
    field(parts::INITIAL_WINDOW, Value::Whole(10), "RFC 6928 section 2"),
    Field {
        name: "recovery",
        meaning: "Loss recovery: RACK-TLP (RFC 8985), or, with the congestion control of RFC 5681, \
                  Tahoe, Reno, NewReno (RFC 6582) or SACK (RFC 6675).",
        kind: Kind::Choice(&["rack", "tahoe", "reno", "newreno", "sack"]),
        default: Value::Choice("rack"),
        source: "net.ipv4.tcp_recovery = 1",
    },
    Field {
        name: "congestion",
        meaning: "Congestion control, where recovery is RACK-TLP (`aqmlab list congestion`).",
        kind: Kind::Choice(congestion::NAMES),
        default: Value::Choice("cubic"),
        source: "net.ipv4.tcp_congestion_control = cubic",
    },
    Field {
        name: "pacing",
        meaning: "Spread segments over the round trip, as the fq queueing discipline does; a \
                  control that needs it does in any case.",
        kind: Kind::Switch,
        default: OFF,
        source: "net.core.default_qdisc = fq_codel in most distributions",
    },
    field(
        parts::DUPACK_THRESHOLD,
        Value::Whole(3),
        "RFC 8985 section 6.2, step 4; net.ipv4.tcp_reordering = 3",
    ),
    field(parts::LIMITED_TRANSMIT, ON, "RFC 3042"),
    field(parts::RTO_MIN, Value::Real(0.2), "TCP_RTO_MIN = HZ/5, added to the smoothed round trip"),
    field(parts::TICK, Value::Real(0.0), "round trips are measured in microseconds"),
    field(parts::DELAYED_ACK, Value::Real(0.04), "TCP_DELACK_MIN = HZ/25"),
    field(
        parts::ACK_EVERY,
        Value::Whole(2),
        "RFC 1122 section 4.2.3.2; full segments (__tcp_ack_snd_check)",
    ),
    field(parts::DELAYED_ACK_CLOCK, Value::Choice("connection"), "a timer of the socket"),
    field(parts::TIMESTAMPS, ON, "net.ipv4.tcp_timestamps = 1"),
    field(parts::F_RTO, ON, "net.ipv4.tcp_frto = 2"),
    field(
        parts::ECN,
        Value::Unset,
        "off: net.ipv4.tcp_ecn = 2, only if the peer asks, and no peer does; on with a congestion \
         control that needs marks (TCP_CONG_NEEDS_ECN)",
    ),
    parts::ECN_FEEDBACK,
    parts::ECN_RECEIVER,
    field(parts::IDLE_RESTART, ON, "net.ipv4.tcp_slow_start_after_idle = 1"),
];

/// Segments acknowledged at once when a connection begins (TCP_MAX_QUICKACKS).
const QUICK_ACKS: u8 = 16;

fn build(params: &Params) -> Result<Profile, BadParams> {
    let control = params.choice("congestion");
    let wanted = congestion::make(control).manner().ecn;
    let parts = Parts::read_for(params, wanted)?;
    let mut recovery = parts.rules(Manner::Rfc);
    let rack = params.choice("recovery") == "rack";
    if rack {
        recovery.kind = RecoveryKind::Rack(Today {
            control,
            paces: params.switch("pacing"),
            threshold: recovery.threshold,
            limited_transmit: recovery.limited_transmit,
            tries_timeouts: params.switch("f_rto"),
        });
    } else {
        needs_rack(params)?;
    }
    Ok(Profile {
        name: ENTRY.name,
        mss: parts.mss as u32,
        window: parts.window,
        initial_segments: parts.initial_segments,
        initial_ssthresh: u64::MAX,
        growth: Growth::PerByte,
        rtt: RttRules::Exact(Exact {
            initial: Duration::from_secs(1),
            min: Duration::ZERO,
            margin: parts.rto_min,
            max: Duration::from_secs(120),
            tick: parts.tick,
        }),
        recovery,
        ack: acks(&parts),
        idle: match (parts.idle_restart, rack) {
            (false, _) => IdleRule::Off,
            (true, true) => IdleRule::Decay,
            (true, false) => IdleRule::SinceSent,
        },
        output: parts::PLAIN_OUTPUT,
        opening: Opening {
            syn_ack: SynAck::Timer,
            options: 8,
            handshake_grows: false,
            loss_cuts_threshold: false,
            loss_closes_window: true,
        },
        ending: Ending::Fin,
        doubt: parts.doubt(),
        timestamps: parts.timestamps,
        ecn: parts.ecn,
        max_resends: 15,
        connect_limit: Life::Exact(Duration::from_secs(127)),
        time_wait: Life::Exact(Duration::from_secs(60)),
    })
}

/// What only RACK-TLP's sender has.
fn needs_rack(params: &Params) -> Result<(), BadParams> {
    for name in ["congestion", "pacing"] {
        if params.given(name) {
            let why = "goes with recovery = \"rack\" only; leave it or recovery out";
            return Err(BadParams::new(name, why));
        }
    }
    Ok(())
}

fn acks(parts: &Parts) -> AckPolicy {
    let beyond = (parts.ack_every - 1) * parts.segment;
    let quick = if parts.ack_every > 1 { QUICK_ACKS } else { 0 };
    AckPolicy { duplicates: true, ..parts.ack_at(AtOnce::Full { beyond, quick }) }
}
