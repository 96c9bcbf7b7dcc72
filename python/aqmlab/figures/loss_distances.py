"""How far it is from one loss of a sender to its next: a histogram per discipline."""

from __future__ import annotations

import numpy as np
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from .style import INK, pen

COLUMNS = 3


def loss_distances(data: dict, *, title: str = "", top: float = 0.0) -> Figure:
    """One panel per entry of `data["series"]`: `label`, `count` of pairs of losses at distances
    1, 2, … datagrams, and `beyond`, the pairs farther apart, which are told in words.

    All panels have the same axes. Bars are cut at `top` (0: at none) and their counts written on
    them.
    """
    series = data["series"]
    columns = min(COLUMNS, len(series))
    rows = -(-len(series) // columns)
    figure = Figure(figsize=(0.6 + 2.3 * columns, 0.7 + 1.45 * rows), layout="constrained")
    grid = figure.subplots(rows, columns, squeeze=False, sharex=True, sharey=True)
    largest = max(float(np.max(one["count"], initial=0)) for one in series)
    limit = min(top or np.inf, max(1.12 * largest, 1.0))
    for axes in grid.flat[len(series) :]:
        axes.set_axis_off()
    for index, (axes, one) in enumerate(zip(grid.flat, series, strict=False)):
        count = np.asarray(one["count"], dtype=float)
        distance = np.arange(1, len(count) + 1)
        axes.bar(distance, np.minimum(count, limit), width=0.8, color=pen(index).colour)
        for x in distance[count > limit]:
            axes.text(
                x,
                limit,
                f" {count[x - 1]:,.0f}",
                ha="left",
                va="top",
                fontsize=7.5,
            )
        axes.set_title(one["label"], fontsize=9)
        axes.text(
            0.98,
            0.94,
            f"{count.sum() + one['beyond']:,.0f} pairs,\n{one['beyond']:,} beyond",
            transform=axes.transAxes,
            ha="right",
            va="top",
            fontsize=7.5,
            color=INK,
        )
        axes.set(xlim=(0.3, len(count) + 0.7), ylim=(0, limit))
        axes.yaxis.set_major_locator(MaxNLocator(4, integer=True))
        axes.yaxis.set_major_formatter("{x:,.0f}")
        if index + columns >= len(series):
            axes.tick_params(labelbottom=True)
    figure.supxlabel("distance from a loss to the next (datagrams)", fontsize=9)
    figure.supylabel("pairs of losses", fontsize=9)
    figure.suptitle(title, x=0.01, ha="left", fontsize=10, fontweight="bold")
    return figure
