"""Responses by size, sums over ports, tails and model variables, on runs made up by hand."""

from __future__ import annotations

import math
from types import SimpleNamespace
from typing import Any, cast

import numpy as np
import pytest

from aqmlab.errors import SpecError
from aqmlab.experiment.grammar import Difference
from aqmlab.experiment.rules import Number
from aqmlab.experiment.shapes import read
from aqmlab.runs.laboratory import FinishedRun
from aqmlab.tables import statistics

SIZES = {
    "upto_bytes": [1000, 2000, 4000, 8000],
    "responses": [60, 0, 30, 10],
    "bytes": [30_000, 0, 90_000, 60_000],
    "mean_s": [0.1, 0.0, 0.2, 1.0],
    "retransmitted": [6, 0, 6, 9],
}
TWO_PORTS = {
    "ports": {
        "a.forward": {"drops": 1, "arrivals": 10, "gauge_mean": {"probes": 1.5}},
        "a.reverse": {"drops": 3, "arrivals": 30, "gauge_mean": {"probes": 2.5}},
    }
}
EDGES_MS = [100.0, 200.0, 300.0, np.inf]


def run(
    sizes: dict[str, list] = SIZES, counts: tuple = (5, 3, 1, 1), summary: dict | None = None
) -> FinishedRun:
    """A run with these tables and this summary."""
    found = {
        "response_sizes": {name: np.array(values) for name, values in sizes.items()},
        "response_histogram": {"upper_ms": np.array(EDGES_MS), "count": np.array(counts)},
    }
    return cast(FinishedRun, SimpleNamespace(columns=found.__getitem__, summary=summary or {}))


def of(made: FinishedRun, statistic: str, /, **args: Any) -> float:
    return statistics.of_run(made, Number(group="g", statistic=statistic, args=args))


def pair(name: str, a: FinishedRun, b: FinishedRun, **args: Any) -> float:
    return statistics.pair(name)(a, b, **args)


class TestSizes:
    def test_by_hand(self):
        one = run()
        assert of(one, "sized_mean_ms", upto_bytes=4999) == pytest.approx((6 + 6) / 90 * 1000)
        assert of(one, "sized_count", upto_bytes=4000) == 90
        assert of(one, "sized_retransmitted", upto_bytes=4000) == pytest.approx(100 * 12 / 90)

    def test_the_largest_carry(self):
        # The largest 20 % are the ten of up to 8,000 bytes and ten of the thirty below them.
        assert of(run(), "bytes_of_largest", percent=20) == pytest.approx(
            100 * (60_000 + 30_000) / 180_000
        )
        assert of(run(), "bytes_of_largest", percent=100) == pytest.approx(100)

    def test_nothing_of_that_size(self):
        assert math.isnan(of(run(), "sized_mean_ms", upto_bytes=10))
        assert math.isnan(of(run(), "sized_retransmitted", upto_bytes=10))

    def test_classes_that_are_faster(self):
        slower = run(SIZES | {"mean_s": [0.2, 0.0, 0.1, 2.0]})
        assert pair("share_of_sizes_faster", run(), slower) == pytest.approx(70)
        assert pair("share_of_sizes_faster", slower, run()) == pytest.approx(30)
        # A class that the other has not decides nothing, even where it ends earlier.
        fewer = run({name: values[:3] for name, values in SIZES.items()} | {"mean_s": [1, 0, 1]})
        assert pair("share_of_sizes_faster", run(), fewer) == pytest.approx(90)

    def test_distance_of_byte_shares(self):
        other = run(SIZES | {"bytes": [90_000, 0, 30_000, 60_000]})
        assert pair("byte_share_distance", run(), other, upto_bytes=4000) == pytest.approx(100 / 3)
        assert pair("byte_share_distance", run(), other, upto_bytes=1000) == pytest.approx(100 / 3)
        assert pair("byte_share_distance", run(), run(), upto_bytes=4000) == 0


