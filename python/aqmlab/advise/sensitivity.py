"""The sensitivity of the advice to what was assumed: each parameter, the load, the line's rate."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from aqmlab import targets
from aqmlab.errors import SpecError
from aqmlab.intervals import interval
from aqmlab.simulator import engine
from aqmlab.targets.words import plain

from . import commands
from .candidates import Candidate
from .race import EQUAL, Scores
from .situation import ROUTER, Situation
from .trial import Trial

FACTORS = (0.5, 2.0)
"""Factors by which each parameter is changed; our own choice, without a source."""
LOADS = (0.5, 2.0)
"""Factors by which the number of people is changed; our own choice, without a source."""
RATES = (0.8, 1.25)
"""Factors by which the line's rate is changed, which may be lower or higher than stated; our own
choice, without a source."""
FIRST = 2
"""Number of seeds of the first runs; more follow only if a change is not known precisely enough."""
_SIZES = ("mtu", "queues", "flows", "hash_seed", "memory_limit", "drop_batch", "limit_bytes", "mpu")
"""Sizes of tables and packets, which nobody tunes."""


@dataclass(frozen=True)
class Effect:
    """The effect of a change of the queue or line on a candidate's score, paired by seed."""

    what: str
    candidate: str
    score: float
    change: tuple[float, float, float] | None
    """Mean of the new score minus the old one, and the ends of its confidence interval; None for a
    candidate that is only compared."""


def parameters(
    trial: Trial, one: Candidate, seeds: Sequence[int], most: int, system: str
) -> list[Effect]:
    """The effects of halving and doubling each parameter that the system can set, for at most
    `most` parameters; each change is described in the system's words."""
    queue = commands.direction(trial.situation, one)
    settable = [
        (name, value)
        for name, value, _ in tunable(one)
        if targets.typed(system, queue, name, value) is not None
    ]
    tried = (
        replace(
            one.scaled(name, value, factor),
            name=str(targets.typed(system, queue, name, value * factor)),
        )
        for name, value in settable[:most]
        for factor in FACTORS
    )
    those = [each for each in tried if taken(trial.situation, each)]
    before, *after = _evaluate(trial, [one, *those], seeds, "its parameters")
    return [
        Effect(each.name, one.name, sum(scores.values()) / len(scores), _gap(before, scores))
        for each, scores in zip(those, after, strict=True)
    ]


def tunable(one: Candidate) -> Iterator[tuple[str, float, bool]]:
    """The parameters of a candidate that are numbers to tune: name, value in base units, and
    whether the candidate sets it."""
    named = one.queue or {}
    scenario = {
        "duration": "1 s",
        "link": [{"rate": "10 Mbit/s", "forward": dict(named)}],
        "traffic": [{"app": "bulk", "flows": 1}],
    }
    queue = engine.check(scenario)["link"][0].get("forward")
    assert isinstance(queue, Mapping)
    given = plain(one.aqm, {name: value for name, value in queue.items() if name != "aqm"})
    # Parameters that the candidate sets come first, since their values were chosen.
    for name in sorted(given, key=lambda name: name not in named):
        value = given[name]
        number = isinstance(value, int | float) and not isinstance(value, bool)
        if number and value > 0 and name not in _SIZES:
            yield name, value, name in named


def taken(situation: Situation, one: Candidate) -> bool:
    """Whether the simulator accepts the candidate's values together."""
    try:
        engine.check({**one.scenario(situation), "seed": 1})
    except SpecError:
        return False
    return True


def surroundings(
    trial: Trial, those: Sequence[Candidate], seeds: Sequence[int]
) -> list[tuple[str, list[Effect]]]:
    """The candidates with more or fewer people, and on a line that differs from the given one."""
    found = []
    for factor in LOADS:
        situation = trial.situation.loaded(factor)
        described = f"{factor:g} times the people"
        found.append((described, _elsewhere(trial, situation, those, seeds, described)))
    if trial.situation.wanders:
        return found
    for factor in RATES:
        situation = trial.situation.on_line_of(factor)
        # A shaper keeps its configured rate, which was chosen for the stated rate of the line.
        moved = [_unmoved(one, factor, trial.situation) for one in those]
        described = f"the line has {factor * 100:.0f} % of the rate that was said"
        found.append((described, _elsewhere(trial, situation, moved, seeds, described)))
    return found


def steps(trial: Trial, tuned: bool, most: int, kept: int, seeds: int) -> list[int]:
    """The most runs that each step of `parameters` (left out unless `tuned`) and `surroundings`
    needs."""
    later = max(0, seeds - FIRST)
    own = [most * len(FACTORS) * FIRST, most * len(FACTORS) * later] if tuned else []
    cases = len(LOADS) + (0 if trial.situation.wanders else len(RATES))
    return own + [kept * FIRST, kept * later] * cases


def _evaluate(
    trial: Trial,
    those: Sequence[Candidate],
    seeds: Sequence[int],
    what: str,
    *,
    together: bool = False,
) -> list[Scores]:
    """The scores under the first seeds, and where a change is not known precisely enough from
    these, under all seeds.

    A difference from the first candidate is known when its 95 % interval reaches at most `EQUAL` to
    each side of the mean. `together`: if one candidate needs all seeds, all candidates are run
    under them, since their scores are shown side by side.
    """
    found = trial.evaluate(those, seeds[:FIRST], what)
    unknown = [one for one, scores in zip(those, found, strict=True) if _wide(found[0], scores)]
    if not unknown or len(seeds) <= FIRST:
        trial.skip()
        return found
    again = list(those) if together else [those[0], *unknown]
    scores = trial.evaluate(again, seeds, what)
    more = {one.name: each for one, each in zip(again, scores, strict=True)}
    return [more.get(one.name, few) for one, few in zip(those, found, strict=True)]


def _wide(before: Scores, after: Scores) -> bool:
    mean, low, _ = _gap(before, after)
    return not mean - low <= EQUAL


def _unmoved(one: Candidate, factor: float, situation: Situation) -> Candidate:
    if one.queue is None or situation.place != ROUTER:
        return one
    return replace(one.at(1 / factor), name=one.name)


def _elsewhere(
    trial: Trial,
    situation: Situation,
    those: Sequence[Candidate],
    seeds: Sequence[int],
    what: str,
) -> list[Effect]:
    there = Trial(situation, trial.terms, trial.laboratory, agenda=trial.agenda)
    scores = _evaluate(there, those, seeds, what, together=True)
    return [
        Effect(
            situation.described, one.name, sum(found.values()) / len(found), _gap(scores[0], found)
        )
        for one, found in zip(those, scores, strict=True)
    ]


def _gap(before: Any, after: Any) -> tuple[float, float, float]:
    return interval([after[seed] - before[seed] for seed in before if seed in after])
