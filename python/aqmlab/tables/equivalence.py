"""Whether two series of runs agree on a number: two one-sided tests, and a verdict.

A margin is stated in advance, and the difference of the means has an interval. If the interval is
within the margin, both one-sided hypotheses (lower by more than the margin, higher by more than it)
are rejected and the number is equivalent; if the interval is beyond the margin, the number is
different; else it is inconclusive (D. J. Schuirmann, A comparison of the two one-sided tests
procedure, J. Pharmacokinetics and Biopharmaceutics, 1987). The 95 % interval is combined from those
of both means, so that each test is at 2.5 %.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from aqmlab.intervals import interval

EQUIVALENT, DIFFERENT, INCONCLUSIVE = "equivalent", "different", "inconclusive"


@dataclass(frozen=True)
class Margin:
    """The largest difference between the means of two programs that counts as no difference."""

    relative: float
    """Margin as a share of the other program's mean."""
    floor: float = 0.0
    """The smallest margin, in the unit of the compared number."""

    def of(self, mean: float) -> float:
        """The largest difference from this mean that counts as no difference, in the mean's
        unit."""
        return max(self.relative * abs(mean), self.floor)

    def times(self, scale: float) -> Margin:
        """The margin for a number in another unit: `scale` converts a number into it."""
        return Margin(self.relative, self.floor * scale)


Estimate = tuple[float, float, float]
"""A mean and the ends of its 95 % interval."""


@dataclass(frozen=True)
class Judgement:
    """The comparison of one number between two series of runs."""

    ours: float
    """Mean of the compared number over the first series of runs."""
    theirs: float
    """Mean of the compared number over the other series of runs; the margin lies around it."""
    half: float
    """Half the width of the 95 % interval of the difference of these means; NaN if a series has
    fewer than two runs."""
    margin: float
    ratio: float
    """`ours` divided by `theirs`; NaN if either is 0."""
    ratio_half: float
    """Half the width of the 95 % interval of the ratio."""
    verdict: str
    """The verdict: `equivalent`, `different` or `inconclusive`."""


def judge(ours: Sequence[float], theirs: Sequence[float], margin: Margin) -> Judgement:
    """Compares the means of a number in two independent series of runs."""
    return judge_means(interval(ours), interval(theirs), margin)


def judge_paired(ours: Sequence[float], theirs: Sequence[float], margin: Margin) -> Judgement:
    """Compares paired runs, which had equal seeds and so equal users in both programs.

    The interval is that of the differences, in which common chance cancels.
    """
    differences = [a - b for a, b in zip(ours, theirs, strict=True)]
    mean, low, _ = interval(differences)
    a, b = (sum(series) / len(series) for series in (ours, theirs))
    half, allowed = mean - low, margin.of(b)
    ratio, spread = (a / b, half / abs(b)) if a != 0 and b != 0 else (math.nan, math.nan)
    return Judgement(a, b, half, allowed, ratio, spread, _verdict(abs(mean), half, allowed))


def judge_means(ours: Estimate, theirs: Estimate, margin: Margin) -> Judgement:
    """Compares two means whose 95 % intervals are known."""
    (a, low_a, _), (b, low_b, _) = ours, theirs
    half, allowed = math.hypot(a - low_a, b - low_b), margin.of(b)
    verdict = _verdict(abs(a - b), half, allowed)
    ratio = spread = math.nan
    if a != 0 and b != 0:
        ratio = a / b
        spread = abs(ratio) * math.hypot((a - low_a) / a, (b - low_b) / b)
    return Judgement(a, b, half, allowed, ratio, spread, verdict)


def _verdict(apart: float, half: float, allowed: float) -> str:
    if apart + half <= allowed:
        return EQUIVALENT
    return DIFFERENT if apart - half > allowed else INCONCLUSIVE