class TestPorts:
    def test_by_hand(self):
        one = run(summary=TWO_PORTS)
        assert of(one, "ports_ratio", of="drops", to="arrivals") == pytest.approx(0.1)
        assert of(one, "ports_mean", name="drops") == 2
        assert of(one, "ports_mean", name="gauge_mean.probes") == 2

    def test_a_share_is_of_those_who_arrived(self):
        # 5 of 10 and none of 30, though 25 that had waited since the warm-up were dropped as well.
        ports = {
            "a": {"drop_rate": 0.5, "drops": 30, "arrivals": 10},
            "b": {"drop_rate": 0.0, "drops": 0, "arrivals": 30},
        }
        one = run(summary={"ports": ports})
        assert of(one, "ports_share", share="drop_rate", of="arrivals") == pytest.approx(0.125)
        assert math.isnan(of(one, "ports_share", share="mark_rate", of="arrivals"))
        idle = {"ports": {"a": {"drop_rate": 0.0, "arrivals": 0}}}
        assert math.isnan(of(run(summary=idle), "ports_share", share="drop_rate", of="arrivals"))

    def test_undefined(self):
        one = run(summary=TWO_PORTS)
        assert math.isnan(of(one, "ports_mean", name="gauge_mean.nothing"))
        assert math.isnan(of(one, "ports_ratio", of="drops", to="departures"))
        idle = {"ports": {"a": {"drops": 0, "arrivals": 0}}}
        assert math.isnan(of(run(summary=idle), "ports_ratio", of="drops", to="arrivals"))


class TestTails:
    def test_quantile(self):
        assert of(run(), "response_quantile_ms", percent=50) == 100
        assert of(run(), "response_quantile_ms", percent=51) == 200
        assert of(run(), "response_quantile_ms", percent=90) == 300
        assert math.isnan(of(run(), "response_quantile_ms", percent=99))  # among the failed

    def test_heights(self):
        # 0 % at 0 to 95 ms, 50 % from 100 ms, 80 % from 200 ms
        assert of(run(), "mean_share", from_ms=0, to_ms=95) == 0
        assert of(run(), "mean_share", from_ms=100, to_ms=200) == pytest.approx((20 * 50 + 80) / 21)

    def test_gain_until(self):
        a, b = run(counts=(5, 3, 1, 1)), run(counts=(6, 2, 1, 1))
        assert pair("lowest_gain_until", a, b, percent=60) == pytest.approx(-10)
        assert pair("lowest_gain_until", b, a, percent=60) == pytest.approx(0)
        assert math.isnan(pair("lowest_gain_until", a, b, percent=99.9))

    def test_crossings_beyond(self):
        a, b = run(counts=(5, 3, 1, 0)), run(counts=(5, 1, 3, 0))
        assert pair("crossings_after", a, b, percent=50) == 0
        lower = run(counts=(4, 4, 1, 0))
        crossed = run(counts=(5, 2, 2, 0))
        assert pair("crossings_after", lower, crossed, percent=50) == 1
        assert pair("crossings_after", lower, crossed, percent=60) == 0

    def test_completed(self):
        summary = {"responses": 90, "responses_failed": 10, "measured_s": 20.0}
        assert of(run(summary=summary), "completed_per_s") == 4


def test_variables_of_a_model(monkeypatch):
    from aqmlab.simulator import engine

    uniform = {"name": "size", "mean": 0.5, "curve": [[0.0, 0.0], [0.5, 0.5], [1.0, 1.0]]}
    monkeypatch.setattr(engine, "variables", lambda model: [uniform])
    how = {"model": "m", "variable": "size"}
    assert statistics.probe("model_share_upto", how | {"value": 0.3}) == pytest.approx(30)
    largest = statistics.probe("model_weight_of_largest", how | {"percent": 10})
    assert largest == pytest.approx(100 * (1 - 0.81), abs=1e-3)
    with pytest.raises(SpecError, match='no variable "colour"'):
        statistics.probe("model_share_upto", how | {"variable": "colour", "value": 1})


def test_a_difference_names_its_rows():
    described = {"id": "d", "part": "p", "group": "g", "minus": "h", "title": "D", "on": ["load"]}
    assert read(Difference, described).columns == ["load"]
    assert read(Difference, described | {"by": ["switch"]}).columns == ["switch", "load"]
