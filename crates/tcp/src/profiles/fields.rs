//! The fields of every profile's table. Each is declared here once, with its meaning and its range;
//! a profile gives its own default and the source of that.

use packet::params::{Field, Kind, Value};
use packet::units::Unit;

use crate::congestion;

/// A profile's field: the shared one with its own default and the source of that.
pub(super) const fn field(shared: Field, default: Value, source: &'static str) -> Field {
    Field { default, source, ..shared }
}

pub(super) const ON: Value = Value::Switch(true);
pub(super) const OFF: Value = Value::Switch(false);

/// The segment size on Ethernet.
pub(super) const MSS: Field =
    Field::new("mss", Kind::whole(Unit::Bytes, 64, 9_000), Value::Whole(1_460))
        .meaning("Largest payload of a segment; with timestamps 12 B less go out.")
        .source("1,500 B Ethernet less 40 B of headers");
pub(super) const WINDOW: Field =
    Field::new("window_bytes", Kind::whole(Unit::Bytes, 64, 1 << 30), Value::Unset)
        .meaning("Receive window. A scenario may call it window.");
pub(super) const INITIAL_WINDOW: Field =
    Field::new("initial_window", Kind::whole(Unit::Packets, 1, 1_000), Value::Unset)
        .meaning("First congestion window, in segments.");
pub(super) const RECOVERY: Field =
    Field::new("recovery", Kind::Choice(&KINDS), Value::Unset).meaning(
        "Loss recovery: Tahoe, Reno, NewReno (RFC 6582), SACK (RFC 6675) or sack1, which is Agent/TCP/Sack1 \
         of ns-2.35.",
    );
const KINDS: [&str; 5] = ["tahoe", "reno", "newreno", "sack", "sack1"];
pub(super) const CONGESTION: Field = Field::new("congestion", congestion::KIND, Value::Unset)
    .meaning(
        "Congestion control (`aqmlab list congestion`): its name, or a table { name = \"cubic\", \
         beta = 0.7 } that sets its parameters as well (`aqmlab describe cubic`).",
    );
pub(super) const DUPACK_THRESHOLD: Field =
    Field::new("dupack_threshold", Kind::whole(Unit::Packets, 1, 100), Value::Whole(3))
        .meaning("Duplicate acknowledgements that start a fast retransmit.")
        .source("RFC 5681 section 3.2");
pub(super) const LIMITED_TRANSMIT: Field = Field::new(
    "limited_transmit",
    Kind::Switch,
    Value::Unset,
)
.meaning(
    "Send a new segment at each duplicate acknowledgement before the fast retransmit (RFC 3042).",
);
pub(super) const RTO_MIN: Field =
    Field::new("rto_min", Kind::above(Unit::Time, 0.0, 60.0), Value::Unset)
        .meaning("Smallest retransmission timeout. A scenario may call it min_rto.");
pub(super) const TICK: Field = Field::new("tick", Kind::from(Unit::Time, 0.0, 1.0), Value::Unset)
    .meaning("Granularity of round trips and timeouts, at least 1 ms; 0 s counts exact times.");
pub(super) const DELAYED_ACK: Field =
    Field::new("delayed_ack", Kind::from(Unit::Time, 0.0, 0.5), Value::Unset)
        .meaning("Longest wait of an acknowledgement; 0 acknowledges every segment at once.");
pub(super) const ACK_EVERY: Field =
    Field::new("ack_every", Kind::whole(Unit::Packets, 1, 100), Value::Unset)
        .meaning("Acknowledge at once at this many data segments.");
pub(super) const DELAYED_ACK_CLOCK: Field =
    Field::new("delayed_ack_clock", Kind::Choice(&["connection", "host", "common"]), Value::Unset)
        .meaning(
            "What ends an acknowledgement's wait: the connection's own timer, the next tick of the \
         host's clock, or of one that all hosts share; the clocks' period is delayed_ack.",
        );
pub(super) const TIMESTAMPS: Field = Field::new("timestamps", Kind::Switch, Value::Unset).meaning(
    "The timestamps option (RFC 7323): 12 B on every segment, a round trip from every ACK, in \
         ticks, or in ms where times are exact.",
);
pub(super) const F_RTO: Field = Field::new("f_rto", Kind::Switch, Value::Unset)
    .meaning("Detect spurious timeouts by F-RTO (RFC 5682) and answer them as RFC 4015 does.");
pub(super) const ECN: Field = Field::new("ecn", Kind::Switch, Value::Unset)
    .meaning("Explicit congestion notification (RFC 3168).")
    .source(
        "constructed: off, so that marks are drops unless a scenario switches them on; on with a \
             congestion control that needs marks",
    );
