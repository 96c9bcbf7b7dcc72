"""Types of the simulator's documents: scenarios, resolved scenarios, and the catalogue.

Documents stay dictionaries; these types state the keys on which readers can rely. A document from a
user or a stranger is a `Draft` until the simulator has checked it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal, Required, TypedDict, TypeVar, cast

Draft = Mapping[str, object]
"""A scenario, or another table of a file, that has not been checked: any key, any value."""
Queue = Mapping[str, object]
"""A queue: its discipline (`aqm`: a name, or the table of a user's own) and parameters."""
Schema = dict[str, Any]
"""A JSON schema, or a part of one."""
Quantity = str | float
"""A quantity: a text such as `"10 Mbit/s"` or `"20 ms"`, or a number in base units."""
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
"""The table that replaces `FILE[:CLASS]` in a scenario: the program's own name, its file, and the
text of its source or the hash of its library."""


class Scenario(TypedDict, total=False):
    """A scenario whose form is known: the simulator has checked it, or aqmlab has made it."""

    name: str
    duration: str
    warmup: str
    seed: int
    network: Mapping[str, Any]
    link: Required[list[Link]]
    traffic: Required[list[Traffic]]
    record: Mapping[str, object]


class Port(TypedDict):
    """One direction of a link: its name as a port, its nominal rate, and its mean rate in the
    measured interval."""

    port: str
    rate_bits_per_s: float
    mean_bits_per_s: float


class ResolvedLink(TypedDict):
    """A resolved link; `table` is the link as written, completed by its kind of access."""

    name: str
    access: str | None
    delay_s: float
    table: Link
    forward: Port
    reverse: Port


class ResolvedGroup(TypedDict):
    """A resolved traffic group; `links` are the indices of its links in the scenario."""

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
    """The number of hosts on each side, and the rate of their own access lines in bit/s."""

    clients: int
    servers: int
    access_bits_per_s: float | None


class Resolved(TypedDict):
    """A resolved scenario (`crates/sim/src/setup/resolved.rs`)."""

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
    `kind` and the keys after it exist only in the result of a lookup (`aqmlab describe`)."""

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
    """A measure: its name, meaning and unit, its form for people (`shown`: the unit; `scale`,
    `digits`), the interval that it covers, and other names under which summaries have it
    (`also`)."""

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
    """Everything in the simulator that has a name, by kind; `scenario` has the fields of every
    section."""

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
    """A quantity of a recorded line over time: smallest, mean and largest value, and its curve."""

    name: str
    min: float
    mean: float
    max: float
    curve: list[float]


class BusyPort(TypedDict):
    """A port of a running simulation, second by second: its queue (largest backlog `most` in
    packets, in bins of `width_s`), IP bytes sent, packets dropped and marked by reason."""

    queue: dict[str, Any]
    ip_bytes: list[int]
    drops: dict[str, list[int]]
    marks: dict[str, list[int]]


class Look(TypedDict):
    """A snapshot of a running simulation (docs/tab.md): the events since the snapshot before, with
    the studied port first."""

    from_s: int
    ports: list[BusyPort]


class Call(TypedDict, total=False):
    """A call of a discipline in a test vector, and the discipline's actions."""

    call: Required[str]
    events: list[list[Any]]
    sent: object
    state: dict[str, Any]


class Trial(TypedDict, total=False):
    """One case of a test vector: calls, and the state at the end."""

    calls: Required[list[Call]]
    state: dict[str, Any]


class Trials(TypedDict):
    """Test vectors (vectors/README.md)."""

    cases: list[Trial]


class TraceShown(TypedDict):
    """The facts about the file of a recorded line."""

    format: str
    rows: int
    lasts_s: float
    series: list[Column]


class Histogram(TypedDict):
    """A histogram of whole numbers; `buckets` are tuples of smallest value, largest value,
    count."""

    n: int
    mean: float
    buckets: list[tuple[float, float, float]]


class Connections(TypedDict):
    """Counts of the TCP connections of a capture, by kind and completeness."""

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
    """The connections that hosts of one side of a captured link opened; `bytes` to and from the
    acceptors."""

    connections: int
    bytes: tuple[int, int]


class Seen(TypedDict, total=False):
    """Counts of packets, IP bytes and connections in a capture (docs/learned-models.md)."""

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
    """The facts about a capture as a whole."""

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
    """The result of the capture's reader after the last byte."""

    container: str
    hosts: int
    histograms: dict[str, Histogram]
    load: dict[str, Any]


T = TypeVar("T", bound=Mapping[str, object])


def without(table: T, *keys: str) -> T:
    """A copy of a table without these keys."""
    return cast(T, {key: value for key, value in table.items() if key not in keys})
