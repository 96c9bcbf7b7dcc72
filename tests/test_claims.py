"""Claims: the arithmetic of rules, three-valued verdicts, and more seeds for what is open."""

from __future__ import annotations

import json
import math
import re
from dataclasses import dataclass, replace
from typing import Any, cast

import numpy as np
import pytest
from small_study import SHORT, SMALL, Double

from aqmlab.claims import evaluate, expression, judge, reassessed, rule, scorecard
from aqmlab.claims.evidence import Evidence
from aqmlab.claims.judge import FAILS, HOLDS, INCONCLUSIVE, Bounds
from aqmlab.cli import score_card as show
from aqmlab.errors import SpecError
from aqmlab.experiment import plan
from aqmlab.experiment.experiment import load
from aqmlab.experiment.grammar import Metric
from aqmlab.experiment.rules import Claim, Let
from aqmlab.experiment.shapes import convert, read, written
from aqmlab.pipeline import registry
from aqmlab.pipeline.study import Study
from aqmlab.runs.progress import Progress
from aqmlab.simulator import engine
from aqmlab.tables.statistics import responses


class TestExpression:
    def test_by_hand(self):
        numbers = {"a": np.array([1.0, 2.0]), "b": np.array([4.0, 8.0])}
        assert expression.evaluate("(b - a) / a", numbers).tolist() == [3, 3]
        assert expression.evaluate("-a + 2 * abs(a - b)", numbers).tolist() == [5, 10]
        assert expression.evaluate("max(a, 1.5)", numbers).tolist() == [1.5, 2]

    def test_division_by_zero_is_undefined(self):
        zero = {"a": np.array([1.0, 2.0]), "b": np.array([0.0, 1.0])}
        found = expression.evaluate("a / b", zero)
        assert math.isnan(found[0]) and found[1] == 2

    @pytest.mark.parametrize("text", ["c", "a.b", "a[0]", "open(a)", "a if a else a", "a -"])
    def test_nothing_else_is_known(self, text):
        with pytest.raises(SpecError):
            expression.evaluate(text, {"a": np.array([1.0])})


class TestDecide:
    # t(0.975, 2) = 4.3027, t(0.9875, 2) = 6.2053: intervals of 1, 2, 3 are 2 ± 2.484 and 2 ± 3.583
    SAMPLE = np.array([1.0, 2.0, 3.0])

    @pytest.mark.parametrize(
        ("bounds", "verdict"),
        [
            (Bounds(low=-0.49), HOLDS),
            (Bounds(low=-0.48), INCONCLUSIVE),
            (Bounds(high=4.49), HOLDS),
            (Bounds(high=-0.49), FAILS),
            (Bounds(low=4.49), FAILS),
            (Bounds(low=0, high=4), INCONCLUSIVE),
        ],
    )
    def test_the_whole_interval_decides(self, bounds, verdict):
        assert judge.decide(self.SAMPLE, bounds)[0] == verdict

    def test_the_levels_of_the_two_verdicts_are_their_own(self):
        assert judge.decide(self.SAMPLE, Bounds(low=-0.49), hold=0.025)[0] == INCONCLUSIVE
        assert judge.decide(self.SAMPLE, Bounds(low=-1.6), hold=0.025)[0] == HOLDS
        assert judge.decide(self.SAMPLE, Bounds(low=4.49), fail=0.025)[0] == INCONCLUSIVE
        assert judge.decide(self.SAMPLE, Bounds(low=5.6), fail=0.025)[0] == FAILS

    def test_the_reader_sees_the_interval_that_decides(self):
        bounds = Bounds(low=-0.48)  # inside the interval of 95 %, which ends at -0.4841
        verdict, mean, low, high = judge.decide(self.SAMPLE, bounds)
        assert (verdict, mean) == (INCONCLUSIVE, 2)
        assert (low, high) == (pytest.approx(-0.4841, abs=1e-3), pytest.approx(4.4841, abs=1e-3))
        for level in (0.2, 0.05, 0.01):
            for bounds in (Bounds(low=-1.5), Bounds(low=1.0), Bounds(low=4.7)):
                for levels in ({"hold": level}, {"fail": level}):
                    verdict, _, low, high = judge.decide(self.SAMPLE, bounds, **levels)
                    assert (verdict == HOLDS) == bounds.contains(low, high)
                    assert (verdict == FAILS) == bounds.excludes(low, high)

    @pytest.mark.parametrize("sample", [[1.0], [], [1.0, math.nan, 2.0]])
    def test_no_interval_no_verdict(self, sample):
        assert judge.decide(np.array(sample), Bounds(low=0))[0] == INCONCLUSIVE

    def test_exact_numbers_are_decided_exactly(self):
        assert judge.decide(np.asarray(0.0), Bounds(low=0))[0] == HOLDS
        assert judge.decide(np.asarray(0.0), Bounds(low=0, strict=True))[0] == FAILS
        assert judge.decide(np.zeros(3), Bounds(low=0, strict=True))[0] == FAILS

    def test_false_verdicts_are_as_rare_as_promised(self):
        # The mean lies on the bound: either verdict is wrong. Two-sided intervals: 2.5 % each.
        rng = np.random.default_rng(7)
        wrong = [
            judge.decide(rng.standard_normal(5), Bounds(low=0))[0] != INCONCLUSIVE
            for _ in range(4000)
        ]
        # 5 %, binomial: beyond 4 standard deviations once in 16,000 seeds; this one is fixed.
        assert abs(np.mean(wrong) - 0.05) < 4 * math.sqrt(0.05 * 0.95 / 4000)


