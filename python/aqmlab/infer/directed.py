"""A search by runs alone for a point that has all numbers at once.

Where many unknowns leave an emulator vague, that no run met all numbers says little: the runs were
spread over the cube. This one goes for them. There is no emulator in it, so that what it does not
find was not overlooked by one; it is still a search, and no proof.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any, cast

import numpy as np
from scipy.optimize import differential_evolution

from . import conflicts
from .waves import History, Simulator

POPULATION = 32
"""Points of a generation at most: the nearest runs so far are the first."""
LEAST = 5
"""Points without which there is no generation."""
FAR = 10.0
"""Deviations beyond which a number is as far off as any."""


def searched(history: History, simulate: Simulator, count: int, seed: int) -> History:
    """The history with the points of `count` more runs, unless one has all numbers already.

    Differential evolution (R. Storn, K. Price, Journal of Global Optimization 11(4), 1997) of the
    worst distance from any number, in deviations of the published noise and the seeds. What is
    known stays as the waves have left it: the emulators do not learn from these points.
    """
    cut = conflicts.bar(len(history.targets))
    if not count or met(history, cut):
        return history
    known = _objective(conflicts.of_runs(history))
    first = np.argsort(known)[: max(LEAST, min(POPULATION, count))]
    points, runs = [history.points], [history.runs]
    generations = iter([known[first]])  # the first one was simulated by the waves

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
        init=cast(Any, history.points[first]),  # a population; scipy's types know names alone
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
    """Whether a run has all numbers."""
    return bool((conflicts.of_runs(history).max(axis=1) <= cut).any())


def _with(history: History, points: list[np.ndarray], runs: list[np.ndarray]) -> History:
    return replace(history, points=np.vstack(points), runs=np.concatenate(runs))


def _objective(distances: np.ndarray) -> np.ndarray:
    """The worst distance; among equal ones the mean decides."""
    near = np.minimum(distances, FAR)
    return np.where(np.isfinite(distances).all(axis=1), distances.max(axis=1), FAR**2) + (
        0.1 * near.mean(axis=1)
    )
