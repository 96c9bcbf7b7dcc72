"""Statistics across a sweep, from numbers of several runs' summaries (such as `share_le_1s`)."""

from __future__ import annotations

import math

import numpy as np

from aqmlab.experiment.plan import Cell
from aqmlab.runs.laboratory import FinishedRun

Cells = list[tuple[Cell, FinishedRun]]


def _line(cells: Cells, axis: str, summary: str) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The cells' points, and intercept and slope of the least-squares line through them."""
    x = np.array([float(str(cell.axes[axis])) for cell, _ in cells])
    y = np.array([float(run.summary[summary]) for _, run in cells])
    return x, y, np.polynomial.polynomial.polyfit(x, y, 1)


def line_r_squared(cells: Cells, *, axis: str, summary: str) -> float:
    """Share of the variation of a number that its least-squares line along an axis explains."""
    x, y, (intercept, slope) = _line(cells, axis, summary)
    return float(1 - ((y - intercept - slope * x) ** 2).sum() / ((y - y.mean()) ** 2).sum())


def line_intercept(cells: Cells, *, axis: str, summary: str) -> float:
    """Intercept of a number's least-squares line along an axis, in percent of the largest value."""
    _, y, (intercept, _) = _line(cells, axis, summary)
    return float(100 * intercept / y.max())


def ahead_of_highest(cells: Cells, *, highest: str, larger: str) -> float:
    """Percentage of the other cells whose number `larger` exceeds that of the cell with the largest
    number `highest`; 0 if that cell is the largest in both."""
    if len(cells) < 2:
        return math.nan
    top = max((run for _, run in cells), key=lambda run: run.summary[highest])
    ahead = sum(run.summary[larger] > top.summary[larger] for _, run in cells)
    return 100 * ahead / (len(cells) - 1)
