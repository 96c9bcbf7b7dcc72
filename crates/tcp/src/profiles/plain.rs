//! The RFCs' TCP with exact times, for comparison with other simulators.

use packet::Duration;
use packet::params::{BadParams, Field, Kind, Params, Value};
use packet::units::Unit;

use crate::profile::{IdleRule, Life, Output, Profile};
use crate::receiver::AckPolicy;
use crate::recovery::RecoveryKind;
use crate::registry::Entry;
use crate::rtt::RttKind;
use crate::window::Growth;

/// The registry's line.
pub(crate) const ENTRY: Entry = Entry {
    name: "plain",
    summary: "NewReno with SACK by the RFCs, timers exact",
    year: 2012,
    source: "RFC 5681, 6298, 6582, 6675, 3042, 3390; constructed: FIN on the last data segment, \
             no Nagle, one segment timed at a time and none in recovery, ACK at the second \
             segment whatever its size, new data outside recovery limited by all outstanding \
             bytes, no rescue retransmission, constant receive window",
    deviations: "SACK bytes are not on the wire; no timestamps, no RST; RFC 6582's timer rule \
                 restarts on every partial ACK; a repeated SYN is answered by a bare ACK",
    fields: FIELDS,
    build,
};

const FIELDS: &[Field] = &[
    super::MSS,
    Field {
        name: "window_bytes",
        meaning: "Receive window.",
        kind: Kind::Whole { unit: Unit::Bytes, min: 64, max: 1 << 30 },
        default: Value::Whole(65_535),
        source: "largest window without scaling",
    },
    Field {
        name: "initial_window",
        meaning: "First congestion window, in segments.",
        kind: Kind::Whole { unit: Unit::Packets, min: 1, max: 1_000 },
        default: Value::Whole(3),
        source: "RFC 3390 at an MSS of 1,460 B",
    },
    Field {
        name: "sack",
        meaning: "Selective acknowledgements (RFC 6675); without them NewReno (RFC 6582).",
        kind: Kind::Switch,
        default: Value::Switch(true),
        source: "constructed",
    },
    Field {
        name: "rto_min",
        meaning: "Smallest retransmission timeout.",
        kind: Kind::Real { unit: Unit::Time, min: 0.0, max: 60.0, open: true },
        default: Value::Real(1.0),
        source: "RFC 6298 (2.4)",
    },
    Field {
        name: "delayed_ack",
        meaning: "Longest wait of an acknowledgement; 0 acknowledges every segment at once.",
        kind: Kind::Real { unit: Unit::Time, min: 0.0, max: 0.5, open: false },
        default: Value::Real(0.2),
        source: "constructed; RFC 1122 allows 0.5 s",
    },
    Field {
        name: "ack_every",
        meaning: "Acknowledge at once at this many data segments.",
        kind: Kind::Whole { unit: Unit::Packets, min: 1, max: 100 },
        default: Value::Whole(2),
        source: "RFC 1122 section 4.2.3.2",
    },
    Field {
        name: "idle_restart",
        meaning: "Return to the initial window after a pause of more than a timeout.",
        kind: Kind::Switch,
        default: Value::Switch(true),
        source: "RFC 5681 section 4.1",
    },
];

fn build(params: &Params) -> Result<Profile, BadParams> {
    super::check_window(params)?;
    let mss = params.whole("mss");
    let delay = params.time("delayed_ack");
    let at_once = delay == Duration::ZERO;
    let every = if at_once { 1 } else { params.whole("ack_every") as u8 };
    let sack = params.switch("sack");
    let idle = params.switch("idle_restart");
    Ok(Profile {
        name: ENTRY.name,
        mss: mss as u32,
        window: params.whole("window_bytes"),
        initial_window: params.whole("initial_window") * mss,
        handshake_grows: false,
        initial_ssthresh: u64::MAX,
        growth: Growth::PerByte,
        rtt: RttKind::Exact { rto_min: params.time("rto_min") },
        recovery: if sack { RecoveryKind::Sack } else { RecoveryKind::NewReno },
        ack: AckPolicy::Timed { every, delay },
        idle: if idle { IdleRule::SinceSent } else { IdleRule::Off },
        output: Output { bsd: false, write_chunk: 0, small_write_split: false },
        max_resends: 12,
        connect_limit: Life::Exact(Duration::from_secs(75)),
        time_wait: Life::Exact(Duration::from_secs(60)),
    })
}
