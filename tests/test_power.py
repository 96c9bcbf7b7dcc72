"""How often each case must be run: chances by hand and by trial, and how a plan is made of them."""

from __future__ import annotations

import math
import random

import polars as pl
import pytest
from validation import equivalence, power
from validation.linux import cases, l4s, machine
from validation.power import Choice, Known
from validation.recorded import Record

from aqmlab.tables.equivalence import EQUIVALENT, Margin, judge, judge_paired

HEAD = "| case | figure | runs | aqmlab | Linux | ratio | margin | verdict |\n| --- |\n"


def record(*rows: str) -> Record:
    """A record of these rows."""
    text = "**family**\n\n" + HEAD + "\n".join(rows)
    return Record("linux", "", "2026-11-30", {"aqmlab": "1", "other": "Linux 7.3"}, text)


def ratios(*rows: tuple[str, str, float, float]) -> pl.DataFrame:
    """Its ratios."""
    return pl.DataFrame(rows, schema=["case", "figure", "ratio", "half"], orient="row")


def one(
    apart: float, runs: int, deviation: float, *, margin: float = 1.0, paired: bool = False
) -> Known:
    """A figure of one record, whose two programs have the same deviation."""
    v = deviation**2
    return Known(margin, paired, [apart], [runs], [(2 * v, v, v)])


def test_what_a_record_shows_of_a_figure():
    row = "| a | queue, packets | 4 | 20 ± 2 | 10 ± 1 | 2.000 ± 0.300 | 5% | **different** |"
    found = power.known([(record(row), ratios(("a", "queue", 2.0, 0.3)))], {"a": True})
    (known,) = found.values()
    # t(0.975, 3) = 3.182446: a half width of 1 of four runs is a deviation of 2 / 3.182446.
    scale = 4 / 3.182446**2
    assert [*found] == [("a", "queue, packets")] and known.paired
    assert known.margin == pytest.approx(0.5) and known.apart == [10] and known.runs == [4]
    assert known.variances[0] == pytest.approx((9 * scale, 4 * scale, 1 * scale), rel=1e-5)
    # Of another kernel's record the variance counts by its degrees of freedom; other cases do not.
    other = "| a | queue, packets | 2 | 10 ± 0 | 10 ± 0 | 1.000 ± 0.000 | 5% | equivalent |"
    both = [(record(row), ratios()), (record(other, other.replace("a", "b")), ratios())]
    (known,) = power.known(both, {"a": False}).values()
    assert known.freedom == 4
    assert known.variance(2) == pytest.approx(0.75 * scale, rel=1e-5)


def test_pairs_that_are_no_pairs_have_the_variance_of_both():
    row = "| a | queue, packets | 4 (16) | 20 ± 2 | 10 ± 1 | 2.000 ± 0.300 | 5% | **different** |"
    (known,) = power.known([(record(row), ratios(("a", "queue", 2.0, 0.3)))], {"a": True}).values()
    theirs, ours = 4 / 3.182446**2, 4 * 16 / 2.131450**2
    assert known.runs == [4]
    assert known.variances[0] == pytest.approx((theirs + ours, ours, theirs), rel=1e-5)


def test_a_figure_without_a_number_is_one_and_is_never_expected():
    row = "| a | dropped, % | 4 | in 3 of 4 runs | 10 ± 1 |  | 10% | **inconclusive** |"
    (known,) = power.known([(record(row), ratios())], {"a": True}).values()
    assert known.runs == [] and power.chance(known, 100, 1, 0.15) == 0


@pytest.mark.parametrize(("ours", "runs"), [(1, 6), (1, 14), (8, 8)])
@pytest.mark.parametrize("paired", [False, True])
def test_the_chance_is_that_of_the_verdict(ours, runs, paired):
    # Variance and true difference known: 10,000 earlier runs, one margin of 1 about a mean of 20.
    known = one(0.3, 10_000, 0.6, margin=1.0, paired=paired)
    draws = random.Random(20261130)

    def trial() -> bool:
        theirs = [draws.gauss(20, 0.6) for _ in range(runs)]
        here = [draws.gauss(20.3, 0.6) for _ in range(runs * ours)]
        judged = judge_paired if paired and ours == 1 else judge
        return judged(here, theirs, Margin(0, 1.0)).verdict == EQUIVALENT

    trials = 4000
    share = sum(trial() for _ in range(trials)) / trials
    reckoned = power.chance(known, runs, ours, spread=1.0)
    # Four deviations of the trials' share, 0.032 at most, and 0.01 for the sum in place of the
    # integral: a false alarm in one of 10,000.
    assert 0.05 < reckoned < 0.999
    assert reckoned == pytest.approx(share, abs=4 * math.sqrt(0.25 / trials) + 0.01)


