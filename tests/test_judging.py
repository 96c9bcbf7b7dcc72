"""Looks: which claims are judged again, of which runs, and what work is expected before."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import replace
from typing import Any, cast

import pytest
from test_claims import FakeRun, claim

from aqmlab.claims import evaluate
from aqmlab.claims.judge import FAILS, HOLDS, INCONCLUSIVE
from aqmlab.experiment.experiment import Experiment
from aqmlab.experiment.grammar import Metric
from aqmlab.experiment.plan import Cell, Plan, Run
from aqmlab.experiment.rules import Claim
from aqmlab.runs.laboratory import Laboratory
from aqmlab.tables.dataset import Dataset


def plan(*names: str) -> Plan:
    """A cell of 10 s for each name, under three seeds."""
    cells = [Cell("g", {"q": name}, {"q": name}, name) for name in names]
    scenarios: dict[str, dict] = {name: {"duration": "10 s"} for name in names}
    return Plan(cells, scenarios, {"g": (1, 2, 3)})


def let(name: str) -> dict[str, Any]:
    return {"group": "g", "where": {"q": name}, "summary": "x"}


def bounded(id_: str, name: str, at_least: float) -> Claim:
    """A claim that a cell's number is at least this."""
    described = {"let": {"a": let(name)}, "value": "a", "at_least": at_least}
    return replace(claim(described), id=id_)


class Requested:
    """Writes down what it is asked; a run's number is its seed."""

    def __init__(self) -> None:
        self.expected: list[tuple[dict[Hashable, float], str]] = []
        self.batches: list[tuple[str, list[tuple[str, int]], str]] = []

    def expect(self, later: Mapping[Hashable, float], including: str = "") -> None:
        self.expected.append((dict(later), including))

    def by_scenario(self, title: str, runs: Sequence[Run], source: str) -> dict:
        places = [(run.key, run.seed) for run in runs]
        self.batches.append((title, places, source))
        return {(key, seed): FakeRun(float(seed)) for key, seed in places}


def judged(
    planned: Plan,
    claims: Sequence[Claim],
    looks: Sequence[int],
    first: Mapping[str, Sequence[float]],
) -> tuple[list[dict], Requested]:
    """The score card's lines, with these numbers of the first look, and what was asked."""
    laboratory = Requested()
    results = {
        (key, seed): FakeRun(number)
        for key, numbers in first.items()
        for seed, number in enumerate(numbers, 1)
    }
    dataset = Dataset(planned, cast(Any, None), cast(Any, results), {}, {}, {})
    experiment = cast(Experiment, cast(Any, type("E", (), {"name": "s", "where": "s.toml"})()))
    rows = evaluate.judge(experiment, claims, dataset, cast(Laboratory, laboratory), looks)
    assert len(dataset.results) == sum(map(len, first.values())), "the material stays as it is"
    return rows, laboratory


NEAR = [1.0, 2.0, 3.0]
"""Their interval is 2 ± 2.48 at 95 %."""


