"""Finds the best candidate with few runs: sequential halving under common random numbers.

All candidates serve equal users under equal seeds; after each round the better half stays and runs
under new seeds in addition to the old ones (Karnin, Koren and Somekh, Almost optimal exploration in
multi-armed bandits, 2013). The usual setting of each discipline runs first; the other settings
follow for disciplines that score well. From `LEAST` seeds on a candidate is not run again once its
difference from the best is known to lie on one side of `EQUAL`. At the end differences from the
best are paired by seed, with Student's t intervals. Candidates that cannot be distinguished from
the best, or are less than `EQUAL` below it, are as good, and of these the usual one is advised:
another choice of seeds then gives the same answer as before. Candidates whose runs agree in every
number count as one from the second round on.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from aqmlab.intervals import interval

from .candidates import PRESENT, STAY, Candidate

EQUAL = 0.02
"""Largest difference of scores (0 to 1) that users would not notice; our own choice, without a
source."""
LEAST = 4
"""Number of seeds from which on a candidate's difference from the best may count as known; our own
choice, without a source."""
SURE = 0.99
"""Confidence at which a difference counts as known: higher than that of the shown intervals, since
it is tested after every round; our own choice, without a source."""
AHEAD = EQUAL / 4
"""A setting stays in the comparison only if its score is higher than that of its discipline's usual
setting by this much; our own choice, without a source."""
ENTER = 3
"""Least number of disciplines whose other settings are simulated too; our own choice, without a
source."""
Scores = Mapping[int, float]
"""A candidate's scores by seed."""
Evaluate = Callable[[Sequence[Candidate], Sequence[int]], Sequence[Scores]]
"""Runs each candidate under each seed and returns the scores; finished runs are not repeated."""
Alike = Callable[[Candidate, Candidate], bool]
"""Whether two candidates gave identical numbers in every run that both have."""


@dataclass(frozen=True)
class Rounds:
    """The number of seeds of each round, and the least number of candidates that each round
    keeps."""

    seeds: Sequence[int]
    finalists: int = 4


@dataclass(frozen=True)
class Place:
    """The result of a candidate: its mean score, and the difference from the best, paired by
    seed."""

    candidate: Candidate
    seeds: int
    mean: float
    low: float
    high: float
    behind: tuple[float, float, float]
    """The best candidate's score minus this one's: mean, and low and high end of the interval."""
    equal: bool
    """Whether the candidate is as good as the best one: its score is not distinguishable from that
    of the best, or within `EQUAL` of it."""
    final: bool
    """Whether the candidate stayed in the race: it was in the last round, or its difference from
    the best was known before."""
    also: tuple[str, ...] = ()
    """Names of other candidates whose runs gave identical numbers."""

    @property
    def standing(self) -> str:
        """How the candidate compares with the best one, in words."""
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
    """The results of all candidates, best first; those that left early come last, in order of their
    scores when they left."""
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
    """Approximate number of runs of each step: remaining candidates times new seeds."""
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
    """Two lists: the usual setting of each discipline with today's queue, and the other
    settings."""
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
    """The candidates without the settings that are hardly ahead of their discipline's usual one.

    The usual one is advised unless another is ahead of it by `EQUAL`.
    """
    usual, others = _usual(left)
    means = {one.aqm: _mean(known[one.name]) for one in usual}
    return [*usual, *(one for one in others if _mean(known[one.name]) > means[one.aqm] + AHEAD)]


def _settled(
    left: Sequence[Candidate], known: Mapping[str, Scores]
) -> tuple[list[Candidate], list[Candidate]]:
    """Two lists: the candidates to run further, and those whose difference from the best is known.

    Today's queue, the best and the most usual of those as good as it are run further: their numbers
    are compared with each other in the answer.
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
    """One of each group of candidates with identical numbers, the most usual one, and the names of
    the others.

    Today's queue is never merged with another.
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
    """The better half, and the others. Today's queue always stays, as the reference."""
    ordered = _sorted([one for one in _worth(left, known) if one.name != PRESENT], known)
    behind = [one for one in left if one not in ordered and one.name != PRESENT]
    keep = max(least, math.ceil(len(ordered) / 2))
    # The usual setting of a discipline stays while another of its settings stays: it is the one
    # that is advised if they cannot be distinguished.
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

    # Candidates may have run under different seeds: paired differences order them, not means.
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
    """The advised candidate: of those that are as good as the best and pass `can`, the first by
    rank; so today's queue if it is one of them.

    If there is none, the best other finalist that passes `can`; None if no candidate does.
    """
    best = [place for place in places if place.equal and can(place.candidate)]
    if best:
        return min(best, key=lambda place: place.candidate.rank)
    return next((p for p in places if p.final and p.candidate.queue and can(p.candidate)), None)
