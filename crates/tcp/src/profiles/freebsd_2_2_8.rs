//! FreeBSD 2.2.8 (1998), the end system of *Tuning RED for Web Traffic*.

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
    name: "freebsd-2.2.8",
    summary: "Reno without SACK on 500 ms and 200 ms host clocks, as in FreeBSD 2.2.8",
    year: 1998,
    source: "read from FreeBSD 2.1.7.1 and 3.2 (kept in OSKit) and the FreeBSD code imported by \
             RTEMS in August 1998, which bracket 2.2.8; constructed: whole writes by default, V \
             floored at 2 ticks, window growth on every ACK, a constant receive window",
    deviations: "no timestamps, window scaling, T/TCP, route metrics, persist or keep-alive \
                 timer, RST, or window updates after a filled hole; a duplicate of a segment \
                 without payload or FIN is not answered",
    fields: FIELDS,
    build,
};

const FIELDS: &[Field] = &[
    super::MSS,
    Field {
        name: "window_bytes",
        meaning: "Receive window and socket buffer, rounded up to whole segments.",
        kind: Kind::Whole { unit: Unit::Bytes, min: 64, max: 65_535 },
        default: Value::Whole(17_520),
        source: "16,384 B rounded up to 12 segments of 1,460 B",
    },
    Field {
        name: "write_chunk",
        meaning: "Bytes of a large write handed to TCP per call; 0 hands over whole writes.",
        kind: Kind::Whole { unit: Unit::Bytes, min: 0, max: 65_535 },
        default: Value::Whole(0),
        source: "constructed; the kernel's mbuf clusters hold 2,048 B",
    },
    Field {
        name: "small_write_split",
        meaning: "Hand writes below 208 B to TCP in pieces of at most 100 B.",
        kind: Kind::Switch,
        default: Value::Switch(false),
        source: "constructed; the kernel's small mbufs hold 100 B",
    },
    Field {
        name: "floor_v",
        meaning: "Floor the RTT estimate at 2 ticks before a timeout multiplies it.",
        kind: Kind::Switch,
        default: Value::Switch(true),
        source: "FreeBSD 3.2; the 1998 code does not, 2.2.8 is not known",
    },
];

fn build(params: &Params) -> Result<Profile, BadParams> {
    super::check_window(params)?;
    let mss = params.whole("mss");
    let window = params.whole("window_bytes").next_multiple_of(mss);
    Ok(Profile {
        name: ENTRY.name,
        mss: mss as u32,
        window,
        initial_window: mss,
        handshake_grows: true,
        initial_ssthresh: 65_535 << 14,
        growth: Growth::PerAck,
        rtt: RttKind::Ticks { floor_v: params.switch("floor_v") },
        recovery: RecoveryKind::Reno,
        ack: AckPolicy::Clocked { bytes: (2 * mss).min(window.div_ceil(2)) },
        idle: IdleRule::SinceReceived,
        output: Output {
            bsd: true,
            write_chunk: params.whole("write_chunk"),
            small_write_split: params.switch("small_write_split"),
        },
        max_resends: 12,
        connect_limit: Life::Ticks(150),
        time_wait: Life::Ticks(120),
    })
}
