"""Statistics of network tests: what they say of a run (`aqmlab.tables.network_tests`)."""

from __future__ import annotations

import math

from aqmlab.errors import SpecError, nearest
from aqmlab.runs.laboratory import FinishedRun

from .. import network_tests

GRADES = ("F", "D", "C", "B", "A", "A+")
"""From 0 on, as numbers."""


def network_test(run: FinishedRun, *, name: str) -> float:
    """A number that the run's test says, such as `rpm`, `download_rtt_p50_s`; a letter counts
    from 0
    (F) to 5 (A+). Not a number where the test says no such thing, or the run has none."""
    if name not in network_tests.NAMES:
        raise SpecError(f'no test says "{name}"{nearest(name, list(network_tests.NAMES))}')
    said = network_tests.said(run)
    if said is None:
        raise SpecError(
            f'"{name}" is said by a network test: give the scenario one (app = "ookla")'
        )
    value = said.own.get(name)
    if isinstance(value, str):
        return float(GRADES.index(value)) if value in GRADES else math.nan
    return math.nan if value is None else float(value)


def ping_quantile_s(run: FinishedRun, *, percent: float) -> float:
    """The round-trip time that `percent` percent of all answered echo requests did not exceed, s,
    of
    the whole run."""
    if not run.has("pings"):
        return math.nan
    trips = [float(trip) for trip in run.columns("pings")["rtt_s"] if trip == trip]
    return network_tests.quantile(trips, percent / 100)
