"""How often the judge is wrong: samples whose means lie exactly on the bounds of a rule.

A verdict on such a rule is wrong in whichever direction it goes, by a hair. Either direction may be
taken in 2.5 % of the trials; with the correction for the number of conditions forgotten, 20
conditions would fail in 40 %. Seeds are fixed, so that the test always sees the same trials.
"""

from __future__ import annotations

from typing import Any, cast

import numpy as np
import pytest

from aqmlab.claims import rule
from aqmlab.claims.evidence import Evidence
from aqmlab.claims.judge import FAILS, HOLDS, INCONCLUSIVE
from aqmlab.experiment.rules import Claim, Number
from aqmlab.experiment.shapes import read

TRIALS = 60
#: Of 60 trials with 2.5 % each more than 6 are wrong with a probability below 0.1 %.
MOST = 6

AT_LEAST_0 = {"let": {"a": {"group": "g", "where": {"i": "$i"}}}, "value": "a", "at_least": 0.0}
MANY = list(range(20))


class Samples:
    """Stands for the runs: the number with this index under every seed."""

    def __init__(self, rows: np.ndarray) -> None:
        self.rows = rows

    def number(self, let: Number) -> np.ndarray:
        return self.rows[let.where["i"]]


def verdict(rows: np.ndarray, condition: dict, looks: list[int], seeds: int) -> str:
    """The verdict after these looks (multiples of the seeds) on one rule."""
    described = {"id": "X", "part": "p", "claim": "c", "rule": "r", "version": 1}
    judged = read(Claim, described | {"condition": [condition]})
    found = INCONCLUSIVE
    for look in looks:
        evidence = cast(Evidence, cast(Any, Samples(rows[:, : look * seeds])))
        found = rule.judge(judged, evidence, looks=len(looks)).verdict
        if found != INCONCLUSIVE:
            break
    return found


def wrong(condition: dict, seeds: int, looks: list[int], others: float = 0.0) -> dict[str, int]:
    """How often either verdict comes out; all means but the first may lie off the bound."""
    random = np.random.default_rng(seeds)
    means = np.array([[0.0]] + [[others]] * (len(MANY) - 1))
    found = [
        verdict(
            means + random.standard_normal((len(MANY), looks[-1] * seeds)), condition, looks, seeds
        )
        for _ in range(TRIALS)
    ]
    return {name: found.count(name) for name in (HOLDS, FAILS)}


@pytest.mark.parametrize("seeds", [3, 5, 10])
@pytest.mark.parametrize("looks", [[1], [1, 2]])
class TestMeansOnTheBounds:
    def test_one_of_many_conditions_seldom_fails(self, seeds, looks):
        found = wrong(AT_LEAST_0 | {"each": {"i": MANY}}, seeds, looks)
        assert found[FAILS] <= MOST and found[HOLDS] == 0

    def test_all_conditions_seldom_hold_where_one_is_on_its_bound(self, seeds, looks):
        found = wrong(AT_LEAST_0 | {"each": {"i": MANY}}, seeds, looks, others=100.0)
        assert found[HOLDS] <= MOST and found[FAILS] <= MOST

    def test_one_of_many_alternatives_seldom_holds(self, seeds, looks):
        found = wrong(AT_LEAST_0 | {"some": {"i": MANY}}, seeds, looks)
        assert found[HOLDS] <= MOST and found[FAILS] == 0

    def test_alternatives_seldom_fail_where_one_is_on_its_bound(self, seeds, looks):
        found = wrong(AT_LEAST_0 | {"some": {"i": MANY}}, seeds, looks, others=-100.0)
        assert found[FAILS] <= MOST and found[HOLDS] <= MOST
