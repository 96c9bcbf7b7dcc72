"""Tables of a study by hand: estimates, the published number beside them, paired differences."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, ClassVar

import pytest

from aqmlab.experiment.grammar import Difference, Metric, Table
from aqmlab.experiment.plan import Cell
from aqmlab.tables import tables
from aqmlab.tables.tables import BETWEEN, INSIDE, OUTSIDE

MEDIAN = Metric(name="median_ms", title="Median", unit="ms", digits=0, summary="x")
MEAN = Metric(name="mean", title="Mean", unit="", digits=2, summary="y")
#: t(0.975, 2): half the interval of three values is this times their deviation over sqrt(3).
T = 4.302652729749464


def cell(load: str, queue: str = "FIFO", **more: Any) -> Cell:
    return Cell("g", {"load": load, "queue": queue}, {"load": load, "queue": queue}, load, **more)


def spec(**changes: Any) -> Table:
    described: dict[str, Any] = {"id": "t", "part": "p", "group": "g", "title": "T"}
    return Table(**(described | {"keys": {"load": "load_percent"}} | changes))


def values(numbers: dict[tuple[str, str], Sequence[float]]) -> tables.Values:
    return lambda cell, metric: numbers[cell.key, metric.name]


class TestEstimate:
    def test_the_mean_its_interval_and_one_more_run(self):
        # 1, 2, 3: deviation 1, half width T / sqrt(3); one more run: T sqrt(1 + 1/3)
        found = tables.estimate([1.0, 2.0, 3.0])
        half, wide = T / math.sqrt(3), T * math.sqrt(4 / 3)
        assert found == pytest.approx(
            {
                "ours": 2.0,
                "low": 2 - half,
                "high": 2 + half,
                "one_run_low": 2 - wide,
                "one_run_high": 2 + wide,
            }
        )

    def test_one_run_has_no_interval_and_what_is_undefined_no_mean(self):
        nothing = dict.fromkeys(["low", "high", "one_run_low", "one_run_high"])
        assert tables.estimate([7.0]) == {"ours": 7.0, **nothing}
        assert tables.estimate([1.0, math.nan, 3.0]) == {"ours": None, **nothing}


class TestCompare:
    #: The mean is 10; one more run lies between 6 and 14.
    ROW: ClassVar = {
        "ours": 10.0,
        "low": 9.0,
        "high": 11.0,
        "one_run_low": 6.0,
        "one_run_high": 14.0,
    }

    @pytest.mark.parametrize(
        ("paper", "verdict"),
        [
            (10.0, INSIDE),
            # Half a unit of the last digit, which is the second behind the point.
            (11.005, INSIDE),
            (11.0051, BETWEEN),
            (8.995, INSIDE),
            (8.9949, BETWEEN),
            (14.005, BETWEEN),
            (14.0051, OUTSIDE),
            (5.995, BETWEEN),
            (5.9949, OUTSIDE),
        ],
    )
    def test_where_the_published_number_lies(self, paper, verdict):
        assert tables.compare(self.ROW, paper, 2)["verdict"] == verdict

    def test_the_last_digit_decides_how_much_its_rounding_hides(self):
        assert tables.compare(self.ROW, 11.4, 0)["verdict"] == INSIDE
        assert tables.compare(self.ROW, 11.4, 1)["verdict"] == BETWEEN
        assert tables.compare(self.ROW, 15.0, -1)["verdict"] == INSIDE

    def test_rounding_of_a_binary_number_does_not_count(self):
        row = self.ROW | {"high": 0.1 + 0.2 - 0.5, "low": -1.0, "one_run_low": -2.0}
        assert tables.compare(row, 0.3, 0)["verdict"] == INSIDE
        assert tables.compare(row, 0.3 + 2e-9, 0)["verdict"] == BETWEEN

    def test_differences_are_ours_minus_the_papers(self):
        assert tables.compare(self.ROW, 8.0, 2) == {
            "paper": 8.0,
            "difference": 2.0,
            "difference_low": 1.0,
            "difference_high": 3.0,
            "verdict": BETWEEN,
        }

    def test_without_an_interval_there_is_no_verdict(self):
        alone = dict.fromkeys(self.ROW) | {"ours": 10.0}
        found = {"paper": 8.0, "difference": 2.0, "difference_low": None, "difference_high": None}
        assert tables.compare(alone, 8.0, 2) == {**found, "verdict": None}

    def test_without_a_number_there_is_no_difference(self):
        nothing = dict.fromkeys(["difference", "difference_low", "difference_high", "verdict"])
        assert tables.compare(self.ROW, None, 2) == {"paper": None, **nothing}
        undefined = dict.fromkeys(self.ROW)
        assert tables.compare(undefined, 8.0, 2) == {"paper": 8.0, **nothing}


class TestTable:
    CELLS: ClassVar = [cell("90%"), cell("98%")]
    NUMBERS: ClassVar = {
        ("90%", "median_ms"): [1.0, 2.0, 3.0],
        ("90%", "mean"): [5.0],
        ("98%", "median_ms"): [4.0, 4.0, 4.0],
        ("98%", "mean"): [math.nan],
    }

    def test_a_row_for_every_cell_and_metric(self):
        published = [{"load_percent": "98", "median_ms": "4"}]
        rows = tables.table(spec(), [MEDIAN, MEAN], self.CELLS, values(self.NUMBERS), published)
        heads = [(r["table"], r["load_percent"], r["metric"], r["n"]) for r in rows]
        assert heads == [
            ("t", 90, "median_ms", 3),
            ("t", 90, "mean", 1),
            ("t", 98, "median_ms", 3),
            ("t", 98, "mean", 1),
        ]
        assert [r["ours"] for r in rows] == [2.0, 5.0, 4.0, None]
        assert [r["paper"] for r in rows] == [None, None, 4.0, None]
        assert [r["verdict"] for r in rows] == [None, None, INSIDE, None]

    def test_the_metrics_own_digits_are_those_of_the_paper(self):
        published = [{"load_percent": "98", "median_ms": "4.4"}]
        one = [cell("98%")]
        (row,) = tables.table(spec(), [MEDIAN], one, values(self.NUMBERS), published)
        assert row["verdict"] == INSIDE

    def test_without_published_numbers(self):
        rows = tables.table(spec(), [MEDIAN], self.CELLS, values(self.NUMBERS), None)
        assert [r["paper"] for r in rows] == [None, None]

    def test_places_are_columns_and_what_a_variant_is_called_in_print(self):
        published = {"queue": "Drop tail"}
        cells = [cell("90%"), cell("0.5 %", published=published)]
        assert tables.places(spec(), cells) == [
            {"load_percent": 90},
            {"load_percent": 0.5, "queue": "Drop tail"},
        ]

    def test_lists_and_constructed_variants_go_by_their_labels(self):
        axes = {"th": [30, 90], "min": "5", "set": "mine", "other": "mine"}
        labels = {"th": "low", "min": "five", "set": "mine *", "other": "ours *"}
        one = Cell("g", axes, labels, "k")
        keys = {axis: axis for axis in axes}
        assert tables.places(spec(keys=keys), [one]) == [
            {"th": "low", "min": "5", "set": "mine *", "other": "mine"}
        ]

    def test_values_as_a_table_holds_them(self):
        described = {
            "98%": 98,
            "98.5 %": 98.5,
            "0.0%": 0,
            "x 98%": "x 98%",
            "98": "98",
            "1.%": "1.%",
        }
        assert {text: tables.plain(text) for text in described} == described
        assert isinstance(tables.plain("98%"), int)
        assert tables.plain(7) == 7
        assert tables.plain([1, "a"]) == "(1, a)"


def test_differences_are_taken_seed_by_seed():
    pair = (cell("90%", "RED"), Cell("h", {"load": "90%"}, {}, "other"))
    entry = Difference(id="d", part="p", title="D", group="g", minus="h", on=("load",))
    numbers = {
        ("90%", "median_ms"): [10.0, 20.0, 30.0],
        ("other", "median_ms"): [9.0, 18.0, 27.0],
        ("90%", "mean"): [1.0],
        ("other", "mean"): [3.0],
    }
    first, second = tables.differences(entry, [MEDIAN, MEAN], [pair], values(numbers))
    half, wide = T / math.sqrt(3), T * math.sqrt(4 / 3)
    head = {"table": "d", "load": 90, "metric": "median_ms", "n": 3}
    assert first == pytest.approx(
        {
            **head,
            "ours": 2.0,
            "low": 2 - half,
            "high": 2 + half,
            "one_run_low": 2 - wide,
            "one_run_high": 2 + wide,
        }
    )
    assert (second["metric"], second["ours"], second["low"]) == ("mean", -2.0, None)


def test_a_difference_needs_both_under_every_seed():
    entry = Difference(id="d", part="p", title="D", group="g", minus="g", on=("load",))
    numbers = {("90%", "mean"): [1.0, 2.0], ("98%", "mean"): [3.0]}
    with pytest.raises(ValueError, match="zip"):
        tables.differences(entry, [MEAN], [(cell("90%"), cell("98%"))], values(numbers))
