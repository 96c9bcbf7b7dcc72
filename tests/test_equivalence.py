"""Whether two series of runs tell the same, by hand: margins, verdicts, and what is compared."""

from __future__ import annotations

import argparse
import json
import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import polars as pl
import pytest
from validation import equivalence, figures, recorded, verdicts
from validation.equivalence import Kept, Program, Seeds
from validation.figures import FIGURES, Figure
from validation.verdicts import Compared

from aqmlab.runs.laboratory import FinishedRun
from aqmlab.tables.equivalence import Margin, judge, judge_means, judge_paired

#: t(0.975, 2) / sqrt(3): the half width of three values of deviation 1.
HALF = 2.4841377
MARGIN = Figure("drops, %", 100, 0.10, 0.0)


@dataclass(frozen=True)
class Case:
    """A case that nobody runs."""

    label: str = "one"
    family: str = "one flow"
    flows: int = 1
    ecn: bool = False
    paired: bool = False

    def name(self) -> str:
        return self.label


class TestMargin:
    def test_a_share_of_the_mean_or_the_floor(self):
        assert Margin(0.1).of(-20.0) == 2.0
        assert Margin(0.1, 3.0).of(20.0) == 3.0
        assert Margin(0.1).of(0.0) == 0.0

    def test_in_another_unit_the_share_stays(self):
        assert Margin(0.1, 3.0).times(1000.0) == Margin(0.1, 3000.0)


class TestJudge:
    def test_the_ratio_has_the_interval_of_both(self):
        found = judge([9.0, 10.0, 11.0], [18.0, 20.0, 22.0], Margin(0.5))
        assert (found.ours, found.theirs, found.ratio) == (10.0, 20.0, 0.5)
        assert found.half == pytest.approx(HALF * math.hypot(1, 2))
        # Relative half widths are alike: HALF / 10.
        assert found.ratio_half == pytest.approx(0.5 * math.sqrt(2) * HALF / 10)
        assert found.margin == 10.0

    def test_each_end_may_lie_on_the_margin(self):
        exact = (10.0, 10.0, 10.0)
        assert judge_means(exact, (8.0, 8.0, 8.0), Margin(0.25)).verdict == "equivalent"
        assert judge_means((10.5, 10.5, 10.5), (8.0, 8.0, 8.0), Margin(0.25)).verdict == "different"
        # 10 ± 1 about 8 ± 0 with a margin of 1: the interval begins where the margin ends.
        assert (
            judge_means((10.0, 9.0, 11.0), (8.0, 8.0, 8.0), Margin(0.125)).verdict == "inconclusive"
        )
        assert judge_means((10.0, 9.5, 10.5), (8.0, 8.0, 8.0), Margin(0.125)).verdict == "different"

    def test_the_sign_of_a_difference_does_not_count(self):
        low, high = (8.0, 7.9, 8.1), (10.0, 9.9, 10.1)
        assert judge_means(low, high, Margin(0.1)).verdict == "different"
        assert judge_means(low, high, Margin(0.3)).verdict == "equivalent"

    def test_of_nothing_there_is_no_ratio(self):
        zero, one = (0.0, 0.0, 0.0), (1.0, 1.0, 1.0)
        for a, b in ((zero, one), (one, zero), (zero, zero)):
            found = judge_means(a, b, Margin(0.1))
            assert math.isnan(found.ratio) and math.isnan(found.ratio_half)
        assert judge_means(zero, one, Margin(0.1)).verdict == "different"

    def test_the_width_of_a_ratio_is_positive_where_the_means_have_opposite_signs(self):
        found = judge_means((-2.0, -3.0, -1.0), (4.0, 3.0, 5.0), Margin(0.1))
        assert found.ratio == -0.5
        assert found.ratio_half == pytest.approx(0.5 * math.hypot(1 / 2, 1 / 4))

    def test_one_run_of_either_says_nothing(self):
        found = judge([10.0], [10.0, 10.1], Margin(0.1))
        assert math.isnan(found.half) and found.verdict == "inconclusive"

    def test_pairs(self):
        found = judge_paired([11.0, 22.0, 33.0], [10.0, 20.0, 30.0], Margin(0.25))
        assert found.ratio == pytest.approx(1.1)
        assert found.ratio_half == pytest.approx(HALF / 20)
        behind = judge_paired([-11.0, -22.0, -33.0], [-10.0, -20.0, -30.0], Margin(0.25))
        assert (behind.ratio, behind.ratio_half) == (found.ratio, found.ratio_half)
        assert behind.verdict == found.verdict == "equivalent"
        lower = judge_paired([9.0, 18.0, 27.0], [10.0, 20.0, 30.0], Margin(0.2))
        assert (lower.half, lower.verdict) == (pytest.approx(HALF), "inconclusive")
        for a, b in (([0.0, 0.0], [1.0, 1.0]), ([1.0, 1.0], [0.0, 0.0])):
            nothing = judge_paired(a, b, Margin(0.1))
            assert math.isnan(nothing.ratio) and math.isnan(nothing.ratio_half)
        with pytest.raises(ValueError, match="zip"):
            judge_paired([1.0], [1.0, 2.0], Margin(0.1))


