"""Numbers of rules and the score card's lines by hand: what claims are judged with and how told."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import numpy as np
import pytest
from small_study import SMALL
from test_claims import FakeRun, claim, condition, evidence, number, of

from aqmlab.claims import cache, expression, judge, rule, scorecard
from aqmlab.claims.evidence import Evidence, NotRun, defined
from aqmlab.claims.judge import FAILS, HOLDS, INCONCLUSIVE, Bounds, Judged
from aqmlab.errors import SpecError, StoreError
from aqmlab.experiment.plan import Cell, Plan
from aqmlab.intervals import CONFIDENCE, interval
from aqmlab.runs.store import Store
from aqmlab.simulator import engine

EVERY = {"group": "g", "summary": "x"}


class TestExpression:
    NUMBERS = {"a": np.array([1.0, 4.0]), "b": np.array([4.0, 16.0])}  # noqa: RUF012

    @pytest.mark.parametrize(
        ("text", "values"),
        [
            ("a + b", [5, 20]),
            ("a - b", [-3, -12]),
            ("a * b", [4, 64]),
            ("b / a", [4, 4]),
            ("abs(a - b)", [3, 12]),
            ("sqrt(b)", [2, 4]),
            ("log(a)", [0, math.log(4)]),
            ("max(a, 2, b / 8)", [2, 4]),
            ("min(a, 2, b / 8)", [0.5, 2]),
            ("-a", [-1, -4]),
        ],
    )
    def test_all_that_a_rule_may_compute(self, text, values):
        assert expression.evaluate(text, self.NUMBERS).tolist() == pytest.approx(values)

    def test_a_number_alone_is_exact(self):
        found = expression.evaluate("3", {})
        assert (found.ndim, float(found), found.dtype) == (0, 3.0, float)

    @pytest.mark.filterwarnings("error")
    def test_what_has_no_value_is_undefined_without_a_warning(self):
        zero = {"a": np.array([0.0, -1.0, 1.0])}
        assert np.isnan(expression.evaluate("1 / a", zero)).tolist() == [True, False, False]
        assert np.isnan(expression.evaluate("0 / a", zero)).tolist() == [True, False, False]
        assert np.isnan(expression.evaluate("log(a)", zero)).tolist() == [True, True, False]
        assert np.isnan(expression.evaluate("sqrt(a)", zero)).tolist() == [False, True, False]

    def test_whoever_writes_a_wrong_one_is_told_what_there_is(self):
        with pytest.raises(SpecError) as raised:
            expression.evaluate("a ** 2", {"a": np.array([1.0])})
        known = "known: a, abs, log, max, min, sqrt, + - * /"
        assert str(raised.value) == f'"a ** 2": a ** 2 is not known here ({known})'
        for text in ("-c", "a + c", "c / a", "abs(c)", "max(a, c)"):
            with pytest.raises(SpecError) as raised:
                expression.evaluate(text, {"a": np.array([1.0])})
            assert str(raised.value).startswith(f'"{text}": c is not known here')
        with pytest.raises(SpecError) as raised:
            expression.evaluate("a -", {})
        assert str(raised.value) == '"a -" is no expression: write for example "a - b"'


class TestOver:
    @pytest.mark.parametrize(
        ("over", "values"),
        [("max", [8, 6]), ("mean", [4, 4]), ("min", [1, 2]), ("range", [7, 4]), ("sum", [12, 12])],
    )
    def test_several_cells_together_seed_by_seed(self, over, values):
        found = evidence(a=[1, 2], b=[3, 4], c=[8, 6])
        assert number(found, EVERY | {"over": over}).tolist() == values

    def test_only_the_seeds_that_all_of_them_have(self):
        found = evidence(a=[1, 2, 9], b=[3, 4])
        assert number(found, EVERY | {"over": "max"}).tolist() == [3, 4]


class TestEvidence:
    def test_seeds_follow_each_other_from_the_plans_on(self):
        assert number(evidence(a=[1, 2, 3, 4, 5]), of("a")).tolist() == [1, 2, 3, 4, 5]
        missing = evidence(a=[1, 2, 3, 4, 5])
        del missing.results["a", 2]
        assert number(missing, of("a")).tolist() == [1]

    def test_the_plans_own_seeds_need_not_begin_at_one(self):
        runs = {("a", seed): cast(Any, FakeRun(seed)) for seed in (1, 3, 4, 6, 7, 8, 10)}
        planned = Plan([Cell("g", {"q": "a"}, {}, "a")], {}, {"g": (4, 6)})
        assert number(Evidence(planned, {}, runs), of("a")).tolist() == [4, 6, 7, 8]

    def test_a_number_is_computed_once(self):
        found = evidence(a=[1, 2])
        assert number(found, of("a")).tolist() == [1, 2]
        found.results["a", 1] = cast(Any, FakeRun(9))
        found.results["a", 3] = cast(Any, FakeRun(3))
        assert number(found, of("a")).tolist() == [1, 2, 3]
        assert number(found, of("a") | {"scale": 2.0}).tolist() == [18, 4, 6]

    def test_what_was_looked_at(self):
        found = evidence(a=[1], b=[2])
        number(found, of("a"))
        number(found, of("b"))
        assert found.requested == {"a", "b"}

    def test_of_a_calibration(self):
        planned = Plan([], {}, {})
        known = {None: {"r_squared": 0.5}, "live": {"r_squared": 0.25}}
        found = Evidence(planned, {}, {}, known)
        assert number(found, {"calibration": "r_squared"}).tolist() == 0.5
        assert number(found, {"calibration": "r_squared", "base": "live"}).tolist() == 0.25
        with pytest.raises(NotRun, match=r"^no load was calibrated$"):
            number(Evidence(planned, {}, {}), {"calibration": "r_squared"})

    def test_a_rule_of_exact_numbers_alone(self):
        found = Evidence(Plan([], {}, {}), {}, {}, {None: {"r_squared": 0.5}})
        exact = {"let": {"r": {"calibration": "r_squared"}}, "value": "r", "at_least": 0.5}
        (one,) = rule.judge(claim(exact), found).judged
        assert (one.verdict, one.mean, one.replications) == (HOLDS, 0.5, 1)

    def test_what_is_missing_or_too_much_is_named_with_its_values(self):
        found = evidence(a=[1], b=[2])
        with pytest.raises(NotRun, match=r"^g \(q c, n 1\) is not a part of these runs$"):
            number(found, {"group": "g", "where": {"q": "c", "n": 1}, "summary": "x"})
        with pytest.raises(NotRun, match=r"^h is not a part of these runs$"):
            number(found, {"group": "h", "summary": "x"})
        with pytest.raises(SpecError, match=r"^g is 2 cells: say which$"):
            number(found, EVERY)

    def test_cells_of_one_scenario_are_one(self):
        planned = [Cell("g", {"q": name}, {}, "a") for name in "ab"]
        found = Evidence(Plan(planned, {}, {"g": (1,)}), {}, {("a", 1): cast(Any, FakeRun(7))})
        assert number(found, EVERY).tolist() == [7]

    def test_a_mistaken_name_is_answered_with_the_nearest(self):
        with pytest.raises(SpecError, match=r'^no metric "mm".*did you mean "m"'):
            number(evidence(a=[1]), {"group": "g", "metric": "mm"})

    def test_a_pair_of_one_cell_each(self):
        def histogram(*counts: float) -> Any:
            table = {"upper_ms": np.array([10.0, 20.0]), "count": np.array(counts)}
            return cast(Any, SimpleNamespace(columns=lambda _: table, summary={}))

        cells = [Cell("g", {"q": name}, {}, name) for name in "abc"]
        runs = {("a", 1): histogram(3, 1), ("b", 1): histogram(1, 3), ("c", 1): histogram(4, 0)}
        found = Evidence(Plan(cells, {}, {"g": (1,)}), {}, runs)
        described = {
            "pair": "lowest_gain",
            "a": {"group": "g", "where": {"q": "a"}},
            "b": {"group": "g", "where": {"q": "b"}},
            "args": {"from_ms": 10, "to_ms": 10},
        }
        assert number(found, described).tolist() == [50]
        assert found.requested == {"a", "b"}
        several = described | {"b": {"group": "g", "where": {"q": ["b", "c"]}}}
        with pytest.raises(SpecError, match="is 2 cells: say which"):
            number(found, several)
        assert number(found, several | {"over": "min"}).tolist() == [-25]
        assert number(found, several | {"over": "max"}).tolist() == [50]

    def test_of_a_probe(self, monkeypatch):
        curve = {"name": "size", "mean": 5.0, "curve": [[0.0, 0.0], [10.0, 1.0]]}
        monkeypatch.setattr(engine, "variables", lambda model: [curve])
        args = {"model": "m", "variable": "size", "value": 2.5}
        found = number(evidence(a=[1]), {"probe": "model_share_upto", "args": args})
        assert (found.ndim, float(found)) == (0, 25.0)

    def test_across_cells(self):
        cells = [Cell("g", {"n": n}, {}, str(n)) for n in (0, 1, 2)]
        runs = {
            (str(n), seed): cast(Any, FakeRun(10 + n * seed)) for n in (0, 1, 2) for seed in (1, 2)
        }
        found = Evidence(Plan(cells, {}, {"g": (1, 2)}), {}, runs)
        line = {"across": "line_intercept", "group": "g", "args": {"axis": "n", "summary": "x"}}
        # 10 of 12, and 10 of 14
        assert number(found, line).tolist() == pytest.approx([100 * 10 / 12, 100 * 10 / 14])
        squared = line | {"across": "line_r_squared"}
        assert number(found, squared).tolist() == pytest.approx([1, 1])

    def test_defined_is_what_every_seed_has(self):
        assert defined(np.array([1.0, 2.0])) and defined(np.asarray(1.0))
        assert not defined(np.array([1.0, math.nan]))
        assert not defined(np.array([])) and not defined(np.asarray(math.nan))


class TestBounds:
    def test_ends_belong_to_it_unless_it_is_strict(self):
        closed, strict = Bounds(1.0, 2.0), Bounds(1.0, 2.0, strict=True)
        assert closed.contains(1.0, 2.0) and not strict.contains(1.0, 1.5)
        assert not strict.contains(1.5, 2.0) and strict.contains(1.1, 1.9)
        assert not closed.contains(0.9, 1.5) and not closed.contains(1.5, 2.1)
        assert not closed.excludes(2.0, 3.0) and strict.excludes(2.0, 3.0)
        assert not closed.excludes(0.0, 1.0) and strict.excludes(0.0, 1.0)
        assert closed.excludes(2.1, 3.0) and closed.excludes(0.0, 0.9)
        assert not strict.excludes(0.0, 1.1) and not strict.excludes(1.9, 3.0)

    def test_without_bounds_everything_lies_inside(self):
        assert Bounds().contains(-1e9, 1e9) and not Bounds().excludes(1.0, 1.0)
        assert Bounds().strict is False
        assert Bounds().margin(5.0) == math.inf

    def test_the_margin_is_a_share_of_the_nearer_bound(self):
        assert Bounds(low=4.0).margin(5.0) == 0.25
        assert Bounds(low=4.0).margin(3.0) == -0.25
        assert Bounds(high=-4.0).margin(-5.0) == 0.25
        assert Bounds(low=4.0, high=10.0).margin(9.0) == pytest.approx(0.1)
        assert Bounds(low=4.0, high=10.0).margin(4.4) == pytest.approx(0.1)
        # Of zero there is no share: the distance itself.
        assert Bounds(low=0.0).margin(0.5) == 0.5
        assert Bounds(high=1e-15).margin(0.0) == pytest.approx(1e-3)

    def test_words(self):
        assert Bounds(low=0.5).words() == "at least 0.5"
        assert Bounds(high=2.0).words() == "at most 2"
        assert Bounds(low=0.5, strict=True).words() == "above 0.5"
        assert Bounds(high=2.0, strict=True).words() == "below 2"
        assert Bounds(0.5, 2.0).words() == Bounds(0.5, 2.0, True).words() == "between 0.5 and 2"

    def test_an_estimate_that_is_none_lies_far_outside(self):
        one = Judged("t", 5.0, 4.0, 6.0, 3, Bounds(low=4.0), HOLDS)
        assert (one.margin, one.why, one.unit) == (0.25, "", "")
        assert replace(one, mean=math.nan).margin == -math.inf
        assert replace(one, mean=math.inf).margin == -math.inf


class TestDecide:
    #: 2 ± 2.4841 at 95 %, 2 ± 1.6859 at 90 %.
    SAMPLE = np.array([1.0, 2.0, 3.0])

    def test_the_levels_are_five_percent_and_the_interval_that_decided_is_told(self):
        assert judge.ALPHA == 0.05
        verdict, mean, low, high = judge.decide(self.SAMPLE, Bounds(low=-0.49))
        assert (verdict, mean) == (HOLDS, 2)
        assert (low, high) == pytest.approx((-0.48414, 4.48414), abs=1e-5)
        verdict, mean, *ends = judge.decide(self.SAMPLE, Bounds(low=3.7), fail=0.1)
        assert (verdict, mean) == (FAILS, 2)
        assert ends == pytest.approx([0.31415, 3.68585], abs=1e-5)

    def test_inconclusive_shows_the_wider_interval(self):
        wide, narrow = pytest.approx(-0.48414, abs=1e-5), pytest.approx(0.31415, abs=1e-5)
        bounds = Bounds(low=2.0)
        assert judge.decide(self.SAMPLE, bounds, hold=0.1)[2] == wide
        assert judge.decide(self.SAMPLE, bounds, fail=0.1)[2] == wide
        assert judge.decide(self.SAMPLE, bounds, hold=0.1, fail=0.1)[2] == narrow

    def test_an_exact_number_has_no_interval_or_one_without_width(self):
        assert judge.decide(np.asarray(3.0), Bounds(low=2)) == (HOLDS, 3.0, 3.0, 3.0)
        assert judge.decide(np.asarray(1.0), Bounds(low=2)) == (FAILS, 1.0, 1.0, 1.0)
        verdict, *numbers = judge.decide(np.asarray(math.nan), Bounds(low=2))
        assert verdict == INCONCLUSIVE and all(map(math.isnan, numbers))

    def test_of_several_verdicts(self):
        assert judge.all_of([HOLDS, INCONCLUSIVE, FAILS]) == FAILS
        assert judge.all_of([HOLDS, INCONCLUSIVE]) == INCONCLUSIVE
        assert judge.all_of([HOLDS]) == HOLDS
        assert judge.any_of([FAILS, INCONCLUSIVE, HOLDS]) == HOLDS
        assert judge.any_of([FAILS, INCONCLUSIVE]) == INCONCLUSIVE
        assert judge.any_of([FAILS]) == FAILS
        assert judge.all_of([]) == judge.any_of([]) == INCONCLUSIVE
        assert (HOLDS, FAILS, INCONCLUSIVE) == ("holds", "does not hold", "inconclusive")

    def test_an_interval_is_one_of_95_percent_unless_told(self):
        assert CONFIDENCE == 0.95
        assert interval([1.0, 2.0, 3.0]) == interval([1.0, 2.0, 3.0], 0.95)
        assert interval([1.0, 2.0, 3.0], 0.9)[1] == pytest.approx(0.31415, abs=1e-5)


class TestRule:
    def test_of_several_that_must_hold_each_fails_at_its_share(self):
        levels = rule.Levels(0.05, 0.05)
        assert levels.of_all(5) == rule.Levels(0.05, 0.01)
        assert levels.of_any(5) == rule.Levels(0.01, 0.05)

    def test_what_a_name_stands_for(self):
        described = {"n": 3, "x": 0.5, "yes": True, "text": "a"}
        assert {name: float(v) for name, v in rule.numbers(described).items()} == {
            "n": 3.0,
            "x": 0.5,
        }
        one = cast(Any, claim(condition("a", at_least=1)).conditions[0])
        assert rule.described(one, {}) == "a"
        assert rule.described(replace(one, text="{q} at {l}"), {"q": [1, 2], "l": "98%"}) == (
            "(1, 2) at 98 %"
        )

    def test_for_each_another_alternative_may_do(self):
        found = evidence(a=[9.0, 9.1, 9.2], b=[1.0, 1.1, 1.2], c=[5.0, 5.1, 5.2])
        let = {side: {"group": "g", "where": {"q": f"${side}"}, "summary": "x"} for side in "xy"}
        some = {"each": {"x": ["a", "c"]}, "some": {"y": ["a", "b", "c"]}}
        four = {"let": let, "value": "x - y", "at_least": 3.0, "at_most": 5.0, "text": "{x} {y}"}
        judged = rule.judge(claim(four | some), found)
        assert judged.verdict == HOLDS
        assert [one.text for one in judged.judged] == ["a c", "c b"]

    def test_a_name_that_is_filled_in_wrongly_is_told(self):
        let = {"one": {"group": "g", "summary": "$q"}}
        (wrong,) = claim({"let": let, "value": "one", "at_least": 0}).conditions
        with pytest.raises(SpecError, match=r"^one"):
            rule.lets_of(cast(Any, wrong), {"q": ["a"]})

    def test_names_are_filled_in_everywhere(self):
        let = {"group": "g", "where": {"q": "$q", "r": ["$q", "b"], "n": 1}, "summary": "x"}
        one = cast(Any, claim({"let": {"x": let}, "value": "x", "at_least": 0}).conditions[0])
        (found,) = rule.lets_of(one, {"q": "a"}).values()
        assert cast(Any, found).where == {"q": "a", "r": ["a", "b"], "n": 1}

    def test_a_condition_tells_how_many_runs_and_why_not(self):
        found = evidence(a=[1.0, 2.0, 3.0], b=[0.0, 1.0, 1.0])
        bounds = {"at_least": 0, "unit": "ms", "text": "t"}
        (one,) = rule.judge(claim(condition("a", **bounds)), found).judged
        assert (one.text, one.replications, one.unit, one.why) == ("t", 3, "ms", "")
        (none,) = rule.judge(claim(condition("1", at_least=0)), found).judged
        assert (none.replications, none.verdict, none.mean) == (1, HOLDS, 1.0)
        (undefined,) = rule.judge(claim(condition("a / b", at_least=0)), found).judged
        assert (undefined.why, undefined.replications) == ("undefined in some run", 3)
        missing = {"let": {"a": of("c")}, "value": "a", "at_least": 0, "unit": "ms", "text": "t"}
        (unrun,) = rule.judge(claim(missing), found).judged
        assert (unrun.text, unrun.replications, unrun.verdict) == ("t", 0, INCONCLUSIVE)
        assert unrun.bounds == Bounds(low=0.0)
        assert unrun.why == "g (q c) is not a part of these runs"
        assert all(map(math.isnan, (unrun.mean, unrun.low, unrun.high)))

    def test_the_nearest_to_its_bound_is_shown(self):
        found = evidence(a=[5.0, 5.1, 5.2], b=[8.0, 8.1, 8.2])
        two = rule.judge(claim(condition("a", at_least=4), condition("b", at_least=4)), found)
        shown = rule.deciding(two)
        assert shown is two.judged[0]
        fails = rule.judge(claim(condition("a", at_least=9), condition("b", at_least=4)), found)
        assert rule.deciding(fails) is fails.judged[0]
        assert rule.deciding(rule.Verdict(HOLDS, [])) is None
        other = rule.Verdict(INCONCLUSIVE, two.judged)
        assert rule.deciding(other) is two.judged[0]

    def test_what_holds_hides_nothing_that_is_open(self):
        found = evidence(a=[1.001, 1.0011, 1.0012], b=[1.0, 2.0, 30.0])
        two = rule.judge(claim(condition("a", at_least=1), condition("b", at_least=1)), found)
        assert [one.verdict for one in two.judged] == [HOLDS, INCONCLUSIVE]
        assert rule.deciding(two) is two.judged[1]

    def test_each_alternative_has_its_share_of_the_error(self):
        # 2 ± 2.484 at 95 %, 2 ± 3.583 at 97.5 %
        found = evidence(a=[1.0, 2.0, 3.0], b=[-9.0, -9.1, -9.2])
        near = condition("a", at_least=-0.49)
        assert rule.judge(claim(near), found).verdict == HOLDS
        two = {"any": [near, condition("b", at_least=0)]}
        assert rule.judge(claim(two), found).verdict == INCONCLUSIVE
        far = {"any": [condition("a", at_least=-1.6), condition("b", at_least=0)]}
        assert rule.judge(claim(far), found).verdict == HOLDS

    def test_without_an_alternative_nothing_is_shown(self):
        let = {"x": {"group": "g", "where": {"q": "$q"}, "summary": "x"}}
        none = {"let": let, "value": "x", "at_least": 0, "some": {"q": []}}
        assert rule.judge(claim(none), evidence(a=[1.0])) == rule.Verdict(INCONCLUSIVE, [])

    def test_of_alternatives_the_best_is_shown(self):
        found = evidence(a=[5.0, 5.1, 5.2], b=[8.0, 8.1, 8.2])
        either = {"any": [condition("a", at_least=4), condition("b", at_least=4)]}
        judged = rule.judge(claim(either), found).judged
        assert [one.text for one in judged] == ["b"]


class TestLine:
    def test_all_of_it(self):
        found = evidence(a=[1.0, 2.0, 3.0], b=[1.0, 1.0, 1.0])
        two = claim(
            condition("a", at_least=-3, text="one", unit="s"), condition("b", above=0, text="two")
        )
        one = replace(two, kind="ours", revisits="C1", note="A note.")
        row = scorecard.row("s", one, found, 1)
        half = 2.484138
        low, high = pytest.approx(2 - half, abs=1e-5), pytest.approx(2 + half, abs=1e-5)
        first = {
            "text": "one",
            "verdict": HOLDS,
            "estimate": 2.0,
            "interval": [low, high],
            "replications": 3,
            "bounds": "at least -3",
            "unit": "s",
            "why": "",
        }
        second = {
            "text": "two",
            "verdict": HOLDS,
            "estimate": 1.0,
            "interval": [1.0, 1.0],
            "replications": 3,
            "bounds": "above 0",
            "unit": "",
            "why": "",
        }
        assert row == {
            "id": "X1",
            "study": "s",
            "claim": "c",
            "rule": "r (version 1)",
            "verdict": HOLDS,
            "estimate": 1.0,
            "interval": [1.0, 1.0],
            "replications": 3,
            "why": "two: 1.00 [1.00, 1.00] under each of 3 seeds, rule: above 0 (all 2 conditions "
            "hold; this is the one nearest to its bound). A note.",
            "kind": "ours",
            "part": "p",
            "version": 1,
            "digest": cache.digest(one),
            "conditions": [first, second],
            "deciding": second,
            "revisits": "C1",
        }
        assert found.requested == {"a", "b"}

    def test_of_several_the_worst_is_told(self):
        found = evidence(a=[1.0, 2.0, 3.0], b=[9.0, 9.1, 9.2])
        fails = claim(condition("a", at_least=9, text="t"), condition("b", at_least=8))
        why = scorecard.row("s", replace(fails, known="Known."), found, 1)["why"]
        assert why.endswith("(1 of 2 conditions fail; this is the worst of them). Known.")
        both = claim(*[condition("a", at_least=9)] * 2, condition("b", at_least=8))
        assert "(2 of 3 conditions fail;" in scorecard.row("s", both, found, 1)["why"]
        opened = claim(condition("a", at_least=2), condition("b", at_least=8))
        why = scorecard.row("s", opened, found, 1)["why"]
        assert why.endswith("(1 of 2 conditions are inconclusive; this is the worst of them).")

    def test_what_was_looked_at_before_is_forgotten(self):
        found = evidence(a=[1.0, 2.0], b=[1.0, 2.0])
        found.requested = {"z"}
        scorecard.row("s", claim({"let": {"a": of("a")}, "value": "a", "at_least": 0}), found, 1)
        assert found.requested == {"a"}

    def test_every_look_has_its_share(self):
        near = evidence(a=[1.0, 2.0, 3.0], b=[1.0, 1.0, 1.0])
        holds = claim(condition("a", at_least=-0.49))
        assert scorecard.row("s", holds, near, 1)["verdict"] == HOLDS
        assert scorecard.row("s", holds, near, 2)["verdict"] == INCONCLUSIVE

    def test_without_an_interval_there_is_none(self):
        one = scorecard.row("s", claim(condition("a", at_least=0)), evidence(a=[1.0], b=[1.0]), 1)
        assert (one["estimate"], one["interval"], one["replications"]) == (1.0, None, 1)
        assert one["why"] == "a: 1.00, rule: at least 0."

    def test_only_seeds_can_be_alike(self):
        exact = claim({"let": {}, "value": "3", "at_least": 0})
        assert scorecard.row("s", exact, evidence(a=[1.0]), 1)["why"] == (
            "3: 3.00 [3.00, 3.00], rule: at least 0."
        )
        two = scorecard.row(
            "s", claim(condition("a", at_least=0)), evidence(a=[1.0, 1.0], b=[1.0, 1.0]), 1
        )
        assert "under each of 2 seeds" in two["why"]

    def test_without_a_number_there_is_a_reason(self):
        lets = {"let": {"a": of("c")}, "value": "a", "at_least": 0}
        one = scorecard.row("s", claim(lets), evidence(a=[1.0]), 1)
        assert (one["estimate"], one["interval"], one["replications"]) == (None, None, 0)
        assert one["why"] == "g (q c) is not a part of these runs."
        assert one["conditions"][0]["estimate"] is None
        assert one["conditions"][0]["why"] == "g (q c) is not a part of these runs"

    def test_without_a_condition_too(self):
        nothing = claim({"each": {"q": []}, "let": {"a": of("a")}, "value": "a", "at_least": 0})
        one = scorecard.row("s", nothing, evidence(a=[1.0]), 1)
        assert one["why"] == "The rule has no condition that these runs meet."
        assert (one["verdict"], one["estimate"], one["replications"]) == (INCONCLUSIVE, None, 0)
        assert (one["deciding"], one["conditions"], one["interval"]) == (None, [], None)


class TestKept:
    CLAIM = replace(claim(condition("a", at_least=0)), kind="ours", revisits="C1")

    def test_a_blank_line(self):
        assert cache.blank("s", self.CLAIM) == {
            "id": "X1",
            "study": "s",
            "claim": "c",
            "rule": "r (version 1)",
            "verdict": INCONCLUSIVE,
            "estimate": None,
            "interval": None,
            "replications": 0,
            "why": "not run",
            "kind": "ours",
            "part": "p",
            "version": 1,
            "digest": cache.digest(self.CLAIM),
            "conditions": [],
            "deciding": None,
            "revisits": "C1",
        }

    def test_a_digest_is_short_and_that_of_the_rule(self):
        assert len(cache.digest(self.CLAIM)) == 12
        # Stored score cards name it: another digest would call all of them outdated.
        assert cache.digest(self.CLAIM) == "97803207ecad"

    def test_a_line_stays_current_until_its_rule_changes(self):
        line = cache.blank("s", self.CLAIM)
        known = line | {"verdict": HOLDS, "version": 7}
        assert cache.current(line, known) is known
        assert cache.current(line, None) is line
        other = cache.current(line, known | {"digest": "other"})
        assert other == line | {
            "why": "judged under version 7 of the rule, this is another: run the study again"
        }
        assert cache.current(line, {"verdict": HOLDS})["verdict"] == INCONCLUSIVE

    def test_what_a_study_stored(self, tmp_path):
        assert cache.stored(tmp_path / "none", "s") is None
        (tmp_path / "empty").mkdir()
        assert cache.stored(tmp_path / "empty", "s") is None
        store = Store.open(tmp_path / "out")
        store.write_json("result.json", {"name": "s", "claims": [{"id": "X1"}]})
        assert cache.stored(tmp_path / "out", "s") == [{"id": "X1"}]
        nameless = Store.open(tmp_path / "nameless")
        nameless.write_json("result.json", {"claims": []})
        assert cache.stored(tmp_path / "nameless", "s") == []
        with pytest.raises(StoreError) as raised:
            cache.stored(tmp_path / "out", "t")
        assert str(raised.value) == (
            f"{tmp_path / 'out'} holds the study s: name it with --study or give the folder of t "
            "with --out"
        )

    def test_the_lines_of_an_experiment(self):
        from aqmlab.experiment.experiment import claims
        from aqmlab.experiment.folders import find

        file = find("harsh-red")
        for name in ("s", "harsh-red"):
            assert cache.lines(name, file) == [cache.blank(name, one) for one in claims(file)]
        assert len(cache.lines("s", file)) > 10

    def test_the_lines_of_an_experiment_of_ones_own(self, monkeypatch):
        from aqmlab.experiment import compiled
        from aqmlab.experiment.experiment import claims

        file = SMALL / "experiment.toml"
        requested = []

        def described(of: Path, what: str, read: Callable[[], Any]) -> Any:
            requested.append((of, what))
            return read()

        monkeypatch.setattr(compiled, "described", described)
        assert cache.lines("s", file) == [cache.blank("s", one) for one in claims(file)] != []
        assert requested == [(file, "verdicts")]