@dataclass(frozen=True)
class FakeRun:
    """A run whose summary is its number, plain and nested."""

    number: float

    @property
    def summary(self) -> dict[str, Any]:
        return {"x": self.number, "ports": {"a.forward": {"drops": 10 * self.number}}}


def evidence(**cells: list[float]) -> Evidence:
    """Evidence with one cell for each name, a value of `x` for each seed."""
    planned = [plan.Cell("g", {"q": name}, {"q": name}, name) for name in cells]
    results = {
        (name, seed): cast(Any, FakeRun(number))
        for name, numbers in cells.items()
        for seed, number in enumerate(numbers, 1)
    }
    metric = Metric(name="m", summary="x", scale=2.0, title="M", unit="points", digits=1)
    return Evidence(plan.Plan(planned, {}, {"g": (1, 2, 3)}), {"m": metric}, results)


def of(name: str) -> dict:
    return {"group": "g", "where": {"q": name}, "summary": "x"}


def number(found: Evidence, let: dict) -> np.ndarray:
    return found.number(convert("let", let, Let))


def claim(*conditions: dict) -> Claim:
    described = {"id": "X1", "part": "p", "claim": "c", "rule": "r", "version": 1}
    return read(Claim, described | {"condition": list(conditions)})


def condition(value: str = "a", **rest: Any) -> dict:
    return {"let": {"a": of("a"), "b": of("b")}, "value": value, **rest}


