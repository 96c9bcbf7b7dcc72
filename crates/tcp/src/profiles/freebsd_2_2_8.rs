//! FreeBSD 2.2.8 (1998), the end system of *Tuning RED for Web Traffic*.

use packet::params::{BadParams, Field, Kind, Params, Value};
use packet::units::Unit;
use packet::{About, Duration};

use super::fields::{self, OFF, ON, field};
use super::parts::{self, Parts};
use crate::congestion::Controls;
use crate::entry::Entry;
use crate::profile::{Profile, TimeLimit};
use crate::receiver::AtOnce;
use crate::rtt::{Bsd, Callouts, ShortTrips};

/// This profile's entry in the list of profiles.
pub(crate) const ENTRY: Entry = Entry {
    about: About {
        name: "freebsd-2.2.8",
        summary: "Reno without SACK on 500 ms and 200 ms host clocks, as in FreeBSD 2.2.8",
        year: 1998,
        source: "read from FreeBSD 2.1.7.1 and 3.2 (kept in OSKit) and the FreeBSD code imported by \
                 RTEMS in August 1998, which bracket 2.2.8; constructed: whole writes by default, V \
                 floored at 2 ticks, window growth on every ACK, a constant receive window",
        deviations: "no window scaling, T/TCP, persist or keep-alive \
                     timer, RST, or window updates after a filled hole; a duplicate of a segment \
                     without payload or FIN is not answered; other recoveries, ECN, F-RTO and limited \
                     transmit are not of this system and are off",
        fields: FIELDS,
    },
    build,
};

const NOT_THERE: &str = "FreeBSD 2.2 has none";

const FIELDS: &[Field] = &[
    fields::MSS,
    Field {
        meaning: "Receive window and socket buffer, rounded up to whole segments. A scenario may call \
                  it window.",
        kind: Kind::Whole { unit: Unit::Bytes, min: 64, max: 65_535 },
        ..field(
            fields::WINDOW,
            Value::Whole(17_520),
            "16,384 B rounded up to 12 segments of 1,460 B",
        )
    },
    fields::WRITE_CHUNK,
    fields::SMALL_WRITE_SPLIT,
    Field::new("floor_v", Kind::Switch, Value::Switch(true))
        .meaning("Floor the RTT estimate at the smallest timeout before a timeout multiplies it.")
        .source("FreeBSD 3.2; the 1998 code does not, 2.2.8 is not known"),
    field(fields::INITIAL_WINDOW, Value::Whole(1), "1998 FreeBSD code"),
    field(fields::RECOVERY, Value::Choice("reno"), "1998 FreeBSD code"),
    field(fields::CONGESTION, Value::Choice("reno-bsd"), "the system's own"),
    fields::DUPACK_THRESHOLD,
    field(fields::LIMITED_TRANSMIT, OFF, NOT_THERE),
    field(fields::RTO_MIN, Value::Real(1.0), "2 ticks in the 1998 FreeBSD code"),
    field(fields::TICK, Value::Real(0.5), "the slow clock of the 1998 FreeBSD code"),
    field(fields::DELAYED_ACK, Value::Real(0.2), "the fast clock of the 1998 FreeBSD code"),
    Field {
        meaning: "Acknowledge at once when this many full segments' bytes wait.",
        ..field(fields::ACK_EVERY, Value::Whole(2), "1998 FreeBSD code; at most half the window")
    },
    field(fields::DELAYED_ACK_CLOCK, Value::Choice("host"), "1998 FreeBSD code"),
    field(
        fields::TIMESTAMPS,
        OFF,
        "recalled: on in the kernel, switched off by the start-up script of that era",
    ),
    field(fields::F_RTO, OFF, NOT_THERE),
    field(
        fields::HOST_CACHE,
        ON,
        "tcp_close and tcp_mss of FreeBSD 2.1.7.1, the 1998 code and 3.2",
    ),
    field(
        fields::SENDPIPE,
        Value::Whole(0),
        "none configured in the route: the rule of 2.1.7.1 and of the 1998 code. FreeBSD 3.2 (1999) takes the send buffer (17,520 B) in its place; 2.2.8 is not known",
    ),
    fields::ECN,
    fields::ECN_FEEDBACK,
    fields::ECN_RECEIVER,
    field(fields::IDLE_RESTART, ON, "1998 FreeBSD code: judged by the last segment received"),
    field(fields::INITIAL_SSTHRESH, Value::Whole(65_535 << 14), "TCP_MAXWIN << TCP_MAX_WINSHIFT"),
    field(
        fields::RTO_INITIAL,
        Value::Real(3.0),
        "TCPTV_SRTTBASE: 6 ticks in the 1998 FreeBSD code",
    ),
    field(fields::SYN_LINEAR, Value::Whole(0), "tcp_backoff of the 1998 FreeBSD code"),
    field(fields::SYN_RETRIES, Value::Whole(12), "TCP_MAXRXTSHIFT; connect_limit ends it before"),
    field(
        fields::SYN_ACK_RETRIES,
        Value::Whole(12),
        "TCP_MAXRXTSHIFT; connect_limit ends it before",
    ),
    field(fields::CONNECT_LIMIT, Value::Real(75.0), "TCPTV_KEEP_INIT of the 1998 FreeBSD code"),
];

fn build(params: &Params, controls: &Controls) -> Result<Profile, BadParams> {
    let parts = Parts::read(params, controls)?;
    let tick = parts.counted_tick()?;
    let rtt = Bsd {
        tick,
        initial: parts::ticks(parts.start.rto, tick),
        min: parts::ticks(parts.rto_min, tick),
        max: parts::ticks(Duration::from_secs(64), tick),
        callouts: Callouts::Host,
        timing_adds: 1,
        floor_v: params.switch("floor_v"),
        short: ShortTrips::of(tick),
    };
    let at_once = match parts.ack_every {
        1 if parts.delayed_ack == Duration::ZERO => AtOnce::Segments(1),
        every => AtOnce::Bytes((every * parts.segment).min(parts.socket_buffer().div_ceil(2))),
    };
    let limit = parts.start.limit;
    Ok(Profile {
        ack: parts.ack_at(at_once),
        connect_limit: limit.map_or(TimeLimit::Unlimited, |span| parts::ticked(span, tick)),
        time_wait: parts::ticked(Duration::from_secs(60), tick),
        ..parts.bsd(ENTRY.about.name, params, rtt, 0)?
    })
}
