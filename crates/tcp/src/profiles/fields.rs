//! The fields of every profile's table: each is declared here once, with what it means and may be;
//! a profile gives its own default and the source of that.

use packet::params::{Field, Kind, Value};
use packet::units::Unit;

use crate::congestion;

/// A profile's field: the shared one with its own default and the source of that.
pub(super) const fn field(shared: Field, default: Value, source: &'static str) -> Field {
    Field { default, source, ..shared }
}

const fn shared(name: &'static str, meaning: &'static str, kind: Kind) -> Field {
    Field { name, meaning, kind, default: Value::Unset, source: "" }
}

pub(super) const ON: Value = Value::Switch(true);
pub(super) const OFF: Value = Value::Switch(false);

/// The segment size on Ethernet.
pub(super) const MSS: Field = Field {
    default: Value::Whole(1_460),
    source: "1,500 B Ethernet less 40 B of headers",
    ..shared(
        "mss",
        "Largest payload of a segment; with timestamps 12 B less go out.",
        Kind::Whole { unit: Unit::Bytes, min: 64, max: 9_000 },
    )
};
pub(super) const WINDOW: Field = shared(
    "window_bytes",
    "Receive window. A scenario may call it window.",
    Kind::Whole { unit: Unit::Bytes, min: 64, max: 1 << 30 },
);
pub(super) const INITIAL_WINDOW: Field = shared(
    "initial_window",
    "First congestion window, in segments.",
    Kind::Whole { unit: Unit::Packets, min: 1, max: 1_000 },
);
pub(super) const RECOVERY: Field = shared(
    "recovery",
    "Loss recovery: Tahoe, Reno, NewReno (RFC 6582) or SACK (RFC 6675).",
    Kind::Choice(&["tahoe", "reno", "newreno", "sack"]),
);
pub(super) const CONGESTION: Field = shared(
    "congestion",
    "Congestion control (`aqmlab list congestion`): its name, or a table { name = \"cubic\", beta = 0.7 } \
     that sets its parameters as well (`aqmlab describe cubic`).",
    congestion::KIND,
);
pub(super) const DUPACK_THRESHOLD: Field = Field {
    default: Value::Whole(3),
    source: "RFC 5681 section 3.2",
    ..shared(
        "dupack_threshold",
        "Duplicate acknowledgements that start a fast retransmit.",
        Kind::Whole { unit: Unit::Packets, min: 1, max: 100 },
    )
};
pub(super) const LIMITED_TRANSMIT: Field = shared(
    "limited_transmit",
    "Send a new segment at each duplicate acknowledgement before the fast retransmit (RFC 3042).",
    Kind::Switch,
);
pub(super) const RTO_MIN: Field = shared(
    "rto_min",
    "Smallest retransmission timeout. A scenario may call it min_rto.",
    Kind::Real { unit: Unit::Time, min: 0.0, max: 60.0, open: true },
);
pub(super) const TICK: Field = shared(
    "tick",
    "Granularity of round trips and timeouts, at least 1 ms; 0 s counts exact times.",
    Kind::Real { unit: Unit::Time, min: 0.0, max: 1.0, open: false },
);
pub(super) const DELAYED_ACK: Field = shared(
    "delayed_ack",
    "Longest wait of an acknowledgement; 0 acknowledges every segment at once.",
    Kind::Real { unit: Unit::Time, min: 0.0, max: 0.5, open: false },
);
pub(super) const ACK_EVERY: Field = shared(
    "ack_every",
    "Acknowledge at once at this many data segments.",
    Kind::Whole { unit: Unit::Packets, min: 1, max: 100 },
);
pub(super) const DELAYED_ACK_CLOCK: Field = shared(
    "delayed_ack_clock",
    "What ends an acknowledgement's wait: the connection's own timer, the next tick of the host's \
     clock, or of one that all hosts share; the clocks' period is delayed_ack.",
    Kind::Choice(&["connection", "host", "common"]),
);
pub(super) const TIMESTAMPS: Field = shared(
    "timestamps",
    "The timestamps option (RFC 7323): 12 B on every segment, a round trip from every ACK, in \
     ticks, or in ms where times are exact.",
    Kind::Switch,
);
pub(super) const F_RTO: Field = shared(
    "f_rto",
    "Detect spurious timeouts by F-RTO (RFC 5682) and answer them as RFC 4015 does.",
    Kind::Switch,
);
pub(super) const ECN: Field = Field {
    default: Value::Unset,
    source: "constructed: off, so that marks are drops unless a scenario asks for them; on with a \
             congestion control that needs marks",
    ..shared("ecn", "Explicit congestion notification (RFC 3168).", Kind::Switch)
};
pub(super) const ECN_FEEDBACK: Field = Field {
    default: Value::Unset,
    source: "RFC 3168, unless the congestion control needs to know more",
    ..shared(
        "ecn_feedback",
        "What the receiver tells of marks: an echo per window (classic, RFC 3168), an echo of the \
         marked bytes (dctcp, RFC 8257; asked for like the classic one, so both ends must be set), \
         or a count (accurate, RFC 9768; classic towards a peer that knows no other).",
        Kind::Choice(&["classic", "dctcp", "accurate"]),
    )
};
pub(super) const ECN_RECEIVER: Field = Field {
    default: Value::Choice("honest"),
    source: "RFC 3168; that one may ignore marks, and why it pays: its section 18.1 and RFC 3540",
    ..shared(
        "ecn_receiver",
        "honest, or one that agrees to ECN and ignores marks: its peers never slow down for them.",
        Kind::Choice(&["honest", "ignores"]),
    )
};
pub(super) const ACCECN_OPTION: Field = Field {
    default: OFF,
    source: "RFC 9768 section 3.2.3 recommends it; constructed: off, the three bits of the header do \
             where no path strips acknowledgements. (net.ipv4.tcp_ecn_option of later Linux)",
    ..shared(
        "accecn_option",
        "With accurate feedback, tell bytes by ECN codepoint in the AccECN option as well: 8 or 12 B on \
         acknowledgements of marked or ECN-capable data.",
        Kind::Switch,
    )
};
pub(super) const BETA_ECN: Field = Field {
    default: Value::Unset,
    source: "RFC 3168: as much as a loss leaves. RFC 8511 section 3 (ABE) recommends 0.8 for Reno's \
             half, its section 3.1 0.85 for CUBIC's 0.7; FreeBSD's net.inet.tcp.cc.newreno.beta_ecn is \
             80 percent",
    ..shared(
        "beta_ecn",
        "What a mark leaves of the congestion window (ABE), where that is not what a loss leaves: \
         0.8 with Reno, 0.85 with CUBIC; two segments at least.",
        Kind::Real { unit: Unit::None, min: 0.5, max: 1.0, open: false },
    )
};
pub(super) const IDLE_RESTART: Field = shared(
    "idle_restart",
    "Return to the initial window after a pause of a timeout.",
    Kind::Switch,
);

