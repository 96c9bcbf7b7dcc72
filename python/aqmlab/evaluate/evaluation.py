"""The score card: first the checks that every queue discipline or congestion control must pass
(laws), then every scenario of the sets, where the subject is compared in pairs with the best of
aqmlab's own queue disciplines or congestion controls."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TypedDict

from aqmlab import intervals
from aqmlab.errors import SpecError
from aqmlab.runs import pool
from aqmlab.simulator import engine
from aqmlab.simulator.forms import ProgramTable, without
from aqmlab.simulator.plugin import checking, judging, source
from aqmlab.simulator.plugin.report import Check

from . import score, situations
from .situations import Situation

RIVALS: dict[str, list[str]] = situations.DATA["rivals"]
"""Widely used queue disciplines and congestion controls of aqmlab with which a subject is compared,
by kind."""
REPEATED = 20
"""Number of scenarios of each set that are run twice, the second time in other processes and in
reverse order, to detect a dependence on the clock, on a file or on an earlier run."""

Progress = Callable[[str], object]


Interval = list[float | None]
"""A mean and the two ends of its 95 % confidence interval. The ends are None if the mean is that of
a single value."""


class Rival(TypedDict):
    """One of aqmlab's own queue disciplines or congestion controls, compared with the subject over
    the scenarios of a set."""

    score: Interval
    difference: Interval
    better_in: float


class OfSet(TypedDict):
    """The results of the subject in one set; `beside` has the results of aqmlab's own queue
    disciplines or congestion controls, by name."""

    scenarios: int
    score: Interval
    grades: dict[str, float]
    failed: list[dict[str, str]]
    best_of_ours: str
    beside: dict[str, Rival]
    by_family: dict[str, Interval]
    repeated: bool


class Card(TypedDict):
    """A score card. If it is not valid, because a law is broken or repeated runs differ, its scores
    mean nothing."""

    name: str
    kind: str
    version: int
    simulator: str
    laws: list[Check] | None
    sets: dict[str, OfSet]
    valid: bool
    repeatable: bool


def evaluate(
    name: str,
    *,
    sets: Sequence[str],
    seed: int | None = None,
    size: int | None = None,
    jobs: int | None = None,
    checked: bool = True,
    notify: Progress = lambda _: None,
) -> Card:
    """The score card of a queue discipline or congestion control over these sets; `name` is
    `FILE[:CLASS]`, or the name of one of aqmlab's own.

    `seed` determines the held-out set. `size` limits the scenarios of each set.
    """
    if "held-out" in sets and seed is None:
        raise SpecError("the held-out set follows from a seed: give --seed N with it")
    subject, kind, called = subject_of(name)
    jobs = jobs or pool.cores()
    card: Card = {
        "name": called,
        "kind": kind,
        "version": situations.VERSION,
        "simulator": engine.version().version,
        "laws": laws(name, kind, notify) if checked else None,
        "sets": {},
        "valid": False,
        "repeatable": False,
    }
    card["valid"] = not card["laws"]
    for one in sets:
        notify(f"the set {one}")
        drawn = _situations(kind, one, seed or 0, size)
        card["sets"][one] = _set(drawn, kind, subject, called, jobs)
    repeated = [result["repeated"] for result in card["sets"].values()]
    card["repeatable"] = all(repeated)
    card["valid"] = card["valid"] and card["repeatable"]
    return card


def subject_of(name: str) -> tuple[str | ProgramTable, str, str]:
    """The value that names the subject in scenarios, its kind (`aqm` or `congestion`) and its
    name."""
    if source.names_file(name):
        table = source.table(name, Path())
        return (
            table,
            source.described(without(table, "name")).get("kind", ""),
            table["name"],
        )
    for kind, entries in (("aqm", "aqm"), ("congestion", "congestion")):
        if any(entry["name"] == name for entry in engine.catalogue()[entries]):
            return name, kind, name
    raise SpecError(
        f'"{name}" is neither a file nor a queue or congestion control of ours: give FILE.py, '
        "FILE.py:CLASS, a shared library or a name (aqmlab list aqm, aqmlab list congestion)"
    )


def laws(name: str, kind: str, notify: Progress) -> list[Check]:
    """The checks that the subject fails, of those that every queue discipline or congestion control
    must pass (laws)."""
    check = checking.check if kind == "aqm" else checking.check_control
    report = check(name, lambda what: notify(f"law: {what}"))
    return [row for row in report["checks"] if row["broken"]]


def _situations(kind: str, one: str, seed: int, size: int | None) -> list[Situation]:
    drawn = situations.of_queues if kind == "aqm" else situations.of_controls
    return drawn(one, seed if one == "held-out" else 0, size)


def _set(
    drawn: Sequence[Situation], kind: str, subject: str | ProgramTable, called: str, jobs: int
) -> OfSet:
    put = situations.with_queue if kind == "aqm" else situations.with_control
    rivals = [rival for rival in RIVALS[kind] if rival != called]
    own = judging.carry_out([put(one, subject) for one in drawn], jobs)
    again = judging.carry_out([put(one, subject) for one in reversed(drawn[:REPEATED])], jobs)
    others = {
        rival: judging.carry_out([put(one, rival) for one in drawn], jobs) for rival in rivals
    }
    scores = _scores(own)
    against = {rival: _scores(answers) for rival, answers in others.items()}
    best = max(against, key=lambda rival: sum(against[rival]))
    return {
        "scenarios": len(drawn),
        "score": _interval(scores),
        "grades": _grades(own),
        "failed": [
            {"scenario": one.name, "why": answer["failed"]}
            for one, answer in zip(drawn, own, strict=True)
            if "failed" in answer
        ],
        "best_of_ours": best,
        "beside": {
            rival: {
                "score": _interval(theirs),
                "difference": _interval([a - b for a, b in zip(scores, theirs, strict=True)]),
                "better_in": sum(a > b for a, b in zip(scores, theirs, strict=True)) / len(scores),
            }
            for rival, theirs in against.items()
        },
        "by_family": _by_family(drawn, scores, against[best]),
        "repeated": _same(own[:REPEATED], again[::-1]),
    }


def _interval(values: Sequence[float]) -> Interval:
    """The mean of the values and the ends of its 95 % confidence interval, which are None for a
    single value."""
    found = intervals.interval(values)
    return [None if math.isnan(value) else round(value, 5) for value in found]


def _graded(answer: judging.Answer) -> dict[str, float]:
    """The grades of a run; a run that failed has none."""
    if "failed" in answer:
        return {}
    found, flows = score.grades(answer.get("summary", {})), answer.get("flows", [])
    if any(group == "rival" for group, _ in flows):
        found["rival"] = score.rivalry(flows)
    return found


def _scores(answers: Sequence[judging.Answer]) -> list[float]:
    graded = [_graded(answer) for answer in answers]
    return [score.total(found) if found else 0.0 for found in graded]


def _grades(answers: Sequence[judging.Answer]) -> dict[str, float]:
    """The mean of each grade, over the runs that have it."""
    found: dict[str, list[float]] = {}
    for answer in answers:
        for name, grade in _graded(answer).items():
            found.setdefault(name, []).append(grade)
    return {name: round(sum(grades) / len(grades), 5) for name, grades in sorted(found.items())}


def _by_family(
    drawn: Sequence[Situation], own: Sequence[float], theirs: Sequence[float]
) -> dict[str, Interval]:
    """For each family of scenarios, the difference of the subject's score from that of the best of
    aqmlab's own queue disciplines or congestion controls."""
    found: dict[str, list[float]] = {}
    for one, a, b in zip(drawn, own, theirs, strict=True):
        found.setdefault(one.family, []).append(a - b)
    return {family: _interval(differences) for family, differences in sorted(found.items())}


def _same(first: Sequence[judging.Answer], again: Sequence[judging.Answer]) -> bool:
    def prints(answers: Sequence[judging.Answer]) -> list[object]:
        return [a.get("failed") or a.get("summary", {})["fingerprint"] for a in answers]

    return prints(first) == prints(again)
