"""Tests of responsiveness: the draft's, networkQuality's, goresponsiveness'.

They are one algorithm with different parameters: load-generating connections, one more after every
interval, and timed requests on new connections (TCP, TLS, HTTP) and on the busy ones.
`aqmlab.scores` computes the results from the probes; this module makes the traffic.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial

from aqmlab.errors import SpecError
from aqmlab.simulator import engine

from ..forms import Draft
from .form import Field, NetworkTest, Settings, Written, seconds, transfer

DOWN, UP, BOTH = "download", "upload", "both"
SELF, FOREIGN = "load", "foreign"
"""Prefixes of the names of groups: of load-generating connections, and of probes on new
connections."""
MNP, MPS, PTC = 16, 100, 0.05
"""Largest number of load-generating connections, of probes per second, and largest share of the
capacity for probes."""
PROBE_BYTES = 5000 + 1000
"""Bytes of a foreign and a self probe together (the draft's estimate)."""
REQUEST_BYTES = 200
"""Bytes of a small GET request and of its reply; our own choice, without a source."""
BUFFER = "send buffer"
UNSENT = ("5 ms", "1 packet", "2 packets", "4 KiB", "16 KiB", BUFFER)
"""Limits of the unsent data of a connection: a duration at a sixteenth of the slowest link's rate,
an amount of payload, or the size of Linux' send buffer."""
WHEN_READY, BLOCKING = "when_ready", "blocking"
"""When a program chooses the next frame: once there is room for it, or before, so that it blocks in
its write with that frame."""
SEGMENT, FRAME_HEADER, FRAME = 1448, 9, 16_384
"""Payload of a packet of 1500 B with timestamps, the header of a frame of HTTP/2, and the default
for its largest payload (RFC 9113, section 6.5.2), in bytes."""


@dataclass(frozen=True)
class Variant:
    """The parameters of one implementation of the test."""

    name: str
    summary: str
    source: str
    year: int
    direction: str
    interval_s: int
    intervals: int
    unsent: str
    """The limit of unsent data, one of UNSENT."""
    writes: str
    limited: bool
    """Whether probes take at most PTC of the slowest link."""
    chained: bool
    """Whether a self probe begins when its foreign probe is answered, on any connection."""
    deviations: str


VARIANTS = (
    Variant(
        "rpm",
        "Responsiveness under working conditions (RPM), as the draft has it.",
        "draft-ietf-ippm-responsiveness-09 (6 July 2026), section 4",
        2026,
        DOWN,
        5,
        8,
        "5 ms",
        WHEN_READY,
        True,
        False,
        "It runs in a fixed number of intervals; where the test would have ended is judged "
        "afterwards.",
    ),
    Variant(
        "networkquality",
        "Responsiveness as Apple's networkQuality tests it: both directions at once, intervals of "
        "1 s.",
        "networkQuality(8) of macOS; its output names revision 8 of the draft, whose interval is 1 "
        "s; the draft's section 4.1.2: both directions at once",
        2021,
        BOTH,
        1,
        20,
        "5 ms",
        WHEN_READY,
        True,
        False,
        "As rpm. Its program is not published: what its manual and output do not say is the "
        "draft's. That 20 intervals are a run is taken from one output (21.7 s), and that the sum "
        "of both directions' goodput must be stable is assumed.",
    ),
    Variant(
        "goresponsiveness",
        "Responsiveness as goresponsiveness tests it: intervals of 1 s, 100 probes a second on any "
        "line.",
        "goresponsiveness of 29 January 2024, constants.go, rpm/rpm.go",
        2021,
        DOWN,
        1,
        20,
        BUFFER,
        BLOCKING,
        False,
        True,
        "As rpm. Probes begin with the load; there they begin when goodput is stable, so that on "
        "slow lines they take less of it before. A self probe on a connection without an answer "
        "to its own request is left out, as there; that answer is taken to come a round trip of "
        "the handshake after the request. The pair's foreign probe counts here.",
    ),
)


def _fields(variant: Variant) -> tuple[Field, ...]:
    return (
        Field(
            "direction",
            "choice",
            variant.direction,
            "Which way is loaded.",
            variant.source,
            (DOWN, UP, BOTH),
        ),
        Field(
            "interval",
            "time",
            seconds(variant.interval_s),
            "ID: a load-generating connection is added after each, up to 16.",
            variant.source,
        ),
        Field(
            "intervals",
            "count",
            variant.intervals,
            "How many intervals the test lasts.",
            "assumed",
            most=100,
        ),
        Field(
            "probes_per_s",
            "count",
            MPS,
            "MPS: pairs of probes a second at most.",
            "the draft; goresponsiveness",
            most=1000,
        ),
        Field(
            "http",
            "choice",
            "http2",
            "Whether self probes are requests on the busy connections (http2), or TCP's own "
            "samples of the round trip stand for them and there is no TLS (http11), which runs "
            "live as well.",
            "the draft, section 4.3",
            ("http2", "http11"),
        ),
        *_writing(variant),
        Field("start", "time", "0 s", "When the test begins.", "constructed"),
    )


def _writing(variant: Variant) -> tuple[Field, ...]:
    """The fields for writing on busy connections."""
    return (
        Field(
            "unsent",
            "choice",
            variant.unsent,
            "How much a program writes ahead of TCP on a busy connection (TCP_NOTSENT_LOWAT); 5 ms "
            "are of a sixteenth of the slowest link, for 16 connections.",
            "revision 9 of the draft, section 5.1.1: 5 ms; goserver of network-quality (11 October "
            "2023), server.go, main.go: chunks of 64 KiB, and TCP_NOTSENT_LOWAT is not set unless "
            "by an option",
            UNSENT,
        ),
        Field(
            "writes",
            "choice",
            variant.writes,
            "When a program chooses a frame: when there is room for it, or as soon as the one "
            "before is written, and then it waits in its write with it.",
            "constructed; goserver is a program in Go, whose net/http has one write on its way (Go "
            "1.26, h2_bundle.go, startFrameWrite)",
            (WHEN_READY, BLOCKING),
        ),
    )


def _slowest(scenario: Draft) -> float:
    """The smallest rate that the scenario's links state, bit/s; infinite if none does."""
    links = scenario.get("link", [])
    listed = links if isinstance(links, list | tuple) else []
    return min((_rate(link) for link in listed if isinstance(link, Mapping)), default=math.inf)


def _rate(link: Draft) -> float:
    """The rate of a link, bit/s; infinite if it has no valid one, which the simulator reports
    later."""
    try:
        return engine.quantity(str(link["rate"]), "rate")
    except (KeyError, SpecError):
        return math.inf


def probes_per_s(found: Settings, scenario: Draft, limited: bool = True) -> float:
    """Pairs of probes per second: at most the field's number and, if `limited`, at most the share
    PTC of the slowest link."""
    most = PTC * _slowest(scenario) / (8 * PROBE_BYTES) if limited else float("inf")
    return min(float(found["probes_per_s"]), most)


def frame_bytes(found: Settings, scenario: Draft) -> int:
    """Largest payload of a frame on a busy connection, in bytes: from a packet to a frame of
    HTTP/2."""
    if found["unsent"] == BUFFER:
        return FRAME
    number, unit = found["unsent"].split()
    if unit == "KiB":
        return int(number) * 1024
    if unit.startswith("packet"):
        return int(number) * SEGMENT - FRAME_HEADER
    waits = float(number) * 1e-3 * min(_slowest(scenario), 1e12) / (8 * MNP)
    # Frames fill whole packets, since a remainder would be sent as a packet of its own.
    return min(max(1, int(waits / SEGMENT)) * SEGMENT, 11 * SEGMENT) - FRAME_HEADER


def _groups(variant: Variant, found: Settings, scenario: Draft) -> list[Written]:
    rate = probes_per_s(found, scenario, variant.limited)
    ways = (DOWN, UP) if found["direction"] == BOTH else (found["direction"],)
    if found["http"] == "http11":
        return _over_http11(found, ways, rate)
    lasts = seconds(found["interval"] * found["intervals"])
    begin = found["start"]
    probes: Written = {"probes": "self"}
    if variant.chained:
        probes = {"probes": "both", "self_probes": "after_foreign"}
    loads: list[Written] = [
        {
            "name": f"{SELF} {way}",
            "app": "responsiveness",
            "users": 1,
            "direction": way,
            "interval": seconds(found["interval"]),
            "connections": MNP,
            "frame_bytes": frame_bytes(found, scenario),
            "send_buffer": "linux" if found["unsent"] == BUFFER else "unsent",
            "writes": found["writes"],
            **probes,
            "probe_every": seconds(len(ways) / rate),
            "start": seconds(begin),
            "lasts": lasts,
        }
        for way in ways
    ]
    if variant.chained:
        return loads
    foreign: Written = {
        "name": FOREIGN,
        "app": "responsiveness",
        "users": 1,
        "connections": 0,
        "probes": "foreign",
        "probe_every": seconds(1 / rate),
        "start": seconds(begin + 0.5 / rate),
        "lasts": lasts,
    }
    return [*loads, foreign]


def _over_http11(found: Settings, ways: tuple[str, ...], rate: float) -> list[Written]:
    ends = found["interval"] * found["intervals"]
    begin = found["start"]
    loads = [
        transfer(
            f"{SELF} {i + 1}" if len(ways) == 1 else f"{SELF} {way} {i + 1}",
            way == UP,
            begin + i * found["interval"],
            ends - i * found["interval"],
        )
        for way in ways
        for i in range(min(MNP, found["intervals"]))
    ]
    count = max(1, int(rate * ends))
    rows = [
        f"{i},{begin + (i + 0.5) / rate:.6f},{REQUEST_BYTES},{REQUEST_BYTES}" for i in range(count)
    ]
    text = "\n".join(("user,think_s,request_bytes,reply_bytes", *rows)) + "\n"
    table = {"file": "probes.csv", "text": text}
    return [*loads, {"name": FOREIGN, "app": "requests", "users": count, "requests": table}]


TESTS = tuple(
    NetworkTest(
        name=variant.name,
        summary=variant.summary,
        year=variant.year,
        source=variant.source,
        deviations=variant.deviations,
        fields=_fields(variant),
        groups=partial(_groups, variant),
    )
    for variant in VARIANTS
)
"""The tests of responsiveness."""
