"""Runs for advice: candidates in a situation under seeds, and what came out, as numbers."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from aqmlab.experiment import spec
from aqmlab.experiment.plan import Run
from aqmlab.intervals import interval
from aqmlab.runs import calibrate
from aqmlab.runs.laboratory import Laboratory
from aqmlab.tables import measure

from .candidates import Candidate
from .objective import Term, score
from .race import Scores
from .situation import Situation

Numbers = Mapping[str, float | None]
"""Of one run, by dotted path."""


@dataclass
class Trial:
    """Candidates in one situation; what has been run is remembered, and kept in the folder."""

    situation: Situation
    terms: Sequence[Term]
    laboratory: Laboratory
    seen: dict[tuple[str, int], Numbers] = field(default_factory=dict)

    def evaluate(self, those: Sequence[Candidate], seeds: Sequence[int]) -> list[Scores]:
        """The scores of each candidate, by seed."""
        wanted = [(one, seed) for one in those for seed in seeds]
        missing = [pair for pair in wanted if (pair[0].name, pair[1]) not in self.seen]
        runs = [
            Run(one.name, seed, {**one.scenario(self.situation), "seed": seed}, label=one.name)
            for one, seed in missing
        ]
        title = f"{self.situation.told}: {len(those)} candidates"
        for run, done in zip(runs, self.laboratory.run(title, runs, "advice"), strict=True):
            self.seen[run.key, run.seed] = numbers(done.summary)
        return [
            {seed: score(self.terms, self.seen[one.name, seed]) for seed in seeds} for one in those
        ]

    def values(self, one: Candidate, name: str) -> dict[int, float | None]:
        """A measure of a candidate, by seed."""
        return {
            seed: found.get(name) for (key, seed), found in self.seen.items() if key == one.name
        }

    def measured(self, one: Candidate, name: str) -> tuple[float, float, float] | None:
        """Mean and interval of a measure; none where it is undefined in any seed."""
        found = list(self.values(one, name).values())
        kept = [value for value in found if value is not None]
        return interval(kept) if kept and len(kept) == len(found) else None

    def difference(
        self, one: Candidate, other: Candidate, name: str
    ) -> tuple[float, float, float] | None:
        """`other - one`, paired by seed."""
        there = self.values(other, name)
        pairs = [(value, there.get(seed)) for seed, value in self.values(one, name).items()]
        gaps = [b - a for a, b in pairs if a is not None and b is not None]
        return interval(gaps) if gaps else None

    def names(self, suffix: str) -> list[str]:
        """Measures whose path ends so."""
        some = next(iter(self.seen.values()), {})
        return [name for name in some if name.endswith(suffix)]


def numbers(summary: Mapping[str, Any]) -> dict[str, float | None]:
    """A run's numbers; delay and losses are of all queues on the way, not of the first alone."""
    found = dict(measure.numbers(summary))
    ports = summary.get("ports", {})
    if ports:
        delays: dict[str, float] = {}
        for name, port in ports.items():
            way = name.rpartition(".")[2]
            delays[way] = delays.get(way, 0.0) + (port.get("queue_delay_mean_s") or 0.0)
        found["queue_delay_mean_s"] = max(delays.values())
        arrivals = max(port["arrivals"] for port in ports.values())
        found["drop_rate"] = math.fsum(port["drops"] for port in ports.values()) / max(arrivals, 1)
    return found


def with_users(situation: Situation, laboratory: Laboratory, **how: Any) -> Situation:
    """Loads become users, as `aqmlab run` does it."""
    scenario: Mapping[str, Any] = situation.scenario
    while spec.loaded_group(scenario) is not None:
        if calibrate.is_open_loop(scenario):
            scenario = calibrate.resolve(scenario)
        else:
            scenario = calibrate.apply(scenario, laboratory.calibrate(scenario, **how))
    return replace(situation, scenario=scenario)
