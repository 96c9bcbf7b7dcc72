"""Finds the best candidate with few runs: sequential halving under common random numbers.

All candidates serve equal users under equal seeds; after each round the better half goes on and
runs under new seeds in addition to the old ones (Karnin, Koren and Somekh, Almost optimal
exploration in multi-armed bandits, 2013). At the end differences from the best are paired by seed,
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
"""Of a score between 0 and 1: a difference that users would not notice (constructed)."""
Scores = Mapping[int, float]
"""By seed."""
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
    """Whether it was in the last round."""
    also: tuple[str, ...] = ()
    """Other candidates that gave the very same numbers."""

    @property
    def standing(self) -> str:
        """How it stands to the best, in words."""
        mean, low, _ = self.behind
        if not self.final:
            return "left early"
        if mean == 0 and self.equal:
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
    left = list(candidates)
    out: list[Candidate] = []
    known: dict[str, Scores] = {}
    also: dict[str, list[str]] = {}
    for number, count in enumerate(rounds.seeds):
        seeds = range(first, first + count)
        for one, scores in zip(left, evaluate(left, seeds), strict=True):
            known[one.name] = scores
        if number == 0:
            left, also = _merged(left, alike or (lambda _, __: False))
        if number + 1 < len(rounds.seeds):
            left, gone = _halved(left, known, rounds.finalists)
            out = gone + out
    return _places(_sorted(left, known), out, known, also)


def steps(candidates: int, rounds: Rounds) -> list[int]:
    """How many runs each round has, about: each has the new seeds of those that are left."""
    found, before, left = [], 0, candidates
    for count in rounds.seeds:
        found.append(left * (count - before))
        before = count
        left = min(left, 1 + max(rounds.finalists, math.ceil((left - 1) / 2)))
    return found


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
    ordered = _sorted([one for one in left if one.name != PRESENT], known)
    keep = max(least, math.ceil(len(ordered) / 2))
    # The usual setting of a discipline is not sent away while one of its others goes on: it is what
    # # is advised if they cannot be distinguished.
    going = {one.aqm for one in ordered[:keep]}
    usual = [
        one
        for one in ordered[keep:]
        if (one.aqm in going or one.aqm in STAY)
        and one.rank == min(o.rank for o in left if o.aqm == one.aqm)
    ]
    gone = [one for one in ordered[keep:] if one not in usual]
    present = [one for one in left if one.name == PRESENT]
    return [*present, *ordered[:keep], *usual], gone


def _places(
    final: Sequence[Candidate],
    out: Sequence[Candidate],
    known: Mapping[str, Scores],
    also: Mapping[str, Sequence[str]],
) -> list[Place]:
    best = known[final[0].name]
    ended = {each.name for each in final}
    return [
        replace(
            _place(one, known[one.name], best, one.name in ended),
            also=tuple(also.get(one.name, ())),
        )
        for one in (*final, *out)
    ]


def _place(one: Candidate, scores: Scores, best: Scores, final: bool) -> Place:
    gaps = [best[seed] - scores[seed] for seed in scores if seed in best]
    behind = interval(gaps)
    equal = final and (behind[0] < EQUAL or behind[1] <= 0)
    mean, low, high = interval(list(scores.values()))
    return Place(one, len(scores), mean, low, high, behind, equal, final)


def advised(
    places: Sequence[Place], can: Callable[[Candidate], bool] = lambda _: True
) -> Place | None:
    """Of those that are as good as the best, the usual one; today's queue before any other.

    Where none of them passes `can`, the best of the others that does; None if there is none.
    """
    best = [place for place in places if place.equal and can(place.candidate)]
    if best:
        return min(best, key=lambda place: place.candidate.rank)
    return next((p for p in places if p.final and p.candidate.queue and can(p.candidate)), None)
