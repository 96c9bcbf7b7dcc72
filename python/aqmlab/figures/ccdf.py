"""The tail of response times: the share above a time, both axes logarithmic."""

from __future__ import annotations

import numpy as np
from matplotlib.figure import Figure

from .curves import draw_curve, place_legend
from .style import new

LOWEST = 1e-6
"""The smallest share that is drawn."""


def ccdf(
    data: dict, *, title: str = "", legend: str = "", axis: str = "response time (ms)"
) -> Figure:
    """One curve per entry of `data["curves"]`: `label`, `x_ms`, `share` (0 to 1), and optionally
    `low`, `high`. A power law is a straight line here.
    """
    figure, axes = new()
    curves = data["curves"]
    shares = np.concatenate([np.asarray(c["share"], dtype=float) for c in curves])
    positive = shares[shares > LOWEST]
    bottom = 10.0 ** np.floor(np.log10(positive.min())) if len(positive) else LOWEST
    ends = [np.asarray(c["x_ms"], dtype=float)[[0, -1]] for c in curves]
    axes.set(xscale="log", yscale="log", ylim=(bottom, 1.0))
    axes.set_xlim(min(first for first, _ in ends), max(last for _, last in ends))
    for index, curve in enumerate(curves):
        share = np.asarray(curve["share"], dtype=float)
        keep = slice(0, int(np.sum(share >= bottom)))  # shares fall, so these are the first
        x = np.asarray(curve["x_ms"], dtype=float)[keep]
        if len(x):
            draw_curve(axes, x, share[keep], curve, index, len(curves))
    axes.set_xlabel(axis)
    axes.set_ylabel("share of responses above")
    axes.set_title(title, pad=10)
    place_legend(figure, axes, legend, "lower left")
    return figure
