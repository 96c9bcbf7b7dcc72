"""Statistics over all queues of a run, such as both directions of a link."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from aqmlab.runs.laboratory import FinishedRun
from aqmlab.simulator.renamed import Numbers


def ports_mean(run: FinishedRun, *, name: str) -> float:
    """Mean over the ports of a number that the summary has for each; dots for nesting."""
    values = [_of(port, name) for port in run.summary["ports"].values()]
    if not values or any(value is None for value in values):
        return math.nan
    return float(sum(values) / len(values))


def ports_share(run: FinishedRun, *, share: str, of: str) -> float:
    """A share, such as drop_rate, over all ports; each port is weighted by its number `of`."""
    ports = run.summary["ports"].values()
    if any(_of(port, name) is None for port in ports for name in (share, of)):
        return math.nan
    counted = sum(port[of] for port in ports)
    return float(sum(port[share] * port[of] for port in ports) / counted) if counted else math.nan


def ports_ratio(run: FinishedRun, *, of: str, to: str) -> float:
    """The sum of one number over the ports divided by the sum of another.

    It is no share if the numbers count different packets: drops in the measured interval include
    packets that arrived before it, so drops by arrivals can exceed 1 (`ports_share` of drop_rate
    cannot).
    """
    ports = run.summary["ports"].values()
    if any(_of(port, name) is None for port in ports for name in (of, to)):
        return math.nan
    below = sum(port[to] for port in ports)
    return float(sum(port[of] for port in ports) / below) if below else math.nan


def _of(port: Numbers, name: str) -> Any:
    """A number of a port's summary; None if it has none."""
    found: Any = port
    for step in name.split("."):
        found = found.get(step) if isinstance(found, Mapping) else None
    return found
