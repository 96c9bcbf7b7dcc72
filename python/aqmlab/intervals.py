"""Means and their confidence intervals by Student's t."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import cache

CONFIDENCE = 0.95


@cache
def student(share: float, freedom: int) -> float:
    """The quantile of Student's t distribution."""
    # This is the function that `scipy.stats.t.ppf` uses; importing scipy.stats takes a second.
    from scipy.special import stdtrit

    return float(stdtrit(freedom, share))


def interval(values: Sequence[float], confidence: float = CONFIDENCE) -> tuple[float, float, float]:
    """Mean and the ends of its Student-t interval; the ends are NaN for fewer than two values."""
    n = len(values)
    if n == 0:
        return math.nan, math.nan, math.nan
    mean = math.fsum(values) / n
    if n == 1:
        return mean, math.nan, math.nan
    deviation = math.sqrt(math.fsum((v - mean) ** 2 for v in values) / (n - 1))
    half = student((1 + confidence) / 2, n - 1) * deviation / math.sqrt(n)
    return mean, mean - half, mean + half