def test_margins_are_those_that_were_stated_before():
    """A wider one would make figures the same that are not."""
    described = {name: (f.title, f.scale, f.margin, f.floor) for name, f in FIGURES.items()}
    assert described == {
        "queue_time_mean_packets": ("queue, packets", 1, 0.05, 0.5),
        "goodput_mbit_per_s": ("goodput, Mbit/s", 1, 0.05, 0),
        "drop_rate": ("dropped, %", 100, 0.10, 0.00005),
        "mark_rate": ("marked, %", 100, 0.10, 0.00005),
        "jain_index": ("Jain's index", 1, 0.10, 0.02),
        "transfer_mean_s": ("transfer, ms", 1000, 0.05, 0.001),
        "stream_loss_rate": ("of the streams lost, %", 100, 0.10, 0.00005),
        "queue_time_mean_packets_second": ("second queue, packets", 1, 0.05, 0.5),
        "drop_rate_second": ("dropped at the second, %", 100, 0.10, 0.00005),
        "goodput_scalable_mbit_per_s": ("goodput of scalable senders, Mbit/s", 1, 0.05, 0),
        "goodput_classic_mbit_per_s": ("goodput of classic senders, Mbit/s", 1, 0.05, 0),
        "mark_rate_scalable": ("marked of scalable senders, %", 100, 0.10, 0.00005),
        "wait_scalable_s": ("wait of scalable senders, ms", 1000, 0.05, 0.00002),
        "wait_classic_s": ("wait of classic senders, ms", 1000, 0.05, 0.00002),
    }
    assert figures.OF_EVERY_QUEUE == ("queue_time_mean_packets", "drop_rate", "mark_rate")
    rows = [Compared("f", "one", figure, [1, 1], [1, 1]).row() for figure in FIGURES.values()]
    assert [row.split(" | ")[1] for row in rows] == [title for title, *_ in described.values()]


class TestProgram:
    def test_what_it_tells(self):
        line = "queue_time_mean_packets 3 drop_rate 0.5 mark_rate 0"
        described = {"queue_time_mean_packets": 3.0, "drop_rate": 0.5, "mark_rate": 0.0}
        assert equivalence.figures_from(["cat"], line) == described
        assert equivalence.figures_from(["echo", *line.split()], "") == described

    @pytest.mark.parametrize("lacking", ["queue_time_mean_packets", "drop_rate", "mark_rate"])
    def test_one_that_leaves_out_a_figure_of_its_queue_has_failed(self, lacking):
        names = [name for name in figures.OF_EVERY_QUEUE if name != lacking]
        with pytest.raises(RuntimeError):
            equivalence.figures_from(["cat"], " ".join(f"{name} 1" for name in names))

    def test_a_name_without_a_number_is_a_mistake(self):
        line = "queue_time_mean_packets 3 drop_rate 0.5 mark_rate 0 jain_index"
        with pytest.raises(ValueError, match="zip"):
            equivalence.figures_from(["cat"], line)

    def test_one_that_ends_with_a_status_has_failed(self):
        line = "queue_time_mean_packets 3 drop_rate 0.5 mark_rate 0"
        with pytest.raises(RuntimeError) as raised:
            equivalence.figures_from(["sh", "-c", f"echo {line}; echo why >&2; exit 3"], "")
        assert str(raised.value).endswith("exit 3 failed: why")


