"""A short picture at the end of a run, in a terminal: how long packets waited, over its time."""

from __future__ import annotations

import itertools
import math
from typing import TYPE_CHECKING

from aqmlab.errors import AqmlabError
from aqmlab.io import terminal
from aqmlab.runs.screen import LEVELS, PLAIN, bars

if TYPE_CHECKING:
    from aqmlab.runs.laboratory import FinishedRun
    from aqmlab.tables.result import Result

WIDTH = 60
"""Length of a line in characters: each shows one of this many equal parts of the run."""
MOST = 6
"""Largest number of variants that are drawn."""
DELAY = "queue_delay_mean_s"


def lines(result: Result) -> list[str]:
    """A heading, and for each of the first `MOST` variants a line of bars: the mean queueing delay
    over time in the run with the first seed, all lines on one scale."""
    drawn = []
    for number, label in enumerate(result.labels[:MOST]):
        delays = _delays(result.variant(number)[0])
        if delays:
            drawn.append((label or result.name, delays))
    most = max((max(delays) for _, delays in drawn), default=0.0)
    if most <= 0:
        return []
    levels = LEVELS if terminal.is_unicode() else PLAIN
    wide = max(len(name) for name, _ in drawn)
    end = result.runs[0].summary.get("simulated_s", 0.0)
    heading = f"how long packets wait, 0 to {end:,.0f} s (the highest bar is {_time(most)})"
    return [
        heading,
        # The scale is common: what is past the last column belongs to another line's largest.
        *(
            f"{name:<{wide}} |{bars([*delays, most], levels)[:-1]}| at most {_time(max(delays))}"
            for name, delays in drawn
        ),
    ]


def _delays(run: FinishedRun) -> list[float]:
    """The delay of the studied queue over the run, in seconds: the run is divided into at most
    `WIDTH` parts, and each part has the largest mean delay of any of its seconds."""
    port = run.summary.get("studied_port")
    try:
        seconds = run.table("seconds")
    except AqmlabError:
        return []
    if port is None or f"{port}.{DELAY}" not in seconds.columns:
        return []
    values = [v if v is not None else 0.0 for v in seconds[f"{port}.{DELAY}"].to_list()]
    values = [v if math.isfinite(v) else 0.0 for v in values]
    parts = min(WIDTH, len(values))
    bounds = [round(i * len(values) / parts) for i in range(parts + 1)] if parts else []
    return [max(values[a:b]) for a, b in itertools.pairwise(bounds)]


def _time(seconds: float) -> str:
    return f"{seconds:.1f} s" if seconds >= 1 else f"{1e3 * seconds:.1f} ms"
