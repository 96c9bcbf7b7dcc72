"""The end of a test of responsiveness: goodput and then responsiveness have become stable.

Everything works on plain numbers, one for each interval, so that it serves simulated and live runs.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from .form import mean

MAD = 4
"""Moving average distance: number of intervals that count (draft and goresponsiveness)."""
SDT = 0.05
"""Standard deviation tolerance (draft and goresponsiveness)."""


@dataclass(frozen=True)
class Ended:
    """The end of a test: probes of the intervals `first` to `last`, counted from 0, give the
    result."""

    first: int
    last: int
    saturated: int | None
    """The interval after which goodput was stable; None if it never was."""
    confidence: str
    """Confidence in the result: high (stable), medium (time was over, MAD intervals or more), low
    (fewer)."""


def deviation(values: Sequence[float]) -> float:
    """The standard deviation of a population."""
    middle = mean(values)
    return math.sqrt(mean([(one - middle) ** 2 for one in values]))


def moving_averages(values: Sequence[float], distance: int = MAD) -> list[float]:
    """For each value the mean of it and of those before it, at most `distance` values in all."""
    return [mean(values[max(0, i + 1 - distance) : i + 1]) for i in range(len(values))]


def is_stable(values: Sequence[float], distance: int = MAD, tolerance: float = SDT) -> bool:
    """Whether the last `distance` moving averages have a standard deviation below `tolerance` times
    the last one; `values` are those of the intervals, in order."""
    if len(values) < distance:
        return False
    averages = moving_averages(values, distance)[-distance:]
    return deviation(averages) < tolerance * averages[-1]


def draft(
    goodput: Sequence[float],
    responsiveness: Callable[[int, int], float],
    distance: int = MAD,
    tolerance: float = SDT,
) -> Ended:
    """The course of draft-ietf-ippm-responsiveness-09, section 4.4, over intervals with this
    goodput: first its moving average settles, then the responsiveness of the probes of the last
    intervals, which `responsiveness(first, last)` computes."""
    saturated, found = None, []
    for i in range(len(goodput)):
        if saturated is None:
            saturated = i if is_stable(goodput[: i + 1], distance, tolerance) else None
            continue
        found.append(responsiveness(max(0, i + 1 - distance), i))
        past = found[-distance:]
        if len(past) == distance and deviation(past) < tolerance * past[-1]:
            return Ended(i + 1 - distance, i, saturated, "high")
    return _out_of_time(len(goodput), saturated, len(found), distance)


def goresponsiveness(
    goodput: Sequence[float],
    probes: Sequence[float],
    answered: Sequence[int] | None = None,
    distance: int = MAD,
    tolerance: float = SDT,
) -> Ended:
    """The course of goresponsiveness (stabilizer/algorithm.go): the means of the last `distance`
    intervals deviate by the tolerance of their mean at most, first of goodput, then of the probes'
    times; the interval that ends at the check does not count yet. `probes` has the mean of each
    interval, NaN if a probe has no answer. `answered` has the interval in which an interval's last
    probe was answered (by default its own): an interval that is not complete at a check is not
    stable."""
    complete = range(len(probes)) if answered is None else answered

    def steady(values: Sequence[float]) -> bool:
        whole = len(values) == distance and all(math.isfinite(one) for one in values)
        return whole and deviation(values) <= tolerance * mean(values)

    checks = range(distance, len(goodput))
    saturated = next((i for i in checks if steady(goodput[i - distance : i])), None)
    first = len(goodput) if saturated is None else saturated + 1
    for i in range(first + distance, len(goodput)):
        if max(complete[i - distance : i]) <= i and steady(probes[i - distance : i]):
            return Ended(i - distance, i - 1, saturated, "high")
    return _out_of_time(len(goodput), saturated, max(0, len(goodput) - first), distance)


def _out_of_time(count: int, saturated: int | None, measured: int, distance: int) -> Ended:
    confidence = "medium" if measured >= distance else "low"
    return Ended(max(0, count - distance), max(0, count - 1), saturated, confidence)
