"""Statistics of the distribution of response times."""

from __future__ import annotations

import math
from collections.abc import Mapping

import numpy as np

from aqmlab.experiment.plan import Cell, matches
from aqmlab.runs.laboratory import FinishedRun


def shares(run: FinishedRun, grid_ms: np.ndarray) -> np.ndarray:
    """Percentage of the responses that took at most each of these times; failed ones never do."""
    histogram = run.columns("response_histogram")
    return share_below(histogram, grid_ms)


def share_below(histogram: dict[str, np.ndarray], grid_ms: np.ndarray) -> np.ndarray:
    """Percentage of a histogram's responses up to each time; NaN without responses."""
    upper, counts = bins(histogram)
    total = counts.sum()
    if total == 0:
        return np.full(len(grid_ms), np.nan)
    below = np.concatenate([[0.0], np.cumsum(counts)])
    return 100 * below[np.searchsorted(upper, grid_ms + 1e-6, side="right")] / total


def bins(histogram: dict[str, np.ndarray]) -> tuple[np.ndarray, np.ndarray]:
    """Upper edges (ms) and counts of all responses.

    With `record.by_group` each group has a block of rows with common edges; the counts are added.
    """
    upper, place = np.unique(histogram["upper_ms"].astype(float), return_inverse=True)
    return upper, np.bincount(place, weights=histogram["count"].astype(float))


def share_within(run: FinishedRun, *, ms: float) -> float:
    """Percentage of the responses that took at most `ms` milliseconds."""
    return float(shares(run, np.array([ms]))[0])


def _gain(a: FinishedRun, b: FinishedRun, from_ms: float, to_ms: float) -> np.ndarray:
    grid = np.arange(from_ms, to_ms + 1, 5.0)
    return shares(a, grid) - shares(b, grid)


def share_of_range_above(
    a: FinishedRun, b: FinishedRun, *, from_ms: float, to_ms: float, by: float = 0.0
) -> float:
    """Percent of the times from `from_ms` to `to_ms` at which more than `by` points more of a's
    responses than of b's have ended.
    """
    return float(100 * np.mean(_gain(a, b, from_ms, to_ms) > by))


def lowest_gain(a: FinishedRun, b: FinishedRun, *, from_ms: float, to_ms: float) -> float:
    """Smallest difference, over the times from `from_ms` to `to_ms`, between the percentages of a's
    and of b's responses that have ended by then, in percentage points."""
    return float(np.min(_gain(a, b, from_ms, to_ms)))


def highest_gain(a: FinishedRun, b: FinishedRun, *, from_ms: float, to_ms: float) -> float:
    """Largest difference, over the times from `from_ms` to `to_ms`, between the percentages of a's
    and of b's responses that have ended by then, in percentage points."""
    return float(np.max(_gain(a, b, from_ms, to_ms)))


def crossings(
    a: FinishedRun, b: FinishedRun, *, from_ms: float, to_ms: float, noise: float = 0.25
) -> float:
    """The number of crossings of the two distributions in this range; differences within `noise`
    points are ignored.
    """
    gain = _gain(a, b, from_ms, to_ms)
    side = np.sign(gain[np.abs(gain) > noise])
    return float(np.sum(side[1:] != side[:-1]))


def mean_share(run: FinishedRun, *, from_ms: float, to_ms: float) -> float:
    """Height of the distribution in percent, averaged over these times (every 5 ms)."""
    return float(shares(run, np.arange(from_ms, to_ms + 1, 5.0)).mean())


def completed_per_s(run: FinishedRun) -> float:
    """Requests answered per second of the measured interval; failed ones do not count."""
    answered = run.summary["responses"] - run.summary["responses_failed"]
    return float(answered / run.summary["measured_s"])


def response_quantile_ms(run: FinishedRun, *, percent: float) -> float:
    """The response time (upper edge of its bin, ms) that `percent` percent of the responses do not
    exceed.

    NaN if it falls among the failed ones.
    """
    upper, counts = bins(run.columns("response_histogram"))
    if counts.sum() == 0:
        return float("nan")
    found = upper[np.searchsorted(np.cumsum(counts), percent / 100 * counts.sum() * (1 - 1e-12))]
    return float(found) if np.isfinite(found) else float("nan")


def lowest_gain_until(a: FinishedRun, b: FinishedRun, *, percent: float) -> float:
    """Smallest difference in points of a's distribution to b's, up to the time at which `percent`
    percent of b's responses have ended.
    """
    until = response_quantile_ms(b, percent=percent)
    return lowest_gain(a, b, from_ms=0.0, to_ms=until) if np.isfinite(until) else float("nan")


def crossings_after(a: FinishedRun, b: FinishedRun, *, percent: float) -> float:
    """The number of crossings of the distributions beyond the time at which `percent` percent of
    b's responses have ended, up to the last bin edge of either.
    """
    start = response_quantile_ms(b, percent=percent)
    if not np.isfinite(start):
        return float("nan")
    histograms = [run.columns("response_histogram") for run in (a, b)]
    edges = np.unique(np.concatenate([h["upper_ms"].astype(float) for h in histograms]))
    grid = edges[(edges >= start) & np.isfinite(edges)]
    gain = shares(a, grid) - shares(b, grid)
    side = np.sign(gain[gain != 0])
    return float(np.sum(side[1:] != side[:-1]))


def lower_to_upper_change(
    cells: list[tuple[Cell, FinishedRun]], *, reference: Mapping[str, object]
) -> float:
    """The ratio of a sweep's effect on short responses to its effect on long ones.

    The change by a setting is the difference of its distribution to that of the cell with the axis
    values `reference`, without sign, in points, at a quantile of that cell. The short responses
    are the mean over its 10, 20, 30, 40 and 50 % quantiles, the long ones its 90 % quantile; both
    are means over the other cells.
    """
    (base,) = (run for cell, run in cells if matches(cell.axes, dict(reference)))
    names = [f"response_p{q}_s" for q in (10, 20, 30, 40, 50, 90)]
    times = 1000 * np.array([base.summary[name] or math.nan for name in names])
    changes = [np.abs(shares(run, times) - shares(base, times)) for _, run in cells]
    total = np.sum(changes, axis=0)
    return float(total[:-1].mean() / total[-1]) if total[-1] > 0 else math.nan
