"""What is to be met: one number each, how well it is known, and how well a model can know it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

SHARED = 0.5
"""Correlation of the model's discrepancy between rows of one metric: what a model lacks, it lacks
in every row. Constructed."""


@dataclass(frozen=True)
class Target:
    """A number of a table, or bounds of one, in the metric's unit."""

    row: str
    metric: str
    low: float
    """The number itself, or the lower bound."""
    high: float
    """The number itself, or the upper bound; infinite where there is none."""
    noise: float = 0.0
    """Standard deviation of the published number about what its laboratory would have found on
    average, beyond that of the seeds: rounding, and whatever else is known."""
    discrepancy: float = 0.0
    """Standard deviation of the simulator about the laboratory even with the right values."""
    log: bool = False
    """Whether it is compared by its logarithm."""

    @property
    def name(self) -> str:
        """How a reader finds it."""
        return f"{self.metric} ({self.row})"

    @property
    def number(self) -> float | None:
        """The published number, if it is no bound."""
        return self.low if self.low == self.high else None


class Targets:
    """All of them, on the scales on which they are compared."""

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
        """Values on the scale of comparison; the last axis is that of the targets."""
        safe = np.maximum(values, self.least)
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.where(self.log, np.log(np.where(self.log, safe, 1.0)), values)

    def described(self, values: np.ndarray) -> np.ndarray:
        """The opposite of `scaled`."""
        return np.where(self.log, np.exp(np.where(self.log, values, 0.0)), values)

    def _slope(self, target: Target) -> float:
        """What a small deviation becomes on the scale of comparison."""
        size = target.low if np.isfinite(target.low) else target.high
        return 1.0 / max(size, _least(target)) if target.log else 1.0

    def missed(self, mean: np.ndarray) -> np.ndarray:
        """How far means lie beyond the numbers or their bounds; 0 within bounds, with its sign."""
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
    """The smallest value of a logarithmic target that differs from zero."""
    return max(target.noise, target.discrepancy, 1e-9)
