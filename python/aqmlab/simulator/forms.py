"""What the simulator's documents hold: scenarios, what they mean, and its catalogue. Types alone.

A document is read as it is, a dictionary; these types say which keys its readers can rely on. What
a user or a stranger wrote is a `Draft` until the simulator has checked it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal, Required, TypedDict, TypeVar, cast

Draft = Mapping[str, object]
"""A scenario, or another table of a file, that nobody has checked: any key, any value."""
Queue = Mapping[str, object]
"""A discipline (`aqm`: its name, or the table of a user's own) and its parameters."""
Schema = dict[str, Any]
"""A JSON schema, or a part of one."""
Quantity = str | float
"""`"10 Mbit/s"`, `"20 ms"`, or a number in base units."""
Way = Literal["forward", "reverse"]
"""A direction of a link; `forward` is towards the clients."""


class Link(TypedDict, total=False):
    """An entry of `[[link]]`; `aqmlab describe link` has all its fields."""

    name: str
    access: str | None
    rate: Required[str]
    reverse_rate: str
    delay: Quantity
    framing: str
    forward: str | Queue
    reverse: str | Queue
    rate_steps: object
    rate_trace: object
    reverse_rate_steps: object
    reverse_rate_trace: object
    effects: list[Mapping[str, object]]
    cell: dict[str, Any]
    docsis: dict[str, Any]
    wifi: dict[str, Any]


class Traffic(TypedDict, total=False):
    """An entry of `[[traffic]]`: the fields that Python reads or writes. Every application has
    more (`aqmlab describe`)."""

    app: Required[str]
    name: str
    side: str
    via: list[str]
    tcp: Any
    """The name of a profile, or a table with `profile`, `congestion` and more."""
    users: int
    flows: int
    load: Quantity
    connections_per_s: float
    model: str
    preset: str
    dscp: str
    start: str
    start_within: str
    lasts: str
    rate: str
    packet: int
    interval: str
    bytes: object
    reply: object
    request: object
    think: object
    period: str
    burst: str
    openers: str
    agreed_ecn: str


ProgramTable = TypedDict(
    "ProgramTable",
    {
        "name": Required[str],
        "file": Required[str],
        "text": str,
        "blake2b": str,
        "class": str,
    },
    total=False,
)
"""What a scenario holds in place of `FILE[:CLASS]`: the name that the program gives itself, its
file, and the text of its source or the hash of its library."""


class Scenario(TypedDict, total=False):
    """A scenario whose form is known: one that the simulator has checked, or that we made."""

    name: str
    duration: str
    warmup: str
    seed: int
    network: Mapping[str, Any]
    link: Required[list[Link]]
    traffic: Required[list[Traffic]]
    record: Mapping[str, object]


class Port(TypedDict):
    """One direction of a link: nominal rate, and what it offers in the measured interval."""

    port: str
    rate_bits_per_s: float
    mean_bits_per_s: float


class ResolvedLink(TypedDict):
    """A link as the simulator understands it; `table` is what was written, with its access."""

    name: str
    access: str | None
    delay_s: float
    table: Link
    forward: Port
    reverse: Port


class ResolvedGroup(TypedDict):
    """A traffic group as the simulator understands it; `links` are places in the scenario."""

    name: str
    app: str
    noun: tuple[str, str]
    fetches: bool
    datagrams: bool
    open_loop: bool
    tcp: str | None
    side: Literal["clients", "servers"]
    machines: int
    direction: Way
    links: list[int]


class Machines(TypedDict):
    """How many hosts stand on each side, and the rate of their own lines in bit/s."""

    clients: int
    servers: int
    access_bits_per_s: float | None


class Resolved(TypedDict):
    """What a scenario means (`crates/sim/src/setup/resolved.rs`)."""

    links: list[ResolvedLink]
    machines: Machines
    groups: list[ResolvedGroup]
    queues: list[str]


class Field(TypedDict, total=False):
    """A parameter in the catalogue: its range, default, meaning and source."""

    name: Required[str]
    type: str
    unit: str
    default: Any
    min: float | None
    max: float | None
    min_excluded: bool
    choices: list[str] | None
    meaning: str
    source: str


class Entry(TypedDict, total=False):
    """An entry of the catalogue, of any kind: a discipline, a profile, an application, a measure.
    `kind`, and what follows it, is there once it was looked up (`aqmlab describe`)."""

    name: Required[str]
    summary: str
    year: int
    source: str
    deviations: str
    fields: list[Field]
    ecn: str
    units: str
    acts: str
    models: list[str]
    noun: list[str]
    fetches: bool
    datagrams: bool
    open_loop: bool
    stands_for: bool
    title: str
    unit: str
    shown: str
    scale: float
    digits: int
    interval: str
    also: list[str]
    weakness: str
    kind: str
    rate: str
    written: dict[str, Any]
    effective: dict[str, Any]


class Measure(TypedDict, total=False):
    """A measure: its name, what it means, its unit and how people are shown it (`shown`: the unit,
    `scale`, `digits`), of which interval it is, and other places of a summary where it stands."""

    name: Required[str]
    title: Required[str]
    summary: str
    unit: str
    shown: Required[str]
    scale: Required[float]
    digits: Required[int]
    interval: str
    also: list[str]


class Catalogue(TypedDict):
    """Everything that has a name, by kind; of `scenario` the fields of every section."""

    aqm: list[Entry]
    tcp: list[Entry]
    congestion: list[Entry]
    traffic: list[Entry]
    access: list[Entry]
    effects: list[Entry]
    measures: list[Measure]
    scenario: dict[str, list[Field]]


class Variable(TypedDict):
    """A variable of a traffic model; `quantiles` are pairs (share, value), `curve` its
    distribution."""

    name: str
    unit: str
    mean: float | None
    sd: float | None
    capped_mean: float | None
    quantiles: list[tuple[float, float]]
    curve: list[list[float]]


class Column(TypedDict):
    """A number that a recorded line says over time: least, mean, greatest, and its curve."""

    name: str
    min: float
    mean: float
    max: float
    curve: list[float]


class BusyPort(TypedDict):
    """A port of a run under way, second by second: its queue (packets at `most`, by bins of
    `width_s`), bytes sent, packets lost and marked by cause."""

    queue: dict[str, Any]
    ip_bytes: list[int]
    drops: dict[str, list[int]]
    marks: dict[str, list[int]]


class Look(TypedDict):
    """What Python reads of a run under way (docs/tab.md): what happened since the look before, the
    studied port first."""

    from_s: int
    ports: list[BusyPort]


class Call(TypedDict, total=False):
    """A call of a discipline: what it was, and what the discipline did."""

    call: Required[str]
    events: list[list[Any]]
    sent: object
    state: dict[str, Any]


class Trial(TypedDict, total=False):
    """One case of a test vector."""

    calls: Required[list[Call]]
    state: dict[str, Any]


class Trials(TypedDict):
    """Test vectors (vectors/README.md)."""

    cases: list[Trial]


class TraceShown(TypedDict):
    """What the file of a recorded line holds."""

    format: str
    rows: int
    lasts_s: float
    series: list[Column]


class Histogram(TypedDict):
    """A histogram of whole numbers: `buckets` are (least, greatest, number)."""

    n: int
    mean: float
    buckets: list[tuple[float, float, float]]


class Connections(TypedDict):
    """Numbers of the TCP connections of a capture."""

    seen: int
    kept: int
    sequential: int
    concurrent: int
    no_start: int
    open_at_end: int
    one_sided: int
    reset: int
    silent: int
    unanswered: int
    refused: int
    most_open: int


class Side(TypedDict):
    """What the hosts of one side of a captured link opened; `bytes` to and from the acceptors."""

    connections: int
    bytes: tuple[int, int]


class Seen(TypedDict, total=False):
    """What a capture held, in packets, IP bytes and connections (docs/learned-models.md)."""

    packets: Required[int]
    bytes: Required[int]
    hosts: Required[int]
    tcp_bytes: Required[int]
    udp_bytes: Required[int]
    quic_bytes: Required[int]
    other_bytes: Required[int]
    ipv4: Required[int]
    ipv6: Required[int]
    not_ip: Required[int]
    segments: Required[int]
    resent: Required[int]
    reordered: Required[int]
    connections: Required[Connections]
    sides: Required[list[Side]]
    gaps: list[tuple[int, int]]
    kept_ecn: dict[str, list[int]]


class LearnedAbout(TypedDict):
    """What is known of a capture as a whole."""

    format: str
    version: int
    duration_us: int
    connections: int
    concurrent: int
    partial: int
    bytes: tuple[int, int]
    seen: Seen
    warnings: list[str]


class Learned(LearnedAbout):
    """What the reader of a capture hands out after the last byte."""

    container: str
    hosts: int
    histograms: dict[str, Histogram]
    load: dict[str, Any]


T = TypeVar("T", bound=Mapping[str, object])


def without(table: T, *keys: str) -> T:
    """A copy without these keys, none of which its readers need."""
    return cast(T, {key: value for key, value in table.items() if key not in keys})