class TestKept:
    def test_a_file_is_named_after_all_that_its_numbers_depend_on(self, tmp_path):
        kept = Kept(tmp_path / "deep" / "er")
        assert kept.row("one", ["a", 1], lambda: {"x": 1.0}) == {"x": 1.0}
        (file,) = (tmp_path / "deep" / "er").iterdir()
        # The first 16 digits of the SHA-256 of "a\n1".
        assert file.name == "one-4f395a2e9ea1c068.json"
        assert json.loads(file.read_text()) == {"x": 1.0}
        assert kept.row("one", ["a", 2], lambda: {"x": 2.0}) == {"x": 2.0}
        assert kept.row("one", ["a", 1], lambda: {"x": 3.0}) == {"x": 1.0}
        assert Kept(tmp_path / "deep" / "er").row("one", ["a", 1], dict) == {"x": 1.0}

    def test_a_file_that_cannot_be_read_is_as_good_as_none(self, tmp_path):
        kept = Kept(tmp_path)
        kept.row("one", ["a"], lambda: {"x": 1.0})
        (file,) = tmp_path.iterdir()
        file.write_bytes(b"\xff{")
        assert kept.row("one", ["a"], lambda: {"x": 2.0}) == {"x": 2.0}


def test_as_many_runs_as_seeds_say():
    assert list(Seeds(3, 20).counts()) == [3, 6, 12, 20]
    assert list(Seeds(3, 12).counts()) == [3, 6, 12]
    assert list(Seeds(5, 5).counts()) == [5]


def run(summary: dict[str, Any], **tables: dict[str, Sequence[float]]) -> FinishedRun:
    frames = {name: pl.DataFrame(columns) for name, columns in tables.items()}
    return cast(FinishedRun, cast(Any, SimpleNamespace(summary=summary, table=frames.__getitem__)))


class TestNumbers:
    def test_those_that_a_run_has(self):
        summary = {"drop_rate": 0.5, "mark_rate": None, "utilisation": 0.9, "wall_s": 1.0}
        assert figures.numbers(0, run(summary)) == {"drop_rate": 0.5, "utilisation": 0.9}

    def test_the_flows_of_bulk_senders(self):
        """Those of one group or of one each, and not of cross traffic."""
        flows = {
            "group_name": ["bulk", "bulk7", "first-cross"],
            "goodput_bits_per_s": [1e6, 3e6, 9e6],
        }
        found = figures.numbers(2, run({}, flows=flows))
        assert found == {"goodput_mbit_per_s": 4.0, "jain_index": pytest.approx(16 / 20)}
        # Two more that got nothing have no row.
        found = figures.numbers(4, run({}, flows=flows))
        assert found["jain_index"] == pytest.approx(16 / 40)

    def test_a_second_queue(self):
        second = {"queue_time_mean_packets": 7.0, "drop_rate": 0.25, "arrivals": 9}
        described = {"ports": {"first.forward": {"drop_rate": 1.0}, "second.forward": second}}
        assert figures.numbers(0, run(described)) == {
            "queue_time_mean_packets_second": 7.0,
            "drop_rate_second": 0.25,
        }

    def test_streams(self):
        described = {"datagrams": {"streams": {"loss_share": 0.125}}}
        assert figures.numbers(0, run(described)) == {"stream_loss_rate": 0.125}

    def test_the_mean_of_the_transfers_that_ended(self):
        transfers = {
            "failed": [0, 1, 0],
            "start_ns": [0, 0, 10**9],
            "end_ns": [10**9, 9, 4 * 10**9],
        }
        described = {"transfers": {"web": {}}}
        assert figures.numbers(0, run(described, transfers=transfers)) == {"transfer_mean_s": 2.0}
        none = {name: values[1:2] for name, values in transfers.items()}
        assert figures.numbers(0, run(described, transfers=none)) == {}


