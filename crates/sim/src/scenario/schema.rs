//! The fields of a scenario: one table per section, read by the checker and by `describe`.

mod link;

use packet::params::{Field, Kind, Value};
use packet::units::Unit;

pub use link::{
    CLIENTS_PER_LINK, DEFAULT_QUEUE, EFFECT_STRUCTURE, LINK, LINK_STRUCTURE, TRACE, TRACE_FILE,
};

const fn time(min: f64, open: bool) -> Kind {
    Kind::Real { unit: Unit::Time, min, max: 1e9, open }
}

/// Fields of a scenario's top level that are not parameters: name, kind, default, meaning.
pub const SCENARIO_STRUCTURE: &[[&str; 4]] = &[
    ["name", "text", "scenario", "The scenario's name, by which its results folder is called."],
    ["network", "table", "", "The machines and their distances."],
    [
        "link",
        "list of tables",
        "",
        "The links, in order from the servers to the clients; at least one.",
    ],
    ["traffic", "list of tables", "", "Groups of users and flows; at least one."],
    ["record", "table", "", "What is recorded."],
];

/// Fields of `[network]` that are not parameters.
pub const NETWORK_STRUCTURE: &[[&str; 4]] = &[[
    "rtt",
    "time, list, tcpeval or table",
    "a range",
    "Round-trip propagation time: one for all (rtt = \"100 ms\"), a list that the users or flows of each group take in turn, each group from the first, and connections of an open-loop model draw from (rtt = [\"10 ms\", \"200 ms\"]), \"tcpeval\" for the nine of the Common TCP Evaluation Suite (4, 28, 54, 74, 98, 124, 150, 174, 200 ms), one drawn for each connection, or a range, see rtt.",
]];

/// Name by which scenarios choose the round-trip times [`crate::topology::TCPEVAL_MS`].
pub const TCPEVAL: &str = "tcpeval";

/// Fields of `[[traffic]]` that are not parameters.
pub const TRAFFIC_STRUCTURE: &[[&str; 4]] = &[
    [
        "app",
        "text",
        "",
        "What the users do (`aqmlab list traffic`), with the fields of that application beside it.",
    ],
    [
        "name",
        "text",
        "web0, bulk1, …",
        "Name of the group's random streams: equal names draw equally.",
    ],
    ["tcp", "name or table", "plain", "Both ends' TCP: profile and its fields."],
    ["via", "list of link names", "all links", "Which links the group crosses."],
    ["flows", "count", "", "Another word for users."],
    [
        "script",
        "list of tables",
        "",
        "Packets that are dropped or marked by their numbers: [{ drop = [15, 17] }], see script.",
    ],
    [
        "rtt",
        "time, list, tcpeval or table",
        "network.rtt",
        "Round-trip propagation time of this group alone.",
    ],
    [
        "start_after",
        "table",
        "",
        "After which other group's start this one begins, see start_after; its own times of starting count from there. Without it, from the begin of the run.",
    ],
];

/// Fields of a rule of `[[traffic]]`'s `script` that are not parameters.
pub const SCRIPT_STRUCTURE: &[[&str; 4]] = &[
    [
        "drop",
        "number or list",
        "",
        "Numbers of packets that are lost as they leave their host, from 1, in each direction of each connection or stream of datagrams; this or mark.",
    ],
    [
        "mark",
        "number or list",
        "",
        "Numbers of packets that get a CE mark there; one that is not ECN-capable goes on as it is.",
    ],
    [
        "sent",
        "number or list",
        "1",
        "Which transmissions of a data packet: 1 the first, 2 its first retransmission, … (With count = \"data\" only.)",
    ],
    ["flows", "number or list", "all", "Numbers of the users or flows it is about, from 1."],
];

/// Value of `count` in [`SCRIPT`]: data packets are counted by their first transmission.
pub const COUNT_DATA: &str = "data";

/// Parameters of a rule of `[[traffic]]`'s `script`.
pub const SCRIPT: &[Field] = &[
    Field::new(
        "count",
        Kind::Choice(&[COUNT_DATA, "resent", "packets"]),
        Value::Choice(COUNT_DATA),
    )
    .meaning(
        "What is counted: packets with payload by their first transmission (data), \
             retransmissions with payload (resent), or whatever is sent, handshake and \
             acknowledgements included (packets).",
    )
    .source("constructed"),
    Field::new("from", Kind::Choice(&["servers", "clients"]), Value::Unset)
        .meaning(
            "Which side's packets; without it those of the side that sends most of the group's \
             data.",
        )
        .source("constructed"),
];