class TestEvidence:
    def test_metrics_scale_and_summaries_nest(self):
        found = evidence(a=[1, 2, 3])
        assert number(found, {"group": "g", "metric": "m"}).tolist() == [2, 4, 6]
        nested = {"group": "g", "summary": "ports.a.forward.drops"}
        assert number(found, nested).tolist() == [10, 20, 30]
        assert np.isnan(number(found, nested | {"summary": "ports.a.forward.marks"})).all()

    def test_over_is_seed_by_seed(self):
        found = evidence(a=[1, 5, 3], b=[4, 2, 3])
        every = {"group": "g", "summary": "x"}
        assert number(found, every | {"over": "range"}).tolist() == [3, 3, 0]
        assert number(found, every | {"over": "max"}).tolist() == [4, 5, 3]

    def test_only_seeds_that_all_have(self):
        found = evidence(a=[1, 2, 3, 4], b=[1, 1])
        judged = rule.judge(claim(condition("a - b", at_least=0)), found).judged[0]
        assert judged.replications == 2 and judged.mean == 0.5
        assert found.requested == {"a", "b"}

    def test_several_cells_need_an_over(self):
        with pytest.raises(SpecError, match="2 cells: say which"):
            number(evidence(a=[1], b=[2]), {"group": "g", "summary": "x"})

    def test_a_cell_that_was_not_run_leaves_the_claim_inconclusive(self):
        found = rule.judge(claim(condition("a - b", at_least=0)), evidence(a=[1, 2, 3]))
        assert found.verdict == INCONCLUSIVE and "not a part of these runs" in found.judged[0].why

    def test_unknown_names_are_sentences(self):
        with pytest.raises(SpecError, match='no metric "n"'):
            number(evidence(a=[1]), {"group": "g", "metric": "n"})
        with pytest.raises(SpecError, match='no statistic "nope"'):
            number(evidence(a=[1]), {"group": "g", "statistic": "nope"})


class TestRule:
    GOOD = evidence(a=[9.0, 9.1, 9.2], b=[1.0, 1.1, 1.2], c=[5.0, 5.1, 5.2])

    def verdict(self, *conditions: dict) -> str:
        return rule.judge(claim(*conditions), self.GOOD).verdict

    def test_all_conditions_must_hold(self):
        yes, no = condition("a", at_least=8), condition("b", at_least=8)
        assert self.verdict(yes) == HOLDS
        assert self.verdict(yes, no) == FAILS
        assert self.verdict(yes, condition("a", at_least=9.1)) == INCONCLUSIVE

    def test_one_alternative_suffices(self):
        yes, no = condition("a", at_least=8), condition("b", at_least=8)
        assert self.verdict({"any": [yes, no]}) == HOLDS
        assert self.verdict({"any": [no, no]}) == FAILS
        assert self.verdict({"any": [no, condition("a", at_least=9.1)]}) == INCONCLUSIVE
        assert self.verdict({"any": [{"all": [yes, no]}, {"all": [yes, yes]}]}) == HOLDS

    def test_alternatives_show_what_made_the_verdict(self):
        yes, no = condition("a", text="yes", at_least=8), condition("a", text="no", at_most=8)
        for any_, shown in ([[no, {"all": [yes, no]}], "no"], [[no, yes], "yes"]):
            judged = rule.judge(claim({"any": any_}), evidence(a=[9, 9.1, 9.2], b=[1, 1, 1])).judged
            assert [j.text for j in judged] == [shown]

    def test_inside_alternatives_each_still_asks_for_all(self):
        one = {"let": {"x": {"group": "g", "where": {"q": "$q"}, "summary": "x"}}, "value": "x"}
        over_8 = one | {"at_least": 8.0, "text": "{q}"}
        assert self.verdict({"any": [over_8 | {"each": {"q": ["a", "b"]}}]}) == FAILS
        assert self.verdict({"any": [over_8 | {"some": {"q": ["a", "b"]}}]}) == HOLDS

    def test_each_and_some(self):
        let = {"x": {"group": "g", "where": {"q": "$q"}, "summary": "x"}}
        base = {"let": let, "value": "x", "at_least": 4.0, "text": "queue {q}"}
        assert self.verdict(base | {"each": {"q": ["a", "c"]}}) == HOLDS
        assert self.verdict(base | {"each": {"q": ["a", "b"]}}) == FAILS
        assert self.verdict(base | {"some": {"q": ["a", "b"]}}) == HOLDS
        assert self.verdict(base | {"each": [{"q": "a"}, {"q": "c"}]}) == HOLDS
        found = rule.judge(claim(base | {"each": {"q": ["a", "b", "c"]}}), self.GOOD)
        assert [j.text for j in found.judged] == ["queue a", "queue b", "queue c"]
        assert rule.deciding(found).text == "queue b"  # type: ignore[union-attr]

    def test_each_some_nest(self):
        # for each of a, c there is some other queue that lies at least 3 below it
        let = {side: {"group": "g", "where": {"q": f"${side}"}, "summary": "x"} for side in "xy"}
        base = {"let": let, "value": "x - y", "at_least": 3.0, "text": "{x} over {y}"}
        some = {"some": {"y": ["a", "b", "c"]}}
        assert self.verdict(base | {"each": {"x": ["a", "c"]}} | some) == HOLDS
        assert self.verdict(base | {"each": {"x": ["a", "b"]}} | some) == FAILS

    def test_one_failure_among_many_needs_more_evidence(self):
        near = evidence(a=[1.0, 2.0, 3.0])
        fails = {"let": {"a": of("a")}, "value": "a", "at_least": 4.6}
        assert rule.judge(claim(fails), near).verdict == FAILS
        # of ten conditions each fails at 0.5 % only
        assert rule.judge(claim(*[fails] * 10), near).verdict == INCONCLUSIVE

    def test_every_look_spends_its_share(self):
        near = evidence(a=[1.0, 2.0, 3.0])
        holds = {"let": {"a": of("a")}, "value": "a", "at_least": -0.49}
        assert rule.judge(claim(holds), near).verdict == HOLDS
        assert rule.judge(claim(holds), near, looks=2).verdict == INCONCLUSIVE

    def test_the_digest_follows_the_rule_alone(self):
        one = claim(condition("a", at_least=8))
        assert rule.digest(one) == rule.digest(replace(one, note="n", version=2))
        assert rule.digest(one) != rule.digest(claim(condition("a", at_least=8.1)))
        assert rule.digest(one) != rule.digest(replace(one, rule="another"))

    def test_every_condition_is_found_with_its_names(self):
        names = {"each": {"q": ["a", "b"]}}
        some = condition(at_most=9) | {"some": {"r": [1, 2]}}
        alternatives = {"any": [some, {"all": [condition(at_most=9)]}]}
        found = [bound for _, bound in rule.leaves(claim(alternatives | names))]
        some = [{"q": q, "r": r} for q in "ab" for r in (1, 2)]
        assert found == [*some[:2], {"q": "a"}, *some[2:], {"q": "b"}]

    def test_problems_are_found_without_a_run(self):
        claim(condition("a", at_least=8))
        for wrong, said in (
            ({"id": "X"}, 'has no "claim": add it'),
            (written(claim(condition("a", at_least=8))) | {"version": "1"}, "a whole number"),
        ):
            with pytest.raises(SpecError, match=said):
                read(Claim, wrong)
        with pytest.raises(SpecError, match=r'^"a" has no bound$'):
            claim(condition("a"))
        with pytest.raises(SpecError, match=r'^has no "let": add it$'):
            claim({"any": [{"value": "a"}]})