pub(super) const ECN_FEEDBACK: Field = Field::new(
    "ecn_feedback",
    Kind::Choice(&["classic", "dctcp", "accurate"]),
    Value::Unset,
)
.meaning(
    "What the receiver reports about marks: an echo per window (classic, RFC 3168), an echo of the \
         marked bytes (dctcp, RFC 8257; negotiated like the classic one, so both ends must be set), \
         or a count (accurate, RFC 9768; classic towards a peer that knows no other).",
)
.source("RFC 3168, unless the congestion control needs to know more");
pub(super) const ECN_RECEIVER: Field = Field::new(
    "ecn_receiver",
    Kind::Choice(&["honest", "ignores"]),
    Value::Choice("honest"),
)
.meaning("honest, or one that agrees to ECN and ignores marks: its peers never slow down for them.")
.source("RFC 3168; that one may ignore marks, and why it pays: its section 18.1 and RFC 3540");
pub(super) const ACCECN_OPTION: Field = Field::new("accecn_option", Kind::Switch, OFF)
    .meaning(
        "With accurate feedback, report bytes by ECN codepoint in the AccECN option as well: 8 or 12 \
         B on acknowledgements of marked or ECN-capable data.",
    )
    .source(
        "RFC 9768 section 3.2.3 recommends it; constructed: off, the three bits of the \
                  header do where no path strips acknowledgements. (net.ipv4.tcp_ecn_option of \
                  later Linux)",
    );
pub(super) const BETA_ECN: Field = Field::new(
    "beta_ecn",
    Kind::from(Unit::None, 0.5, 1.0),
    Value::Unset,
)
.meaning(
    "What a mark leaves of the congestion window (ABE), where that is not what a loss leaves: \
         0.8 with Reno, 0.85 with CUBIC; two segments at least.",
)
.source(
    "RFC 3168: as much as a loss leaves. RFC 8511 section 3 (ABE) recommends 0.8 for \
                  Reno's half, its section 3.1 0.85 for CUBIC's 0.7; FreeBSD's \
                  net.inet.tcp.cc.newreno.beta_ecn is 80 percent",
);
pub(super) const IDLE_RESTART: Field = Field::new("idle_restart", Kind::Switch, Value::Unset)
    .meaning("Return to the initial window after a pause of a timeout.");

/// Fields of the host cache, for profiles that have one.
pub(super) const HOST_CACHE: Field = Field::new("host_cache", Kind::Switch, Value::Unset).meaning(
    "A host remembers the round trips of its connections to another, and the next one between \
         the two starts from them; empty when the run begins.",
);
pub(super) const SENDPIPE: Field =
    Field::new("sendpipe", Kind::whole(Unit::Bytes, 0, 1 << 30), Value::Unset).meaning(
        "The host cache keeps a slow-start threshold once a connection ends with one below \
             half of this; 0 for never.",
    );

/// Fields of the socket layer of 4.4BSD.
pub(super) const WRITE_CHUNK: Field =
    Field::new("write_chunk", Kind::whole(Unit::Bytes, 0, 65_535), Value::Whole(0))
        .meaning("Bytes of a large write handed to TCP per call; 0 hands over whole writes.")
        .source("constructed; the kernel's mbuf clusters hold 2,048 B");
pub(super) const SMALL_WRITE_SPLIT: Field = Field::new("small_write_split", Kind::Switch, OFF)
    .meaning("Hand writes below 208 B to TCP in pieces of at most 100 B.")
    .source("constructed; the kernel's small mbufs hold 100 B");

// Fields of the beginning of connections.

pub(super) const INITIAL_SSTHRESH: Field =
    Field::new("initial_ssthresh", Kind::whole(Unit::Bytes, 64, 1 << 40), Value::Unset)
        .meaning("First slow-start threshold.");
pub(super) const RTO_INITIAL: Field =
    Field::new("rto_initial", Kind::above(Unit::Time, 0.0, 60.0), Value::Unset).meaning(
        "Retransmission timeout before a round trip is measured, and so the first wait of a SYN \
         and of a SYN-ACK.",
    );
pub(super) const SYN_LINEAR: Field =
    Field::new("syn_linear", Kind::whole(Unit::Count, 0, 100), Value::Unset).meaning(
        "Timeouts of a SYN after which it waits as long as before; after each further one twice as \
         long. A SYN-ACK doubles from the first.",
    );
pub(super) const SYN_RETRIES: Field =
    Field::new("syn_retries", Kind::whole(Unit::Count, 0, 250), Value::Unset)
        .meaning("Retransmissions of a SYN; a timeout more and the attempt is given up.");
pub(super) const SYN_ACK_RETRIES: Field =
    Field::new("synack_retries", Kind::whole(Unit::Count, 0, 250), Value::Unset).meaning(
        "Retransmissions of a SYN-ACK; a timeout more and the server forgets the connection.",
    );
pub(super) const CONNECT_LIMIT: Field =
    Field::new("connect_limit", Kind::above(Unit::Time, 0.0, 100_000.0), Value::Unset).meaning(
        "Longest time that either end spends on a handshake; none unless given or named by the \
         profile.",
    );
