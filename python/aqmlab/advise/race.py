"""Finds the best candidate with few runs: sequential halving under common random numbers.

All candidates serve equal users under equal seeds; after each round the better half goes on and
runs under new seeds in addition to the old ones (Karnin, Koren and Somekh, Almost optimal
exploration in multi-armed bandits, 2013). The usual setting of each discipline runs first, and the
other settings of those disciplines follow that do well. From `LEAST` seeds on a candidate runs no
more when its difference from the best is known to lie on one side of `EQUAL`.
At the end differences from the best are paired by seed,
with Student's t intervals. Candidates that cannot be distinguished from the best, or are less than
`EQUAL` below it, are as good, and of these the usual one is advised: another choice of seeds then
gives the same answer as before.
Candidates whose runs agree in every number are one from the second round on.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from aqmlab.intervals import interval

from .candidates import PRESENT, STAY, Candidate

EQUAL = 0.02
"""Largest difference of scores (0 to 1) that users would not notice (constructed)."""
LEAST = 4
"""Seeds before a candidate's difference from the best can count as known (constructed)."""
SURE = 0.99
"""Confidence at which it counts as known: above that of the shown intervals, since it is looked at
after every round (constructed)."""
AHEAD = EQUAL / 4
"""By how much a setting must be ahead of its discipline's usual one to go on (constructed)."""
ENTER = 3
"""Disciplines at least whose other settings race (constructed)."""
Scores = Mapping[int, float]
"""A candidate's scores by seed."""
Evaluate = Callable[[Sequence[Candidate], Sequence[int]], Sequence[Scores]]
"""Runs each candidate under each seed; none that was run before is run again."""
Alike = Callable[[Candidate, Candidate], bool]
"""Whether two candidates gave the very same numbers in every run of both."""


@dataclass(frozen=True)
class Rounds:
    """How many seeds each round has, and how many candidates go on at least."""

    seeds: Sequence[int]
    finalists: int = 4


@dataclass(frozen=True)
class Place:
    """How a candidate did: its mean score, and how far it lies below the best, paired by seed."""

    candidate: Candidate
    seeds: int
    mean: float
    low: float
    high: float
    behind: tuple[float, float, float]
    """Mean, low and high of the best's score minus this one's."""
    equal: bool
    """Whether it is as good as the best: not distinguishable from it, or within `EQUAL`."""
    final: bool
    """Whether it stayed to the end: in the last round, or its difference was known before."""
    also: tuple[str, ...] = ()
    """Other candidates that gave the very same numbers."""

    @property
    def standing(self) -> str:
        """How it stands to the best, in words."""
        mean, low, _ = self.behind
        if not self.final:
            return "left early"
        if mean == low == 0 and self.equal:
            return "best"
        if self.equal and mean < EQUAL:
            return f"within {EQUAL} of the best"
        if low <= 0:
            return "not distinguishable from the best"
        return "worse"


def race(
    candidates: Sequence[Candidate],
    evaluate: Evaluate,
    rounds: Rounds,
    first: int = 1,
    alike: Alike | None = None,
) -> list[Place]:
    """The places, best first; those that left early come last, by their score when they left."""
    left, waiting = _usual(candidates) if len(rounds.seeds) > 1 else (list(candidates), [])
    out: list[Candidate] = []
    settled: list[Candidate] = []
    known: dict[str, Scores] = {}
    also: dict[str, list[str]] = {}

    def run(those: Sequence[Candidate], seeds: Sequence[int]) -> None:
        for one, scores in zip(those, evaluate(those, seeds), strict=True):
            known[one.name] = scores

    for number, count in enumerate(rounds.seeds):
        seeds = range(first, first + count)
        run(left, seeds)
        if number == 0:
            if waiting:
                entering = _entering(left, waiting, known)
                run(entering, seeds)
                left += entering
            left, also = _merged(left, alike or (lambda _, __: False))
        if number + 1 < len(rounds.seeds):
            left, gone = _halved(left, known, rounds.finalists)
            out = gone + out
            if count >= LEAST:
                left, done = _settled(left, known)
                settled += done
    return _places(left, settled, out, known, also)


def steps(candidates: Sequence[Candidate], rounds: Rounds) -> list[int]:
    """How many runs each step has, about: each has the new seeds of those that are left."""
    usual, waiting = _usual(candidates) if len(rounds.seeds) > 1 else (list(candidates), [])
    found = [len(usual) * rounds.seeds[0]]
    if waiting:
        found.append(len(waiting) * rounds.seeds[0])
    before, left = rounds.seeds[0], len(candidates)
    for count in rounds.seeds[1:]:
        left = min(left, 1 + max(rounds.finalists, math.ceil((left - 1) / 2)))
        found.append(left * (count - before))
        before = count
    return found


def _usual(those: Sequence[Candidate]) -> tuple[list[Candidate], list[Candidate]]:
    """The usual setting of each discipline and today's queue; and the other settings."""
    usual = {one.aqm: one for one in sorted(those, key=lambda one: -one.rank)}
    first = [one for one in those if usual[one.aqm] is one]
    return first, [one for one in those if usual[one.aqm] is not one]