class TestLooks:
    def test_only_what_is_open_is_run_again_and_judged_again(self):
        claims = [bounded("A", "a", 0.0), bounded("B", "b", 2.0), bounded("C", "b", 2.4)]
        first = {"a": [9.0, 9.1, 9.2], "b": NEAR}
        rows, laboratory = judged(plan("a", "b"), claims, [1, 2], first)
        assert [row["id"] for row in rows] == ["A", "B", "C"]
        assert [row["replications"] for row in rows] == [3, 6, 6]
        assert [row["verdict"] for row in rows] == [HOLDS, INCONCLUSIVE, INCONCLUSIVE]
        assert [row["scenarios"] for row in rows] == [["a"], ["b"], ["b"]]
        # Seeds 1 to 6: those of the first look are asked as well, and are in the folder.
        places = [("b", seed) for seed in range(1, 7)]
        assert laboratory.batches == [("s: 2 open claims, more seeds", places, "s.toml")]

    def test_one_open_claim_is_one(self):
        rows, laboratory = judged(plan("b"), [bounded("B", "b", 2.0)], [1, 2, 4], {"b": NEAR})
        assert [title for title, *_ in laboratory.batches] == [
            "s: 1 open claim, more seeds",
            "s: 1 open claim, more seeds",
        ]
        assert rows[0]["study"] == "s"

    def test_it_ends_as_soon_as_all_are_decided(self):
        decided = [bounded("A", "a", 0.0), bounded("B", "a", 20.0)]
        rows, laboratory = judged(plan("a"), decided, [1, 2, 4], {"a": [9.0, 9.1, 9.2]})
        assert [row["verdict"] for row in rows] == [HOLDS, FAILS]
        assert laboratory.batches == []
        assert laboratory.expected == [({}, "")]

    def test_every_look_spends_its_share_of_the_error(self):
        # 2 ± 2.484 at 95 %, 2 ± 3.583 at 97.5 %, 2 ± 4.4 at 98.3 %
        one = bounded("A", "b", -0.49)
        assert judged(plan("b"), [one], [1], {"b": NEAR})[0][0]["verdict"] == HOLDS
        rows, laboratory = judged(plan("b"), [one], [1, 2], {"b": NEAR})
        assert len(laboratory.batches) == 1
        assert (rows[0]["verdict"], rows[0]["replications"]) == (HOLDS, 6)

    def test_more_seeds_decide_nothing_without_an_interval(self):
        """A cell that was not run stays open, and is not run for it."""
        rows, laboratory = judged(plan("b"), [bounded("A", "c", 0.0)], [1, 2], {"b": NEAR})
        assert rows[0]["verdict"] == INCONCLUSIVE
        assert laboratory.batches == []

    def test_what_is_not_run_again_keeps_its_numbers(self):
        claims = [bounded("A", "a", 2.0), bounded("B", "b", 2.0)]
        rows, laboratory = judged(plan("a", "b"), claims, [1, 2], {"a": [1.0], "b": NEAR})
        assert {key for _, places, _ in laboratory.batches for key, _ in places} == {"b"}
        assert [row["replications"] for row in rows] == [1, 6]

    def test_what_is_expected_is_what_is_open(self):
        claims = [bounded("A", "a", 0.0), bounded("B", "b", 2.0)]
        first = {"a": [9.0, 9.1, 9.2], "b": NEAR}
        _, laboratory = judged(plan("a", "b"), claims, [1, 2, 4], first)
        # 60 s more behind the look under way, of the one that is expected to stay open
        assert laboratory.expected[:2] == [
            ({}, ""),
            ({"b": pytest.approx(0.4 * 60)}, "more seeds for open claims"),
        ]
        assert laboratory.expected[2:] == [({}, "more seeds for open claims")]


def test_metrics_and_calibrations_are_evidence_too():
    metric = Metric(name="m", title="M", unit="", digits=0, summary="x", scale=2.0)
    lets = {
        "m": {"group": "g", "where": {"q": "a"}, "metric": "m"},
        "r": {"calibration": "r_squared"},
    }
    one = claim({"let": lets, "value": "m + r", "at_least": 0.0})
    results = cast(Any, {("a", seed): FakeRun(float(seed)) for seed in (1, 2, 3)})
    known: dict[str | None, dict] = {None: {"r_squared": 0.5}}
    dataset = Dataset(plan("a"), cast(Any, None), results, known, {}, {"m": metric})
    experiment = cast(Experiment, cast(Any, type("E", (), {"name": "s", "where": "s.toml"})()))
    (row,) = evaluate.judge(experiment, [one], dataset, cast(Laboratory, Requested()), [1])
    assert row["estimate"] == 4.5


class TestWork:
    def test_the_more_claims_rest_on_a_scenario_the_likelier_it_is_run_again(self):
        claims = [bounded("A", "a", 0.0), bounded("B", "b", 0.0), bounded("C", "b", 0.0)]
        # three seeds more of 10 s at the second look, six more at the third
        found = evaluate.more_seeds(claims, plan("a", "b", "c"), [1, 2, 4])
        assert found == {
            "a": pytest.approx(0.4 * 30 + 0.16 * 60),
            "b": pytest.approx((1 - 0.6**2) * 30 + (1 - 0.84**2) * 60),
        }

    def test_a_single_look_expects_nothing(self):
        assert evaluate.more_seeds([bounded("A", "a", 0.0)], plan("a"), [1]) == {}


class TestScenarios:
    def test_of_one_cell_several_and_both_of_a_pair(self):
        lets = {
            "a": let("a"),
            "p": {
                "pair": "lowest_gain",
                "a": {"group": "g", "where": {"q": "b"}},
                "b": {"group": "g", "where": {"q": "c"}},
                "args": {"from_ms": 1, "to_ms": 2},
            },
            "n": {"probe": "model_share_upto", "args": {}},
        }
        one = claim({"let": lets, "value": "a + p", "at_least": 0})
        assert evaluate.scenarios(one, plan("a", "b", "c", "d")) == {"a", "b", "c"}

    def test_across_a_group(self):
        across = {"across": "line_r_squared", "group": "g", "args": {}}
        one = claim({"let": {"r": across}, "value": "r", "at_least": 0})
        assert evaluate.scenarios(one, plan("a", "b")) == {"a", "b"}

    def test_of_every_value_that_a_rule_names(self):
        each = {"let": {"x": let("$q")}, "value": "x", "at_least": 0, "each": {"q": ["a", "c"]}}
        assert evaluate.scenarios(claim(each), plan("a", "b", "c")) == {"a", "c"}
