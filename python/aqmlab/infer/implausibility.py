"""How far a point's outputs are from what is to be met, in standard deviations of all that is
unknown: the emulator's, the seeds', the published number's and the model's (Vernon et al. 2010)."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from .emulator import Emulator, Spread
from .targets import Targets

CUT = 3.0
"""Of a unimodal error more than 95 % lies within three deviations (F. Pukelsheim, The American
Statistician 48(2), 1994)."""
OUTLIERS = 20
"""One of so many targets may be missed: with many, chance alone exceeds the cut now and then."""


@dataclass(frozen=True)
class Knowledge:
    """What the runs of a wave have taught."""

    targets: Targets
    emulator: Emulator
    spread: Spread
    seeds: int
    """Runs of every point, under common seeds."""
    published: float
    """The variance of one published run, as a part of that of one of ours."""

    def implausibility(self, points: np.ndarray) -> np.ndarray:
        """Of every point and target."""
        found = self.emulator(points)
        variance = (
            found.variance
            # Points share their seeds, so that the emulator does not see what those have in common.
            + self.spread(points) * (1.0 / self.seeds + self.published)
            + self.targets.noise**2
            + self.targets.discrepancy**2
        )
        return np.abs(self.targets.missed(found.mean)) / np.sqrt(variance)

    def score(self, points: np.ndarray) -> np.ndarray:
        """The implausibility of every point: the largest but for a few of its targets'."""
        return ranked(self.implausibility(points))


def ranked(implausibilities: np.ndarray) -> np.ndarray:
    """The largest of every row, but for one in `OUTLIERS`."""
    place = implausibilities.shape[1] // OUTLIERS
    return np.partition(implausibilities, -1 - place, axis=1)[:, -1 - place]


@dataclass(frozen=True)
class Conflict:
    """Targets that no point meets together, or one that none meets at all."""

    names: tuple[str, ...]
    least: float
    """The smallest worst implausibility that any point has on them."""


def conflicts(implausibilities: np.ndarray, names: list[str]) -> list[Conflict]:
    """What cannot be had: single targets first, then pairs that exclude each other."""
    best = implausibilities.min(axis=0)
    alone = [Conflict((names[j],), float(best[j])) for j in np.flatnonzero(best > CUT)]
    open_ = np.flatnonzero(best <= CUT)
    pairs = [
        Conflict((names[i], names[j]), least) for i, j, least in _pairs(implausibilities, open_)
    ]
    return [*sorted(alone, key=lambda c: -c.least), *sorted(pairs, key=lambda c: -c.least)]


def _pairs(values: np.ndarray, columns: np.ndarray) -> Iterable[tuple[int, int, float]]:
    for place, i in enumerate(columns[:-1]):
        rest = columns[place + 1 :]
        least = np.maximum(values[:, rest], values[:, i : i + 1]).min(axis=0)
        yield from ((int(i), int(j), float(v)) for j, v in zip(rest, least, strict=True) if v > CUT)
