"""History matching: simulate, emulate, rule out, and again where something is left."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from . import sampling
from .emulator import Emulator, Features, Spread
from .implausibility import CUT, Knowledge
from .sampling import Region
from .targets import Targets

Simulator = Callable[[np.ndarray], np.ndarray]
"""Points of the unit cube to outputs: points × seeds × targets, in the targets' units."""

CANDIDATES = 1000
"""Points at which an emulator is evaluated, per level."""


ENOUGH = 0.1
"""An emulator's part of the variance below which more runs teach little."""


@dataclass(frozen=True)
class Settings:
    """How much is simulated."""

    points: int
    waves: int
    more: int
    """Points of every wave after the first."""
    seed: int = 1
    """Seed of designs and samples; the simulator's seeds are separate."""


@dataclass(frozen=True)
class Wave:
    """What one wave left."""

    points: int
    """Points simulated in the wave."""
    share: float
    """Share of the prior that is not ruled out."""
    outside: float
    """Share of left-out points beyond two emulated deviations (5 % expected)."""
    emulated: float
    """The emulator's part of the variance by which points are judged, in what is left."""


@dataclass
class History:
    """All that was simulated, and what the last wave knows."""

    targets: Targets
    points: np.ndarray
    runs: np.ndarray
    """Points × seeds × targets, in the targets' units."""
    knowledge: Knowledge
    region: Region
    waves: list[Wave] = field(default_factory=list)

    @property
    def fits(self) -> bool:
        """Whether anything is left."""
        return not self.region.empty


def match(
    simulate: Simulator,
    targets: Targets,
    features: Features,
    dimensions: int,
    settings: Settings,
    *,
    given: np.ndarray | None = None,
    published: float = 1.0,
    notify: Callable[[Wave, int], None] = lambda _wave, _number: None,
) -> History:
    """Waves until nothing is left, the emulator is no longer what is uncertain, or all are done.

    The first one has the points that are `given` and those that fill the cube.
    """
    points = sampling.filling(settings.points, dimensions, settings.seed)
    points = points if given is None else np.vstack([given.reshape(-1, dimensions), points])
    runs = simulate(points)
    done: list[Wave] = []
    while True:
        knowledge = learn(points, runs, targets, features, published)
        region = sampling.below(
            knowledge.score, CUT, CANDIDATES, dimensions, settings.seed + len(done)
        )
        wave = _wave(knowledge, region, len(points) - sum(w.points for w in done))
        done.append(wave)
        notify(wave, len(done))
        # The first look at a region is never the last: an emulator may be sure and wrong.
        if len(done) >= settings.waves or (len(done) > 1 and wave.emulated < ENOUGH):
            return History(targets, points, runs, knowledge, region, done)
        new = sampling.spread(region.points, settings.more, points, settings.seed + len(done))
        points, runs = np.vstack([points, new]), np.concatenate([runs, simulate(new)])


def closer(
    history: History, points: np.ndarray, simulate: Simulator, features: Features, seed: int
) -> History:
    """One wave more at given points, those of a posterior: it is where emulators must be right."""
    points = np.vstack([history.points, points])
    runs = np.concatenate([history.runs, simulate(points[len(history.points) :])])
    targets, published = history.targets, history.knowledge.published
    knowledge = learn(points, runs, targets, features, published)
    region = sampling.below(knowledge.score, CUT, CANDIDATES, points.shape[1], seed)
    last = _wave(knowledge, region, len(points) - len(history.points))
    return History(targets, points, runs, knowledge, region, [*history.waves, last])


def learn(
    points: np.ndarray, runs: np.ndarray, targets: Targets, features: Features, published: float
) -> Knowledge:
    """Emulators of all runs so far."""
    usable = np.isfinite(runs).all(axis=(1, 2))
    scaled = targets.scaled(runs[usable])
    return Knowledge(
        targets,
        Emulator(points[usable], scaled.mean(axis=1), features),
        Spread(points[usable], scaled, features),
        runs.shape[1],
        published,
    )


def _wave(knowledge: Knowledge, region: Region, points: int) -> Wave:
    some = region.points[:500]
    emulated = knowledge.emulator(some).variance
    other = (
        knowledge.spread(some) * (1.0 / knowledge.seeds + knowledge.published)
        + knowledge.targets.noise**2
        + knowledge.targets.discrepancy**2
    )
    part = float(np.median(emulated / (emulated + other)))
    return Wave(points, region.share, knowledge.emulator.outside, part)
