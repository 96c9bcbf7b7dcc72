"""Compares measured files with runs of the same test: each series by its mean and quantiles."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path

from aqmlab.errors import AqmlabError
from aqmlab.scores.form import mean, quantile
from aqmlab.simulator.network_tests import flent
from aqmlab.tables import flent_file, measured_file, network_tests
from aqmlab.tables.equivalence import INCONCLUSIVE, Margin, judge
from aqmlab.tables.measured_file import Reference
from aqmlab.tables.result import Result

from .comparing import Comparison, Row, _half, _share

PINGS = (
    ("mean", mean),
    ("median", lambda v: quantile(v, 0.5)),
    ("95 %", lambda v: quantile(v, 0.95)),
)
"""The statistics of round-trip times that are compared."""


def compare(result: Result, measured: Sequence[Path], margin: str) -> Comparison:
    """Compares the runs of a result with measured files of the same test."""
    allowed = Margin(_share(margin))
    references = [measured_file.read(file) for file in measured]
    rows: list[Row] = []
    for name in references[0].series:
        rows += _series(name, result, references, allowed)
    rows += _numbers(result, references, allowed)
    if not rows:
        known = ", ".join([*references[0].series, *references[0].numbers][:8])
        raise AqmlabError(
            f"{measured[0]}: none of its series ({known}) is in the runs: run the same test, such "
            f'as app = "{_test_of(references[0])}"'
        )
    lone = [
        who
        for who, number in (("ours", len(result.only())), ("theirs", len(references)))
        if number < 2
    ]
    notes = [f"one run of {who} has no interval: give several for a verdict" for who in lone]
    return Comparison(rows, notes, [])


def _test_of(reference: Reference) -> str:
    """The test of a measured file; if the tool names no known test, one with a series of that
    name."""
    tests = flent.data().items()
    like = (
        t for t, about in tests if {one["name"] for one in about["series"]} & {*reference.series}
    )
    return reference.test if reference.test in flent.data() else next(like, "rrul")


def _series(name: str, result: Result, references: list[Reference], allowed: Margin) -> list[Row]:
    """The rows that compare a series which both the runs and the measured files have."""
    ours = [flent_file.measured(run).get(name) for run in result.only()]
    theirs = [list(reference.series.get(name, [])) for reference in references]
    if any(one is None or not len(one[1]) for one in ours) or not all(theirs):
        return []
    values = [[float(v) for v in one[1]] for one in ours if one is not None]
    is_ping = name.startswith("Ping")
    found = []
    for what, of in PINGS if is_ping else PINGS[:1]:
        title, unit = f"{name}, {what}", "ms" if is_ping else "Mbit/s"
        found.append(_row(title, unit, list(map(of, values)), list(map(of, theirs)), allowed))
    return found


def _numbers(result: Result, references: list[Reference], allowed: Margin) -> list[Row]:
    """The rows that compare single numbers of a test, such as RPM."""
    said = [network_tests.said(run) for run in result.only()]
    rows = []
    for name in references[0].numbers:
        ours = [one.own.get(name) for one in said if one is not None]
        numbers = [float(v) for v in ours if isinstance(v, float) and math.isfinite(v)]
        theirs = [one.numbers[name] for one in references if name in one.numbers]
        if numbers and len(numbers) == len(said):
            rows.append(_row(name, "", numbers, theirs, allowed))
    return rows


def _row(title: str, unit: str, ours: list[float], theirs: list[float], allowed: Margin) -> Row:
    found = judge(ours, theirs, allowed)
    verdict = INCONCLUSIVE if math.isnan(found.half) else found.verdict
    runs = (len(ours), len(theirs))
    halves = (_half(ours), _half(theirs))
    return Row(
        title,
        title,
        unit,
        found.ours,
        halves[0],
        found.theirs,
        halves[1],
        runs,
        found.margin,
        verdict,
    )
