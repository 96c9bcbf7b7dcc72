"""A table drawn: a small panel per measure and column, ours with intervals, the paper's next to
it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ..colours import INK, PENS
from ..sources import Drawing, Rows
from ..style import grid

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

WIDE = True
LABEL_WIDTH = 0.12
"""Least spacing of labels as a share of a panel's width."""


def collect(table: Rows, *, x: str, columns: str) -> Drawing | None:
    """A table drawn: one panel per metric in `rows` and value of the axis `columns`, along the
    axis `x`.
    """
    if not table.all():
        return None
    below, across = table.keys[x], table.keys[columns]
    values = list(dict.fromkeys(row[across] for row in table.all()))
    drawn = []
    for name in table.rows:
        metric = table.dataset.metrics[name]
        cells = [_panel(table.of(name, **{across: value}), below) for value in values]
        drawn.append({"title": metric.title, "unit": metric.unit, "cells": cells})
    names = [f"{value} % load" if columns == "load" else str(value) for value in values]
    return Drawing({"columns": names, "rows": drawn})


def _panel(rows: list[dict], x_key: str) -> dict:
    cell: dict[str, list | None] = {"x": [row[x_key] for row in rows]}
    for name in ("ours", "low", "high"):
        cell[name] = [np.nan if row[name] is None else row[name] for row in rows]
    paper = [np.nan if row["paper"] is None else row["paper"] for row in rows]
    cell["paper"] = None if np.isnan(paper).all() else paper
    return cell


def draw(data: dict, *, axis: str, title: str = "") -> Figure:
    """Draws one row of panels for each measure in `data["rows"]`, which has `title`, `unit` and one
    cell per entry of `data["columns"]`. All panels of a measure have a common scale.

    A cell has `x`, `ours`, `low`, `high` and, where published numbers exist, `paper`.
    """
    rows, columns = data["rows"], data["columns"]
    size = (1.75 * len(columns) + 0.6, 1.35 * len(rows) + 0.7)
    figure, places = grid(*size, len(rows), len(columns), title, sharex=True, sharey="row")
    for i, row in enumerate(rows):
        for j, cell in enumerate(row["cells"]):
            _cell(places[i, j], cell)
        places[i, 0].set_ylim(0, _ylim(row))
        unit = f"\n({row['unit']})" if row["unit"] else ""
        places[i, 0].set_ylabel(f"{row['title']}{unit}", fontsize=8.5)
    for j, name in enumerate(columns):
        places[0, j].set_title(name, loc="center", fontsize=9)
    figure.supxlabel(axis, fontsize=9)
    figure.align_ylabels(places[:, 0])
    handles, labels = places[0, 0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside upper right", ncols=2, borderaxespad=0.2)
    return figure


def along(x: np.ndarray) -> np.ndarray:
    """Positions of values on an axis: the values themselves, or equal spacing if labels would
    overlap.
    """
    gaps = np.diff(np.sort(np.unique(x)))
    if not len(gaps) or gaps.min() >= LABEL_WIDTH * np.ptp(x):
        return x
    return np.searchsorted(np.unique(x), x).astype(float)


def _top(cell: dict) -> float:
    """The largest value, interval end or published number of a panel."""
    numbers = [*cell["ours"], *cell["high"], *(cell.get("paper") or [])]
    return float(np.nanmax(np.array(numbers, dtype=float), initial=0.0))


def _ylim(row: dict) -> float:
    """The upper end of a measure's axis; intervals of percentages are cut at 100 %."""
    top = max(map(_top, row["cells"]))
    return 1.12 * (min(top, 100.0) if row["unit"] == "%" else top) or 1.0


def _cell(axes: Axes, cell: dict) -> None:
    x = np.asarray(cell["x"], dtype=float)
    at = along(x)
    ours, low, high = (np.asarray(cell[k], dtype=float) for k in ("ours", "low", "high"))
    blue = PENS[0].colour
    axes.fill_between(at, np.maximum(low, 0.0), high, color=blue, alpha=0.18, linewidth=0)
    line = {"color": blue, "markersize": 3.8, "linewidth": 1.4, "clip_on": False}
    axes.plot(at, ours, marker="o", label="ours", **line)
    if cell.get("paper") is not None:
        axes.plot(
            at,
            np.asarray(cell["paper"], dtype=float),
            linestyle="none",
            marker="D",
            markersize=4.2,
            markerfacecolor="white",
            markeredgecolor=INK,
            markeredgewidth=1.1,
            label="paper, one run each",
            zorder=4,
            clip_on=False,
        )
    axes.set_xticks(at, [f"{place:g}" for place in x])
    axes.tick_params(labelsize=7.5)
    axes.yaxis.set_major_formatter("{x:,g}")
