//! The fields of a scenario: one table per section, read by the checker and by `describe`.

mod link;

use packet::params::{Field, Kind, Value};
use packet::units::Unit;

pub use link::{DEFAULT_QUEUE, LINK, LINK_STRUCTURE, TRACE};

const fn time(min: f64, open: bool) -> Kind {
    Kind::Real { unit: Unit::Time, min, max: 1e9, open }
}

/// Structural fields of the top level: name, kind, default, meaning.
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

/// Structural fields of `[network]`.
pub const NETWORK_STRUCTURE: &[[&str; 4]] = &[[
    "rtt",
    "time, list, tcpeval or table",
    "a range",
    "Round-trip propagation time: one for all (rtt = \"100 ms\"), a list that the users or flows of each group take in turn, each group from the first, and connections of an open-loop model draw from (rtt = [\"10 ms\", \"200 ms\"]), \"tcpeval\" for the nine of the Common TCP Evaluation Suite (4, 28, 54, 74, 98, 124, 150, 174, 200 ms), one drawn for each connection, or a range, see rtt.",
]];

/// How a scenario names [`crate::topology::TCPEVAL_MS`].
pub const TCPEVAL: &str = "tcpeval";

/// Structural fields of `[[traffic]]`.
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

/// Structural fields of a rule of `[[traffic]]`'s `script`.
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

/// A count of [`SCRIPT`]: data packets by their first transmission.
pub const COUNT_DATA: &str = "data";

/// A rule of `[[traffic]]`'s `script`.
pub const SCRIPT: &[Field] = &[
    Field {
        name: "count",
        meaning: "What is counted: packets with payload by their first transmission (data), retransmissions with payload (resent), or whatever is sent, handshake and acknowledgements included (packets).",
        kind: Kind::Choice(&[COUNT_DATA, "resent", "packets"]),
        default: Value::Choice(COUNT_DATA),
        source: "constructed",
    },
    Field {
        name: "from",
        meaning: "Which side's packets; without it those of the side that sends most of the group's data.",
        kind: Kind::Choice(&["servers", "clients"]),
        default: Value::Unset,
        source: "constructed",
    },
];

/// Structural fields of `start_after`.
pub const START_AFTER_STRUCTURE: &[[&str; 4]] = &[[
    "group",
    "name",
    "required",
    "Name of the other group. It has started when the first of its members opens a connection or sends a datagram; if none does, this one never begins.",
]];

/// `start_after = { group = "…", delay = "…" }` of `[[traffic]]`.
pub const START_AFTER: &[Field] = &[Field {
    name: "delay",
    meaning: "How long after the other group's start.",
    kind: time(0.0, false),
    default: Value::Real(0.0),
    source: "constructed",
}];

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

/// Structural fields of `[record]`.
pub const RECORD_STRUCTURE: &[[&str; 4]] = &[[
    "queues",
    "list of port names",
    "the studied port",
    "Ports whose queue is sampled, for example bottleneck.forward. The first is the studied one, which the summary is about; by default that of the first link in the direction of the first group's data.",
]];

/// The top level.
pub const SCENARIO: &[Field] = &[
    Field {
        name: "duration",
        meaning: "Simulated time of the run, warm-up included.",
        kind: time(0.0, true),
        default: Value::Unset,
        source: "required",
    },
    Field {
        name: "warmup",
        meaning: "Start of the measured interval; what happens before shows in per-second series only.",
        kind: time(0.0, false),
        default: Value::Real(0.0),
        source: "Tuning RED discards 20 of 90 minutes",
    },
    Field {
        name: "seed",
        meaning: "Seed of every random stream of the run.",
        kind: Kind::Whole { unit: Unit::None, min: 0, max: 1 << 53 },
        default: Value::Whole(1),
        source: "constructed",
    },
    Field {
        name: "engine",
        meaning: "folded: departure times computed at arrival where the discipline allows it; explicit: every event explicit (slower, the same result).",
        kind: Kind::Choice(&["folded", "explicit"]),
        default: Value::Choice("folded"),
        source: "constructed",
    },
];

/// Machines of one side: what packets name one by has 16 bits.
const MOST_MACHINES: u64 = 65_535;

/// `[network]`.
pub const NETWORK: &[Field] = &[
    Field {
        name: "clients",
        meaning: "Machines on the clients' side; users are spread over them in turn. Packets name a machine by 16 bits.",
        kind: Kind::Whole { unit: Unit::Count, min: 1, max: MOST_MACHINES },
        default: Value::Whole(7),
        source: "Tuning RED, figure 4",
    },
    Field {
        name: "servers",
        meaning: "Machines on the servers' side.",
        kind: Kind::Whole { unit: Unit::Count, min: 1, max: MOST_MACHINES },
        default: Value::Whole(7),
        source: "constructed: the paper does not say",
    },
    Field {
        name: "access_rate",
        meaning: "Rate of every machine's own line towards the links (an unlimited queue); without it machines send at once.",
        kind: Kind::Real { unit: Unit::Rate, min: 1.0, max: 1e15, open: false },
        default: Value::Unset,
        source: "constructed",
    },
    Field {
        name: "delay_tick",
        meaning: "Clock of the machines that delay packets: a packet leaves on a tick, the delay rounded down to whole ticks and counted from the tick before it came, as in FreeBSD's dummynet (10 ms at hz = 100); each machine's ticks begin when it was booted, as its other clocks; 0 for exact delays.",
        kind: time(0.0, false),
        default: Value::Real(0.0),
        source: "constructed: no quantisation",
    },
];

