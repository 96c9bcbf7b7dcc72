"""Statistics of network tests: what they say of a run (`aqmlab.tables.network_tests`)."""

from __future__ import annotations

import math

from aqmlab.errors import SpecError, nearest
from aqmlab.runs.laboratory import FinishedRun
from aqmlab.scores import games

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


def said_round_trip_s(run: FinishedRun) -> float:
    """The round trip of the loaded line that the run's test says, s."""
    return network_tests.round_trip_s(run)


def true_round_trip_s(run: FinishedRun) -> float:
    """The round trip that packets had while the test loaded the line, s."""
    return network_tests.true_round_trip_s(run)


def said_over_true(run: FinishedRun) -> float:
    """The first over the second: 1 where the test is right."""
    return network_tests.round_trip_s(run) / network_tests.true_round_trip_s(run)


def game_rating(run: FinishedRun, *, ping: str) -> float:
    """ITU-T G.1072's rating of the network for a game (0 to 100) by the mean round trip and the
    loss of a group of echo requests; within the model's range of loss."""
    found = run.summary.get("ping", {}).get(ping)
    if found is None or found["rtt_mean_s"] is None:
        return math.nan
    return games.network_rating(found["rtt_mean_s"], min(found["unanswered_share"], 0.005))


def ping_quantile_s(run: FinishedRun, *, percent: float) -> float:
    """The round-trip time that `percent` percent of all answered echo requests did not exceed, s,
    of
    the whole run."""
    if not run.has("pings"):
        return math.nan
    trips = [float(trip) for trip in run.columns("pings")["rtt_s"] if trip == trip]
    return network_tests.quantile(trips, percent / 100)
