//! QUIC version 1 by its RFCs (`crates/tcp/src/quic`).

use packet::params::{BadParams, Field, Kind, Params, Value};
use packet::units::Unit;
use packet::{About, Ecn};

use super::fields::{self, OFF, ON, field};
use super::parts::Chosen;
use super::plain;
use crate::congestion::{ControlFlags, Controls, EcnMode, Rfc9002};
use crate::entry::Entry;
use crate::profile::Profile;
use crate::quic::{AckRules, QuicRules, RESUMED_FLIGHT};

/// This profile's entry in the list of profiles.
pub(crate) const ENTRY: Entry = Entry {
    about: About {
        name: "quic",
        summary: "QUIC by the RFCs: packet numbers, ranges, probes, streams that do not wait for each other",
        year: 2021,
        source: "RFC 9000, 9001, 9002; draft-ietf-quic-ack-frequency",
        deviations: "Initial and Handshake packets have one space of numbers; a datagram is one packet with one \
                     piece of data; an acknowledgement has as many ranges as fit 24 B (up to 12); a path MTU is \
                     neither probed nor validated; credit counts from what is acknowledged; a connection ends when \
                     both directions have, without CONNECTION_CLOSE; a receiver of data alone never makes its peer \
                     acknowledge acknowledgements",
        fields: FIELDS,
    },
    build,
};

const FIELDS: &[Field] = &[
    Field::new("datagram_bytes", Kind::whole(Unit::Bytes, 1_200, 8_972), Value::Whole(1_200))
        .meaning("Largest UDP payload; 28 B of IPv4 and UDP headers come on top.")
        .source("RFC 9000 section 14.1: what every path carries; 1,472 B fill an Ethernet frame"),
    field(
        fields::WINDOW,
        Value::Whole(10_000_000),
        "quinn-proto 0.11 (TransportConfig): send_window, data not acknowledged",
    ),
    Field::new("initial_window", Kind::whole(Unit::Packets, 1, 1_000), Value::Whole(10))
        .meaning("First congestion window, in datagrams.")
        .source("RFC 9002 section 7.2: ten, and not more than 14,720 B"),
    field(fields::CONGESTION, Value::Choice("reno"), "RFC 9002 appendix B, which reno means here"),
    field(fields::INITIAL_SSTHRESH, Value::Unset, "unbounded: RFC 9002 section 7.3.1"),
    field(fields::ECN, Value::Unset, "constructed: off, so that marks are drops unless a scenario switches them on; \
             on with a congestion control that needs marks. ECT(0), and ECT(1) with a scalable control; the receiver \
             counts (RFC 9000 section 13.4)"),
    Field::new("pacing", Kind::Switch, ON)
        .meaning("Spread packets over the round trip, at 1.25 times the window in one, after a burst of a first window.")
        .source("RFC 9002 section 7.7"),
    Field::new("pacing_bursts", Kind::Switch, OFF)
        .meaning("With pacing, a sender that has used up its burst waits until a whole one may go: what the pace allows in \
             2 ms, ten datagrams at least.")
        .source("quinn-proto 0.11, pacing.rs: what a stack with coarse timers does; RFC 9002 section 7.7 allows bursts of ten"),
    Field::new("probe_data", Kind::Switch, ON)
        .meaning("A probe without new data repeats the oldest data that is out; without, it is a PING.")
        .source("RFC 9002 section 6.2.4 allows both; quinn sends PING"),
    Field::new("recovery_packet", Kind::Switch, ON)
        .meaning("When a loss reduces the window one packet goes at once, though the window is full.")
        .source("RFC 9002 section 7.3.2 and appendix B.6; quinn has none"),
    Field::new("packet_threshold", Kind::whole(Unit::Packets, 1, 1_000), Value::Whole(3))
        .meaning("A packet is lost when one is acknowledged whose number is higher by this.")
        .source("RFC 9002 section 6.1.1, kPacketThreshold"),
    Field::new("time_eighths", Kind::whole(Unit::Count, 8, 64), Value::Whole(9))
        .meaning("A packet is lost when a later one is acknowledged and this number of eighths of a round trip has passed, \
             at least 1 ms.")
        .source("RFC 9002 section 6.1.2, kTimeThreshold: 9/8"),
    Field::new("initial_rtt", Kind::above(Unit::Time, 0.0, 10.0), Value::Real(0.333))
        .meaning("Round trip before one is measured: the first probe goes after three times as long.")
        .source("RFC 9002 section 6.2.2, kInitialRtt"),
    Field::new("ack_eliciting_threshold", Kind::whole(Unit::Packets, 0, 100), Value::Whole(1))
        .meaning("Packets that wait for their acknowledgement; one more brings it at once.")
        .source("RFC 9000 section 13.2.2: every second packet; draft-ietf-quic-ack-frequency lets a sender request others"),
    Field::new("max_ack_delay", Kind::from(Unit::Time, 0.0, 0.5), Value::Real(0.025))
        .meaning("Longest wait of an acknowledgement, which probes allow for.")
        .source("RFC 9000 section 18.2: 25 ms"),
    Field::new("reordering_threshold", Kind::whole(Unit::Packets, 0, 100), Value::Whole(1))
        .meaning("From which gap in the packet numbers on an acknowledgement goes out at once; 0 for never.")
        .source("RFC 9000 section 13.2.1: any; draft-ietf-quic-ack-frequency section 6.2"),
    Field::new("ack_ranges", Kind::whole(Unit::Count, 1, 1_000), Value::Whole(64))
        .meaning("Ranges of packet numbers that a receiver remembers.")
        .source("quinn-proto 0.11, MAX_ACK_BLOCKS"),
    Field::new("zero_rtt", Kind::Switch, OFF)
        .meaning("Every connection resumes an earlier one: the first request goes with the first packet, and no \
             certificate is sent.")
        .source("RFC 9001 section 4.6; constructed: off, as with a server that was never visited"),
    Field::new("tickets", Kind::Switch, OFF)
        .meaning("A user keeps the ticket of a server with which a handshake was confirmed, and its later connections with \
             it resume, as zero_rtt says of every connection.")
        .source("RFC 8446 section 4.6.1, RFC 9001 section 4.6; constructed: off; a ticket does not age, and none is refused"),
    Field::new("tokens", Kind::Switch, Value::Unset)
        .meaning("Who resumes shows a token that validates its address, so that a server's first answer may have more than \
             three times what has come; if not given, with tickets and not with zero_rtt.")
        .source("RFC 9000 section 8.1.3 (NEW_TOKEN); that it comes with each ticket is assumed"),
    Field::new("client_hello", Kind::whole(Unit::Bytes, 100, 16_000), Value::Whole(300))
        .meaning("CRYPTO bytes of the client's first flight; padded to 1,200 B of UDP payload.")
        .source("assumed; 1,216 B more with the hybrid key share X25519MLKEM768"),
    Field::new("server_flight", Kind::whole(Unit::Bytes, 100, 64_000), Value::Unset)
        .meaning("CRYPTO bytes of the server's flight, its certificates included. What exceeds three times what the \
             client has sent waits for the client's answer.")
        .source("assumed: 3,000 B; 250 B with zero_rtt and of connections that resume, which need no certificate"),
    Field::new("connection_id", Kind::whole(Unit::Bytes, 0, 20), Value::Whole(8))
        .meaning("Bytes of the connection ID in every packet, of either direction.")
        .source("quinn-proto 0.11, HashedConnectionIdGenerator: 8 B"),
    Field::new("idle_timeout", Kind::above(Unit::Time, 0.0, 100_000.0), Value::Real(30.0))
        .meaning("An end that waits for an answer and receives nothing for this time, and for three probe timeouts, gives up.")
        .source("RFC 9000 section 10.1; quinn-proto 0.11: 30 s. Constructed: an idle connection lasts"),
];