def test_a_difference_beyond_the_margin_is_not_expected_to_go_away():
    known = one(1.2, 10_000, 0.1)
    assert power.chance(known, 100, 1, spread=1.0) < 1e-6
    # Of two runs it may be chance: a wide interval about it, and small differences are likely.
    assert power.chance(one(1.2, 2, 1.0), 200, 1, spread=0.15) > 0.8


def test_differences_scatter_as_far_as_they_do_beyond_their_own_uncertainty():
    draws = random.Random(20261130)
    each = []
    for _ in range(2000):
        error = 0.3
        apart = draws.gauss(0, 0.4) + draws.gauss(0, error)
        each.append(one(apart, 8, error * math.sqrt(8 / 2)))
    assert power.spread_of_truth(each) == pytest.approx(0.4, abs=0.04)
    assert power.spread_of_truth([one(0.01, 8, 0.1)]) == power.LEAST
    # A wide interval says nothing of it.
    assert power.spread_of_truth([one(9, 8, 5.0)]) == power.LEAST


def test_seconds_are_those_that_were_measured():
    of = {case.name(): case for case in cases.full()}
    for name, measured_s in (
        ("red-10-cubic", 2.1),
        ("red-1-cubic", 9.4),
        ("red-web80-cubic", 5.5),
    ):
        assert power.seconds(of[name], 1, 0) == pytest.approx(measured_s, rel=0.2)
    assert power.seconds(of["red-10-cubic"], 10, 8) == pytest.approx(
        12.4 * power.seconds(of["red-10-cubic"], 1, 0)
    )
    # CAKE lets 10 of 100 Mbit/s through.
    shaped = next(case for case in l4s.cases() if case.title == "cake")
    assert power.seconds(shaped, 1, 0) < 2


def test_seeds_go_where_they_add_most_for_a_second_until_the_budget_is_spent():
    offers = {
        # Nothing for one step, all for two: the step is taken whole.
        "late": [Choice(1, 0.0, 2, 1), Choice(2, 0.0, 4, 1), Choice(3, 1.0, 6, 1)],
        "early": [Choice(1, 0.2, 2, 1), Choice(2, 0.9, 4, 1), Choice(9, 0.95, 9, 1)],
        "never": [Choice(1, 0.0, 2, 1), Choice(2, 0.0, 4, 1)],
    }

    def runs(budget_s: float, wanted: float = math.inf) -> list[int]:
        return [one.runs for one in power.chosen(offers, budget_s, wanted).values()]

    assert runs(3) == [2, 2, 2]
    assert runs(4) == [2, 4, 2]
    assert runs(6) == [6, 4, 2]
    assert runs(100) == [6, 9, 2]
    assert runs(100, wanted=0.5) == [2, 4, 2]


def test_more_of_ours_are_chosen_where_a_pair_has_nothing_in_common():
    case = next(case for case in cases.full() if case.name() == "red-10-cubic")
    for alike, times in ((0.1, 1), (1.0, 8)):
        known = Known(1.0, True, [0.0], [100], [(alike * 2.0, 1.0, 1.0)])
        offers = {"a": power.choices(case, [known], 0.15, 60, 8)}
        assert power.chosen(offers, math.inf, 0.9)["a"].ours == times


def test_a_plan_is_read_as_it_was_written(tmp_path):
    plan = {"dear": Choice(9, 1, 20, 8), "cheap": Choice(2, 1, 5, 1)}
    file = tmp_path / "plan.toml"
    file.write_text(power.written(plan, "one\ntwo"))
    assert file.read_text() == '# one\n# two\n"cheap" = 5\n"dear" = [20, 160]\n'
    assert equivalence.plan(file) == {"cheap": (5, 5), "dear": (20, 160)}


@pytest.mark.parametrize(("name", "count", "runs"), [("linux", 128, 2352), ("l4s", 57, 1136)])
def test_the_plans_of_2026_11_30_name_their_cases(name, count, runs):
    planned = equivalence.plan(machine.HERE / f"{name}.toml")
    there_are = [*(cases.full() if name == "linux" else l4s.cases())]
    named = {case.name() for case in there_are if case.family != l4s.SLOTS}
    assert planned.keys() == named and len(named) == count
    assert sum(one.theirs for one in planned.values()) == runs
    assert all(one.ours in (one.theirs, 8 * one.theirs) for one in planned.values())


def test_the_command_writes_what_it_prints(tmp_path, monkeypatch, capsys):
    file = tmp_path / "plan.toml"
    slots = ["--without", l4s.SLOTS]
    words = ["power", "linux.l4s", "--figures", "400", "--most", "40", *slots, "--out", str(file)]
    monkeypatch.setattr("sys.argv", words)
    assert power.main() == 0
    said = capsys.readouterr().out
    planned = equivalence.plan(file)
    assert said.startswith("40") and f"of {len(planned)} cases" in said
    runs = sum(one.theirs for one in planned.values())
    assert f"after {runs:,} runs of the kernel" in said and said.strip() in file.read_text()
