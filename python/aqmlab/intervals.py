"""Means and their confidence intervals by Student's t."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import cache

CONFIDENCE = 0.95


@cache
def student(share: float, freedom: int) -> float:
    """The quantile of Student's t distribution at the probability `share`.

    `share` lies between 0 and 1; `freedom`, the degrees of freedom, is a whole number from 1 on.
    The distribution is a finite sum then (Abramowitz and Stegun 1964, 26.7.3 and 26.7.4).
    SciPy has the quantile too, but a third of a second of every command would be its import.
    """
    if share < 0.5:
        return -student(1 - share, freedom)
    between = 2 * share - 1
    # Density of |t| at 0.
    log_peak = math.lgamma((freedom + 1) / 2) - math.lgamma(freedom / 2)
    peak = 2 * math.exp(log_peak) / math.sqrt(freedom * math.pi)
    t = 0.0
    while True:
        # Newton's steps from 0 come up to the quantile from below, since the density falls.
        density = peak * (1 + t * t / freedom) ** (-(freedom + 1) / 2)
        further = t + (between - _between(t, freedom)) / density
        if further <= t * (1 + 1e-15):
            return t
        t = further


def _between(t: float, freedom: int) -> float:
    """The probability that a value from Student's t distribution with `freedom` degrees of freedom
    lies between -`t` and `t` (Abramowitz and Stegun 1964, 26.7.3 and 26.7.4)."""
    angle = math.atan(t / math.sqrt(freedom))
    square = math.cos(angle) ** 2
    odd = freedom % 2
    term = math.cos(angle) if odd else 1.0
    total = term if freedom > 1 else 0.0
    for j in range(2 + odd, freedom - 1, 2):
        term *= square * (j - 1) / j
        total += term
    total *= math.sin(angle)
    return 2 / math.pi * (angle + total) if odd else total


def interval(values: Sequence[float], confidence: float = CONFIDENCE) -> tuple[float, float, float]:
    """The mean of the values, and the ends of its Student-t confidence interval; the ends are NaN
    for fewer than two values."""
    n = len(values)
    if n == 0:
        return math.nan, math.nan, math.nan
    mean = math.fsum(values) / n
    if n == 1:
        return mean, math.nan, math.nan
    deviation = math.sqrt(math.fsum((v - mean) ** 2 for v in values) / (n - 1))
    half = student((1 + confidence) / 2, n - 1) * deviation / math.sqrt(n)
    return mean, mean - half, mean + half
