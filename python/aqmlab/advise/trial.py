"""Runs for advice: candidates in a situation under seeds, and the numbers of their results."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from aqmlab.experiment import spec
from aqmlab.experiment.plan import Run
from aqmlab.intervals import interval
from aqmlab.runs import calibrate
from aqmlab.runs.laboratory import Laboratory
from aqmlab.simulator import measures
from aqmlab.simulator.forms import Scenario
from aqmlab.simulator.renamed import Numbers
from aqmlab.tables import measure

from .candidates import Candidate
from .objective import Term, score
from .race import Scores
from .situation import Situation

_MACHINE = {about["name"] for about in measures.MACHINES}
QUANTILES = tuple(f"queue_delay_{part}_s" for part in ("p50", "p90", "p95", "p99", "p99_9", "max"))
"""Quantiles of the queueing delay; each is that of the queue in which it is largest."""


@dataclass
class Agenda:
    """The steps of an advice that are still to come, so that progress is one estimate over all."""

    laboratory: Laboratory
    length_s: float
    """Simulated seconds of a run."""
    steps: list[int] = field(default_factory=list)
    """Approximate number of runs of each step; the first is the step in progress, or the last
    finished one."""

    def start(self) -> None:
        """Starts the next step; the steps after it count as time left."""
        self.steps = self.steps[1:]
        later = sum(self.steps[1:]) * self.length_s
        self.laboratory.expect({"later": later} if later > 0 else {})


@dataclass
class Trial:
    """Runs candidates in one situation; finished runs are kept in memory, and in the results
    folder."""

    situation: Situation
    terms: Sequence[Term]
    laboratory: Laboratory
    seen: dict[tuple[str, int], Numbers] = field(default_factory=dict)
    agenda: Agenda | None = None

    def evaluate(
        self, those: Sequence[Candidate], seeds: Sequence[int], what: str = ""
    ) -> list[Scores]:
        """The scores of each candidate, by seed; `what` is shown with the progress."""
        if self.agenda is not None:
            self.agenda.start()
        wanted = [(one, seed) for one in those for seed in seeds]
        missing = [pair for pair in wanted if (pair[0].name, pair[1]) not in self.seen]
        runs = [
            Run(one.name, seed, {**one.scenario(self.situation), "seed": seed}, label=one.name)
            for one, seed in missing
        ]
        counted = "1 queue" if len(those) == 1 else f"{len(those)} queues"
        title = f"{self.situation.described}: {what}{', ' if what else ''}{counted}"
        for run, done in zip(runs, self.laboratory.run(title, runs, "advice"), strict=True):
            self.seen[run.key, run.seed] = numbers(done.summary)
        return [
            {seed: score(self.terms, self.seen[one.name, seed]) for seed in seeds} for one in those
        ]

    def skip(self) -> None:
        """Passes over the next step, which is not needed."""
        if self.agenda is not None:
            self.agenda.start()

    def alike(self, one: Candidate, other: Candidate) -> bool:
        """Whether two candidates gave identical numbers in every run of the first, so that only
        their names differ."""
        seeds = {seed for name, seed in self.seen if name == one.name}
        pairs = [(self.seen[one.name, seed], self.seen.get((other.name, seed))) for seed in seeds]
        return bool(pairs) and all(_of_network(a) == _of_network(b) for a, b in pairs)

    def grade(self, one: Candidate, term: Term) -> float:
        """The mean grade of a candidate for one term, over the seeds it was run with."""
        found = [term.grade(seen) for (name, _), seen in self.seen.items() if name == one.name]
        return math.fsum(found) / len(found)

    def values(self, one: Candidate, name: str) -> dict[int, float | None]:
        """A measure of a candidate, by seed."""
        return {
            seed: found.get(name) for (key, seed), found in self.seen.items() if key == one.name
        }

    def measured(self, one: Candidate, name: str) -> tuple[float, float, float] | None:
        """Mean over the seeds of a measure of a candidate, and the ends of its confidence interval;
        None if the measure is undefined under any seed."""
        found = list(self.values(one, name).values())
        kept = [value for value in found if value is not None]
        return interval(kept) if kept and len(kept) == len(found) else None

    def difference(
        self, one: Candidate, other: Candidate, name: str
    ) -> tuple[float, float, float] | None:
        """Mean of a measure's difference `other - one`, paired by seed, and the ends of its
        confidence interval; None if no seed has both."""
        there = self.values(other, name)
        pairs = [(value, there.get(seed)) for seed, value in self.values(one, name).items()]
        gaps = [b - a for a, b in pairs if a is not None and b is not None]
        return interval(gaps) if gaps else None

    def names(self, suffix: str) -> list[str]:
        """Names of measures that end with this suffix."""
        some = next(iter(self.seen.values()), {})
        return [name for name in some if name.endswith(suffix)]


def _of_network(found: Numbers | None) -> dict[str, float | None] | None:
    """The numbers of a run without those that depend on the machine, such as the time that it
    took."""
    if found is None:
        return None
    return {name: value for name, value in found.items() if name not in _MACHINE}


def numbers(summary: Numbers) -> dict[str, float | None]:
    """A run's numbers. Mean delay and drop rate are over all queues of the worse direction;
    quantiles of the delay are those of the worst queue."""
    found = dict(measure.numbers(summary))
    delays: dict[str, float] = {}
    arriving: dict[str, float] = {}
    for name, port in summary.get("ports", {}).items():
        way = name.rpartition(".")[2]
        delays[way] = delays.get(way, 0.0) + (port.get("queue_delay_mean_s") or 0.0)
        # Only packets that one queue passes on reach the next queue.
        arriving[way] = arriving.get(way, 1.0) * (1.0 - (port.get("drop_rate") or 0.0))
    if delays:
        found["queue_delay_mean_s"] = max(delays.values())
        found["drop_rate"] = 1.0 - min(arriving.values())
        for name in QUANTILES:
            # Quantiles of several queues cannot be added: the worst queue's is a lower bound of the
            # sum's.
            ports = summary.get("ports", {}).values()
            worst = [port[name] for port in ports if port.get(name) is not None]
            found[name] = max(worst, default=None)
    return found


def with_users(situation: Situation, laboratory: Laboratory, **how: Any) -> Situation:
    """The situation with a number of users in place of each offered load, as `aqmlab run` finds
    it."""
    scenario: Scenario = situation.scenario
    while spec.loaded_group(scenario) is not None:
        if calibrate.is_open_loop(scenario):
            scenario = calibrate.resolve(scenario)
        else:
            scenario = calibrate.apply(scenario, laboratory.calibrate(scenario, **how))
    return replace(situation, scenario=scenario)
