"""History matching in waves: simulate points, fit emulators, rule out regions, and repeat in the
region that is left."""

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
"""A function from points (the unknowns' values, each scaled to 0 to 1) to the simulator's outputs:
points × seeds × targets, in the targets' units."""

CANDIDATES = 1000
"""Number of points at which an emulator is evaluated at each level of subset simulation."""


ENOUGH = 0.1
"""If the emulator's share of the variance is smaller than this, more runs would reduce it
little."""


@dataclass(frozen=True)
class Settings:
    """How many points and waves are simulated."""

    points: int
    waves: int
    more: int
    """Number of points of every wave after the first."""
    seed: int = 1
    """Seed of designs and samples; the simulator's seeds are separate."""


@dataclass(frozen=True)
class Wave:
    """The result of one wave of history matching."""

    points: int
    """Number of points simulated in the wave."""
    share: float
    """Share of the prior that is not ruled out."""
    outside: float
    """Share of points that are more than two standard deviations from their leave-one-out
    prediction (5 % expected)."""
    emulated: float
    """The emulator's share of the variance in the implausibility, as a median over the region
    left."""


@dataclass
class History:
    """All simulated points and runs, with the emulators and the region of the last wave."""

    targets: Targets
    points: np.ndarray
    runs: np.ndarray
    """The runs' numbers (points × seeds × targets), in the targets' units."""
    knowledge: Knowledge
    region: Region
    waves: list[Wave] = field(default_factory=list)

    @property
    def fits(self) -> bool:
        """Whether a region that is not ruled out is left."""
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
    """Carries out waves until the emulator's share of the variance is small, or their number is
    reached.

    The first wave has the points that are `given` and a space-filling design over all values of the
    unknowns.
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
        # A small variance does not end the waves after the first one, since its emulator may be
        # wrong with small variance.
        if len(done) >= settings.waves or (len(done) > 1 and wave.emulated < ENOUGH):
            return History(targets, points, runs, knowledge, region, done)
        new = sampling.spread(region.points, settings.more, points, settings.seed + len(done))
        points, runs = np.vstack([points, new]), np.concatenate([runs, simulate(new)])


def closer(
    history: History, points: np.ndarray, simulate: Simulator, features: Features, seed: int
) -> History:
    """One more wave at given points, such as those of a posterior, where emulators must be
    accurate."""
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
    """Fits emulators to all runs so far (points × seeds × targets); points with a failed run are
    left out."""
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
