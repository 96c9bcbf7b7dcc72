"""Statements of a paper, decided on our runs.

Every test gives an estimate with its 95 % interval over the seeds and a bound that was fixed in the
experiment file. Confirmed: the whole interval is on the right side. Not confirmed: the whole
interval is on the wrong side. Undecided: the bound is inside the interval, or there is only one
seed.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from aqmlab.measure import interval
from aqmlab.report.numbers import ranged

from .plan import Cell, Plan
from .tables import plain

CONFIRMED, REFUTED, UNDECIDED = "confirmed", "not confirmed", "undecided"


@dataclass(frozen=True)
class Evidence:
    """All that the tests look at."""

    plan: Plan
    metrics: dict[str, dict]
    differences: dict[str, dict]
    values: Callable[[Cell, str], Sequence[float]]
    calibration: dict | None

    def sample(self, cell: Cell, metric: str) -> list[float]:
        """One value per seed, in the metric's unit."""
        how = self.metrics[metric]
        return [how.get("scale", 1.0) * v for v in self.values(cell, how["summary"])]

    def one(self, spec: dict, where: dict) -> list[float]:
        """The values of the one cell at `where`."""
        (cell,) = self.plan.of(spec["group"], where)
        return self.sample(cell, spec["metric"])

    def many(self, spec: dict, where: dict | None) -> list[tuple[Cell, list[float]]]:
        """The values of all cells at `where`."""
        return [(c, self.sample(c, spec["metric"])) for c in self.plan.of(spec["group"], where)]

    def words(self, spec: dict) -> tuple[str, str]:
        """The metric's title and unit."""
        how = self.metrics[spec["metric"]]
        return how["title"], how["unit"]


class Judged(NamedTuple):
    """A mean with its interval, and on which side of the bound that lies."""

    mean: float
    low: float
    high: float
    verdict: str

    def words(self, sign: bool = False) -> str:
        """The mean and, if there is one, the interval."""
        return ranged(self.mean, self.low, self.high, sign=sign)


@dataclass(frozen=True)
class Answer:
    """One estimate against its bound."""

    mean: float
    low: float
    high: float
    verdict: str
    text: str


def decide(spec: dict, evidence: Evidence) -> dict:
    """The verdict on one statement, with the sentence that says why."""
    answer = TESTS[spec["test"]](spec, evidence)
    return {
        "part": spec["part"],
        "statement": spec["statement"],
        "verdict": answer.verdict,
        "evidence": answer.text,
        "estimate": answer.mean if math.isfinite(answer.mean) else None,
        "low": answer.low if math.isfinite(answer.low) else None,
        "high": answer.high if math.isfinite(answer.high) else None,
    }


def judge(sample: Sequence[float], low: float = -math.inf, high: float = math.inf) -> Judged:
    """Mean, interval and verdict of "lies between low and high"."""
    mean, left, right = interval(list(sample))
    if not (math.isfinite(left) and math.isfinite(right)):
        verdict = UNDECIDED
    elif low <= left and right <= high:
        verdict = CONFIRMED
    elif right < low or left > high:
        verdict = REFUTED
    else:
        verdict = UNDECIDED
    return Judged(mean, left, right, verdict)


def together(verdicts: Sequence[str]) -> str:
    """One verdict of several that must all hold."""
    for verdict in (REFUTED, UNDECIDED):
        if verdict in verdicts:
            return verdict
    return CONFIRMED


def linear(spec: dict, evidence: Evidence) -> Answer:
    """The calibration's line explains at least this share of the variance."""
    if evidence.calibration is None:
        return Answer(math.nan, math.nan, math.nan, UNDECIDED, "No load was calibrated.")
    r2 = evidence.calibration["r_squared"]
    verdict = CONFIRMED if r2 >= spec["at_least"] else REFUTED
    text = f"R² of the line through the origin: {r2:.5f} (bound: at least {spec['at_least']:g})."
    return Answer(r2, math.nan, math.nan, verdict, text)


def spread(spec: dict, evidence: Evidence) -> Answer:
    """Largest minus smallest of the cells' values, seed by seed."""
    columns = [sample for _, sample in evidence.many(spec, spec.get("where"))]
    sample = [_largest(seed) - min(seed) for seed in zip(*columns, strict=True)]
    title, unit = evidence.words(spec)
    mean, low, high, verdict = judge(sample, high=spec["at_most"])
    text = (
        f"{title}: largest minus smallest {ranged(mean, low, high)} {_unit(unit)} "
        f"(bound: at most {spec['at_most']:g})."
    )
    return Answer(mean, low, high, verdict, text)