/// What a host keeps of its connections; the fields of those that keep something.
pub(super) const HOST_CACHE: Field = shared(
    "host_cache",
    "A host remembers the round trips of its connections to another, and the next one between the \
     two starts from them; empty when the run begins.",
    Kind::Switch,
);
pub(super) const SENDPIPE: Field = shared(
    "sendpipe",
    "The host cache keeps a slow-start threshold once a connection ends with one below half of \
     this; 0 for never.",
    Kind::Whole { unit: Unit::Bytes, min: 0, max: 1 << 30 },
);

/// The socket layer of 4.4BSD.
pub(super) const WRITE_CHUNK: Field = Field {
    default: Value::Whole(0),
    source: "constructed; the kernel's mbuf clusters hold 2,048 B",
    ..shared(
        "write_chunk",
        "Bytes of a large write handed to TCP per call; 0 hands over whole writes.",
        Kind::Whole { unit: Unit::Bytes, min: 0, max: 65_535 },
    )
};
pub(super) const SMALL_WRITE_SPLIT: Field = Field {
    default: OFF,
    source: "constructed; the kernel's small mbufs hold 100 B",
    ..shared(
        "small_write_split",
        "Hand writes below 208 B to TCP in pieces of at most 100 B.",
        Kind::Switch,
    )
};

// How connections begin.

pub(super) const INITIAL_SSTHRESH: Field = shared(
    "initial_ssthresh",
    "First slow-start threshold.",
    Kind::Whole { unit: Unit::Bytes, min: 64, max: 1 << 40 },
);
pub(super) const RTO_INITIAL: Field = shared(
    "rto_initial",
    "Retransmission timeout before a round trip is measured, and so the first wait of a SYN and of a \
     SYN-ACK.",
    Kind::Real { unit: Unit::Time, min: 0.0, max: 60.0, open: true },
);
pub(super) const SYN_LINEAR: Field = shared(
    "syn_linear",
    "Timeouts of a SYN after which it waits as long as before; after each further one twice as long. \
     A SYN-ACK doubles from the first.",
    Kind::Whole { unit: Unit::Count, min: 0, max: 100 },
);
pub(super) const SYN_RETRIES: Field = shared(
    "syn_retries",
    "Retransmissions of a SYN; a timeout more and the attempt is given up.",
    Kind::Whole { unit: Unit::Count, min: 0, max: 250 },
);
pub(super) const SYN_ACK_RETRIES: Field = shared(
    "synack_retries",
    "Retransmissions of a SYN-ACK; a timeout more and the server forgets the connection.",
    Kind::Whole { unit: Unit::Count, min: 0, max: 250 },
);
pub(super) const CONNECT_LIMIT: Field = shared(
    "connect_limit",
    "Longest time that either end spends on a handshake; none unless given or named by the profile.",
    Kind::Real { unit: Unit::Time, min: 0.0, max: 100_000.0, open: true },
);
