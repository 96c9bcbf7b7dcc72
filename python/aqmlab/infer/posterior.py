"""The posterior of the unknowns: a likelihood by the emulator, sampled by tempering.

Given the unknowns, the targets are assumed to be jointly normal around the emulated means. Their
covariance is the sum of those of the emulator (through its components), of the seeds (as runs show
it, rows and metrics together), of the published numbers and of the model. A target that is a bound
contributes only the distance beyond it.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from . import sampling
from .waves import History

PARTICLES = 1000
CHUNK = 250
"""Number of points that are evaluated together: each needs a covariance matrix of all targets in
memory."""
NEAR = 0.03
"""Standard deviation of draws around a point that runs have confirmed, in each unknown's coordinate
(0 to 1); our own choice, without a source."""
LEAST = 0.1
"""The smallest share of the draws that is from the emulator's posterior; our own choice, without a
source."""


@dataclass(frozen=True)
class Posterior:
    """A sample from the posterior: each point has the unknowns' values, scaled to 0 to 1."""

    points: np.ndarray
    best: np.ndarray
    """The point with the largest likelihood."""

    def draws(self, count: int, seed: int) -> np.ndarray:
        """`count` points of the sample, drawn at random."""
        rng = np.random.default_rng(seed)
        return self.points[rng.choice(len(self.points), size=count, replace=False)]


def weigh(history: History, seed: int, particles: int = PARTICLES) -> Posterior:
    """The posterior within the region that the waves have left, or in the whole prior if none is
    left."""
    dimensions = history.points.shape[1]
    start = history.region.points if history.fits else sampling.uniform(particles, dimensions, seed)
    likelihood = Likelihood(history)
    points, values = sampling.tempered(start, likelihood, particles, seed)
    return Posterior(points, points[int(np.argmax(values))])


def mixed(weighed: Posterior, points: np.ndarray, seen: np.ndarray, seed: int) -> Posterior:
    """The posterior mixed with a few points whose likelihoods are known from runs with more seeds;
    `seen` has their logarithms.

    An emulator fitted to few runs may be wrong with great confidence: in one study it gave the most
    likely set 0.3 %. Each point is weighted by its likelihood from runs; the emulator's best point
    represents its whole posterior, the others themselves and their neighbourhoods.
    """
    known = np.isfinite(seen)
    if not known.any():
        return weighed
    own = (points == weighed.best).all(axis=1)
    weight = np.where(known, np.exp(seen - seen[known].max()), 0.0)
    rest = weight[~own].sum()
    weight[own] = np.maximum(weight[own], LEAST / (1.0 - LEAST) * rest / max(own.sum(), 1))
    count, rng = len(weighed.points), np.random.default_rng(seed)
    chosen = rng.choice(len(points), size=count, p=weight / weight.sum())
    near = points[chosen] + NEAR * rng.standard_normal((count, points.shape[1]))
    near = np.abs(np.mod(near + 1.0, 2.0) - 1.0)
    sample = np.where(own[chosen][:, None], weighed.points[rng.permutation(count)], near)
    return Posterior(sample, points[int(np.argmax(np.where(known, seen, -np.inf)))])


class Likelihood:
    """The logarithm of the density of the targets given the unknowns, up to a constant."""

    def __init__(self, history: History) -> None:
        self.knowledge = history.knowledge
        self.targets = history.targets
        self.fixed = history.targets.covariance()
        self.together = correlation(history)

    def __call__(self, points: np.ndarray) -> np.ndarray:
        """The log-likelihoods of these points (the unknowns' values, each scaled to 0 to 1), by the
        emulator."""
        return np.concatenate(
            [self._of(part) for part in np.array_split(points, max(1, len(points) // CHUNK))]
        )

    def seen(self, points: np.ndarray, runs: np.ndarray) -> np.ndarray:
        """The log-likelihoods of simulated points, computed from their `runs` (points × seeds ×
        targets, in the targets' units) without the emulator. The log-likelihood of a point with a
        failed run is minus infinity."""
        means = self.targets.scaled(runs).mean(axis=1)
        described = np.isfinite(means).all(axis=1)
        found = np.full(len(means), -np.inf)
        if described.any():
            often = 1.0 / runs.shape[1] + self.knowledge.published
            found[described] = self._density(
                means[described], self._known(points[described], often)
            )
        return found

    def _of(self, points: np.ndarray) -> np.ndarray:
        found = self.knowledge.emulator(points)
        loadings, left_out = self.knowledge.emulator.loadings, self.knowledge.emulator.left_out
        emulated = np.diag(left_out) + np.einsum(
            "nk,ki,kj->nij", found.component_variance, loadings, loadings, optimize=True
        )
        often = 1.0 / self.knowledge.seeds + self.knowledge.published
        return self._density(found.mean, self._known(points, often) + emulated)

    def _known(self, points: np.ndarray, often: float) -> np.ndarray:
        """Covariances of the seeds (`often` times those of one run), of the published numbers and
        of the model."""
        deviations = np.sqrt(self.knowledge.spread(points) * often)
        seeds = self.together * deviations[:, :, None] * deviations[:, None, :]
        return self.fixed + seeds + 1e-12 * np.eye(len(self.fixed))

    def _density(self, means: np.ndarray, covariance: np.ndarray) -> np.ndarray:
        missed = self.targets.missed(means)
        distance = np.linalg.solve(covariance, missed[:, :, None])[:, :, 0]
        return -0.5 * np.sum(missed * distance, axis=1) - 0.5 * np.linalg.slogdet(covariance)[1]


def finalists(history: History, weighed: Posterior, count: int) -> np.ndarray:
    """The most likely point by the emulator, and the most likely simulated points."""
    seen = Likelihood(history).seen(history.points, history.runs)
    first = history.points[np.argsort(-seen)[: count - 1]]
    return np.unique(np.vstack([weighed.best, first]), axis=0)


def correlation(history: History) -> np.ndarray:
    """The correlation of the targets between seeds, over all points, shrunk half-way to zero: few
    seeds determine it badly (O. Ledoit, M. Wolf, Journal of Multivariate Analysis 88(2), 2004, for
    such shrinkage)."""
    usable = history.runs[np.isfinite(history.runs).all(axis=(1, 2))]
    scaled = history.targets.scaled(usable)
    apart = (scaled - scaled.mean(axis=1, keepdims=True)).reshape(-1, scaled.shape[2])
    sizes = np.maximum(apart.std(axis=0), 1e-12)
    found = (apart / sizes).T @ (apart / sizes) / len(apart)
    return 0.5 * found + 0.5 * np.eye(len(found))
