//! Agent/TCP/FullTcp of ns-2.35: two-way, with SYN and FIN.

use packet::About;
use packet::params::{BadParams, Field, Params, Value};

use super::fields::{self, OFF, field};
use super::parts::Parts;
use crate::congestion::Controls;
use crate::entry::Entry;
use crate::profile::{Ending, Profile};
use crate::receiver::AtOnce;
use crate::recovery::{Leaving, Rules};

/// This profile's entry in the list of profiles.
pub(crate) const ENTRY: Entry = Entry {
    about: About {
        name: "ns2-full",
        summary: "FullTcp of ns-2.35: two-way Reno with SYN and FIN, segments of 536 B",
        year: 2011,
        source: "read from ns-2.35: segments of 536 B and 40 B of headers, window of 20, initial window \
                 of 2 and threshold of 20 segments, one ACK per segment's bytes, delayed ACKs on a 100 ms grid \
                 from time 0 that all hosts share, RFC 2988 timeouts of 0.2 to 60 s on 10 ms ticks, 3 s \
                 at first, a back-off that any new ACK ends; constructed: 12 retransmissions of a \
                 segment and a TIME_WAIT of 60 s, so that every connection ends",
        deviations: "NewReno deflates the window at a partial acknowledgement (RFC 6582) where FullTcp sets it to \
                     the threshold and sends at most recov_maxburst_ packets; SACK is RFC 6675; no segment carries data \
                     with a SYN; no Nagle; a repeated SYN is answered by a bare ACK; the program closes \
                     once it has written all, and the FIN goes when all data has been sent (in ns-2 a \
                     close drops what has not been sent)",
        fields: FIELDS,
    },
    build,
};

const DEFAULT: &str = "default of ns-2.35";

const FIELDS: &[Field] = &[
    field(fields::MSS, Value::Whole(536), DEFAULT),
    field(fields::WINDOW, Value::Whole(10_720), "20 segments of 536 B, the default of ns-2.35"),
    field(fields::INITIAL_WINDOW, Value::Whole(2), DEFAULT),
    field(fields::RECOVERY, Value::Choice("reno"), DEFAULT),
    field(fields::CONGESTION, Value::Choice("reno-ns2"), "Agent/TCP of ns-2.35"),
    fields::DUPACK_THRESHOLD,
    Field {
        source: "off: FullTcp of ns-2.35 leaves with the threshold and has no such setting; on: RFC 6582, also \
                 where nothing is outstanding",
        ..super::ns2::EXIT_RECOVERY_FIX
    },
    field(fields::LIMITED_TRANSMIT, OFF, "FullTcp of ns-2.35"),
    field(fields::RTO_MIN, Value::Real(0.2), DEFAULT),
    field(fields::TICK, Value::Real(0.01), DEFAULT),
    field(fields::DELAYED_ACK, Value::Real(0.1), DEFAULT),
    Field {
        meaning: "Acknowledge at once when this many full segments' bytes wait.",
        ..field(fields::ACK_EVERY, Value::Whole(1), "segsperack_ of ns-2.35")
    },
    field(fields::DELAYED_ACK_CLOCK, Value::Choice("common"), "FullTcp of ns-2.35"),
    field(fields::TIMESTAMPS, OFF, DEFAULT),
    field(fields::F_RTO, OFF, DEFAULT),
    fields::ECN,
    fields::ECN_FEEDBACK,
    fields::ECN_RECEIVER,
    field(fields::IDLE_RESTART, OFF, "ns-2.35: no timer runs while nothing is outstanding"),
    field(fields::INITIAL_SSTHRESH, Value::Unset, "the window (ssthresh_ = 0 of ns-2.35)"),
    field(fields::RTO_INITIAL, Value::Real(3.0), "rtxcur_init_ of ns-2.35"),
    field(fields::SYN_LINEAR, Value::Whole(0), "rtt_backoff of ns-2.35"),
    field(fields::SYN_RETRIES, Value::Whole(12), "constructed, so that every connection ends"),
    field(fields::SYN_ACK_RETRIES, Value::Whole(12), "constructed, so that every connection ends"),
    field(fields::CONNECT_LIMIT, Value::Unset, "none in ns-2.35"),
];

fn build(params: &Params, controls: &Controls) -> Result<Profile, BadParams> {
    let parts = Parts::read(params, controls)?;
    let common = super::ns2::common(ENTRY.about.name, &parts, true)?;
    // `need_send`: bytes since the last acknowledgement sent.
    let at_once = AtOnce::Bytes(parts.ack_every * parts.segment);
    let ack = parts.ack_at(at_once);
    let fixed = params.switch("exit_recovery_fix");
    let leaving = if fixed { Leaving::Refilled } else { Leaving::Threshold };
    // `FullTcpAgent::newack` starts the timer at every acknowledgement of new data.
    let recovery = Rules { leaving, impatient: false, ..common.recovery };
    Ok(Profile { ack, recovery, ending: Ending::BareFin, ..common })
}

#[cfg(test)]
mod tests {
    use packet::params::Raw;

    use super::*;

    #[test]
    fn a_recovery_leaves_the_threshold_or_what_rfc_6582_says() {
        // FullTcpAgent::pack_action: cwnd_ = ssthresh_, and no other rule.
        for (fixed, leaving) in [(false, Leaving::Threshold), (true, Leaving::Refilled)] {
            let raw = vec![("exit_recovery_fix".to_string(), Raw::Bool(fixed))];
            let profile = build(&Params::check(FIELDS, &raw).unwrap(), &Controls::ours()).unwrap();
            assert_eq!(profile.recovery.leaving, leaving, "{fixed}");
        }
    }
}
