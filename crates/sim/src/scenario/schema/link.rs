//! The fields of a link, and of the changes of its rate.

use packet::params::{Field, Kind, Value};
use packet::units::Unit;

use super::time;

/// The discipline of a link's direction for which a scenario gives none.
pub const DEFAULT_QUEUE: &str = "droptail";

/// Name of the link's field that gives the number of client machines per copy of the link.
pub const CLIENTS_PER_LINK: &str = "clients_per_link";

/// Fields of `[[link]]` that are not parameters.
pub const LINK_STRUCTURE: &[[&str; 4]] = &[
    [
        "name",
        "text",
        "bottleneck, link1, …",
        "Its ports are called <name>.forward and <name>.reverse.",
    ],
    [
        "forward",
        "name or table",
        DEFAULT_QUEUE,
        "The queue from the servers to the clients: aqm and its fields.",
    ],
    ["reverse", "name or table", DEFAULT_QUEUE, "The queue from the clients to the servers."],
    [
        "access",
        "name",
        "",
        "A kind of access (`aqmlab list access`), whose values hold for all fields that are not given.",
    ],
    [
        "effects",
        "list of tables",
        "",
        "What the link does to packets apart from queueing them, in this order: [{ kind = \"loss\", share = 0.01 }], see effect (`aqmlab list effects`).",
    ],
    [
        "wifi",
        "table",
        "",
        "The link is a radio channel of an access point and stations, and not a wire: { rates = [\"144 Mbit/s\", \"7.2 Mbit/s\"] }, see wifi. rate is then what disciplines assume.",
    ],
    [
        "docsis",
        "table",
        "",
        "The link is a cable modem's, which requests bytes upstream and gets grants in MAP intervals: {}, see docsis. Downstream it is a wire.",
    ],
    [
        "cell",
        "table",
        "",
        "The link is a mobile cell of a base station and its UEs, the client machines: { quality = [11, 6] }, see cell. rate is then what disciplines assume.",
    ],
    [
        "rate_steps",
        "list of pairs",
        "",
        "How the rate changes: [[\"0 s\", \"10 Mbit/s\"], [\"30 s\", \"2 Mbit/s\"]]. A rate may be 0. A packet under way goes on at the new rate.",
    ],
    [
        "rate_repeat",
        "time",
        "",
        "After which time the steps begin anew; without it the last one lasts.",
    ],
    [
        "rate_trace",
        "table or none",
        "",
        "In place of a rate: { file = \"lte.trace\" } with opportunities to send 1,500 bytes in Mahimahi's format (a path relative to the scenario's file), { file = \"line.csv\" } with times, rates and perhaps delays and losses, or drawn from a model, { model = \"sprout\" }, see trace.",
    ],
    [
        "reverse_rate_steps, reverse_rate_repeat, reverse_rate_trace",
        "",
        "",
        "The rate from the clients to the servers, in one of these forms. Without any of them, and without a reverse_rate, both directions change alike.",
    ],
];

/// Fields of an effect of a link that are not parameters of its kind.
pub const EFFECT_STRUCTURE: &[[&str; 4]] = &[
    [
        "kind",
        "name",
        "",
        "What it does (`aqmlab list effects`), with the fields of that kind beside it.",
    ],
    [
        "direction",
        "both, forward or reverse",
        "both",
        "Where it acts: forward is from the servers to the clients. In both, each direction has its own state and random numbers.",
    ],
];

