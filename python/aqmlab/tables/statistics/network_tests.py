"""Statistics of network tests: their results in a run (`aqmlab.tables.network_tests`)."""

from __future__ import annotations

import math

from aqmlab.errors import SpecError, nearest
from aqmlab.runs.laboratory import FinishedRun
from aqmlab.scores import games

from .. import network_tests

GRADES = ("F", "D", "C", "B", "A", "A+")
"""Grades in ascending order; as a number a grade is its index, from 0."""


def network_test(run: FinishedRun, *, name: str) -> float:
    """A result of the run's test, such as `rpm` or `download_rtt_p50_s`; a letter becomes a number
    from 0 (F) to 5 (A+). NaN if the test has no such result."""
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
    """The round-trip time of the loaded line by the run's test, s."""
    return network_tests.round_trip_s(run)


def true_round_trip_s(run: FinishedRun) -> float:
    """The true round-trip time of packets while the test loaded the line, s."""
    return network_tests.true_round_trip_s(run)


def said_over_true(run: FinishedRun) -> float:
    """`said_round_trip_s` divided by `true_round_trip_s`: 1 if the test is right."""
    return network_tests.round_trip_s(run) / network_tests.true_round_trip_s(run)


def game_rating(run: FinishedRun, *, ping: str) -> float:
    """ITU-T G.1072's rating of the network for a game (0 to 100) by the mean round trip and the
    loss of a group of echo requests; loss is limited to the model's range."""
    found = run.summary.get("ping", {}).get(ping)
    if found is None or found["rtt_mean_s"] is None:
        return math.nan
    return games.network_rating(found["rtt_mean_s"], min(found["unanswered_share"], 0.005))


def ping_quantile_s(run: FinishedRun, *, percent: float) -> float:
    """The round-trip time that `percent` percent of all answered echo requests did not exceed, s,
    of the whole run."""
    if not run.has("pings"):
        return math.nan
    trips = [float(trip) for trip in run.columns("pings")["rtt_s"] if trip == trip]
    return network_tests.quantile(trips, percent / 100)
