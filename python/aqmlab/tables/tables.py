"""Tables of a study: means and 95 % intervals over seeds, next to the published numbers.

Two questions about a published number are distinguished. Is it inside the 95 % interval of the
simulated *mean*? And, since it is from one run itself, is it in the prediction interval, in which
one more simulated run would be with 95 % probability? Only a number outside the second interval
shows a difference between the two laboratories rather than between two runs.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping, Sequence

from aqmlab.experiment.grammar import Difference, Metric, Table
from aqmlab.experiment.plan import Cell
from aqmlab.intervals import interval

from . import published

#: Verdicts on a published number compared with the simulated ones.
INSIDE, BETWEEN, OUTSIDE = "inside", "within one run", "outside"

Values = Callable[[Cell, Metric], Sequence[float]]
"""A function that gives a metric's value for each seed of a cell, in the metric's unit."""


def table(
    spec: Table,
    metrics: Sequence[Metric],
    cells: list[Cell],
    values: Values,
    reference: list[dict[str, str]] | None,
) -> list[dict]:
    """The rows of a table, one per cell and metric, with the published number if there is one."""
    rows = []
    found = published.find(reference or [], places(spec, cells))
    for cell, paper in zip(cells, found, strict=True):
        place = {column: _place(cell, axis) for axis, column in spec.keys.items()}
        for metric in metrics:
            sample = values(cell, metric)
            row = {"table": spec.id, **place, "metric": metric.name, "n": len(sample)}
            row |= estimate(sample)
            row |= compare(row, published.number(paper, metric), metric.digits)
            rows.append(row)
    return rows


def differences(
    spec: Difference, metrics: Sequence[Metric], pairs: list[tuple[Cell, Cell]], values: Values
) -> list[dict]:
    """The rows of paired differences: both runs of a pair have one seed, and so equal users."""
    rows = []
    for cell, other in pairs:
        place = {axis: plain(cell.axes[axis]) for axis in spec.columns}
        for metric in metrics:
            mine, theirs = (values(c, metric) for c in (cell, other))
            sample = [a - b for a, b in zip(mine, theirs, strict=True)]
            row = {"table": spec.id, **place, "metric": metric.name, "n": len(sample)}
            rows.append(row | estimate(sample))
    return rows


def estimate(sample: Sequence[float]) -> dict[str, float | None]:
    """Mean, its 95 % interval, and the 95 % prediction interval of one more run.

    All are None if the number is undefined under any seed.
    """
    mean, low, high = interval(list(sample))
    half = (high - low) / 2 * math.sqrt(len(sample) + 1)
    found = {
        "ours": mean,
        "low": low,
        "high": high,
        "one_run_low": mean - half,
        "one_run_high": mean + half,
    }
    return {name: v if math.isfinite(v) else None for name, v in found.items()}


def compare(row: Mapping, paper: float | None, digits: int) -> dict[str, object]:
    """The comparison of the published number with the simulated mean; the published one is rounded
    by up to half a unit of its last digit."""
    nothing = {
        "paper": paper,
        "difference": None,
        "difference_low": None,
        "difference_high": None,
        "verdict": None,
    }
    if paper is None or row["ours"] is None:
        return nothing
    found = nothing | {"difference": row["ours"] - paper}
    if row["low"] is None:
        return found
    found |= {"difference_low": row["low"] - paper, "difference_high": row["high"] - paper}
    slack = 0.5 * 10.0**-digits + 1e-9
    found["verdict"] = (
        INSIDE
        if row["low"] - slack <= paper <= row["high"] + slack
        else BETWEEN
        if row["one_run_low"] - slack <= paper <= row["one_run_high"] + slack
        else OUTSIDE
    )
    return found


def places(spec: Table, cells: list[Cell]) -> list[dict[str, object]]:
    """For each cell the columns and values by which its published row is found."""
    return [
        {column: _place(cell, axis) for axis, column in spec.keys.items()} | cell.published
        for cell in cells
    ]


def _place(cell: Cell, axis: str) -> object:
    """The value of an axis in a table: the label for a list, or for a value without a source
    (marked *); otherwise the plain value."""
    value, label = cell.axes[axis], cell.labels[axis]
    marked = isinstance(value, str) and label == f"{value} *"
    return label if isinstance(value, list) or marked else plain(value)


_SHARE = re.compile(r"\d+(\.\d+)? ?%")


def plain(value: object) -> object:
    """An axis value in the form for a table: 98 for "98%", "(30, 90)" for [30, 90]."""
    if isinstance(value, list):
        return f"({', '.join(str(v) for v in value)})"
    if isinstance(value, str) and _SHARE.fullmatch(value):
        share = float(value[:-1])
        return int(share) if share == int(share) else share
    return value
