"""Claims as data: a sentence of the paper in our words, and the rule by which it is judged.

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
number. `any = […]` holds conditions of which one suffices (there `some` adds alternatives, while
`each` still asks for all), `all = […]` such that must all hold.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from aqmlab.experiment.rows import choices, plain

from . import expression
from .evidence import Evidence, NotRun, defined
from .judge import ALPHA, FAILS, HOLDS, UNDECIDED, Bounds, Judged, all_of, any_of, decide
from .kept import digest

_BOUNDS = ("at_least", "at_most", "above", "below")


@dataclass(frozen=True)
class Levels:
    """Error probabilities of the two verdicts on one condition."""

    hold: float
    fail: float

    def of_all(self, count: int) -> Levels:
        """For each of so many conditions that must all hold."""
        return Levels(self.hold, self.fail / count)

    def of_any(self, count: int) -> Levels:
        """For each of so many alternatives."""
        return Levels(self.hold / count, self.fail)


@dataclass(frozen=True)
class Verdict:
    """A claim's verdict with the conditions that made it."""

    verdict: str
    judged: list[Judged]


def judge(claim: dict, evidence: Evidence, *, looks: int = 1) -> Verdict:
    """The verdict on one claim from the runs there are."""
    alpha = ALPHA / looks
    return _all(claim.get("condition", []), evidence, Levels(alpha, alpha), {})


def _all(conditions: list[dict], evidence: Evidence, levels: Levels, names: dict) -> Verdict:
    expanded = [pair for c in conditions for pair in _expanded(c, "each", names)]
    each = levels.of_all(len(expanded)) if expanded else levels
    found = [_alternatives(c, evidence, each, bound) for c, bound in expanded]
    return Verdict(all_of([f.verdict for f in found]), [j for f in found for j in f.judged])


def _any(pairs: list[tuple[dict, dict]], evidence: Evidence, levels: Levels) -> Verdict:
    each = levels.of_any(len(pairs)) if pairs else levels
    found = [_all([c], evidence, each, names) for c, names in pairs]
    verdict = any_of([f.verdict for f in found])
    judged = [j for f in found for j in f.judged]
    # The reader sees one that says what all say: a part that holds of an alternative that does not
    # would tell the contrary.
    shown = [j for j in judged if j.verdict == verdict] or judged
    best = max(shown, key=lambda j: j.margin, default=None)
    return Verdict(verdict, [best] if best is not None else [])


def _alternatives(condition: dict, evidence: Evidence, levels: Levels, names: dict) -> Verdict:
    if "some" in condition:
        return _any(list(_expanded(condition, "some", names)), evidence, levels)
    return _one(condition, evidence, levels, names)


def _one(condition: dict, evidence: Evidence, levels: Levels, names: dict) -> Verdict:
    if "any" in condition:
        pairs = [pair for c in condition["any"] for pair in _expanded(c, "some", names)]
        return _any(pairs, evidence, levels)
    if "all" in condition:
        return _all(condition["all"], evidence, levels, names)
    judged = _judged(condition, evidence, levels, names)
    return Verdict(judged.verdict, [judged])


def _judged(condition: dict, evidence: Evidence, levels: Levels, names: dict) -> Judged:
    bounds = _bounds(condition)
    text = told(condition.get("text", condition["value"]), names)
    lets = {name: filled(let, names) for name, let in condition["let"].items()}
    try:
        sample = expression.evaluate(condition["value"], numbers(names) | _aligned(lets, evidence))
    except NotRun as reason:
        return Judged(text, np.nan, np.nan, np.nan, 0, bounds, UNDECIDED, str(reason))
    verdict, mean, low, high = decide(sample, bounds, hold=levels.hold, fail=levels.fail)
    why = "" if defined(sample) else "undefined in some run"
    unit = condition.get("unit", "")
    return Judged(text, mean, low, high, max(1, sample.size), bounds, verdict, why, unit)


def _aligned(lets: dict[str, dict], evidence: Evidence) -> dict[str, np.ndarray]:
    """The numbers under the seeds that all of them have."""
    found = {name: evidence.number(let) for name, let in lets.items()}
    seeds = min((len(v) for v in found.values() if v.ndim), default=0)
    return {name: v[:seeds] if v.ndim else v for name, v in found.items()}


def numbers(names: dict) -> dict[str, np.ndarray]:
    """Those names of `each` and `some` whose values are numbers: an expression may use them."""
    return {
        name: np.asarray(float(value))
        for name, value in names.items()
        if isinstance(value, int | float) and not isinstance(value, bool)
    }


def _bounds(condition: dict) -> Bounds:
    strict = "above" in condition or "below" in condition
    low = condition.get("above", condition.get("at_least", -np.inf))
    high = condition.get("below", condition.get("at_most", np.inf))
    return Bounds(float(low), float(high), strict)


def _expanded(condition: dict, word: str, names: dict) -> Iterator[tuple[dict, dict]]:
    """The condition with every combination of what `each` or `some` lists."""
    rest = {k: v for k, v in condition.items() if k != word}
    for chosen in choices(condition.get(word, {})):
        yield rest, names | chosen


def told(text: str, names: dict) -> str:
    """A text in which "{name}" is the value of that name, for a reader."""
    return text.format(**{name: plain(value) for name, value in names.items()})


def filled(node: Any, names: dict) -> Any:
    """A copy in which "$name" is the value of that name."""
    if isinstance(node, dict):
        return {key: filled(value, names) for key, value in node.items()}
    if isinstance(node, list):
        return [filled(value, names) for value in node]
    if isinstance(node, str) and node.startswith("$"):
        return names[node[1:]]
    return node


def problems(claim: dict) -> list[str]:
    """What is wrong with a claim's entry, before anything is run."""
    missing = [k for k in ("id", "part", "claim", "rule", "version", "condition") if k not in claim]
    found = [f"no {name}" for name in missing]
    for condition in _leaves(claim.get("condition", [])):
        if "value" not in condition or "let" not in condition:
            found.append("a condition without let or value")
        elif not any(word in condition for word in _BOUNDS):
            found.append(f'"{condition["value"]}" has no bound')
    return found


def _leaves(conditions: list[dict]) -> Iterator[dict]:
    for condition in conditions:
        inner = condition.get("any", []) + condition.get("all", [])
        yield from _leaves(inner) if inner else [condition]


def leaves(claim: dict) -> Iterator[tuple[dict, dict]]:
    """Every condition that computes a number, with each set of values that its names stand for."""
    return _every(claim.get("condition", []), {})


def _every(conditions: list[dict], names: dict) -> Iterator[tuple[dict, dict]]:
    each = [pair for c in conditions for pair in _expanded(c, "each", names)]
    for condition, known in [pair for c, n in each for pair in _expanded(c, "some", n)]:
        if "any" in condition or "all" in condition:
            yield from _every(condition.get("any", []) + condition.get("all", []), known)
        else:
            yield condition, known


def deciding(found: Verdict) -> Judged | None:
    """The condition that a reader should see: the one nearest to or farthest beyond its bound."""
    same = [j for j in found.judged if j.verdict == found.verdict]
    return min(same or found.judged, key=lambda j: j.margin, default=None)


__all__ = [
    "FAILS",
    "HOLDS",
    "UNDECIDED",
    "Verdict",
    "deciding",
    "digest",
    "filled",
    "judge",
    "leaves",
    "problems",
    "told",
]
