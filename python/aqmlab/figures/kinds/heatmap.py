"""A metric over two axes, as fields whose colour is its mean and whose words are its number."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from aqmlab.intervals import interval

from ..colours import INK
from ..sources import Cells, Drawing, titled
from ..style import new

if TYPE_CHECKING:
    from matplotlib.figure import Figure

MAP = "cividis"
"""Light and dark to every eye, also in print."""
MOST = 12
"""Columns up to which a field has its number written in it."""


def collect(cells: Cells, *, x: str, y: str, metric: str) -> Drawing | None:
    """The mean of `metric` over the seeds for each value of the axes `x` and `y`."""
    about = cells.dataset.metrics[metric]
    found = cells.samples()
    across, up = (
        list(dict.fromkeys(s.cell.labels[axis] for s in found if axis in s.cell.labels))
        for axis in (x, y)
    )
    if not across or not up:
        return None
    means = np.full((len(up), len(across)), np.nan)
    for sample in found:
        labels = sample.cell.labels
        values = cells.dataset.values(sample.cell, about)
        means[up.index(labels[y]), across.index(labels[x])] = interval(values)[0]
    if np.isnan(means).all():
        return None
    counts = {len(sample.runs) for sample in found}
    note = f"Means of {max(counts)} seeds." if max(counts) > 1 else "One seed."
    axes = {"x": across, "y": up}
    data = {**axes, "means": means, "value": titled(about), "digits": about.digits}
    return Drawing(data, note)


def draw(data: dict, *, title: str = "", axis: str = "", axis_y: str = "") -> Figure:
    """`data` has the labels `x` and `y`, `means` with a row for each of `y`, `value` (the words of
    the colours) and `digits`; an undefined mean leaves its field empty.
    """
    across, up = data["x"], data["y"]
    means = np.ma.masked_invalid(np.asarray(data["means"], dtype=float))
    figure, axes = new(max(3.6, 1.6 + 0.62 * len(across)), max(2.6, 1.2 + 0.4 * len(up)), title)
    picture = axes.imshow(means, cmap=MAP, aspect="auto", origin="lower")
    axes.set_xticks(range(len(across)), across)
    axes.set_yticks(range(len(up)), up)
    axes.grid(visible=False)
    axes.set(xlabel=axis, ylabel=axis_y)
    if len(across) <= MOST:
        middle = (float(means.min()) + float(means.max())) / 2
        for (row, column), value in np.ma.ndenumerate(means):
            colour = "white" if value < middle else INK
            words = f"{value:,.{data.get('digits', 2)}f}"
            axes.text(column, row, words, ha="center", va="center", color=colour, fontsize=8)
    bar = figure.colorbar(picture, ax=axes, pad=0.02)
    bar.set_label(data.get("value", ""))
    bar.outline.set_visible(False)
    return figure
