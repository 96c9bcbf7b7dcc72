//! Agent/TCP/FullTcp of ns-2.35: two-way, with SYN and FIN.

use packet::params::{BadParams, Field, Params, Value};

use super::parts::{self, OFF, Parts, field};
use crate::profile::Profile;
use crate::registry::Entry;

/// The registry's line.
pub(crate) const ENTRY: Entry = Entry {
    name: "ns2-full",
    summary: "FullTcp of ns-2.35: two-way Reno with SYN and FIN, segments of 536 B",
    year: 2011,
    source: "read from ns-2.35: segments of 536 B and 40 B of headers, window of 20, initial window \
             of 2 and threshold of 20 segments, one ACK per segment, delayed ACKs on a 100 ms grid \
             from time 0 that all hosts share, RFC 2988 timeouts of 0.2 to 60 s on 10 ms ticks, 3 s \
             at first, a back-off that any new ACK ends; constructed: 12 retransmissions of a \
             segment and a TIME_WAIT of 60 s, so that every connection ends",
    deviations: "a reduced window is whole segments; SACK is RFC 6675; no segment carries data \
                 with a SYN; FIN rides on the last data segment; no Nagle; a repeated SYN is \
                 answered by a bare ACK",
    fields: FIELDS,
    build,
};

const DEFAULT: &str = "default of ns-2.35";

const FIELDS: &[Field] = &[
    field(parts::MSS, Value::Whole(536), DEFAULT),
    field(parts::WINDOW, Value::Whole(10_720), "20 segments of 536 B, the default of ns-2.35"),
    field(parts::INITIAL_WINDOW, Value::Whole(2), DEFAULT),
    field(parts::RECOVERY, Value::Choice("reno"), DEFAULT),
    parts::DUPACK_THRESHOLD,
    field(parts::LIMITED_TRANSMIT, OFF, "FullTcp of ns-2.35"),
    field(parts::RTO_MIN, Value::Real(0.2), DEFAULT),
    field(parts::TICK, Value::Real(0.01), DEFAULT),
    field(parts::DELAYED_ACK, Value::Real(0.1), DEFAULT),
    field(parts::ACK_EVERY, Value::Whole(1), "segsperack_ of ns-2.35"),
    field(parts::DELAYED_ACK_CLOCK, Value::Choice("common"), "FullTcp of ns-2.35"),
    field(parts::TIMESTAMPS, OFF, DEFAULT),
    field(parts::F_RTO, OFF, DEFAULT),
    parts::ECN,
    parts::ECN_FEEDBACK,
    parts::ECN_RECEIVER,
    field(parts::IDLE_RESTART, OFF, "ns-2.35: no timer runs while nothing is outstanding"),
];

fn build(params: &Params) -> Result<Profile, BadParams> {
    let parts = Parts::read(params)?;
    Ok(Profile { name: ENTRY.name, ..super::ns2::common(&parts, true)? })
}
