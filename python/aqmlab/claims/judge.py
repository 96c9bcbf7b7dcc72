"""Three-valued decisions: holds, does not hold, inconclusive.

A condition states bounds for the mean of a value that every seed gives. It *holds* if the whole
interval lies on the right side of its bounds and *fails* if the whole interval lies on the wrong
side. A claim that needs several conditions holds if all hold, each at the full level (an
intersection-union test needs no correction); that one of m fails is only believed at level alpha/m
(Bonferroni), since with many conditions one fails by chance. For alternatives the roles are
exchanged. A rule that may be evaluated k times as seeds accumulate uses alpha/k each time.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from aqmlab.intervals import interval

if TYPE_CHECKING:
    import numpy as np

HOLDS, FAILS, INCONCLUSIVE = "holds", "does not hold", "inconclusive"

ALPHA = 0.05
"""Probability of a wrong verdict on one claim, over all interim analyses, if values under the seeds
are about normal (docs/studies.md states the limits)."""


@dataclass(frozen=True)
class Bounds:
    """The bounds between which a value must lie; a value equal to a strict bound is outside."""

    low: float = -math.inf
    high: float = math.inf
    strict: bool = False

    def contains(self, low: float, high: float) -> bool:
        """Whether the whole interval from `low` to `high` lies within the bounds."""
        if self.strict:
            return self.low < low and high < self.high
        return self.low <= low and high <= self.high

    def excludes(self, low: float, high: float) -> bool:
        """Whether the whole interval lies below the lower bound, or above the upper one."""
        if self.strict:
            return high <= self.low or low >= self.high
        return high < self.low or low > self.high

    def margin(self, value: float) -> float:
        """Distance of a value from the nearer bound, as a share of that bound; negative if the
        value is outside the bounds."""
        gaps = [
            gap / max(abs(bound), 1e-12) if bound else gap
            for gap, bound in ((value - self.low, self.low), (self.high - value, self.high))
            if math.isfinite(bound)
        ]
        return min(gaps, default=math.inf)

    def words(self) -> str:
        """The bounds in words, such as "at least 3"."""
        least, most = ("above", "below") if self.strict else ("at least", "at most")
        if math.isfinite(self.low) and math.isfinite(self.high):
            return f"between {self.low:g} and {self.high:g}"
        return f"{least} {self.low:g}" if math.isfinite(self.low) else f"{most} {self.high:g}"


@dataclass(frozen=True)
class Judged:
    """An evaluated condition: its estimate, the interval that decided, and the verdict."""

    text: str
    mean: float
    low: float
    high: float
    replications: int
    bounds: Bounds
    verdict: str
    why: str = ""
    """The reason for a missing estimate."""
    unit: str = ""

    @property
    def margin(self) -> float:
        """Distance of the estimate from the nearer bound, as a share of that bound; negative if the
        estimate is outside the bounds."""
        return self.bounds.margin(self.mean) if math.isfinite(self.mean) else -math.inf


def decide(
    sample: np.ndarray, bounds: Bounds, *, hold: float = ALPHA, fail: float = ALPHA
) -> tuple[str, float, float, float]:
    """Verdict, mean and the interval that decides, of a sample with one value per seed; if neither
    verdict is reached, the wider interval.

    `hold` and `fail` are the error probabilities of either verdict. A sample without dimension is
    an exact number.
    """
    if sample.ndim == 0:
        value = float(sample)
        if math.isnan(value):
            return INCONCLUSIVE, value, math.nan, math.nan
        return (HOLDS if bounds.contains(value, value) else FAILS), value, value, value
    values = [float(v) for v in sample]
    to_hold, to_fail = interval(values, 1 - hold), interval(values, 1 - fail)
    if math.isfinite(to_hold[1]):
        if bounds.contains(*to_hold[1:]):
            return HOLDS, *to_hold
        if bounds.excludes(*to_fail[1:]):
            return FAILS, *to_fail
    return INCONCLUSIVE, *(to_hold if hold < fail else to_fail)


def all_of(verdicts: Sequence[str]) -> str:
    """The common verdict of several conditions that must all hold."""
    for verdict in (FAILS, INCONCLUSIVE):
        if verdict in verdicts:
            return verdict
    return HOLDS if verdicts else INCONCLUSIVE


def any_of(verdicts: Sequence[str]) -> str:
    """The common verdict of several conditions of which one suffices."""
    for verdict in (HOLDS, INCONCLUSIVE):
        if verdict in verdicts:
            return verdict
    return FAILS if verdicts else INCONCLUSIVE
