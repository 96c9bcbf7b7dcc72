"""Claims as data: a sentence of the paper, paraphrased, and the rule that decides it.

    [[claim]]
    id = "C06"                       # as in the list of published claims
    part = "fifo"
    claim = "Response times degrade sharply once the offered load exceeds the capacity."
    kind = "qualitative"
    rule = "FIFO 120: the median at 110 % load is at least 3 times that at 98 %, …"
    version = 1                      # raised whenever anything of the rule changes

    [[claim.condition]]              # all conditions must hold
    text = "median at 110 % over that at 98 %"
    let.a = { group = "fifo-load", where = { load = "110%" }, metric = "median_response_ms" }
    let.b = { group = "fifo-load", where = { load = "98%" }, metric = "median_response_ms" }
    value = "a / b"                  # computed seed by seed: paired
    at_least = 3.0                   # or at_most, above, below, or two of them

`each` repeats a condition for every combination of names and values (all must hold), `some` makes
alternatives (one suffices); "$name" stands for the value, and `value` may use its name if it is a
number. `any = […]` lists conditions of which one suffices (in these `some` adds alternatives, while
`each` still requires all), `all = […]` lists conditions that must all hold.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from aqmlab.experiment.rows import choices, plain
from aqmlab.experiment.rules import Claim, Condition, Let, Several
from aqmlab.experiment.shapes import convert

from . import expression
from .cache import digest
from .evidence import Evidence, NotRun, defined
from .judge import ALPHA, FAILS, HOLDS, INCONCLUSIVE, Bounds, Judged, all_of, any_of, decide

Names = Mapping[str, Any]
"""The values of the names that `each` and `some` define."""
Rule = Several | Condition


@dataclass(frozen=True)
class Levels:
    """Error probabilities of the two verdicts on one condition."""

    hold: float
    fail: float

    def of_all(self, count: int) -> Levels:
        """The error probabilities for each of `count` conditions that must all hold."""
        return Levels(self.hold, self.fail / count)

    def of_any(self, count: int) -> Levels:
        """The error probabilities for each of `count` alternatives, of which one must hold."""
        return Levels(self.hold / count, self.fail)


@dataclass(frozen=True)
class Verdict:
    """A claim's verdict with the conditions that made it."""

    verdict: str
    judged: list[Judged]


def judge(claim: Claim, evidence: Evidence, *, looks: int = 1) -> Verdict:
    """The verdict on one claim from the available runs."""
    alpha = ALPHA / looks
    return _all(claim.conditions, evidence, Levels(alpha, alpha), {})


def _all(rules: Sequence[Rule], evidence: Evidence, levels: Levels, names: Names) -> Verdict:
    expanded = [pair for rule in rules for pair in _each(rule, names)]
    each = levels.of_all(len(expanded)) if expanded else levels
    found = [_alternatives(rule, evidence, each, bound) for rule, bound in expanded]
    return Verdict(all_of([f.verdict for f in found]), [j for f in found for j in f.judged])


def _any(pairs: list[tuple[Rule, Names]], evidence: Evidence, levels: Levels) -> Verdict:
    each = levels.of_any(len(pairs)) if pairs else levels
    found = [_all([rule], evidence, each, names) for rule, names in pairs]
    verdict = any_of([f.verdict for f in found])
    judged = [j for f in found for j in f.judged]
    # The reader is shown one condition with the common verdict: a condition that holds, in an
    # alternative that fails, would mislead.
    shown = [j for j in judged if j.verdict == verdict] or judged
    best = max(shown, key=lambda j: j.margin, default=None)
    return Verdict(verdict, [best] if best is not None else [])


def _alternatives(rule: Rule, evidence: Evidence, levels: Levels, names: Names) -> Verdict:
    if rule.some is not None:
        return _any(list(_some(rule, names)), evidence, levels)
    if isinstance(rule, Condition):
        judged = _judged(rule, evidence, levels, names)
        return Verdict(judged.verdict, [judged])
    if rule.any:
        pairs = [pair for inner in rule.any for pair in _some(inner, names)]
        return _any(pairs, evidence, levels)
    return _all(rule.all, evidence, levels, names)


