"""Differences with their intervals, one below the other: which of them is not zero?"""

from __future__ import annotations

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from .style import INK, SOFT, pen


def effects(data: dict, *, title: str = "") -> Figure:
    """A panel per entry of `data["panels"]` (`title`, `unit`, and `value`, `low`, `high` of every
    place), side by side over the common `data["places"]`, the first on top. Undefined values leave
    a gap, undefined intervals a bare point.
    """
    places, panels = data["places"], data["panels"]
    size = (1.8 + 2.9 * len(panels), 1.1 + 0.24 * len(places))
    figure = Figure(figsize=size, layout="constrained")
    row = figure.subplots(1, len(panels), squeeze=False, sharey=True)[0]
    for axes, panel in zip(row, panels, strict=True):
        _panel(axes, panel, len(places))
    row[0].set_yticks(range(len(places)), places)
    figure.suptitle(title, x=0.01, ha="left", fontsize=10, fontweight="bold")
    return figure


def _panel(axes: Axes, panel: dict, count: int) -> None:
    value, low, high = (np.array(panel[name], dtype=float) for name in ("value", "low", "high"))
    at = np.arange(count)
    first = pen(0)
    axes.axvline(0.0, color=INK, linewidth=0.9)
    axes.hlines(at, low, high, color=first.colour, linewidth=1.4)
    axes.plot(value, at, first.marker, color=first.colour, markersize=4.5, linestyle="none")
    axes.set_ylim(count - 0.5, -0.5)
    axes.set_title(panel["title"], fontsize=9)
    axes.set_xlabel(f"difference ({panel['unit']})")
    axes.xaxis.set_major_locator(MaxNLocator(5))
    axes.tick_params(axis="y", length=0, labelcolor=SOFT)
