"""Gaussian processes in place of the simulator: the mean of every output, and its variance.

Outputs are correlated (the rows of a table are from one testbed), so their principal components are
emulated, not each output alone (Higdon et al. 2008); the variance outside the components is added
to the emulator's. The logarithm of the variance between seeds is emulated in the same way as the
outputs.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

Process = Any
"""A fitted `GaussianProcessRegressor` of scikit-learn, which carries no types."""

Features = Callable[[np.ndarray], np.ndarray]
"""A function that converts points (the unknowns' values, each scaled to 0 to 1) into inputs of a
Gaussian process. An unknown whose choices have no order becomes one input for each choice."""

EXPLAINED = 0.995
"""The share of the outputs' variance that the principal components explain."""
MOST = 12
"""Largest number of principal components."""
SMOOTH = 0.8
"""As `EXPLAINED`, for the emulator of the variance between seeds: most differences of this variance
are noise."""


@dataclass(frozen=True)
class Emulated:
    """Means and variances of outputs at some points, and the variances of their components."""

    mean: np.ndarray
    variance: np.ndarray
    """Variance of the emulator's error, without the variance between runs."""
    component_variance: np.ndarray


class Emulator:
    """Gaussian processes for the principal components of outputs (points × outputs)."""

    def __init__(
        self, points: np.ndarray, outputs: np.ndarray, features: Features, share: float = EXPLAINED
    ) -> None:
        self.features = features
        self.centre = outputs.mean(axis=0)
        self.scale = np.maximum(outputs.std(axis=0), 1e-9)
        standard = (outputs - self.centre) / self.scale
        left, sizes, right = np.linalg.svd(standard, full_matrices=False)
        kept = _needed(sizes, share)
        self.loadings = right[:kept] * self.scale
        self.left_out = ((standard - (left[:, :kept] * sizes[:kept]) @ right[:kept]) ** 2).mean(
            axis=0
        ) * self.scale**2
        scores = left[:, :kept] * sizes[:kept]
        known = features(points)
        self.processes = [_fitted(known, scores[:, k]) for k in range(kept)]
        errors = [_left_out(process) for process in self.processes]
        self.outside = float(np.mean([np.mean(np.abs(e) > 2.0) for e in errors]))
        """The share of points that are more than two standard deviations away from their prediction
        by all others."""
        # The variance of a process is raised if its leave-one-out errors are larger than predicted.
        self._widened = np.array([max(1.0, float(np.mean(e**2))) for e in errors])

    def __call__(self, points: np.ndarray) -> Emulated:
        """Means and variances of all outputs at these points."""
        known = self.features(points)
        found = [process.predict(known, return_std=True) for process in self.processes]
        means = np.array([mean for mean, _ in found]).T
        # sklearn's standard deviation includes the noise of a run, which is no error of the mean.
        variances = (
            np.array(
                [
                    np.maximum(deviation**2 - _noise(process), 1e-9)
                    for (_, deviation), process in zip(found, self.processes, strict=True)
                ]
            ).T
            * self._widened
        )
        return Emulated(
            self.centre + means @ self.loadings,
            variances @ self.loadings**2 + self.left_out,
            variances,
        )


def _needed(sizes: np.ndarray, share: float) -> int:
    explained = np.cumsum(sizes**2) / max(float(np.sum(sizes**2)), 1e-300)
    return int(min(np.searchsorted(explained, share) + 1, MOST, len(sizes)))


def _fitted(features: np.ndarray, values: np.ndarray) -> Process:
    from sklearn.exceptions import ConvergenceWarning
    from sklearn.gaussian_process import GaussianProcessRegressor
    from sklearn.gaussian_process.kernels import ConstantKernel, DotProduct, Matern, WhiteKernel

    kernel: Any = (
        ConstantKernel(1.0, (1e-3, 1e2)) * Matern([2.0] * features.shape[1], (0.2, 50.0), nu=2.5)
        + ConstantKernel(0.3, (1e-4, 1e2)) * DotProduct(1.0, "fixed")
        + WhiteKernel(0.05, (1e-6, 2.0))
    )
    process = GaussianProcessRegressor(kernel, random_state=0, normalize_y=True)
    with warnings.catch_warnings():
        # A length scale at its upper bound means that an unknown has no effect, which is no error.
        warnings.simplefilter("ignore", ConvergenceWarning)
        return process.fit(features, values)


def _noise(process: Process) -> float:
    """The variance of runs around their mean, in the unit of the component."""
    return float(process.kernel_.k2.noise_level * process._y_train_std**2)


def _left_out(process: Process) -> np.ndarray:
    """Standardised errors of every point as predicted from all others, in closed form
    (S. Sundararajan, S. S. Keerthi, Neural Computation 13(5), 2001)."""
    inverse = np.linalg.inv(process.L_ @ process.L_.T)
    weights = inverse @ process.y_train_
    return weights / np.sqrt(np.diag(inverse))


class Spread:
    """An emulator of the variance between seeds of every output at any point."""

    def __init__(self, points: np.ndarray, runs: np.ndarray, features: Features) -> None:
        """`runs`: points × seeds × outputs."""
        from scipy.special import digamma

        freedom = runs.shape[1] - 1
        if freedom < 1:
            raise ValueError("the spread between seeds needs two seeds")
        variance = runs.var(axis=1, ddof=1)
        floor = np.maximum(variance.mean(axis=0) * 1e-3, 1e-12)
        # The expected logarithm of a sample variance lies below the logarithm of the true variance.
        correction = digamma(freedom / 2) - np.log(freedom / 2)
        logs = np.log(np.maximum(variance, floor)) - correction
        pooled = variance.mean(axis=0)
        self._emulator = Emulator(points, logs, features, SMOOTH)
        self._pooled = np.maximum(pooled, floor)

    def __call__(self, points: np.ndarray) -> np.ndarray:
        """Variances of one run at these points, limited to a factor of ten from their mean over the
        design."""
        found = np.exp(self._emulator(points).mean)
        return np.clip(found, self._pooled / 10, self._pooled * 10)
