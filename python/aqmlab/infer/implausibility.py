"""Implausibility: the distances of a point's outputs from the targets, in standard deviations of
all uncertainties: the emulator's, the seeds', the published number's and the model's (Vernon et al.
2010)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .emulator import Emulator, Spread
from .targets import Targets

CUT = 3.0
"""Standard deviations beyond which a point is implausible: more than 95 % of any unimodal error
lies within three (F. Pukelsheim, The American Statistician 48(2), 1994)."""
OUTLIERS = 20
"""One in this many targets may be missed: among many targets, one exceeds `CUT` by chance now and
then."""


@dataclass(frozen=True)
class Knowledge:
    """The targets, and the emulators that were fitted to the runs of a wave."""

    targets: Targets
    emulator: Emulator
    spread: Spread
    seeds: int
    """Number of runs of every point, under common seeds."""
    published: float
    """The variance of one published run divided by that of one simulated run."""

    def implausibility(self, points: np.ndarray, *, model: bool = True) -> np.ndarray:
        """The implausibility of every point for every target (points × targets), by the emulators;
        without `model`, the model's discrepancy is left out of the uncertainties."""
        found = self.emulator(points)
        return self._distance(found.mean, found.variance + self._known(points, model))

    def seen(self, points: np.ndarray, runs: np.ndarray) -> np.ndarray:
        """The implausibility of simulated points for every target (points × targets), computed from
        their `runs` (points × seeds × targets, in the targets' units) without the emulator and
        without the model's discrepancy. It is infinite for a point with a failed run."""
        mean = self.targets.scaled(runs).mean(axis=1)
        distance = self._distance(mean, self._known(points, model=False))
        return np.where(np.isfinite(distance), distance, np.inf)

    def _known(self, points: np.ndarray, model: bool) -> np.ndarray:
        """The sum of the variances between seeds, of the published numbers' noise and, with
        `model`, of the model's discrepancy: points × targets."""
        # All points share their seeds, so the emulator cannot know the seeds' common error.
        seeds = self.spread(points) * (1.0 / self.seeds + self.published)
        return seeds + self.targets.noise**2 + (self.targets.discrepancy**2 if model else 0.0)

    def _distance(self, mean: np.ndarray, variance: np.ndarray) -> np.ndarray:
        return np.abs(self.targets.missed(mean)) / np.sqrt(np.maximum(variance, 1e-18))

    def score(self, points: np.ndarray) -> np.ndarray:
        """The implausibility of every point: the largest of its implausibilities for single
        targets, after a few were left out (`ranked`)."""
        return ranked(self.implausibility(points))


def ranked(implausibilities: np.ndarray) -> np.ndarray:
    """The largest value of every row (point), after one in `OUTLIERS` of its values, the largest,
    were left out."""
    place = implausibilities.shape[1] // OUTLIERS
    return np.partition(implausibilities, -1 - place, axis=1)[:, -1 - place]
