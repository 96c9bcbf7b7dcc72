"""Speed tests: phases that are idle, download and upload, with a method's number of connections and
probes.

`aqmlab.scores` computes the scores; this module makes the traffic. Constants that a service has not
published are marked as recalled or assumed.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

from ..forms import Draft
from .form import Field, NetworkTest, Settings, Written, ping, seconds, transfer

IDLE, DOWN, UP, LATENCY = "idle", "download", "upload", "latency"
"""Names of the phases, and of the group of probes."""


@dataclass(frozen=True)
class Method:
    """The traffic of one speed test."""

    name: str
    summary: str
    year: int
    source: str
    connections: int
    idle_s: float
    loaded_s: float
    probe_s: float
    """Time between probes, s."""
    both_ways: bool = False
    """Whether a third phase loads both directions at once."""
    known: str = "recalled"


METHODS = (
    Method(
        "ndt7",
        "M-Lab's NDT7: one TCP connection downwards for 10 s, then one upwards.",
        2019,
        "M-Lab, ndt7 protocol (ndt-server spec/ndt7-protocol.md): one WebSocket, up to 10 s each "
        "way",
        connections=1,
        idle_s=0.0,
        loaded_s=10.0,
        probe_s=0.25,
    ),
    Method(
        "ookla",
        "Ookla-like: pings on the idle line, then several connections down, then up, with pings.",
        2021,
        "Ookla, Speedtest methodology (recalled: several connections, 15 s each way, idle and "
        "loaded pings)",
        connections=4,
        idle_s=3.0,
        loaded_s=15.0,
        probe_s=0.2,
    ),
    Method(
        "waveform",
        "Waveform's bufferbloat test: latency idle, downloading and uploading, and a letter.",
        2020,
        "Waveform, Bufferbloat and Internet Speed Test (recalled; numbers of connections assumed)",
        connections=6,
        idle_s=5.0,
        loaded_s=10.0,
        probe_s=0.2,
    ),
    Method(
        "dslreports",
        "DSLReports' speed test: eight streams down, then up, with pings, and a letter.",
        2015,
        "DSLReports FAQ 17930; Flent's dslreports_8dn: 8 flows (upload as many: assumed)",
        connections=8,
        idle_s=5.0,
        loaded_s=15.0,
        probe_s=0.25,
    ),
    Method(
        "cloudflare",
        "Cloudflare's speed test: latency idle and every 0.4 s under load, and AIM's points.",
        2023,
        "Cloudflare speedtest's default configuration: loaded latency requests 400 ms apart; "
        "load here "
        "is one connection that always has data, there files one after the other",
        connections=1,
        idle_s=4.0,
        loaded_s=15.0,
        probe_s=0.4,
        known="read",
    ),
    Method(
        "crusader",
        "Crusader: 16 streams down, up and both ways at once, with latency every 5 ms.",
        2022,
        "Crusader's README (recalled: 16 streams, 10 s each phase, latency every 5 ms)",
        connections=16,
        idle_s=2.0,
        loaded_s=10.0,
        probe_s=0.005,
        both_ways=True,
    ),
)


def _fields(method: Method) -> tuple[Field, ...]:
    source = f"{method.known}: {method.name}"
    return (
        Field(
            "connections", "count", method.connections, "TCP connections each way.", source, most=64
        ),
        Field(
            "loaded", "time", seconds(method.loaded_s), "How long each direction is loaded.", source
        ),
        Field(
            "idle",
            "time",
            seconds(method.idle_s),
            "How long the idle line is probed before.",
            source,
        ),
        Field(
            "probe_every",
            "time",
            seconds(method.probe_s),
            "Time between probes of latency.",
            source,
        ),
        Field("start", "time", "0 s", "When the test begins.", "constructed"),
    )


GAP = 2.0
"""Seconds between two phases, in which the queue empties; our own choice, without a source."""


def phases(found: Settings, both_ways: bool = False) -> dict[str, tuple[float, float]]:
    """Start and end of each phase, in seconds since the start of the run."""
    begin = found["start"]
    down = begin + found["idle"]
    up = down + found["loaded"] + GAP
    times = {IDLE: (begin, down), DOWN: (down, down + found["loaded"])}
    times[UP] = (up, up + found["loaded"])
    if both_ways:
        both = up + found["loaded"] + GAP
        times["both"] = (both, both + found["loaded"])
    return times


def _groups(method: Method, found: Settings, _: Draft) -> list[Written]:
    times = phases(found, method.both_ways)
    made = []
    for phase, (begin, end) in times.items():
        ways = {DOWN: (False,), UP: (True,), "both": (False, True)}.get(phase, ())
        for up in ways:
            name = phase if phase != "both" else f"both {UP if up else DOWN}"
            many = {"flows": found["connections"]}
            made.append(transfer(name, up, begin, end - begin, **many))
    ends = max(end for _, end in times.values())
    begin = found["start"]
    return [*made, ping(LATENCY, found["probe_every"], begin, ends - begin)]


def _test(method: Method) -> NetworkTest:
    return NetworkTest(
        name=method.name,
        summary=method.summary,
        year=method.year,
        source=method.source,
        deviations="TLS and WebSocket framing are left out; probes are echo requests, not HTTP "
        "requests.",
        fields=_fields(method),
        groups=partial(_groups, method),
    )


TESTS = tuple(map(_test, METHODS))
"""Every speed test."""
