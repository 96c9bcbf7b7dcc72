"""What tables of differences subtract, medians by size, and whose claims the findings count."""

from __future__ import annotations

import math
from typing import Any, cast

import numpy as np
import pytest

from aqmlab.experiment import plan
from aqmlab.experiment.grammar import Difference
from aqmlab.experiment.plan import Cell, Plan
from aqmlab.experiment.rules import Number
from aqmlab.pipeline import outcome
from aqmlab.report import headlines
from aqmlab.runs.laboratory import FinishedRun
from aqmlab.tables import tables
from aqmlab.tables.statistics import of_run


class Sizes:
    """Stands for a run with replies of up to 1 kB, of 1 to 2 kB, and none of 2 to 4 kB."""

    def columns(self, name: str) -> dict[str, np.ndarray]:
        assert name == "response_sizes"
        return {
            "upto_bytes": np.array([1024, 2048, 4096]),
            "responses": np.array([7, 3, 0]),
            "p50_s": np.array([0.25, 0.5, 0.0]),
        }


@pytest.mark.parametrize(
    ("upto", "median"), [(1024, 0.25), (2048, 0.5), (4096, math.nan), (8192, math.nan)]
)
def test_the_median_of_a_size(upto, median):
    how = Number(group="g", statistic="median_of_size", args={"upto_bytes": upto})
    found = of_run(cast(FinishedRun, Sizes()), how)
    assert found == pytest.approx(median, nan_ok=True)


def test_a_difference_within_one_group():
    cells = [
        Cell("g", {"load": load, "queue": queue}, {}, f"{load}{queue}")
        for load in ("90%", "98%")
        for queue in ("FIFO", "RED")
    ]
    entry = Difference(
        id="d",
        part="p",
        title="D",
        group="g",
        where={"queue": "RED"},
        minus="g",
        minus_where={"queue": "FIFO"},
        on=("load",),
    )
    pairs = outcome.pairs(Plan(cells, {}, {"g": (1,)}), entry)
    assert [(a.key, b.key) for a, b in pairs] == [("90%RED", "90%FIFO"), ("98%RED", "98%FIFO")]
    assert plan.matches(cells[0].axes, entry.minus_where)


def test_the_findings_count_our_questions_apart():
    def claim(name: str, kind: str, verdict: str) -> dict[str, Any]:
        return {"id": name, "kind": kind, "verdict": verdict}

    claims = [
        claim("C1", "qualitative", "holds"),
        claim("R1", "ours", "holds"),
        claim("R2", "ours", "inconclusive"),
    ]
    described = headlines._claims({"claims": claims})
    assert described == [
        "Of 1 claim of the paper: 1 holds here, 0 do not hold, 0 inconclusive.",
        "Of 2 questions of ours: 1 holds here, 0 do not hold, 1 inconclusive.",
    ]
    assert headlines._claims({"claims": []}) == []


def test_only_a_share_loses_its_sign():
    for written, held in [("98%", 98), ("0.5 %", 0.5), ("UDP at 80 %", "UDP at 80 %"), ("%", "%")]:
        assert tables.plain(written) == held
    assert tables.plain([30, 90]) == "(30, 90)"