class TestScoreCard:
    def test_a_line_has_what_is_promised(self):
        row = scorecard.row(
            "s", claim(condition("a", at_least=8, text="a", unit="ms")), TestRule.GOOD, 1
        )
        assert row["id"] == "X1" and row["study"] == "s" and row["claim"] == "c"
        assert row["rule"] == "r (version 1)"
        assert row["verdict"] == HOLDS and row["replications"] == 3
        assert row["estimate"] == pytest.approx(9.1) and row["interval"][0] < 9.1
        assert row["why"] == "a: 9.10 [8.85, 9.35] ms, rule: at least 8."
        json.dumps(row, allow_nan=False)

    def test_an_interval_without_width_is_told(self):
        same = scorecard.row(
            "s", claim(condition(at_least=8)), evidence(a=[9, 9, 9], b=[1, 2, 3]), 1
        )
        assert "under each of 3 seeds" in same["why"]
        assert (
            "under each"
            not in scorecard.row("s", claim(condition(at_least=8)), TestRule.GOOD, 1)["why"]
        )

    def test_what_is_known_is_said_unless_a_claim_holds(self):
        known = replace(claim(condition("a", at_least=8)), known="Because.")
        assert "Because" not in scorecard.row("s", known, TestRule.GOOD, 1)["why"]
        fails = replace(claim(condition("b", at_least=8)), known="Because.")
        assert scorecard.row("s", fails, TestRule.GOOD, 1)["why"].endswith("Because.")
        open_ = replace(claim(condition(at_least=5)), known="Because.")
        row = scorecard.row("s", open_, evidence(a=[4, 5, 9], b=[1, 2, 3]), 1)
        assert row["verdict"] == INCONCLUSIVE and row["why"].endswith("Because.")

    def test_without_results_every_claim_is_there_and_inconclusive(self, tmp_path):
        rows = registry.score_card("tuning-red", tmp_path)
        assert rows and {row["verdict"] for row in rows} == {INCONCLUSIVE}
        assert {row["why"] for row in rows} == {"not run"}