def _entering(
    usual: Sequence[Candidate], waiting: Sequence[Candidate], known: Mapping[str, Scores]
) -> list[Candidate]:
    """The other settings of the better half of the disciplines."""
    ordered = _sorted([one for one in usual if one.name != PRESENT], known)
    good = {one.aqm for one in ordered[: max(ENTER, math.ceil(len(ordered) / 2))]}
    return [one for one in waiting if one.aqm in good]


def _worth(left: Sequence[Candidate], known: Mapping[str, Scores]) -> list[Candidate]:
    """Without the settings that are hardly ahead of their discipline's usual one.

    That one is advised unless another is ahead of it by `EQUAL`.
    """
    usual, others = _usual(left)
    means = {one.aqm: _mean(known[one.name]) for one in usual}
    return [*usual, *(one for one in others if _mean(known[one.name]) > means[one.aqm] + AHEAD)]


def _settled(
    left: Sequence[Candidate], known: Mapping[str, Scores]
) -> tuple[list[Candidate], list[Candidate]]:
    """The candidates that run on, and those whose difference from the best is known well enough.

    Today's queue, the best and the usual one of those that are as good run on: their numbers are
    compared with each other in the answer.
    """
    best = _sorted(left, known)[0]
    equal, settled = [best], []
    for one in left:
        if one.name in (PRESENT, best.name):
            continue
        scores = known[one.name]
        gaps = [known[best.name][seed] - score for seed, score in scores.items()]
        _, low, high = interval(gaps, SURE)
        if high < EQUAL:
            equal.append(one)
        if high < EQUAL or low > EQUAL:
            settled.append(one)
    usual = min(equal, key=lambda one: one.rank)
    settled = [one for one in settled if one is not usual]
    return [one for one in left if one not in settled], settled


def _merged(
    those: Sequence[Candidate], alike: Alike
) -> tuple[list[Candidate], dict[str, list[str]]]:
    """One of each group of candidates that are alike, the usual one, and the names of the others.

    Today's queue is never taken for another, nor another for it.
    """
    kept: list[Candidate] = []
    also: dict[str, list[str]] = {}
    for one in sorted(those, key=lambda each: each.rank):
        twin = next((k for k in kept if PRESENT not in (k.name, one.name) and alike(k, one)), None)
        if twin is None:
            kept.append(one)
        else:
            also.setdefault(twin.name, []).append(one.name)
    return kept, also


def _sorted(those: Sequence[Candidate], known: Mapping[str, Scores]) -> list[Candidate]:
    return sorted(those, key=lambda one: (-_mean(known[one.name]), one.rank))


def _mean(scores: Scores) -> float:
    return math.fsum(scores.values()) / len(scores)


def _halved(
    left: Sequence[Candidate], known: Mapping[str, Scores], least: int
) -> tuple[list[Candidate], list[Candidate]]:
    """The better half; what is there today always stays, to be compared with."""
    ordered = _sorted([one for one in _worth(left, known) if one.name != PRESENT], known)
    behind = [one for one in left if one not in ordered and one.name != PRESENT]
    keep = max(least, math.ceil(len(ordered) / 2))
    # The usual setting of a discipline is not sent away while one of its others goes on: it is what
    # is advised if they cannot be distinguished.
    going = {one.aqm for one in ordered[:keep]}
    usual = [
        one
        for one in ordered[keep:]
        if (one.aqm in going or one.aqm in STAY)
        and one.rank == min(o.rank for o in left if o.aqm == one.aqm)
    ]
    gone = [one for one in _sorted([*ordered[keep:], *behind], known) if one not in usual]
    present = [one for one in left if one.name == PRESENT]
    return [*present, *ordered[:keep], *usual], gone


def _places(
    left: Sequence[Candidate],
    settled: Sequence[Candidate],
    out: Sequence[Candidate],
    known: Mapping[str, Scores],
    also: Mapping[str, Sequence[str]],
) -> list[Place]:
    best = _sorted(left, known)[0]

    def placed(one: Candidate, final: bool) -> Place:
        made = _place(one, known[one.name], known[best.name], final)
        return replace(made, also=tuple(also.get(one.name, ())))

    # Candidates that ran under different seeds are in order by what is paired, not by their means.
    final = [placed(one, True) for one in (*left, *settled) if one is not best]
    final.sort(key=lambda place: (place.behind[0], place.candidate.rank))
    return [placed(best, True), *final, *(placed(one, False) for one in out)]


def _place(one: Candidate, scores: Scores, best: Scores, final: bool) -> Place:
    gaps = [best[seed] - scores[seed] for seed in scores if seed in best]
    behind = interval(gaps)
    equal = final and (behind[0] < EQUAL or behind[1] <= 0)
    mean, low, high = interval(list(scores.values()))
    return Place(one, len(scores), mean, low, high, behind, equal, final)


def advised(
    places: Sequence[Place], can: Callable[[Candidate], bool] = lambda _: True
) -> Place | None:
    """The advised candidate: today's queue if it is as good as the best, else the most usual of
    those that are.

    Where none of them passes `can`, the best of the others that does; None if there is none.
    """
    best = [place for place in places if place.equal and can(place.candidate)]
    if best:
        return min(best, key=lambda place: place.candidate.rank)
    return next((p for p in places if p.final and p.candidate.queue and can(p.candidate)), None)
