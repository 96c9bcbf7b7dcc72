"""The targets: numbers or bounds to be met, each with its noise and the model's discrepancy."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

SHARED = 0.5
"""Correlation of the model's discrepancy between rows of one metric, since a defect of a model
affects all rows; our own choice, without a source."""


@dataclass(frozen=True)
class Target:
    """A number of a published table, or its bounds, in the metric's unit."""

    row: str
    metric: str
    low: float
    """The published number itself, or the lower bound."""
    high: float
    """The published number itself, or the upper bound; infinite if there is none."""
    noise: float = 0.0
    """Standard deviation of the published number around the mean of many such measurements, without
    that of seeds: rounding, and other known errors."""
    discrepancy: float = 0.0
    """Standard deviation between the simulator with the true values and the measured system."""
    log: bool = False
    """Whether the logarithms of the numbers are compared."""

    @property
    def name(self) -> str:
        """Metric and row of the target, for a reader."""
        return f"{self.metric} ({self.row})"

    @property
    def number(self) -> float | None:
        """The published number, if it is no bound."""
        return self.low if self.low == self.high else None


class Targets:
    """All targets, on the linear or logarithmic scales on which they are compared."""

    def __init__(self, each: Sequence[Target]) -> None:
        self.each = list(each)
        self.log = np.array([t.log for t in each])
        self.least = np.array([_least(t) if t.log else -np.inf for t in each])
        self.low = self.scaled(np.array([t.low for t in each], dtype=float))
        self.high = self.scaled(np.array([t.high for t in each], dtype=float))
        slope = np.array([self._slope(t) for t in each])
        self.noise = np.array([t.noise for t in each]) * slope
        self.discrepancy = np.array([t.discrepancy for t in each]) * slope

    def __len__(self) -> int:
        return len(self.each)

    def scaled(self, values: np.ndarray) -> np.ndarray:
        """Values of the targets (on the last axis of `values`), converted to the linear or
        logarithmic scale on which each is compared."""
        safe = np.maximum(values, self.least)
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.where(self.log, np.log(np.where(self.log, safe, 1.0)), values)

    def described(self, values: np.ndarray) -> np.ndarray:
        """The inverse of `scaled`: values in the metrics' units."""
        return np.where(self.log, np.exp(np.where(self.log, values, 0.0)), values)

    def _slope(self, target: Target) -> float:
        """The factor that converts a small deviation to the scale of comparison."""
        size = target.low if np.isfinite(target.low) else target.high
        return 1.0 / max(size, _least(target)) if target.log else 1.0

    def missed(self, mean: np.ndarray) -> np.ndarray:
        """The differences of simulated means from the published numbers, or from the bounds that
        the means exceed; 0 within bounds."""
        return np.where(
            mean < self.low, mean - self.low, np.where(mean > self.high, mean - self.high, 0.0)
        )

    def covariance(self) -> np.ndarray:
        """Covariance of the parts that do not depend on seeds: noise of the numbers, and the
        model's discrepancy."""
        metrics = np.array([t.metric for t in self.each])
        shared = np.where(metrics[:, None] == metrics[None, :], SHARED, 0.0)
        np.fill_diagonal(shared, 1.0)
        return shared * np.outer(self.discrepancy, self.discrepancy) + np.diag(self.noise**2)


def _least(target: Target) -> float:
    """The smallest value of which a logarithm is taken for a target; smaller ones are raised to
    it."""
    return max(target.noise, target.discrepancy, 1e-9)
