"""Examples that come with the package: `example:NAME` wherever a scenario is given."""

from __future__ import annotations

import os
from pathlib import Path

from aqmlab.errors import SpecError, nearest
from aqmlab.io.files import whole

FOLDER = Path(__file__).resolve().parent.parent / "experiments" / "examples"
PREFIX = "example:"
SHOWN = {
    "home-line": "a household on DSL: today's modem beside fq_codel and CAKE at the router",
    "bufferbloat": "a deep FIFO fills and everybody waits; CoDel keeps the line as busy without",
    "red": "3,000 web users at 98 % of 10 Mbit/s behind RED, as in Tuning RED for Web Traffic",
    "fifo-or-red": "the same web users behind a FIFO and behind RED, and the paired difference",
    "ns3-red": "one RED queue as ns-3 configures it, with seven TCP flows, to lay beside your own",
    "homes": "3,000 homes on a link of 1 Gbit/s behind four queues, with CUBIC and L4S senders",
    "l4s": "L4S beside classic: Prague and CUBIC behind DualPI2, FQ-CoDel and a FIFO",
    "satellite": "a call and a download over a geostationary satellite, FIFO beside FQ-CoDel",
    "lte": "a phone in an LTE cell, whose rate wanders: a download beside a voice stream",
    "starlink": "a download and a call over a recorded Starlink line: FIFO, FQ-CoDel and CAKE",
    "rrul": "Flent's RRUL, four flows each way and pings: a DSL line's FIFO beside CAKE",
    "shrew": "short bursts once a second silence a TCP flow: an attack on its timeout",
}
"""One sentence on each example."""
TRACES = {
    "starlink-parked-down": "16 tests of 15 s to a parked dish, Osnabrück, January 2024",
    "starlink-parked-up": "the other direction of these",
    "starlink-driving-down": "16 tests of 15 s to a dish on a car, above 50 km/h, early 2024",
    "starlink-driving-up": "the other direction of these",
}
"""Recorded rates of lines: `example:NAME` names one wherever a trace's file is given. The folder
`experiments/examples/traces` states their sources and licences."""


def find(name: str) -> Path:
    """The file of an example, by its name."""
    if name not in SHOWN:
        others = [path.stem for path in sorted(FOLDER.glob("*.toml"))]
        if name not in others:
            raise SpecError(
                f'no example "{name}"{nearest(name, [*SHOWN, *others])} (`aqmlab list examples`)'
            )
    return FOLDER / f"{name}.toml"


def trace(name: str) -> Path:
    """The trace file of a recorded line, by its name."""
    if name not in TRACES:
        raise SpecError(f'no trace "{name}"{nearest(name, [*TRACES])} (one of {", ".join(TRACES)})')
    return FOLDER / "traces" / f"{name}.csv"


def begin(file: Path, name: str) -> None:
    """Writes a copy of an example as the start of a user's own scenario."""
    text = find(name).read_text("utf-8")
    head = f"# Begun from the example {name}. Run it: aqmlab run {file.name}\n#\n"
    if os.path.lexists(file):
        raise SpecError(f"{file} is there already: give another name")
    with whole(file) as draft:
        draft.write_text(head + text, encoding="utf-8")
