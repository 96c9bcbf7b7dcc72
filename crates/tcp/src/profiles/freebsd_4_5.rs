//! FreeBSD 4.5 (2002), the end system of *The Effects of Active Queue Management on Web
//! Performance* (Le, Aikat, Jeffay, Smith, SIGCOMM 2003).

use packet::params::{BadParams, Field, Kind, Params, Value};
use packet::{About, Duration};

use super::fields::{self, OFF, ON, field};
use super::parts::{self, Parts};
use crate::congestion::Controls;
use crate::entry::Entry;
use crate::profile::{Opening, Profile, RtoCheck, SynAck};
use crate::rtt::{Bsd, Callouts, ShortTrips};

/// This profile's entry in the list of profiles.
pub(crate) const ENTRY: Entry = Entry {
    about: About {
        name: "freebsd-4.5",
        summary: "NewReno on a 10 ms clock with a SYN cache and timestamps, as in FreeBSD 4.5",
        year: 2002,
        source: "read from a formal model of FreeBSD 4.6 and from systems derived from 4.x (XNU, \
                 DragonFly), which bracket 4.5; recalled: the 10 ms clock, timestamps on, 16 KB \
                 windows of the experiments; constructed: timers exact and only round trips counted \
                 in ticks, whole writes by default, a constant receive window",
        deviations: "no persist or keep-alive timer, RST, or window scaling on the \
                     wire; local peers do not start with a larger window; after a dropped entry of \
                     the SYN cache data of the opener is not answered; a SYN keeps asking for ECN \
                     when it is repeated; SACK, F-RTO and limited transmit are not of this system and \
                     are off",
        fields: FIELDS,
    },
    build,
};

const NOT_THERE: &str = "FreeBSD 4.5 has none";

const FIELDS: &[Field] = &[
    fields::MSS,
    Field {
        meaning: "Receive window and socket buffer, rounded up to whole segments. A scenario may call \
                  it window.",
        ..field(fields::WINDOW, Value::Whole(16_384), "recalled: 16 KB per flow in the experiments")
    },
    fields::WRITE_CHUNK,
    fields::SMALL_WRITE_SPLIT,
    Field::new("false_timeout", Kind::Switch, ON)
        .meaning(
            "Undo a timeout if new data is acknowledged within half a round trip of the first \
                 resend. Off where f_rto is on.",
        )
        .source("systems derived from FreeBSD 4.x"),
    field(fields::INITIAL_WINDOW, Value::Whole(1), "slowstart_flightsize of FreeBSD 4.x"),
    field(fields::RECOVERY, Value::Choice("newreno"), "the default of FreeBSD 4.5"),
    field(fields::CONGESTION, Value::Choice("reno-bsd"), "the system's own"),
    fields::DUPACK_THRESHOLD,
    field(fields::LIMITED_TRANSMIT, OFF, NOT_THERE),
    field(fields::RTO_MIN, Value::Real(1.0), "model of FreeBSD 4.6"),
    field(fields::TICK, Value::Real(0.01), "recalled: hz = 100"),
    field(fields::DELAYED_ACK, Value::Real(0.1), "model of FreeBSD 4.6"),
    field(fields::ACK_EVERY, Value::Whole(2), "FreeBSD 4.x: whatever their size"),
    field(fields::DELAYED_ACK_CLOCK, Value::Choice("connection"), "FreeBSD 4.x"),
    field(fields::TIMESTAMPS, ON, "recalled: the kernel's default"),
    field(fields::F_RTO, OFF, NOT_THERE),
    field(
        fields::HOST_CACHE,
        ON,
        "tcp_close and tcp_mss of systems derived from FreeBSD 4.x; with the early tcp_syncache.c",
    ),
    field(
        fields::SENDPIPE,
        Value::Unset,
        "the socket buffer, as none is configured in the route: FreeBSD 3.2, systems derived from 4.x",
    ),
    fields::ECN,
    fields::ECN_FEEDBACK,
    fields::ECN_RECEIVER,
    field(fields::IDLE_RESTART, ON, "FreeBSD 4.x: judged by the last segment received"),
    field(fields::INITIAL_SSTHRESH, Value::Whole(65_535 << 14), "TCP_MAXWIN << TCP_MAX_WINSHIFT"),
    field(fields::RTO_INITIAL, Value::Real(3.0), "TCPTV_RTOBASE of FreeBSD 4.x"),
    field(
        fields::SYN_LINEAR,
        Value::Whole(4),
        "tcp_syn_backoff of FreeBSD 4.x: 1, 1, 1, 1, 1, 2, 4",
    ),
    field(fields::SYN_RETRIES, Value::Whole(12), "TCP_MAXRXTSHIFT; connect_limit ends it before"),
    field(fields::SYN_ACK_RETRIES, Value::Whole(3), "SYNCACHE_MAXREXMTS of tcp_syncache.c"),
    field(
        fields::CONNECT_LIMIT,
        Value::Real(75.0),
        "TCPTV_KEEP_INIT of FreeBSD 4.x; of the opener alone, a SYN cache counts retries",
    ),
];

fn build(params: &Params, controls: &Controls) -> Result<Profile, BadParams> {
    let parts = Parts::read(params, controls)?;
    let tick = parts.counted_tick()?;
    let rtt = Bsd {
        tick,
        initial: parts::ticks(parts.start.rto, tick),
        min: parts::ticks(parts.rto_min, tick),
        max: parts::ticks(Duration::from_secs(64), tick),
        callouts: Callouts::Connection,
        timing_adds: 0,
        floor_v: true,
        short: ShortTrips::of(tick),
    };
    let common = parts.bsd(ENTRY.about.name, params, rtt, parts.socket_buffer())?;
    Ok(Profile {
        rto_check: rto_check(params, common.rto_check)?,
        opening: Opening { syn_ack: SynAck::Cache, ..common.opening },
        ..common
    })
}

/// The detection of spurious timeouts: F-RTO or the system's own check, but not both.
fn rto_check(params: &Params, requested: RtoCheck) -> Result<RtoCheck, BadParams> {
    let own = params.switch("false_timeout");
    match requested {
        RtoCheck::FRto if own => {
            let why = "decides the question that f_rto answers; set one of the two to false";
            params.without_effect("false_timeout", why).map(|()| requested)
        }
        RtoCheck::Off if own => Ok(RtoCheck::BadRetransmit),
        chosen => Ok(chosen),
    }
}

#[cfg(test)]
mod tests {
    use packet::params::Raw;

    use super::*;

    #[test]
    fn one_check_at_most_looks_at_a_timeout() {
        for (f_rto, false_timeout, check) in [
            (false, None, RtoCheck::BadRetransmit),
            (false, Some(false), RtoCheck::Off),
            (true, None, RtoCheck::FRto),
            (true, Some(false), RtoCheck::FRto),
        ] {
            let mut raw = vec![("f_rto".to_string(), Raw::Bool(f_rto))];
            raw.extend(false_timeout.map(|on| ("false_timeout".to_string(), Raw::Bool(on))));
            let profile = build(&Params::check(FIELDS, &raw).unwrap(), &Controls::ours()).unwrap();
            assert_eq!(profile.rto_check, check, "{f_rto} {false_timeout:?}");
        }
    }
}