class TestRuns:
    def program(self, runs: list[tuple[str, int]]) -> Program[Case]:
        """Its drop rate is a tenth of the seed."""

        def answer(case: Case, seed: int) -> dict[str, float]:
            runs.append((case.name(), seed))
            return {"drop_rate": seed / 10}

        described = lambda case, seed: ["version", case.name(), seed]  # noqa: E731
        scenario = lambda case, seed: {"name": case.name(), "seed": seed}  # noqa: E731
        return Program("other", lambda: None, lambda: "1", answer, described, scenario)

    @pytest.fixture
    def ours(self, monkeypatch):
        """The same numbers here, without the simulator."""
        requested = []

        def answer(case: Case, scenario: dict[str, Any], seed: int) -> dict[str, float]:
            requested.append((scenario["name"], scenario["seed"], seed))
            return {"drop_rate": seed / 10}

        monkeypatch.setattr(equivalence, "in_aqmlab", answer)
        monkeypatch.setattr(equivalence, "version", lambda: SimpleNamespace(build="b"))
        return requested

    def test_rows_name_the_case_the_program_and_the_seed(self, tmp_path, ours):
        runs: list[tuple[str, int]] = []
        case = Case(flows=2, ecn=True, paired=True)
        found = equivalence.rows_of(case, self.program(runs), Seeds(2, 2), Kept(tmp_path))
        head = {"family": "one flow", "case": "one", "flows": 2, "ecn": True, "paired": True}
        assert found == [
            head | {"program": program, "seed": seed, "drop_rate": seed / 10}
            for program in ("other", "aqmlab")
            for seed in (1, 2)
        ]
        assert runs == [("one", 1), ("one", 2)]
        assert ours == [("one", 1, 1), ("one", 2, 2)]
        assert sorted(file.name.rsplit("-", 1)[0] for file in tmp_path.iterdir()) == [
            "one-aqmlab-1",
            "one-aqmlab-2",
            "one-other-1",
            "one-other-2",
        ]

    def test_what_is_kept_is_not_run_again(self, tmp_path, ours):
        runs: list[tuple[str, int]] = []
        for _ in range(2):
            equivalence.rows_of(Case(), self.program(runs), Seeds(2, 2), Kept(tmp_path))
        assert len(runs) == len(ours) == 2

    def test_another_build_runs_again_here_alone(self, tmp_path, ours, monkeypatch):
        runs: list[tuple[str, int]] = []
        equivalence.rows_of(Case(), self.program(runs), Seeds(2, 2), Kept(tmp_path))
        monkeypatch.setattr(equivalence, "version", lambda: SimpleNamespace(build="c"))
        equivalence.rows_of(Case(), self.program(runs), Seeds(2, 2), Kept(tmp_path))
        assert (len(runs), len(ours)) == (2, 4)

    def test_another_scenario_runs_again_here_and_another_order_of_it_does_not(
        self, tmp_path, ours
    ):
        requested: list[object] = []
        described = replace(
            self.program([]),
            described=lambda case, seed: requested.append(seed) or ["version", seed],
        )
        orders: list[dict[str, Any]] = [{"name": "a", "seed": 1}, {"seed": 1, "name": "a"}]
        for scenario, runs in ((orders[0], 1), (orders[1], 1), ({"name": "b", "seed": 1}, 2)):
            program = replace(
                described, scenario=lambda _case, _seed, described=scenario: described
            )
            equivalence.in_ours(Case(), program, 1, Kept(tmp_path))
            assert len(ours) == runs
        equivalence.in_other(Case(), described, 7, Kept(tmp_path))
        assert requested == [7]

    def test_case_after_case(self, tmp_path, ours, capsys):
        runs: list[tuple[str, int]] = []
        cases = [Case("one"), Case("two")]
        found = list(equivalence.rows(cases, self.program(runs), Seeds(2, 2), Kept(tmp_path), 1))
        assert [row["case"] for row in found] == ["one"] * 4 + ["two"] * 4
        assert capsys.readouterr().err == "one: 2 runs each\ntwo: 2 runs each\n"

    def test_more_of_ours_than_of_the_other_s_are_no_pairs(self, tmp_path, ours, capsys):
        runs: list[tuple[str, int]] = []
        seeds = lambda _: equivalence.Runs(theirs=2, ours=5)  # noqa: E731
        program = replace(self.program(runs), seeds=seeds)
        each = [Case(paired=True)]
        found = list(equivalence.rows(each, program, Seeds(2, 2, 11), Kept(tmp_path), 1))
        assert [(row["program"], row["seed"]) for row in found] == [
            *(("other", seed) for seed in (11, 12)),
            *(("aqmlab", seed) for seed in range(11, 16)),
        ]
        assert not any(row["paired"] for row in found)
        assert capsys.readouterr().err == "one: 2 runs, 5 here\n"
        (drops,) = verdicts.compared(pl.DataFrame(found), "other")
        assert (len(drops.theirs), len(drops.ours)) == (2, 5)
        assert drops.found == judge([1.1, 1.2, 1.3, 1.4, 1.5], [1.1, 1.2], Margin(0.1, 0.000_05))
        row = drops.row()
        assert recorded.cells(row)[2] == "2 (5)"
        assert recorded.runs_of("2 (5)") == (2, 5) and recorded.runs_of("8") == (8, 8)

    def test_in_aqmlab_one_run_under_the_seed(self, monkeypatch):
        requested: list[Any] = []

        def simulate(scenario: dict[str, Any], **how: Any) -> Any:
            requested.append((scenario, how))
            return SimpleNamespace(runs=[run({"drop_rate": 0.5})])

        monkeypatch.setattr("validation.equivalence.aqmlab.run", simulate)
        assert equivalence.in_aqmlab(Case(flows=0), {"name": "s"}, 7) == {"drop_rate": 0.5}
        assert requested == [({"name": "s"}, {"seed": 7, "jobs": 1})]