/// `[network.rtt]`: round-trip propagation times, all of it at the clients' entrance.
pub const RTT: &[Field] = &[
    Field {
        name: "min",
        meaning: "Smallest round-trip propagation time.",
        kind: time(0.0, false),
        default: Value::Real(0.014),
        source: "Tuning RED: 7-137 ms, plus 7 ms so that the mean is the printed 79 ms (constructed)",
    },
    Field {
        name: "max",
        meaning: "Largest round-trip propagation time.",
        kind: time(0.0, false),
        default: Value::Real(0.144),
        source: "as min",
    },
    Field {
        name: "draw",
        meaning: "pair: evenly spread values, one per pair of machines, in an order drawn by the seed; member: the same, one per user or flow; connection: uniform, drawn for each connection.",
        kind: Kind::Choice(&["pair", "member", "connection"]),
        default: Value::Choice("pair"),
        source: "constructed: the paper does not say",
    },
];

/// `[[traffic]]`, beside the fields of its application.
pub const TRAFFIC: &[Field] = &[
    Field {
        name: "users",
        meaning: "Number of users or flows.",
        kind: Kind::Whole { unit: Unit::Count, min: 1, max: 100_000_000 },
        default: Value::Unset,
        source: "required, or load",
    },
    Field {
        name: "load",
        meaning: "Offered load as a share of the rate of the first link it crosses (where that changes, of its mean in the measured interval); calibrated into users on an uncongested link before the run.",
        kind: Kind::Real { unit: Unit::None, min: 0.0, max: 5.0, open: true },
        default: Value::Unset,
        source: "Tuning RED",
    },
    Field {
        name: "side",
        meaning: "On which side of the links the users or senders sit.",
        kind: Kind::Choice(&["clients", "servers"]),
        default: Value::Unset,
        source: "the application's own default: web users are clients, bulk senders sit with the servers",
    },
    Field {
        name: "dscp",
        meaning: "Differentiated services code point of all its packets, by name.",
        kind: Kind::Choice(&packet::dscp::NAMES),
        default: Value::Choice("default"),
        source: "RFC 2474",
    },
];

/// `[record]`.
pub const RECORD: &[Field] = &[
    Field {
        name: "queue_every",
        meaning: "Distance of queue-length samples.",
        kind: time(0.0, true),
        default: Value::Real(0.003),
        source: "Tuning RED",
    },
    Field {
        name: "samples",
        meaning: "Keep every queue sample as a table (else only their statistics).",
        kind: Kind::Switch,
        default: Value::Switch(true),
        source: "constructed",
    },
    Field {
        name: "gauges",
        meaning: "Sample the inner state of the disciplines of record.queues with their queues (RED's average, PI's probability, …).",
        kind: Kind::Switch,
        default: Value::Switch(false),
        source: "constructed",
    },
    Field {
        name: "trace",
        meaning: "Keep a row of everything that happens to packets at record.queues, over the whole run: 32 bytes of memory a row, two rows or more a packet.",
        kind: Kind::Switch,
        default: Value::Switch(false),
        source: "constructed",
    },
    Field {
        name: "responses",
        meaning: "Keep a row of every request (else only summary and histogram).",
        kind: Kind::Switch,
        default: Value::Switch(true),
        source: "constructed",
    },
    Field {
        name: "pages",
        meaning: "Keep a row of every page that web users fetched (else only summary).",
        kind: Kind::Switch,
        default: Value::Switch(false),
        source: "constructed",
    },
    Field {
        name: "by_group",
        meaning: "Histogram of response times for each traffic group by itself.",
        kind: Kind::Switch,
        default: Value::Switch(false),
        source: "constructed",
    },
    Field {
        name: "sources",
        meaning: "Keep a row of what every user and flow that asks for replies got.",
        kind: Kind::Switch,
        default: Value::Switch(false),
        source: "constructed",
    },
    Field {
        name: "goodput",
        meaning: "Count the payload that reaches its receiver, per second and traffic group.",
        kind: Kind::Switch,
        default: Value::Switch(false),
        source: "constructed",
    },
    Field {
        name: "datagrams",
        meaning: "Keep a row of every datagram (else only the figures of their streams).",
        kind: Kind::Switch,
        default: Value::Switch(true),
        source: "constructed",
    },
    Field {
        name: "deadline",
        meaning: "A datagram that takes at most this long is in time.",
        kind: time(0.0, true),
        default: Value::Real(0.2),
        source: "Harsh RED, table II",
    },
];