/// Fields of `start_after` that are not parameters.
pub const START_AFTER_STRUCTURE: &[[&str; 4]] = &[[
    "group",
    "name",
    "required",
    "Name of the other group. It has started when the first of its sources opens a connection or sends a datagram; if none does, this one never begins.",
]];

/// Parameters of `start_after = { group = "…", delay = "…" }` of `[[traffic]]`.
pub const START_AFTER: &[Field] = &[Field::new("delay", time(0.0, false), Value::Real(0.0))
    .meaning("How long after the other group's start.")
    .source("constructed")];

/// How a distribution is written: `{ dist = "<name>", … }`. (Read in `traffic::distribution`.)
pub const DISTRIBUTION_STRUCTURE: &[[&str; 4]] = &[
    [
        "(bare)",
        "quantity or name",
        "",
        "One value (\"15 s\", 4000), or a shipped table (\"mah_reply_bytes\").",
    ],
    ["constant", "value", "", "Always this value."],
    ["uniform", "min, max", "", "Every value between them equally likely."],
    ["exponential", "mean", "", "Exponential."],
    ["pareto", "shape, min or mean", "", "P(X > x) = (min/x)^shape; a mean needs a shape above 1."],
    ["lomax", "shape, scale or mean", "", "Pareto's second: P(X > x) = (1 + x/scale)^-shape."],
    ["lognormal", "median, sigma; or mean, sd", "", "sigma is that of the natural logarithm."],
    ["weibull", "shape, scale or mean", "", "P(X > x) = exp(-(x/scale)^shape)."],
    [
        "table",
        "file, rows or name",
        "",
        "Quantiles with header p,<name>,k or values with header value,prob; a file's path is relative to the scenario's.",
    ],
    [
        "discrete",
        "values, probs",
        "",
        "One of a list of growing values; the probabilities sum to 1.",
    ],
    ["mixture", "parts, weights", "", "One of several distributions; the weights sum to 1."],
    ["at_least, at_most", "quantity", "", "With any dist: what lies outside is drawn again."],
    ["times, plus", "number, quantity", "1, 0", "With any dist: a factor, then what is added."],
];

/// Fields of `[record]` that are not parameters.
pub const RECORD_STRUCTURE: &[[&str; 4]] = &[[
    "queues",
    "list of port names",
    "the studied port",
    "Ports whose queue is sampled, for example bottleneck.forward. The first is the studied one, which the summary is about; by default that of the first link in the direction of the first group's data.",
]];

/// Parameters of a scenario's top level.
pub const SCENARIO: &[Field] = &[
    Field::new("duration", time(0.0, true), Value::Unset)
        .meaning("Simulated time of the run, warm-up included.")
        .source("required"),
    Field::new("warmup", time(0.0, false), Value::Real(0.0))
        .meaning(
            "Start of the measured interval; what happens before shows in per-second series only.",
        )
        .source("Tuning RED discards 20 of 90 minutes"),
    Field::new("seed", Kind::whole(Unit::None, 0, 1 << 53), Value::Whole(1))
        .meaning("Seed of every random stream of the run.")
        .source("constructed"),
    Field::new("engine", Kind::Choice(&["folded", "explicit"]), Value::Choice("folded"))
        .meaning(
            "folded: departure times computed at arrival where the discipline allows it; \
             explicit: every event explicit (slower, the same result).",
        )
        .source("constructed"),
];

/// Largest number of machines on one side: packets name a machine by 16 bits.
const MOST_MACHINES: u64 = 65_535;

/// Parameters of `[network]`.
pub const NETWORK: &[Field] = &[
    Field::new("clients", Kind::whole(Unit::Count, 1, MOST_MACHINES), Value::Whole(7))
        .meaning(
            "Machines on the clients' side; users are spread over them in turn. Packets name a \
             machine by 16 bits.",
        )
        .source("Tuning RED, figure 4"),
    Field::new("servers", Kind::whole(Unit::Count, 1, MOST_MACHINES), Value::Whole(7))
        .meaning("Machines on the servers' side.")
        .source("constructed: the paper does not say"),
    Field::new("access_rate", Kind::from(Unit::Rate, 1.0, 1e15), Value::Unset)
        .meaning(
            "Rate of every machine's own line towards the links (an unlimited queue); without it \
             machines send at once.",
        )
        .source("constructed"),
    Field::new("delay_tick", time(0.0, false), Value::Real(0.0))
        .meaning(
            "Clock of the machines that delay packets: a packet leaves on a tick, the delay \
             rounded down to whole ticks and counted from the tick before it came, as in \
             FreeBSD's dummynet (10 ms at hz = 100); each machine's ticks begin when it was \
             booted, as its other clocks; 0 for exact delays.",
        )
        .source("constructed: no quantisation"),
];