/// Parameters of `[[link]]`.
pub const LINK: &[Field] = &[
    Field::new("rate", Kind::from(Unit::Rate, 1.0, 1e15), Value::Unset)
        .meaning(
            "Line rate of both directions. Where the rate changes, the one that disciplines \
             assume: by default the mean of what repeats, the first positive one of steps that do \
             not.",
        )
        .source("required, or what changes it"),
    Field::new("reverse_rate", Kind::from(Unit::Rate, 1.0, 1e15), Value::Unset)
        .meaning("Line rate from the clients to the servers, where it differs.")
        .source("the rate"),
    Field::new("delay", time(0.0, false), Value::Real(0.0))
        .meaning("Propagation delay of the link, each way.")
        .source("constructed"),
    Field::new("framing", Kind::Choice(&crate::scenario::framing::NAMES), Value::Choice("none"))
        .meaning(
            "What surrounds an IP packet on the wire: nothing; Ethernet's 38 bytes and 46-byte \
             minimum; DOCSIS as its shaper counts; GPON's 23 bytes; PPPoE or bridged Ethernet on PTM (VDSL); PPP, \
             PPPoE, bridged Ethernet or IP on ATM's cells (ADSL).",
        )
        .source("constructed"),
    Field::new("framing_bytes", Kind::whole(Unit::Bytes, 0, 65_535), Value::Whole(0))
        .meaning(
            "Bytes on the wire around each IP packet beside those of the framing: a tag, a \
             tunnel's header, a framing that has no name here.",
        )
        .source("constructed"),
    Field::new("header_bytes", Kind::whole(Unit::Bytes, 0, 256), Value::Whole(0))
        .meaning(
            "Bytes of its frame that a packet has already when it is queued, so that disciplines \
             count them: in limits, quanta, thresholds and probabilities by bytes. 14 for \
             Linux's qdiscs on Ethernet, 0 for IP bytes. The time on the wire does not depend on \
             it, and what is recorded is in IP bytes.",
        )
        .source(
            "constructed: IP bytes (read: Linux qdisc_pkt_len is skb->len, with hard_header_len)",
        ),
    Field::new("ring", Kind::whole(Unit::Packets, 1, 65_536), Value::Whole(1))
        .meaning(
            "Packets that the device behind each queue holds, the one being transmitted \
             included: it takes one whenever it has room, so that packets wait there too, and \
             the discipline sees, judges and reorders only those that the device has not taken \
             yet. Drivers have rings of 64 to 1,024 descriptors.",
        )
        .source("constructed: a line that takes a packet when it is free, as in ns-2 and ns-3"),
    Field::new(CLIENTS_PER_LINK, Kind::whole(Unit::Count, 1, 65_535), Value::Unset)
        .meaning(
            "Client machines that share one copy of this link: with 1 each machine has a line and \
             queues of its own, as a home has behind a segment and a trunk. Machines take the copies \
             in turn (0 to n - 1 the first one), whose ports are <name>.<copy>.forward and \
             .reverse; results show all copies together as <name>.forward and .reverse. Without it \
             there is one link for all.",
        )
        .source("constructed: one link for all"),
];

/// Parameters of a trace of transmission opportunities, `rate_trace = { file = "lte.trace", … }`.
pub const TRACE_FILE: &[Field] = &[Field::new(
    "bytes",
    Kind::whole(Unit::Bytes, 1, 65_535),
    Value::Unset,
)
.meaning(
    "Bytes that leave at each opportunity, by default 1,500. Mahimahi sends 1,504, since its packets \
     have 4 bytes of a TUN header: write 1504 here and framing_bytes = 4 to have its arithmetic.",
)
.source("constructed: 1,500 B of IP, as Mahimahi's packets carry")];

/// Parameters of a random model of transmission opportunities, `rate_trace = { model = "sprout", …
/// }`; the link's rate is the middle of the model's range.
pub const TRACE: &[Field] = &[
    Field::new("model", Kind::Choice(&["sprout"]), Value::Choice("sprout"))
        .meaning(
            "sprout: Poisson opportunities whose rate is a Brownian motion between 0 and twice \
             the link's rate, moved every 20 ms; at 0 there is an outage of exponential length.",
        )
        .source("Winstein et al., NSDI 2013, section 3.1, where it is what a receiver infers with"),
    Field::new("volatility", Kind::from(Unit::Rate, 1.0, 1e15), Value::Real(2.4e6))
        .meaning("Standard deviation of the rate one second later.")
        .source("Sprout: 200 packets of 1,500 B a second (recalled)"),
    Field::new("outage", Kind::from(Unit::Time, 1e-3, 1e6), Value::Real(1.0))
        .meaning("Mean length of an outage.")
        .source("Sprout: escape rate of 1/s (recalled)"),
];