def row(program: str, seed: int, **more: Any) -> dict[str, Any]:
    head = {"family": "f", "case": "one", "flows": 2, "ecn": False, "paired": False}
    return {**head, "program": program, "seed": seed, **more}


class TestCompared:
    def test_a_figure_that_neither_did_or_of_one_flow_is_left_out(self):
        each = [
            row(program, seed, drop_rate=0.5, mark_rate=0.0, jain_index=1.0, transfer_mean_s=None)
            for program in ("aqmlab", "other")
            for seed in (1, 2)
        ]
        found = verdicts.compared(pl.DataFrame(each), "other")
        assert [one.figure for one in found] == [FIGURES["drop_rate"], FIGURES["jain_index"]]
        assert (found[0].family, found[0].case, found[0].paired) == ("f", "one", False)
        alone = [one | {"flows": 1} for one in each]
        found = verdicts.compared(pl.DataFrame(alone), "other")
        assert [one.figure for one in found] == [FIGURES["drop_rate"]]

    def test_one_that_only_one_program_did_is_there(self):
        each = [row("aqmlab", 1, mark_rate=0.0), row("other", 1, mark_rate=0.5)]
        (found,) = verdicts.compared(pl.DataFrame(each), "other")
        assert (found.ours, found.theirs) == ([0.0], [0.5])

    def test_cases_keep_their_order_and_their_pairs(self):
        each = [
            row(program, 1, drop_rate=x) | {"case": case, "paired": case == "b"}
            for case in ("b", "a")
            for program, x in (("aqmlab", 0.25), ("other", 0.5))
        ]
        found = verdicts.compared(pl.DataFrame(each), "other")
        assert [(one.case, one.paired, one.ours, one.theirs) for one in found] == [
            ("b", True, [0.25], [0.5]),
            ("a", False, [0.25], [0.5]),
        ]

    def test_pairs_are_judged_by_their_differences(self):
        alone = Compared("f", "one", MARGIN, [1.0, 2.0, 3.0], [1.01, 2.01, 3.01])
        assert not alone.paired and alone.row().endswith("| **inconclusive** |")
        assert replace(alone, paired=True).row().endswith("| equivalent |")

    def test_a_floor_makes_the_smallest_the_same(self):
        tiny = Compared("f", "one", FIGURES["drop_rate"], [0.00003] * 3, [0.00001] * 3)
        assert tiny.row().endswith("| equivalent |")
        assert replace(tiny, ours=[0.0003] * 3).row().endswith("| **different** |")

    def test_what_a_program_lacks_is_open_and_apart_if_it_lacks_all(self):
        one = Compared("f", "one", MARGIN, [None, 1.0], [1.0, 1.0])
        assert (one.found.verdict, one.found.half) == (
            "inconclusive",
            pytest.approx(math.nan, nan_ok=True),
        )
        assert replace(one, ours=[1.0, 1.0], theirs=[None, 1.0]).found.verdict == "inconclusive"
        assert replace(one, ours=[None, None]).found.verdict == "different"
        assert replace(one, ours=[1.0, 1.0], theirs=[None, None]).found.verdict == "different"
        assert replace(one, ours=[0.0, None], theirs=[None, 0.0]).found.verdict == "inconclusive"

    def test_the_figures_own_margin_and_floor_decide(self):
        one = Compared("f", "one", replace(MARGIN, floor=0.2), [0.3, 0.3], [0.1, 0.1])
        assert (one.found.verdict, one.found.margin) == ("equivalent", 0.2)
        assert replace(one, figure=replace(MARGIN, floor=0.1)).found.verdict == "different"

    def test_narrow_is_half_the_margin(self):
        # Half width 12.706 of two runs that differ by 2: margins of 10 % about 254.12 and 254.
        assert Compared("", "", MARGIN, [253.12, 255.12], [254.13, 254.13]).narrow
        assert not Compared("", "", MARGIN, [253.0, 255.0], [254.0, 254.0]).narrow

    def test_rows_of_the_table(self):
        one = Compared("f", "one", MARGIN, [0.3, 0.3], [0.2, 0.2])
        assert (
            one.row()
            == "| one | drops, % | 2 | 30 ± 0 | 20 ± 0 | 1.500 ± 0.000 | 10% | **different** |"
        )
        same = replace(one, theirs=[0.3, 0.3])
        assert same.row().endswith("| 1.000 ± 0.000 | 10% | equivalent |")
        none = replace(one, ours=[None, 0.3])
        assert (
            none.row()
            == "| one | drops, % | 2 | in 1 of 2 runs | 20 ± 0 |  | 10% | **inconclusive** |"
        )
        wide = replace(one, ours=[0.0, 0.2])
        assert "| 10 ± 1.3e+02 |" in wide.row()

    def test_a_heading_for_each_family(self):
        one = Compared("f", "one", MARGIN, [0.3, 0.3], [0.2, 0.2])
        text = verdicts.table([one, replace(one, case="two"), replace(one, family="g")], "other")
        head = "| case | figure | runs | aqmlab | other | ratio | margin | verdict |"
        rule = "| --- | --- | --- | --- | --- | --- | --- | --- |"
        two = replace(one, case="two").row()
        assert text.splitlines() == [
            *("**f**", "", head, rule, one.row(), two),
            *("", "**g**", "", head, rule, one.row()),
        ]

    def test_verdicts_are_counted_by_figure(self):
        one = Compared("f", "one", MARGIN, [0.3, 0.3], [0.2, 0.2])
        other = replace(one, figure=FIGURES["mark_rate"], ours=[0.2, 0.2])
        assert verdicts.verdicts([one, other, replace(one, ours=[0.2, 0.2]), one]) == (
            "drops, %: 2 different, 1 equivalent; marked, %: 1 equivalent"
        )

    def test_ratios_of_what_has_one(self):
        one = Compared("f", "one", MARGIN, [0.3, 0.3], [0.2, 0.2])
        none = replace(one, theirs=[0.0, 0.0])
        alone = replace(one, ours=[0.3], theirs=[0.2])
        found = verdicts.ratios([none, one, alone]).to_dicts()
        assert found == [
            {
                "case": "one",
                "figure": "drops",
                "ratio": pytest.approx(1.5),
                "half": 0.0,
                "margin": 0.10,
                "verdict": "different",
            }
        ]