/// Parameters of `[network.rtt]`: round-trip propagation times. The whole delay is added at the
/// clients' entrance.
pub const RTT: &[Field] = &[
    Field::new("min", time(0.0, false), Value::Real(0.014))
        .meaning("Smallest round-trip propagation time.")
        .source(
            "Tuning RED: 7-137 ms, plus 7 ms so that the mean is the printed 79 ms (constructed)",
        ),
    Field::new("max", time(0.0, false), Value::Real(0.144))
        .meaning("Largest round-trip propagation time.")
        .source("as min"),
    Field::new("draw", Kind::Choice(&["pair", "source", "connection"]), Value::Choice("pair"))
        .meaning(
            "pair: evenly spread values, one per pair of machines, in an order drawn by the \
             seed; source: the same, one per user or flow; connection: uniform, drawn for each \
             connection.",
        )
        .source("constructed: the paper does not say"),
];

/// Parameters of `[[traffic]]`, which come before those of its application.
pub const TRAFFIC: &[Field] = &[
    Field::new("users", Kind::whole(Unit::Count, 1, 100_000_000), Value::Unset)
        .meaning("Number of users or flows.")
        .source("required, or load"),
    Field::new("load", Kind::above(Unit::None, 0.0, 5.0), Value::Unset)
        .meaning(
            "Offered load as a share of the rate of the first link it crosses (where that \
             changes, of its mean in the measured interval); calibrated into users on an \
             uncongested link before the run.",
        )
        .source("Tuning RED"),
    Field::new("side", Kind::Choice(&["clients", "servers"]), Value::Unset)
        .meaning("On which side of the links the users or senders sit.")
        .source(
            "the application's own default: web users are clients, bulk senders sit with the \
             servers",
        ),
    Field::new("dscp", Kind::Choice(&packet::dscp::NAMES), Value::Choice("default"))
        .meaning("Differentiated services code point of all its packets, by name.")
        .source("RFC 2474"),
];

/// Parameters of `[record]`.
pub const RECORD: &[Field] = &[
    Field::new("queue_every", time(0.0, true), Value::Real(0.003))
        .meaning("Distance of queue-length samples.")
        .source("Tuning RED"),
    Field::new("samples", Kind::Switch, Value::Switch(true))
        .meaning("Keep every queue sample as a table (else only their statistics).")
        .source("constructed"),
    Field::new("gauges", Kind::Switch, Value::Switch(false))
        .meaning(
            "Sample the inner state of the disciplines of record.queues with their queues (RED's \
             average, PI's probability, …).",
        )
        .source("constructed"),
    Field::new("trace", Kind::Switch, Value::Switch(false))
        .meaning(
            "Keep a row of everything that happens to packets at record.queues, over the whole \
             run: 32 bytes of memory a row, two rows or more a packet.",
        )
        .source("constructed"),
    Field::new("controls", Kind::Switch, Value::Switch(false))
        .meaning(
            "Sample congestion window, threshold and round trip of every connection that has data \
             out, and the gauges of its control, every record.queue_every.",
        )
        .source("constructed"),
    Field::new("responses", Kind::Switch, Value::Switch(true))
        .meaning("Keep a row of every request (else only summary and histogram).")
        .source("constructed"),
    Field::new("pages", Kind::Switch, Value::Switch(false))
        .meaning("Keep a row of every page that web users fetched (else only summary).")
        .source("constructed"),
    Field::new("by_group", Kind::Switch, Value::Switch(false))
        .meaning("Histogram of response times for each traffic group by itself.")
        .source("constructed"),
    Field::new("sources", Kind::Switch, Value::Switch(false))
        .meaning(
            "Keep a row for every user and flow that sends requests: its responses and goodput.",
        )
        .source("constructed"),
    Field::new("goodput", Kind::Switch, Value::Switch(false))
        .meaning("Count the payload that reaches its receiver, per second and traffic group.")
        .source("constructed"),
    Field::new("datagrams", Kind::Switch, Value::Switch(true))
        .meaning("Keep a row of every datagram (else only the figures of their streams).")
        .source("constructed"),
    Field::new("deadline", time(0.0, true), Value::Real(0.2))
        .meaning("A datagram that takes at most this long is in time.")
        .source("Harsh RED, table II"),
];
