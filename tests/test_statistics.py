"""Statistics of claims, by hand; rules that take several cells together or use an axis value."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any, cast

import numpy as np
import pytest

from aqmlab.claims import rule
from aqmlab.claims.evidence import Evidence
from aqmlab.claims.judge import FAILS, HOLDS
from aqmlab.experiment.plan import Cell, Plan
from aqmlab.experiment.rules import Claim, Let, Number
from aqmlab.experiment.shapes import convert, read
from aqmlab.tables import statistics


@dataclass(frozen=True)
class Fake:
    """A run with just these numbers and tables."""

    summary: dict[str, Any] = field(default_factory=dict)
    tables: dict[str, dict[str, Any]] = field(default_factory=dict)
    scenario: dict[str, Any] = field(default_factory=lambda: {"warmup": "1 s"})

    def columns(self, name: str) -> dict[str, np.ndarray]:
        return {column: np.array(values) for column, values in self.tables[name].items()}


def of_run(name: str, run: Fake, **args: Any) -> float:
    return statistics.of_run(cast(Any, run), Number(group="g", statistic=name, args=args))


def across(name: str, runs: list[tuple[dict, Fake]], **args: Any) -> float:
    cells = [(Cell("g", axes, {}, str(i)), run) for i, (axes, run) in enumerate(runs)]
    return statistics.across(name)(cast(Any, cells), **args)


class TestOfRun:
    def test_shares_of_connections(self):
        run = Fake({"connections": 8, "retransmission_classes": {"syn": 2, "data": 1}})
        assert of_run("connections_in_class", run, kind="syn") == 25
        assert of_run("connections_in_class", run, kind="data") == 12.5
        nobody = Fake({"connections": 0, "retransmission_classes": {"syn": 0}})
        assert math.isnan(of_run("connections_in_class", nobody, kind="syn"))

    def test_a_groups_flows(self):
        flows = {"group": [0, 0, 1], "goodput_bits_per_s": [1.0, 3.0, 10.0]}
        run = Fake(tables={"flows": flows})
        assert of_run("flow_goodput", run, group=0) == 2
        assert of_run("flow_goodput", run, group=1) == 10
        assert math.isnan(of_run("flow_goodput", run, group=2))

    def test_datagrams_among_the_bytes(self):
        run = Fake({"datagrams": {"flood": {"received": 10}}, "departure_bytes": 4000})
        assert of_run("datagram_share", run, group="flood", packet_bytes=100) == 0.25

    def test_the_queue(self):
        run = Fake({"queue_var_packets": 9.0, "utilisation": 0.9, "drop_rate": 0.1})
        assert of_run("queue_deviation", run) == 3
        assert of_run("passed", run) == pytest.approx(0.81)

    @pytest.mark.parametrize(("queue", "average"), [({"max_th": 40}, 20), ({"max_th": 120}, 60)])
    def test_an_average_over_max_th_whatever_it_counts(self, queue, average):
        """Harsh RED's 40 packets of 1,500 B are 120 mean packets of 500 B where RED counts bytes,
        and so is its average."""
        scenario = {"link": [{"name": "wired"}, {"name": "wireless", "forward": queue}]}
        summary = {"ports": {"wireless.forward": {"gauge_max": {"avg": average}}}}
        args = {"port": "wireless.forward", "gauge": "avg", "parameter": "max_th"}
        assert of_run("largest_of_parameter", Fake(summary, scenario=scenario), **args) == 0.5

    def test_the_dispersion_of_sizes(self):
        # three seconds with 1, 2 and 3 requests of 10 bytes: variance of counts 1, mean 2
        seconds = {"time_s": [0, 1, 2, 3], "requests": [99, 1, 2, 3], "bytes": [0, 10, 20, 30]}
        run = Fake(tables={"seconds": seconds})
        assert of_run("size_dispersion", run, column="bytes", count="requests") == 0.5


class TestAcross:
    def test_a_line(self):
        exact = [({"users": u}, Fake({"x": 10 + 2 * u})) for u in (0, 10, 20)]
        assert across("line_r_squared", exact, axis="users", summary="x") == pytest.approx(1)
        assert across("line_intercept", exact, axis="users", summary="x") == pytest.approx(20)
        # 0, 3, 0 at 0, 1, 2: the best line is flat and explains nothing
        bent = [({"users": u}, Fake({"x": x})) for u, x in ((0, 0), (1, 3), (2, 0))]
        assert across("line_r_squared", bent, axis="users", summary="x") == pytest.approx(0)

    def test_who_is_ahead_of_the_highest(self):
        numbers = [(5.0, 0.2), (4.0, 0.3), (3.0, 0.1), (2.0, 0.2), (1.0, 0.9)]
        runs = [({"q": i}, Fake({"t": t, "s": s})) for i, (t, s) in enumerate(numbers)]
        assert across("ahead_of_highest", runs, highest="t", larger="s") == 50
        assert across("ahead_of_highest", runs, highest="s", larger="t") == 100
        assert math.isnan(across("ahead_of_highest", runs[:1], highest="t", larger="s"))

    @pytest.mark.parametrize(
        ("best", "moves"),
        [([0, 1, 2], 2), ([2, 2, 1], 1), ([0, 2, 1], 0), ([1, 0, 1], 0), ([1, 1, 1], 0)],
    )
    def test_how_far_the_best_moves(self, best, moves):
        runs = [
            ({"n": n, "p": p}, Fake({"utilisation": 1.0, "drop_rate": 0.1 + (i != place)}))
            for n, place in enumerate(best)
            for i, p in enumerate([0.02, 0.1, 0.5])
        ]
        assert across("best_moves", runs, over="p", along="n") == moves

    def test_short_responses_against_long_ones(self):
        # 100 responses of 1 to 100 ms; the other setting moves only what is above the median
        upper = [float(ms) for ms in range(1, 301)]
        quantiles = {f"response_p{q}_s": q / 1000 for q in (10, 20, 30, 40, 50, 90)}
        base = [1.0] * 100 + [0.0] * 200
        slower = [1.0] * 49 + [0.0] + [1.0] * 30 + [0.0] * 20 + [1.0] * 21 + [0.0] * 179

        def run(count: list[float]) -> Fake:
            return Fake(quantiles, {"response_histogram": {"upper_ms": upper, "count": count}})

        runs = [({"w": "a"}, run(base)), ({"w": "b"}, run(slower))]
        # at the 50 % quantile 1 point is missing, up to 40 % none; at 90 % eleven
        ratio = across("lower_to_upper_change", runs, reference={"w": "a"})
        assert sum(slower) == 100
        assert ratio == pytest.approx((1 / 5) / 11)
        same = [({"w": "a"}, run(base)), ({"w": "b"}, run(base))]
        assert math.isnan(across("lower_to_upper_change", same, reference={"w": "a"}))


def histogram(*counts: float) -> Fake:
    """So many responses of up to 10, 20, … ms."""
    upper = [10.0 * (i + 1) for i in range(len(counts))]
    return Fake(tables={"response_histogram": {"upper_ms": upper, "count": list(counts)}})


class TestRules:
    CELLS = (Cell("g", {"limit": 30}, {}, "a"), Cell("g", {"limit": 60}, {}, "b"))

    def evidence(self) -> Evidence:
        """Of limit 30 half the responses take 10 ms, of 60 a quarter; the queues are half full."""
        runs = {"a": histogram(2, 2), "b": histogram(1, 3), "best": histogram(3, 1)}
        for key, limit in (("a", 30), ("b", 60)):
            runs[key].summary["queue"] = limit / 2
        results = {(key, seed): cast(Any, run) for key, run in runs.items() for seed in (1, 2, 3)}
        best = Cell("best", {}, {}, "best")
        return Evidence(
            Plan([best, *self.CELLS], {}, {"g": (1, 2, 3), "best": (1, 2, 3)}), {}, results
        )

    def pair(self, over: str) -> dict:
        return {
            "pair": "lowest_gain",
            "a": {"group": "best"},
            "b": {"group": "g"},
            "args": {"from_ms": 10, "to_ms": 20},
            "over": over,
        }

    def test_a_pair_over_several_cells(self):
        found = self.evidence()
        # at 10 ms the best has 75 %, the others 50 and 25 %; at 20 ms all have 100 %
        gain = self.pair("min") | {"args": {"from_ms": 10, "to_ms": 10}}
        assert found.number(convert("let", gain, Let)).tolist() == [25, 25, 25]
        assert found.number(convert("let", gain | {"over": "max"}, Let)).tolist() == [50, 50, 50]
        assert found.number(convert("let", self.pair("max"), Let)).tolist() == [0, 0, 0]
        assert found.requested == {"a", "b", "best"}

    def test_the_value_of_each_in_an_expression(self):
        lets = {"q": {"group": "g", "where": {"limit": "$limit"}, "summary": "queue"}}
        half = {"let": lets, "value": "q / limit", "each": {"limit": [30, 60]}}
        described = {"id": "X", "part": "p", "claim": "c", "rule": "r", "version": 1}
        for bound, verdict in ((0.5, HOLDS), (0.4, FAILS)):
            claim = read(Claim, described | {"condition": [half | {"at_most": bound}]})
            assert rule.judge(claim, self.evidence()).verdict == verdict


def test_a_statistic_is_called_as_its_function_or_with_its_file_before_it():
    registries = (statistics.OF_RUN, statistics.PAIRS, statistics.ACROSS, statistics.PROBES)
    for name, function in [pair for registry in registries for pair in registry.items()]:
        file = function.__module__.rpartition(".")[2]
        assert name in (function.__name__, f"{file}_{function.__name__}")
    assert all(statistics.pair(name) is function for name, function in statistics.PAIRS.items())