class TestRevisited:
    def rows(self, *verdicts: tuple[str, str]):
        """A claim and the one that asks it again, for each pair of verdicts."""
        pairs = [
            ({"id": f"C{n}", "verdict": then}, {"id": f"T{n}", "verdict": now, "revisits": f"C{n}"})
            for n, (then, now) in enumerate(verdicts)
        ]
        return [row for pair in pairs for row in pair]

    def test_pairs_are_found_by_the_name_of_the_claim(self):
        rows = self.rows((HOLDS, FAILS), (FAILS, HOLDS))
        assert [(a["id"], b["id"]) for a, b in reassessed.pairs(rows) if a] == [
            ("C0", "T0"),
            ("C1", "T1"),
        ]
        assert reassessed.pairs(rows[1:])[0] == (None, rows[1])

    def test_the_sentence_counts_what_held_before_apart(self):
        rows = self.rows(
            (HOLDS, HOLDS), (HOLDS, FAILS), (HOLDS, INCONCLUSIVE), (INCONCLUSIVE, HOLDS)
        )
        assert reassessed.summary(rows) == (
            "Conclusions of the paper reassessed: of 3 that hold here with its own set-up 1 holds "
            "there, 1 does not hold, 1 inconclusive; of 1 that do not, or are inconclusive, "
            "1 holds there, 0 do not hold, 0 inconclusive."
        )
        assert reassessed.summary(rows[:1]) == "" == reassessed.summary(rows[1:2])

    def test_a_terminal_tells_it_below_the_study(self):
        described = {"study": "s", "claim": "c", "why": "w"}
        rows = [row | described for row in self.rows((HOLDS, FAILS))]
        assert list(show.lines(rows))[-1] == reassessed.summary(rows)
        assert "asked again" not in "".join(show.lines(rows[:1]))

    def test_a_terminal_shows_what_a_claim_is_as_printed(self):
        described = {"study": "s", "claim": "c", "why": "w", "printed": {"verdict": FAILS}}
        rows = [row | described for row in self.rows((HOLDS, HOLDS))[:1]]
        shown = list(show.lines(rows))
        assert shown[-2].strip() == f"as printed: {FAILS}"
        assert shown[-1] == (
            "s: 1 claim: 1 hold, 0 do not hold, 0 inconclusive (as printed 0 hold)"
        )

    def test_a_terminal_sees_verdicts_in_colour_and_a_file_does_not(self):
        described = {"study": "s", "claim": "c", "why": "w"}
        rows = [row | described for row in self.rows((HOLDS, FAILS))]
        plain, coloured = ("\n".join(show.lines(rows, colour)) for colour in (False, True))
        assert "\x1b" not in plain and coloured.count("\x1b[0m") == len(rows)
        assert re.sub("\x1b\\[[0-9;]*m", "", coloured) == plain


