"""One-way delays of datagrams: a vertical tail at the end of a curve is what was lost."""

from __future__ import annotations

import numpy as np
from matplotlib.figure import Figure

from .curves import draw_curve, place_legend
from .style import SOFT, new, pen


def delays(
    data: dict,
    *,
    title: str = "",
    legend: str = "",
    upto_ms: float = 0.0,
    deadline_ms: float | None = None,
) -> Figure:
    """One curve per entry of `data["curves"]`: `label` and the columns `x_ms`, `percent` of all
    datagrams sent. A curve that ends below 100 % is continued upwards at its last delay.

    `upto_ms` is the right end of the axis, by default a little beyond the longest delay;
    `deadline_ms` is drawn as a line.
    """
    figure, axes = new()
    curves = data["curves"]
    longest = max(float(curve["x_ms"][-1]) for curve in curves)
    right = upto_ms or 1.04 * longest
    axes.set(xlim=(0, right), ylim=(0, 100))
    axes.set_yticks(np.arange(0, 101, 10))
    if deadline_ms is not None:
        axes.axvline(deadline_ms, color=SOFT, linewidth=0.9, linestyle=(0, (1.5, 1.5)), zorder=2)
    for index, curve in enumerate(curves):
        x = np.concatenate([curve["x_ms"][:1], curve["x_ms"]])
        percent = np.concatenate([[0.0], curve["percent"]])
        # curves are steep, so their markers are at equal distances upwards
        at = np.arange(8 + 12 * index / len(curves), percent[-1], 16)
        marks = np.unique(np.searchsorted(percent, at)).tolist()
        draw_curve(axes, x, percent, curve, index, len(curves), markevery=marks)
        if percent[-1] < 100:
            axes.vlines(x[-1], percent[-1], 100, color=pen(index).colour, linewidth=1.6, zorder=3)
    axes.xaxis.set_major_formatter("{x:,.0f}")
    axes.set_xlabel("one-way delay (ms)")
    axes.set_ylabel("cumulative share of datagrams (%)")
    axes.set_title(title, pad=10)
    place_legend(figure, axes, legend, "lower right", "upper left")
    return figure
