"""Cumulative distributions of response times on the paper's axes: 0 to 2,000 ms, 0 to 100 %."""

from __future__ import annotations

import numpy as np
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from .curves import draw_curve, place_legend
from .style import new


def cdf(
    data: dict,
    *,
    title: str = "",
    legend: str = "",
    upto_ms: float = 2000.0,
    axis: str = "response time (ms)",
) -> Figure:
    """One curve per entry of `data["curves"]`, with the band of its interval over the seeds.

    A curve has `label` and the columns `x_ms`, `percent`, and optionally `low`, `high` (the 95 %
    interval of the mean over the seeds, in percent).
    """
    figure, axes = new()
    axes.set(xlim=(0, upto_ms), ylim=(0, 100))
    axes.xaxis.set_major_locator(MaxNLocator(10, steps=[1, 2, 5, 10]))
    axes.xaxis.set_major_formatter("{x:.0f}")
    axes.set_yticks(np.arange(0, 101, 10))
    curves = data["curves"]
    for index, curve in enumerate(curves):
        x = np.asarray(curve["x_ms"], dtype=float)
        x = x[x <= upto_ms]
        percent = np.asarray(curve["percent"], dtype=float)[: len(x)]
        draw_curve(axes, x, percent, curve, index, len(curves))
    axes.set_xlabel(axis)
    axes.set_ylabel("cumulative share of responses (%)")
    axes.set_title(title, pad=10)
    place_legend(figure, axes, legend, "lower right")
    return figure