class TestStatistics:
    UPPER = np.array([100.0, 200.0, 300.0, np.inf])

    def run(self, *counts: int):
        class Run:
            def columns(self, _name):
                return {"upper_ms": TestStatistics.UPPER, "count": np.array(counts)}

        return cast(Any, Run())

    def test_crossings(self):
        ahead_then_behind = self.run(50, 0, 30, 20), self.run(10, 80, 5, 5)
        within = {"from_ms": 50.0, "to_ms": 300.0}
        assert responses.crossings(*ahead_then_behind, **within) == 1
        assert responses.crossings(self.run(50, 50, 0, 0), self.run(10, 80, 5, 5), **within) == 0

    def test_gains(self):
        a, b = self.run(50, 0, 30, 20), self.run(10, 80, 5, 5)
        within = {"from_ms": 100.0, "to_ms": 300.0}
        assert responses.highest_gain(a, b, **within) == 40
        assert responses.lowest_gain(a, b, **within) == -40
        assert responses.share_within(a, ms=299.9) == 50
        # 20 of the 41 times lie below 200 ms, where a leads
        assert responses.share_of_range_above(a, b, **within) == pytest.approx(100 * 20 / 41)


def test_the_blocks_of_several_groups_add_up():
    upper = np.array([100.0, np.inf, 100.0, 200.0, np.inf])
    histogram = {"upper_ms": upper, "count": np.array([1, 1, 2, 3, 1])}
    assert responses.share_below(histogram, np.array([100.0, 200.0])).tolist() == [37.5, 75]


class TestMoreSeeds:
    """Rules that are open after the first look get more seeds, and only they."""

    @pytest.fixture
    def double(self, monkeypatch):
        core = Double()
        monkeypatch.setattr(engine, "_core", lambda: core)
        return core

    def study(self, at_least: float) -> Study:
        small = load(SMALL)
        let = {
            "a": {"group": "red-load", "where": {"load": "80%"}, "metric": "throughput_KB_per_s"}
        }
        one = claim({"let": let, "value": "a", "at_least": at_least})
        return Study(replace(small, claim=(replace(one, part="red-load"),)))

    def test_a_decided_rule_gets_no_more(self, double, tmp_path):
        settings = SHORT | {"looks": [1, 3]}
        result = self.study(0).run(quick=True, out=tmp_path, settings=settings, parts=["red-load"])
        (row,) = result["claims"]
        assert (row["verdict"], row["replications"]) == (HOLDS, 3)
        assert {run["seed"] for run in double.runs} == {1, 2, 3}

    def test_time_left_expects_them(self, double, tmp_path):
        class Seen(Progress):
            def begin(self, title, lengths_s, already=0, **more):
                super().begin(title, lengths_s, already, **more)
                if title:
                    batches.append((title, self.total_s, sum(self._later.values())))

        batches: list[tuple[str, float, float]] = []
        settings = SHORT | {"looks": [1, 3]}
        study = self.study(0)
        study.run(quick=True, out=tmp_path, settings=settings, parts=["red-load"], progress=Seen())
        (calibration, _, after), (_, runs, later) = batches
        assert calibration == "calibration"
        # One scenario of 240 s that an only claim names may get six more seeds.
        assert later == pytest.approx(evaluate.STILL_OPEN * 6 * 240)
        assert after == pytest.approx(runs + later)

    def test_an_open_rule_gets_more_for_its_own_scenarios(self, double, tmp_path):
        first = self.study(0).run(
            quick=True, out=tmp_path / "a", settings=SHORT, parts=["red-load"]
        )
        mean = first["claims"][0]["estimate"]
        double.runs.clear()
        study, settings = self.study(mean), SHORT | {"looks": [1, 3]}
        result = study.run(quick=True, out=tmp_path / "b", settings=settings, parts=["red-load"])
        (row,) = result["claims"]
        assert row["replications"] == 9
        later = [run for run in double.runs if run["seed"] > 3]
        assert len(later) == 6
        assert {run["traffic"][0]["users"] for run in later} == {
            first["calibrations"][0]["users"]["80%"]
        }
        # Tables and figures keep the seeds of the first look: all cells have as many.
        assert {r["n"] for t in result["tables"] for r in t["rows"]} == {3}
        double.runs.clear()
        again = study.run(quick=True, out=tmp_path / "b", settings=settings, parts=["red-load"])
        assert again == result and not double.runs
