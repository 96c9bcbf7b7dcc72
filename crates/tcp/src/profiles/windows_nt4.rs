//! Windows NT 4.0 from service pack 2 on (1996), the end system of *Reasons not to deploy RED*
//! (May, Bolot, Diot, Lyles, IWQoS 1999).

use packet::params::{BadParams, Field, Params, Value};
use packet::{About, Duration};

use super::fields::{self, OFF, ON, field};
use super::parts::Parts;
use crate::congestion::Controls;
use crate::entry::Entry;
use crate::profile::{Profile, TimeLimit};
use crate::recovery::Implementation;
use crate::rtt::{Exact, RttRules};
use crate::timer_wheel::TimerWheel;

/// This profile's entry in the list of profiles.
pub(crate) const ENTRY: Entry = Entry {
    about: About {
        name: "windows-nt4",
        summary: "Reno with a window of six segments and a fast retransmit at the second duplicate, \
                  as in Windows NT 4.0",
        year: 1996,
        source: "read in descriptions derived from Microsoft's: window of 8,760 B, duplicate threshold \
                 of 2 with fast retransmit from service pack 2 on, ACK at the second segment, no \
                 SACK, timestamps or scaling; recalled: 200 ms delayed ACK, SYN waits of 3, 6 and \
                 12 s, 5 retransmissions, one segment at first; constructed: RFC 6298's timeout on \
                 100 ms ticks with a minimum of 0.3 s, RFC 5681's windows, no Nagle, FIN on the last \
                 data segment",
        deviations: "without the system's miscomputed timeout on long paths (KB Q232512); the \
                     FIN, TIME_WAIT of 240 s and output rules are not established; other recoveries, \
                     ECN, F-RTO and limited transmit are not of this system and are off",
        fields: FIELDS,
    },
    build,
};

const NOT_THERE: &str = "Windows NT 4.0 has none";

const FIELDS: &[Field] = &[
    fields::MSS,
    field(fields::WINDOW, Value::Whole(8_760), "6 segments of 1,460 B, the default on Ethernet"),
    field(fields::INITIAL_WINDOW, Value::Whole(1), "recalled; some versions start with 2"),
    field(fields::RECOVERY, Value::Choice("reno"), "fast retransmit from service pack 2 on"),
    field(fields::CONGESTION, Value::Choice("rfc5681"), "constructed: RFC 5681"),
    field(fields::DUPACK_THRESHOLD, Value::Whole(2), "TcpMaxDupAcks, settable from 1 to 3"),
    field(fields::LIMITED_TRANSMIT, OFF, NOT_THERE),
    field(fields::RTO_MIN, Value::Real(0.3), "constructed"),
    field(fields::TICK, Value::Real(0.1), "constructed"),
    field(fields::DELAYED_ACK, Value::Real(0.2), "recalled"),
    field(fields::ACK_EVERY, Value::Whole(2), "read: every second segment"),
    field(fields::DELAYED_ACK_CLOCK, Value::Choice("connection"), "constructed"),
    field(fields::TIMESTAMPS, OFF, NOT_THERE),
    field(fields::F_RTO, OFF, NOT_THERE),
    fields::ECN,
    fields::ECN_FEEDBACK,
    fields::ECN_RECEIVER,
    field(fields::IDLE_RESTART, ON, "constructed: RFC 5681 section 4.1"),
    field(fields::INITIAL_SSTHRESH, Value::Whole(65_535), "constructed: the largest window"),
    field(fields::RTO_INITIAL, Value::Real(3.0), "recalled: SYN waits of 3, 6 and 12 s"),
    field(fields::SYN_LINEAR, Value::Whole(0), "recalled: SYN waits of 3, 6 and 12 s"),
    field(fields::SYN_RETRIES, Value::Whole(5), "recalled; connect_limit ends it before"),
    field(fields::SYN_ACK_RETRIES, Value::Whole(5), "recalled; connect_limit ends it before"),
    field(
        fields::CONNECT_LIMIT,
        Value::Real(21.0),
        "recalled: SYNs at 0, 3 and 9 s; the third wait ends at 21 s",
    ),
];

fn build(params: &Params, controls: &Controls) -> Result<Profile, BadParams> {
    let parts = Parts::read(params, controls)?;
    let rtt = Exact {
        initial: parts.start.rto,
        min: parts.rto_min,
        margin: Duration::ZERO,
        max: Duration::from_secs(240),
        tick: parts.tick,
        any_ack_ends_backoff: false,
        wheel: TimerWheel::EXACT,
    };
    Ok(Profile {
        max_resends: 5,
        time_wait: TimeLimit::Exact(Duration::from_secs(240)),
        ..parts.profile(ENTRY.about.name, RttRules::Exact(rtt), Implementation::Rfc)
    })
}
