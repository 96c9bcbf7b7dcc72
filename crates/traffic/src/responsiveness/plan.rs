//! The parameters of a test of responsiveness, and how its fields are read.

use packet::Duration;
use packet::params::{Field, Kind, Params, Value};
use packet::units::Unit;

use crate::{Ahead, Writing};

/// The settings that all tests of a group share.
#[derive(Debug)]
pub(super) struct Plan {
    pub uploads: bool,
    pub connections: u32,
    pub added: u32,
    pub interval: Duration,
    pub start: Duration,
    pub lasts: Option<Duration>,
    pub probe_every: Duration,
    pub foreign: bool,
    pub own: bool,
    pub tls_round_trips: u32,
    pub hello: u64,
    pub flight: u64,
    pub request: u64,
    pub reply: u64,
    pub writing: Writing,
    /// Whether a self probe begins with the answer to its foreign one.
    pub chained: bool,
}

const BYTES: Kind = Kind::whole(Unit::Bytes, 1, 1 << 20);

pub(super) static FIELDS: &[Field] = &[
    Field::new("direction", Kind::Choice(&["download", "upload"]), Value::Choice("download"))
        .meaning("Which way the load goes.")
        .source("the draft, section 4.1.2: one after the other, or both at once"),
    Field::new("connections", Kind::whole(Unit::Count, 0, 64), Value::Whole(16))
        .meaning("MNP: load-generating connections at most; 0 for probes without load.")
        .source("the draft, section 4.2"),
    Field::new("added", Kind::whole(Unit::Count, 1, 64), Value::Whole(1))
        .meaning("INC: load-generating connections added at each interval; it begins with one.")
        .source("the draft, section 4.2"),
    Field::new("interval", Kind::above(Unit::Time, 0.0, 3_600.0), Value::Real(5.0))
        .meaning("ID: time between additions.")
        .source("the draft, section 4.2; goresponsiveness takes 1 s"),
    Field::new("probes", Kind::Choice(&["both", "foreign", "self", "none"]), Value::Choice("both"))
        .meaning(
            "Which requests are timed: foreign ones on new connections, self ones on load-generating \
             connections, or both, in turn.",
        )
        .source("the draft, section 4.3"),
    Field::new("self_probes", Kind::Choice(&["in_turn", "after_foreign"]), Value::Choice("in_turn"))
        .meaning(
            "With probes of both kinds, when a self probe begins: on its own clock, on a connection that carries load, \
             or with the answer to its foreign probe, on any load-generating connection; where that one has no answer \
             to its own request yet, it is left out and never answered.",
        )
        .source("the draft, section 4.3; goresponsiveness, rpm/rpm.go: ResponsivenessProber, status RUNNING"),
    Field::new("probe_every", Kind::above(Unit::Time, 0.0, 3_600.0), Value::Real(0.01))
        .meaning("Time from one probe to the next of its kind: 1/MPS.")
        .source("the draft, section 4.2: 100 a second at most"),
    Field::new("tls", Kind::Choice(&["1.3", "1.2", "none"]), Value::Choice("1.3"))
        .meaning("Whether connections begin with a TLS handshake: one round trip (1.3) or two (1.2).")
        .source("RFC 8446, RFC 5246"),
    Field::new("hello_bytes", BYTES, Value::Whole(517))
        .meaning("What a client sends in a round trip of the TLS handshake.")
        .source("assumed: a padded ClientHello (RFC 7685)"),
    Field::new("flight_bytes", BYTES, Value::Whole(3_000))
        .meaning("What a server answers in a round trip of the TLS handshake.")
        .source("assumed: a foreign probe exchanges some 5000 B in all (the draft, section 4.3)"),
    Field::new("request_bytes", BYTES, Value::Whole(200))
        .meaning("A request, its header included.")
        .source("assumed"),
    Field::new("reply_bytes", BYTES, Value::Whole(200))
        .meaning("An answer: an object of 1 B and its header.")
        .source("the draft, section 4.3; the header's size: assumed"),
    Field::new("frame_bytes", Kind::whole(Unit::Bytes, 1, 16_384), Value::Whole(16_384))
        .meaning("A frame's payload.")
        .source("RFC 9113 section 6.5.2; the draft, section 5.1: what a connection sends in 5 ms"),
    Field::new("unsent_bytes", Kind::whole(Unit::Bytes, 1, 1 << 22), Value::Unset)
        .meaning("Programs write while less than this waits to be sent; if not given, a frame's payload.")
        .source("tcp(7), TCP_NOTSENT_LOWAT"),
    Field::new("send_buffer", Kind::Choice(&["unsent", "linux"]), Value::Choice("unsent"))
        .meaning(
            "What bounds how much is written ahead: unsent_bytes, or the send buffer, which Linux grows with the \
             congestion window.",
        )
        .source("net/ipv4/tcp_input.c, tcp_sndbuf_expand; include/net/sock.h, sk_stream_is_writeable (Linux 7.3)"),
    Field::new("writes", Kind::Choice(&["when_ready", "blocking"]), Value::Choice("when_ready"))
        .meaning(
            "A program chooses a frame when there is room for it, or it waits in its write with one that it has \
             chosen: then an answer that is ready meanwhile comes after that one too.",
        )
        .source("constructed; Go 1.26, net/http, h2_bundle.go: startFrameWrite has one write on its way"),
    Field::new("start", Kind::from(Unit::Time, 0.0, 1e9), Value::Real(0.0))
        .meaning("When it begins.")
        .source("constructed"),
    Field::new("lasts", Kind::above(Unit::Time, 0.0, 1e9), Value::Unset)
        .meaning("How long it goes on; if not given, to the end of the run.")
        .source("constructed"),
];

/// The plan that a group's fields describe.
pub(super) fn plan(params: &Params) -> Plan {
    let probes = params.choice("probes");
    Plan {
        uploads: params.choice("direction") == "upload",
        connections: params.whole("connections") as u32,
        added: params.whole("added") as u32,
        interval: params.time("interval"),
        start: params.time("start"),
        lasts: params.given("lasts").then(|| params.time("lasts")),
        probe_every: params.time("probe_every"),
        foreign: matches!(probes, "both" | "foreign"),
        own: matches!(probes, "both" | "self"),
        tls_round_trips: match params.choice("tls") {
            "1.3" => 1,
            "1.2" => 2,
            _ => 0,
        },
        hello: params.whole("hello_bytes"),
        flight: params.whole("flight_bytes"),
        request: params.whole("request_bytes"),
        reply: params.whole("reply_bytes"),
        writing: writing(params),
        chained: probes == "both" && params.choice("self_probes") == "after_foreign",
    }
}

fn writing(params: &Params) -> Writing {
    let frame = params.whole("frame_bytes") as u32;
    let unsent =
        if params.given("unsent_bytes") { params.whole("unsent_bytes") as u32 } else { frame };
    let ahead = match params.choice("send_buffer") {
        "linux" => Ahead::Buffer,
        _ => Ahead::Unsent(unsent),
    };
    Writing { frame, ahead, blocks: params.choice("writes") == "blocking" }
}