def _each(rule: Rule, names: Names) -> Iterator[tuple[Rule, Names]]:
    """Yields the rule once for every combination of the values in `each`; the rule must hold for
    all combinations."""
    for chosen in choices(rule.each):
        yield replace(rule, each={}), {**names, **chosen}


def _some(rule: Rule, names: Names) -> Iterator[tuple[Rule, Names]]:
    """Yields the rule once for every combination of the values in `some`; it suffices that the rule
    holds for one combination."""
    for chosen in choices(rule.some if rule.some is not None else {}):
        yield replace(rule, some=None), {**names, **chosen}


def _judged(condition: Condition, evidence: Evidence, levels: Levels, names: Names) -> Judged:
    bounds = Bounds(condition.low, condition.high, condition.strict)
    text = described(condition, names)
    lets = lets_of(condition, names)
    try:
        sample = expression.evaluate(condition.value, numbers(names) | _aligned(lets, evidence))
    except NotRun as reason:
        return Judged(text, np.nan, np.nan, np.nan, 0, bounds, INCONCLUSIVE, str(reason))
    verdict, mean, low, high = decide(sample, bounds, hold=levels.hold, fail=levels.fail)
    why = "" if defined(sample) else "undefined in some run"
    return Judged(text, mean, low, high, max(1, sample.size), bounds, verdict, why, condition.unit)


def _aligned(lets: Mapping[str, Let], evidence: Evidence) -> dict[str, np.ndarray]:
    """For each name that a condition defines by `let`, its values by seed, cut to the seeds for
    which all names have values; a name with a single value keeps it."""
    found = {name: evidence.number(let) for name, let in lets.items()}
    seeds = min((len(v) for v in found.values() if v.ndim), default=0)
    return {name: v[:seeds] if v.ndim else v for name, v in found.items()}


def numbers(names: Names) -> dict[str, np.ndarray]:
    """The values from `each` and `some` that are numbers, by their names, for use in
    expressions."""
    return {
        name: np.asarray(float(value))
        for name, value in names.items()
        if isinstance(value, int | float) and not isinstance(value, bool)
    }


def described(condition: Condition, names: Names) -> str:
    """The text of a condition for a reader: "{name}" in it is replaced by the value of the name in
    `names`."""
    text = condition.value if condition.text is None else condition.text
    return text.format(**{name: plain(value) for name, value in names.items()})


def lets_of(condition: Condition, names: Names) -> dict[str, Let]:
    """The definitions of a condition's names (`let`), with the values of `names` in place of
    "$name"."""
    return {name: convert(name, _filled(let, names), Let) for name, let in condition.let.items()}


def _filled(node: Any, names: Names) -> Any:
    if isinstance(node, Mapping):
        return {key: _filled(value, names) for key, value in node.items()}
    if isinstance(node, list):
        return [_filled(value, names) for value in node]
    if isinstance(node, str) and node.startswith("$"):
        return names[node[1:]]
    return node


def leaves(claim: Claim) -> Iterator[tuple[Condition, Names]]:
    """Yields every condition of a claim's rule that computes a number, once for each combination of
    the values in `each` and `some`."""
    return _every(claim.conditions, {})


def _every(rules: Sequence[Rule], names: Names) -> Iterator[tuple[Condition, Names]]:
    each = [pair for rule in rules for pair in _each(rule, names)]
    for rule, known in [pair for one, bound in each for pair in _some(one, bound)]:
        if isinstance(rule, Condition):
            yield rule, known
        else:
            yield from _every((*rule.any, *rule.all), known)


def deciding(found: Verdict) -> Judged | None:
    """The condition to show to a reader: of those with the claim's verdict the one with the
    smallest margin, which is nearest to its bound, or farthest beyond it."""
    same = [j for j in found.judged if j.verdict == found.verdict]
    return min(same or found.judged, key=lambda j: j.margin, default=None)


__all__ = [
    "FAILS",
    "HOLDS",
    "INCONCLUSIVE",
    "Verdict",
    "deciding",
    "described",
    "digest",
    "judge",
    "leaves",
    "lets_of",
]
