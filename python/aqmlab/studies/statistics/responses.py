"""Statistics of the distribution of response times."""

from __future__ import annotations

import numpy as np

from aqmlab.studies.laboratory import Measured


def shares(run: Measured, grid_ms: np.ndarray) -> np.ndarray:
    """Percent of the responses that took at most each of these times (failed ones never)."""
    histogram = run.table("response_histogram")
    return share_below(histogram, grid_ms)


def share_below(histogram: dict[str, np.ndarray], grid_ms: np.ndarray) -> np.ndarray:
    """The same of a histogram; not a number without responses."""
    # With `record.by_group` every group has a block of rows with the same edges: they add up.
    upper, place = np.unique(histogram["upper_ms"].astype(float), return_inverse=True)
    counts = np.bincount(place, weights=histogram["count"].astype(float))
    total = counts.sum()
    if total == 0:
        return np.full(len(grid_ms), np.nan)
    below = np.concatenate([[0.0], np.cumsum(counts)])
    return 100 * below[np.searchsorted(upper, grid_ms + 1e-6, side="right")] / total


def share_within(run: Measured, *, ms: float) -> float:
    """Percent of the responses that took at most so long."""
    return float(shares(run, np.array([ms]))[0])


def _gain(a: Measured, b: Measured, from_ms: float, to_ms: float) -> np.ndarray:
    grid = np.arange(from_ms, to_ms + 1, 5.0)
    return shares(a, grid) - shares(b, grid)


def share_of_range_above(
    a: Measured, b: Measured, *, from_ms: float, to_ms: float, by: float = 0.0
) -> float:
    """Percent of the times from `from_ms` to `to_ms` at which more than `by` points more of a's
    responses than of b's have ended.
    """
    return float(100 * np.mean(_gain(a, b, from_ms, to_ms) > by))


def lowest_gain(a: Measured, b: Measured, *, from_ms: float, to_ms: float) -> float:
    """Smallest difference in points of a's distribution to b's in this range of times."""
    return float(np.min(_gain(a, b, from_ms, to_ms)))


def highest_gain(a: Measured, b: Measured, *, from_ms: float, to_ms: float) -> float:
    """Largest difference in points of a's distribution to b's in this range of times."""
    return float(np.max(_gain(a, b, from_ms, to_ms)))


def crossings(
    a: Measured, b: Measured, *, from_ms: float, to_ms: float, noise: float = 0.25
) -> float:
    """How often the two distributions cross in this range; differences within `noise` points are
    neither above nor below.
    """
    gain = _gain(a, b, from_ms, to_ms)
    side = np.sign(gain[np.abs(gain) > noise])
    return float(np.sum(side[1:] != side[:-1]))
