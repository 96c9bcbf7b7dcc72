"""Samples values of the unknowns: space-filling designs, regions in which a score is below a level,
and probability densities. A point has one coordinate for each unknown, its value scaled to 0 to 1.

Every prior is uniform in these coordinates (an unknown maps its coordinate to its own range or
choices), so that the prior's density cancels in every acceptance rule.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

Score = Callable[[np.ndarray], np.ndarray]
"""A function that gives one number for every point (row)."""

KEPT = 0.2
"""The share of the points that is kept at a level of subset simulation."""
MOVES = 8
"""Number of random-walk moves of every point after each level."""
LEVELS = 30
"""Largest number of levels: a region smaller than 0.2^30 of the prior counts as empty."""
FLAT = 0.01
"""The minimum of the score counts as reached if a level is lower than the one before by less than
this share of its value."""


def filling(count: int, dimensions: int, seed: int) -> np.ndarray:
    """Space-filling points: of four optimised Latin hypercubes the one with the largest least
    distance between points."""
    from scipy.stats import qmc

    rng = np.random.default_rng(seed)
    trials = [
        qmc.LatinHypercube(dimensions, rng=rng, optimization="random-cd").random(count)
        for _ in range(4)
    ]
    return max(trials, key=_least_distance)


def uniform(count: int, dimensions: int, seed: int) -> np.ndarray:
    """Scrambled Sobol' points, uniform over all values of the unknowns and more even than random
    points."""
    from scipy.stats import qmc

    power = int(np.ceil(np.log2(max(count, 2))))
    return qmc.Sobol(dimensions, rng=np.random.default_rng(seed)).random_base2(power)[:count]


def _least_distance(points: np.ndarray) -> float:
    from scipy.spatial.distance import pdist

    return float(pdist(points).min()) if len(points) > 1 else 0.0


def spread(points: np.ndarray, count: int, taken: np.ndarray, seed: int) -> np.ndarray:
    """`count` of the points, each as far as possible from those chosen before and from `taken`.

    They are chosen from a random subset three times as large; from all points mostly corners would
    be taken.
    """
    if len(points) <= count:
        return points
    rng = np.random.default_rng(seed)
    points = points[rng.permutation(len(points))[: 3 * count]]
    gap = np.full(len(points), np.inf)
    for one in taken:
        gap = np.minimum(gap, np.linalg.norm(points - one, axis=1))
    chosen = []
    for _ in range(count):
        best = int(np.argmax(gap))
        chosen.append(best)
        gap = np.minimum(gap, np.linalg.norm(points - points[best], axis=1))
    return points[chosen]


def below(score: Score, level: float, count: int, dimensions: int, seed: int) -> Region:
    """Points whose score is at most `level`, by subset simulation.

    S. K. Au, J. L. Beck, Estimation of small failure probabilities in high dimensions by subset
    simulation, Probabilistic Engineering Mechanics 16(4), 2001: each level keeps the fifth of the
    points with the lowest scores, and random walks from these fill the region in which scores are
    as low.
    """
    rng = np.random.default_rng(seed)
    points = uniform(count, dimensions, seed)
    scores, share, before = score(points), 1.0, np.inf
    for _ in range(LEVELS):
        inside = scores <= level
        if inside.mean() >= KEPT:
            return Region(points[inside], scores[inside], share * float(inside.mean()))
        step = max(float(np.quantile(scores, KEPT)), level)
        if before - step < FLAT * abs(step):
            break
        alive, before = scores <= step, step
        share *= float(alive.mean())
        points, scores = _refilled(points[alive], scores[alive], count, step, score, rng)
    inside = scores <= level
    if inside.any():
        return Region(points[inside], scores[inside], share * float(inside.mean()))
    return Region(points, scores, 0.0)


class Region:
    """The result of subset simulation: points, their scores, and the share of the prior that they
    represent."""

    def __init__(self, points: np.ndarray, scores: np.ndarray, share: float) -> None:
        self.points, self.scores, self.share = points, scores, share

    @property
    def empty(self) -> bool:
        """Whether no point has reached the level; the points are then those that came nearest."""
        return self.share == 0.0


def _refilled(
    points: np.ndarray,
    scores: np.ndarray,
    count: int,
    level: float,
    score: Score,
    rng: np.random.Generator,
) -> tuple[np.ndarray, np.ndarray]:
    chosen = rng.integers(len(points), size=count)
    here, value = points[chosen], scores[chosen]
    for _ in range(MOVES):
        there = moved(here, points, rng)
        new = score(there)
        better = new <= level
        here[better], value[better] = there[better], new[better]
    return here, value


def moved(here: np.ndarray, points: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """A random-walk step of every point in `here`, as wide as the spread of `points`; a coordinate
    that leaves 0 to 1 is reflected at that bound.

    Each coordinate is drawn anew with probability 0.1, so that a walk can leave one of several
    choices.
    """
    width = np.maximum(points.std(axis=0), 0.01) * rng.choice([0.1, 0.5, 1.2], size=(len(here), 1))
    there = here + width * rng.standard_normal(here.shape)
    there = np.abs(np.mod(there + 1.0, 2.0) - 1.0)
    anew = rng.random(here.shape) < 0.1
    return np.where(anew, rng.random(here.shape), there)


def tempered(
    points: np.ndarray, log_density: Score, count: int, seed: int
) -> tuple[np.ndarray, np.ndarray]:
    """A sample from a density, starting from points of the prior; and the logarithm of the density
    at each point.

    Sequential Monte Carlo with tempering (P. Del Moral, A. Doucet, A. Jasra, JRSS B 68(3), 2006):
    the power of the density grows from 0 to 1 in steps that keep an effective sample of half of the
    points.
    """
    rng = np.random.default_rng(seed)
    here = points[rng.integers(len(points), size=count)]
    value, power = log_density(here), 0.0
    while power < 1.0:
        power, weights = _step(value, power)
        chosen = rng.choice(count, size=count, p=weights)
        here, value = here[chosen], value[chosen]
        cloud = here.copy()
        for _ in range(MOVES):
            there = moved(here, cloud, rng)
            new = log_density(there)
            better = np.log(rng.random(count)) < power * (new - value)
            here = np.where(better[:, None], there, here)
            value = np.where(better, new, value)
    return here, value


def _step(value: np.ndarray, power: float) -> tuple[float, np.ndarray]:
    """The next power of the density, and the weights for it: the effective sample is half of the
    points."""

    def weights(at: float) -> np.ndarray:
        raw = (at - power) * (value - value.max())
        w = np.exp(raw)
        return w / w.sum()

    def enough(at: float) -> bool:
        return 1.0 / np.sum(weights(at) ** 2) >= 0.5 * len(value)

    if enough(1.0):
        return 1.0, weights(1.0)
    low, high = power, 1.0
    for _ in range(50):
        middle = (low + high) / 2
        low, high = (middle, high) if enough(middle) else (low, middle)
    return max(low, power + 1e-6), weights(max(low, power + 1e-6))
