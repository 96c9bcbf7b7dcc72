"""Cumulative distributions of response times on the paper's axes: 0 to 2,000 ms, 0 to 100 %."""

from __future__ import annotations

import numpy as np
from matplotlib.figure import Figure

from .style import new, pen


def cdf(data: dict, *, title: str = "", legend: str = "", upto_ms: float = 2000.0) -> Figure:
    """One curve per entry of `data["curves"]`, with the band of its interval over the seeds.

    A curve has `label` and the columns `x_ms`, `percent`, and optionally `low`, `high` (the 95 %
    interval of the mean over the seeds, in percent).
    """
    figure, axes = new()
    curves = data["curves"]
    for index, curve in enumerate(curves):
        _curve(axes, curve, index, len(curves), upto_ms)
    axes.set(xlim=(0, upto_ms), ylim=(0, 100))
    axes.set_xticks(np.arange(0, upto_ms + 1, 200))
    axes.set_yticks(np.arange(0, 101, 10))
    axes.set_xlabel("response time (ms)")
    axes.set_ylabel("cumulative share of responses (%)")
    axes.set_title(title, pad=10)
    if len(curves) > 1:
        axes.legend(loc="lower right", title=legend, alignment="left", handlelength=3.2)
    return figure


def _curve(axes, curve: dict, index: int, count: int, upto_ms: float) -> None:
    style = pen(index)
    x = np.asarray(curve["x_ms"], dtype=float)
    keep = x <= upto_ms
    if curve.get("low") is not None:
        low, high = (np.clip(np.asarray(curve[k], dtype=float), 0, 100) for k in ("low", "high"))
        axes.fill_between(
            x[keep], low[keep], high[keep], color=style.colour, alpha=0.16, linewidth=0
        )
    # markers at places of their own, so that curves on top of each other remain readable
    step = upto_ms / 6
    places = np.arange(step * (0.35 + index / count), upto_ms, step)
    markers = np.unique(np.searchsorted(x[keep], places).clip(0, keep.sum() - 1))
    axes.plot(
        x[keep],
        np.asarray(curve["percent"], dtype=float)[keep],
        color=style.colour,
        linestyle=style.dash,
        marker=style.marker,
        markevery=markers.tolist(),
        markersize=5.0,
        markeredgecolor="white",
        markeredgewidth=0.6,
        label=curve["label"],
        zorder=3 + index / 100,
    )