fn build(params: &Params, controls: &Controls) -> Result<Profile, BadParams> {
    let mut chosen = Chosen::read(params, "reno", controls)?;
    if chosen.name == "reno" {
        chosen.control = Box::new(Rfc9002);
    }
    let quic = rules(params, chosen.control.flags());
    if quic.zero_rtt && quic.tickets {
        let why = "with zero_rtt every connection resumes; leave one of them out";
        return Err(BadParams::new("tickets", why));
    }
    if quic.tokens && !(quic.zero_rtt || quic.tickets) {
        let why = "no connection resumes; give tickets or zero_rtt with it";
        return Err(BadParams::new("tokens", why));
    }
    let around = 1 + u16::from(quic.connection_id) + 4 + 16 + 2;
    let ssthresh = params.value("initial_ssthresh") != Value::Unset;
    let ssthresh = if ssthresh { params.whole("initial_ssthresh") } else { u64::MAX };
    // An end of QUIC does not read the fields of TCP.
    let mut profile = (plain::ENTRY.build)(&Params::defaults(plain::ENTRY.about.fields), controls)?;
    profile.name = ENTRY.about.name;
    profile.mss = quic.datagram - around;
    profile.window = params.whole("window_bytes");
    if profile.window < u64::from(quic.datagram) {
        let why = format!("{} B do not hold one datagram of {} B", profile.window, quic.datagram);
        return Err(BadParams::new("window_bytes", why));
    }
    profile.initial_segments = quic.initial_window;
    profile.initial_ssthresh = ssthresh;
    profile.congestion = chosen.control;
    profile.control_name = chosen.name;
    profile.quic = Some(quic);
    Ok(profile)
}

fn rules(params: &Params, control: ControlFlags) -> QuicRules {
    let ecn = params.switch_or("ecn", control.ecn != EcnMode::Classic);
    let zero_rtt = params.switch("zero_rtt");
    let flight = if zero_rtt { RESUMED_FLIGHT } else { 3_000 };
    QuicRules {
        datagram: params.whole("datagram_bytes") as u16,
        connection_id: params.whole("connection_id") as u8,
        initial_window: params.whole("initial_window"),
        initial_rtt: params.time("initial_rtt"),
        packet_threshold: params.whole("packet_threshold"),
        time_eighths: params.whole("time_eighths"),
        recovery_packet: params.switch("recovery_packet"),
        pacing: params.switch("pacing"),
        pacing_bursts: params.switch("pacing_bursts"),
        probe_data: params.switch("probe_data"),
        acks: AckRules {
            eliciting: params.whole("ack_eliciting_threshold"),
            max_delay: params.time("max_ack_delay"),
            reordering: params.whole("reordering_threshold"),
            ranges: params.whole("ack_ranges") as usize,
        },
        zero_rtt,
        client_hello: params.whole("client_hello") as u32,
        tickets: params.switch("tickets"),
        tokens: params.switch_or("tokens", params.switch("tickets")),
        server_flight: params.whole_or("server_flight", u64::from(flight)) as u32,
        idle_timeout: params.time("idle_timeout"),
        ecn: ecn.then_some(if control.ecn == EcnMode::Scalable { Ecn::Ect1 } else { Ecn::Ect0 }),
    }
}