def ratio(spec: dict, evidence: Evidence) -> Answer:
    """One cell's value over another's, seed by seed."""
    above, below = evidence.one(spec, spec["of"]), evidence.one(spec, spec["to"])
    title, _ = evidence.words(spec)
    names = f"{_place(spec['of'])} to {_place(spec['to'])}"
    if any(b <= 0 for b in below):
        text = f"{title}, {names}: no ratio, the second is zero in some run."
        return Answer(math.nan, math.nan, math.nan, UNDECIDED, text)
    sample = [a / b for a, b in zip(above, below, strict=True)]
    mean, low, high, verdict = judge(sample, low=spec["at_least"])
    text = (
        f"{title}, {names}: ratio {ranged(mean, low, high)} (bound: at least {spec['at_least']:g})."
    )
    return Answer(mean, low, high, verdict, text)


def between(spec: dict, evidence: Evidence) -> Answer:
    """Every cell's mean lies between two bounds."""
    title, unit = evidence.words(spec)
    found = [judge(s, spec["low"], spec["high"]) for _, s in evidence.many(spec, spec.get("where"))]
    means = [f.mean for f in found]
    text = (
        f"{title}: {min(means):.1f} to {max(means):.1f} {_unit(unit)} "
        f"(bounds: {spec['low']:g} and {spec['high']:g})."
    )
    mean = sum(means) / len(means)
    return Answer(
        mean,
        min(f.low for f in found),
        max(f.high for f in found),
        together([f.verdict for f in found]),
        text,
    )


def near_best(spec: dict, evidence: Evidence) -> Answer:
    """How far every named value stays behind the best one of its axis, seed by seed."""
    title, unit = evidence.words(spec)
    axis = spec["axis"]
    found, texts = [], []
    for load in spec["where"]["load"]:
        cells = evidence.many(spec, {"load": load})
        best = [_largest(seed) for seed in zip(*(sample for _, sample in cells), strict=True)]
        places = []
        for cell, sample in cells:
            if cell.axes[axis] in spec["all_of"]:
                gaps = [b - own for b, own in zip(best, sample, strict=True)]
                found.append(judge(gaps, high=spec["within"]))
                places.append(f"{cell.labels[axis]} {_behind(gaps, found[-1])}")
        winner = max(cells, key=lambda pair: sum(pair[1]))[0].labels[axis]
        texts.append(f"{load.replace('%', ' %')} load (best: {winner}): {', '.join(places)}")
    worst = max(found, key=lambda f: f.mean)
    text = (
        f"{title}, {_unit(unit)} behind the best: {'; '.join(texts)} (bound: {spec['within']:g})."
    )
    return Answer(worst.mean, worst.low, worst.high, together([f.verdict for f in found]), text)


def _behind(gaps: Sequence[float], found: Judged) -> str:
    """A gap with its interval; always zero is no estimate of a gap."""
    return found.words() if any(gaps) else "best under every seed"


def _largest(values: Sequence[float]) -> float:
    """The largest of values, NaN if any is undefined."""
    return math.nan if any(map(math.isnan, values)) else max(values)


def no_difference(spec: dict, evidence: Evidence) -> Answer:
    """The paired difference stays within a bound at each of these loads."""
    pair = evidence.differences[spec["difference"]]
    title, unit = evidence.words(spec)
    found, texts = [], []
    for load in spec["where"]["load"]:
        mine, theirs = (
            evidence.one(spec | {"group": pair[g]}, {"load": load}) for g in ("group", "minus")
        )
        found.append(
            judge(
                [a - b for a, b in zip(mine, theirs, strict=True)], -spec["within"], spec["within"]
            )
        )
        texts.append(f"{load.replace('%', ' %')}: {found[-1].words(sign=True)}")
    worst = max(found, key=lambda f: abs(f.mean))
    text = f"{title}, difference in {_unit(unit)}: {'; '.join(texts)} (bound: ±{spec['within']:g})."
    return Answer(worst.mean, worst.low, worst.high, together([f.verdict for f in found]), text)


def loses(spec: dict, evidence: Evidence) -> Answer:
    """One cell's value minus another's, seed by seed."""
    sample = [
        a - b
        for a, b in zip(evidence.one(spec, spec["of"]), evidence.one(spec, spec["to"]), strict=True)
    ]
    title, unit = evidence.words(spec)
    mean, low, high, verdict = judge(sample, low=spec["at_least"])
    text = (
        f"{title}, from {_place(spec['of'])} to {_place(spec['to'])}: loses "
        f"{ranged(mean, low, high)} {_unit(unit)} (bound: at least {spec['at_least']:g})."
    )
    return Answer(mean, low, high, verdict, text)


TESTS: dict[str, Callable[[dict, Evidence], Answer]] = {
    "linear": linear,
    "spread": spread,
    "ratio": ratio,
    "between": between,
    "near_best": near_best,
    "no_difference": no_difference,
    "loses": loses,
}


def _unit(unit: str) -> str:
    return "points" if unit == "%" else unit


def _place(where: dict) -> str:
    return ", ".join(
        f"{plain(v)} % load" if k == "load" else f"{k} {plain(v)}" for k, v in where.items()
    )
