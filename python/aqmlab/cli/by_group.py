"""What every traffic group of a run came to, for human eyes: a short table by kind of user."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

from aqmlab.intervals import interval
from aqmlab.tables import subjects

from .show import Figure, grid, plus_minus

if TYPE_CHECKING:
    from rich.console import Console

    from aqmlab.tables.result import Result
    from aqmlab.tables.subjects import Column

_COUNTED = ("requests", "responses", "pages")
"""Units that a title says already."""


def show(result: Result, console: Console) -> None:
    """The tables of a result with several traffic groups."""
    several = len(result.labels) > 1
    for kind in subjects.KINDS:
        if kind.row != "group":
            continue
        found = [
            (label, name, row)
            for number, label in enumerate(result.labels)
            for name, row in subjects.of_kind(kind, result.variant(number)).items()
        ]
        columns = subjects.shown(kind, (row for *_, row in found))
        figures = [_figure(column) for column in columns]
        table = grid([f"{f.head} {f.unit}".strip() for f in figures], kind.title)
        for label, name, row in found:
            cells = [_of_seeds(f, row.get(f.field)) for f in figures]
            table.add_row(f"{label}: {name}" if several else name, *cells)
        if columns:
            console.print(table)
    groups = result.runs[0].scenario.get("traffic", [])
    if any(group.get("app") in ("ping", "requests") for group in groups):
        from . import network_tests

        network_tests.show(result, console)


def _of_seeds(figure: Figure, sample: Sequence[float] | None) -> str:
    """A number under several seeds; its unit is that of the table already."""
    mean, _, high = interval(list(sample or []))
    if math.isnan(mean):
        return "-"
    return plus_minus(figure, mean, None if math.isnan(high) else high)


def _figure(column: Column) -> Figure:
    """How a column is shown, whose numbers are scaled already."""
    metric = column.metric
    unit = "" if metric.unit in _COUNTED else metric.unit
    return Figure(column.name, metric.title, unit, 1.0, metric.digits, column.head)