class TestCommand:
    """`compare` with a program that needs no time."""

    def parser(self, folder: Path) -> argparse.ArgumentParser:
        parser = argparse.ArgumentParser(prog="python -m validation.other")
        equivalence.options(parser, folder, 3)
        return parser

    def compare(self, folder: Path, *words: str) -> tuple[int, list[tuple[str, int]]]:
        parser, runs = self.parser(folder / "cache"), []
        cases = [Case("cbr one", "streams"), Case("two", "bulk")]
        program = TestRuns().program(runs)
        return equivalence.compare(parser, parser.parse_args(words), program, cases), runs

    @pytest.fixture(autouse=True)
    def ours(self, monkeypatch):
        monkeypatch.setattr(equivalence, "in_aqmlab", lambda *_: {"drop_rate": 0.2})
        monkeypatch.setattr(equivalence, "version", lambda: SimpleNamespace(build="b"))

    def test_options(self, tmp_path):
        described = self.parser(tmp_path).parse_args([])
        assert (described.quick, described.only, described.seeds, described.most) == (
            False,
            [],
            None,
            None,
        )
        assert (described.jobs, described.cache, described.out, described.full_seeds) == (
            None,
            tmp_path,
            None,
            3,
        )
        words = ["--quick", "--only", "a", "--only", "b", "--seeds", "4", "--most", "8"]
        described = self.parser(tmp_path).parse_args(
            [*words, "--jobs", "2", "--cache", "c", "--out", "o"]
        )
        assert (described.quick, described.only, described.seeds, described.most) == (
            True,
            ["a", "b"],
            4,
            8,
        )
        assert (described.jobs, described.cache, described.out) == (2, Path("c"), Path("o"))
        parser = argparse.ArgumentParser()
        equivalence.options(parser, tmp_path)
        assert parser.parse_args([]).full_seeds == 5

    def test_every_case_under_every_seed(self, tmp_path, capsys):
        status, runs = self.compare(tmp_path)
        assert (status, len(runs)) == (0, 6)
        described = capsys.readouterr().out
        assert "**streams**" in described and "| two | dropped, % | 3 |" in described
        assert described.endswith("\n\ndropped, %: 2 inconclusive\n")

    def test_quick_is_three_seeds_unless_told(self, tmp_path):
        parser = self.parser(tmp_path)
        parser.set_defaults(full_seeds=9)
        runs: list[tuple[str, int]] = []
        words = ["--quick", "--jobs", "1"]
        program = TestRuns().program(runs)
        equivalence.compare(parser, parser.parse_args(words), program, [Case()])
        assert len(runs) == 3
        full: list[tuple[str, int]] = []
        equivalence.compare(
            parser, parser.parse_args(words[1:]), TestRuns().program(full), [Case("full")]
        )
        assert len(full) == 9
        runs.clear()
        more = parser.parse_args([*words, "--seeds", "5"])
        equivalence.compare(parser, more, program, [Case()])
        assert [seed for _, seed in runs] == [4, 5]

    def test_only_some(self, tmp_path):
        assert {name for name, _ in self.compare(tmp_path, "--only", "cbr")[1]} == {"cbr one"}
        assert {name for name, _ in self.compare(tmp_path, "--only", "bulk")[1]} == {"two"}
        assert equivalence.named([Case("a", "b")], ["c"]) == []

    def test_more_seeds_where_the_interval_is_wide(self, tmp_path):
        _, runs = self.compare(tmp_path, "--only", "two", "--most", "5")
        assert [seed for _, seed in runs] == [1, 2, 3, 4, 5]

    @pytest.mark.parametrize(
        ("words", "said"),
        [
            (["--seeds", "1"], "--seeds 1: an interval needs at least two"),
            (["--most", "2"], "--most 2: there are 3 seeds to begin with (--seeds)"),
            (["--only", "x", "--only", "y"], "--only x y: there is no such case"),
        ],
    )
    def test_what_makes_no_sense_is_said(self, tmp_path, capsys, words, said):
        with pytest.raises(SystemExit):
            self.compare(tmp_path, *words)
        assert capsys.readouterr().err.endswith(f"error: {said}\n")

    def test_two_seeds_are_enough(self, tmp_path):
        assert len(self.compare(tmp_path, "--only", "two", "--seeds", "2")[1]) == 2

    def test_a_figure_that_only_the_last_of_many_cases_has(self, tmp_path, capsys):
        parser = self.parser(tmp_path)
        last = Case("last")
        program = TestRuns().program([])

        def answer(case: Case, seed: int) -> dict[str, float]:
            return {"drop_rate": 0.2} | ({"mark_rate": 0.5} if case is last else {})

        cases = [*(Case(f"case {n}") for n in range(60)), last]
        described = replace(program, run=answer)
        equivalence.compare(parser, parser.parse_args(["--seeds", "2"]), described, cases)
        assert capsys.readouterr().out.endswith(
            "dropped, %: 61 equivalent; marked, %: 1 different\n"
        )

    def test_a_record_of_it(self, tmp_path, monkeypatch):
        kept: list[Any] = []

        def record(*described: str) -> Any:
            kept.append(described)
            return SimpleNamespace(keep=lambda folder: folder.mkdir())

        monkeypatch.setattr(recorded, "record", record)
        self.compare(tmp_path, "--out", str(tmp_path / "out"), "--only", "two")
        ((prog, version, text, summary),) = kept
        assert (prog, version) == ("python -m validation.other", "1")
        assert text.startswith("**bulk**") and summary == "dropped, %: 1 inconclusive"
        runs = pl.read_csv(tmp_path / "out" / "runs.csv")
        assert runs["seed"].to_list() == [1, 2, 3] * 2
        assert pl.read_csv(tmp_path / "out" / "ratios.csv.gz")["case"].to_list() == ["two"]

    def test_a_plan_names_cases_and_their_seeds_in_its_order(self, tmp_path, capsys):
        file = tmp_path / "plan.toml"
        file.write_text('"two" = 4\n"cbr one" = 2\n')
        _, runs = self.compare(tmp_path, "--plan", str(file), "--first", "7", "--jobs", "1")
        assert runs == [*(("two", seed) for seed in (7, 8, 9, 10)), ("cbr one", 7), ("cbr one", 8)]
        file.write_text('"two" = [2, 6]\n')
        _, runs = self.compare(tmp_path, "--plan", str(file), "--first", "7", "--jobs", "1")
        assert runs == []  # Kept of before.
        assert "| two | dropped, % | 2 (6) |" in capsys.readouterr().out
        for text, said in (
            ('"three" = 4', "there is no case three"),
            ('"two" = 1', "two: an interval needs at least two seeds"),
            ('"two" = [8, 1]', "two: an interval needs at least two seeds"),
        ):
            file.write_text(text)
            with pytest.raises(SystemExit):
                self.compare(tmp_path, "--plan", str(file))
            assert capsys.readouterr().err.endswith(f"error: --plan {file}: {said}\n")

    def test_as_many_cases_at_a_time_as_told(self, tmp_path, monkeypatch):
        requested: list[int | None] = []

        def several(function: Any, of: Any, jobs: int | None = None) -> Any:
            requested.append(jobs)
            return map(function, of)

        monkeypatch.setattr(equivalence, "several", several)
        self.compare(tmp_path, "--jobs", "3")
        assert requested == [3]

    def test_a_record_goes_on_with_a_folder_only(self, tmp_path, capsys):
        for words in (["--keep"], ["--wide", "--out", str(tmp_path / "nothing")]):
            with pytest.raises(SystemExit):
                self.compare(tmp_path, *words)
            said = "error: --keep and --wide go with --out FOLDER, where a record is\n"
            assert capsys.readouterr().err.endswith(said)

    def test_ratios_of_cases_run_again_take_their_places(self):
        def of(case: str, *ratios: float) -> list[dict[str, Any]]:
            return [{"case": case, "figure": str(n), "ratio": x} for n, x in enumerate(ratios)]

        old = pl.DataFrame([*of("a", 1.0, 2.0), *of("b", 3.0, 4.0), *of("c", 5.0)])
        new = pl.DataFrame([*of("d", 9.0), *of("b", 6.0, 7.0, 8.0)])
        both = equivalence._renewed(old, new)
        assert both["case"].to_list() == ["a", "a", "b", "b", "b", "c", "d"]
        assert both["ratio"].to_list() == [1.0, 2.0, 6.0, 7.0, 8.0, 5.0, 9.0]
        # A file whose numbers are all whole is read back as whole numbers.
        whole = old.with_columns(pl.col("ratio").cast(pl.Int64))
        assert equivalence._renewed(whole, new)["ratio"].to_list() == both["ratio"].to_list()

    def test_a_record_goes_on_with_the_same_program_only(self, tmp_path, capsys):
        out = ["--out", str(tmp_path / "linux")]
        assert self.compare(tmp_path, *out)[0] == 0
        assert self.compare(tmp_path, *out, "--keep", "--only", "two")[0] == 0
        (one,) = recorded.found(tmp_path / "linux").values()
        replace(one, versions={**one.versions, "other": "2"}).keep(tmp_path / "linux")
        for word in ("--keep", "--wide"):
            with pytest.raises(SystemExit):
                self.compare(tmp_path, *out, word)
            said = capsys.readouterr().err
            assert "is a record of 2, and this is 1: install that one, or begin a record in" in said
            assert said.endswith("another folder without --keep and --wide\n")

    def test_wide_leaves_out_what_has_as_many_seeds(self, tmp_path, capsys):
        out = ["--out", str(tmp_path / "linux")]
        assert self.compare(tmp_path, *out, "--only", "two", "--seeds", "5")[0] == 0
        with pytest.raises(SystemExit):
            self.compare(tmp_path, *out, "--wide", "--seeds", "3", "--most", "5")
        assert capsys.readouterr().err.endswith("error: --wide --only: there is no such case\n")
        _, runs = self.compare(tmp_path, *out, "--wide", "--most", "6")
        assert {name for name, _ in runs} == {"two"} and max(seed for _, seed in runs) == 6

    def test_a_damaged_record_is_said_before_anything_runs(self, tmp_path, capsys):
        folder = tmp_path / "linux"
        out = ["--out", str(folder)]
        assert self.compare(tmp_path, *out)[0] == 0
        (folder / recorded.RATIOS).unlink()
        with pytest.raises(SystemExit):
            self.compare(tmp_path, *out, "--keep")
        assert f"the record in {folder} is damaged (" in capsys.readouterr().err
        (one,) = recorded.found(folder).values()
        replace(one, text="").keep(folder)
        with pytest.raises(SystemExit):
            self.compare(tmp_path, *out, "--keep")
        assert (
            "(no family at the head of its table); run the comparison whole"
            in capsys.readouterr().err
        )
