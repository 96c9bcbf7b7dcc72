"""One bar per connection or source, and the mean of all."""

from __future__ import annotations

import numpy as np
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from .style import INK, PENS

COLUMNS = 2


def bars(data: dict, *, title: str = "", axis: str = "", value: str = "") -> Figure:
    """One panel per entry of `data["panels"]`, all on the same scale: `title`, `values` and
    `mean`, drawn as a line. `axis` and `value` are the words at the axes.
    """
    panels = data["panels"]
    columns = min(COLUMNS, len(panels))
    rows = -(-len(panels) // columns)
    figure = Figure(figsize=(0.6 + 3.5 * columns, 0.7 + 2.1 * rows), layout="constrained")
    grid = figure.subplots(rows, columns, squeeze=False, sharey=True)
    for axes in grid.flat[len(panels) :]:
        axes.set_axis_off()
    for axes, panel in zip(grid.flat, panels, strict=False):
        values = np.asarray(panel["values"], dtype=float)
        numbers = np.arange(1, len(values) + 1)
        axes.bar(numbers, values, width=0.75, color=PENS[0].colour)
        axes.axhline(panel["mean"], color=INK, linewidth=1.2, linestyle=(0, (5, 1.8)))
        axes.text(
            1.0,
            1.02,
            f"mean {panel['mean']:,.1f}",
            transform=axes.transAxes,
            ha="right",
            va="bottom",
            fontsize=8.5,
        )
        axes.set_title(panel["title"], fontsize=9)
        axes.set_xlim(0.3, len(values) + 0.7)
        axes.xaxis.set_major_locator(MaxNLocator(6, integer=True, steps=[1, 2, 5, 10]))
        axes.yaxis.set_major_formatter("{x:,.0f}")
        axes.grid(visible=False, axis="x")
        axes.set_xlabel(axis)
    for axes in grid[:, 0]:
        axes.set_ylabel(value)
    figure.suptitle(title, x=0.01, ha="left", fontsize=10, fontweight="bold")
    return figure
