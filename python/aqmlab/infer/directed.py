"""A search, by runs alone, for values of the unknowns that meet all targets at once.

If many unknowns make an emulator uncertain, it means little that no run has met all targets, since
the runs were spread over all values that the unknowns may have. This search goes towards points at
which all targets are met. It uses no emulator, so that no emulator's error can hide a point; but it
is a search, and no proof that there is none.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any, cast

import numpy as np

from . import conflicts
from .waves import History, Simulator

POPULATION = 32
"""Largest number of points in a generation of differential evolution; the first generation consists
of the simulated points that are nearest to the targets."""
LEAST = 5
"""Smallest number of points in a generation."""
FAR = 10.0
"""Distance of a simulated number from its target, in standard deviations, beyond which a greater
one no longer matters."""


def searched(history: History, simulate: Simulator, count: int, seed: int) -> History:
    """The history with the points of `count` more runs, unless a run meets all targets already.

    Differential evolution (R. Storn, K. Price, Journal of Global Optimization 11(4), 1997)
    minimises the largest distance from any target, in standard deviations of the published noise
    and the seeds. The emulators are not fitted again with these points.
    """
    from scipy.optimize import differential_evolution

    cut = conflicts.bar(len(history.targets))
    if not count or met(history, cut):
        return history
    known = _objective(conflicts.of_runs(history))
    first = np.argsort(known)[: max(LEAST, min(POPULATION, count))]
    points, runs = [history.points], [history.runs]
    generations = iter([known[first]])  # history matching has simulated this generation already

    def worst(columns: np.ndarray) -> np.ndarray:
        if (already := next(generations, None)) is not None:
            return already
        found = simulate(columns.T)
        points.append(columns.T)
        runs.append(found)
        return _objective(history.knowledge.seen(columns.T, found))

    differential_evolution(
        worst,
        [(0.0, 1.0)] * history.points.shape[1],
        # Scipy accepts a population here, though its types do not.
        init=cast(Any, history.points[first]),
        maxiter=max(1, count // len(first)),
        mutation=(0.4, 0.9),
        vectorized=True,
        updating="deferred",
        polish=False,
        tol=0.0,
        callback=lambda *_, **__: met(_with(history, points, runs), cut),
        rng=np.random.default_rng(seed),
    )
    return _with(history, points, runs)


def met(history: History, cut: float) -> bool:
    """Whether some simulated point lies within `cut` standard deviations of every target."""
    return bool((conflicts.of_runs(history).max(axis=1) <= cut).any())


def _with(history: History, points: list[np.ndarray], runs: list[np.ndarray]) -> History:
    return replace(history, points=np.vstack(points), runs=np.concatenate(runs))


def _objective(distances: np.ndarray) -> np.ndarray:
    """The largest distance of each point from any target, plus a small part of the mean distance to
    decide between equal ones."""
    near = np.minimum(distances, FAR)
    return np.where(np.isfinite(distances).all(axis=1), distances.max(axis=1), FAR**2) + (
        0.1 * near.mean(axis=1)
    )
