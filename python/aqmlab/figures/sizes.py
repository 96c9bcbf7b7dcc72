"""How many responses, or how many of their bytes, are in responses of up to a size."""

from __future__ import annotations

import numpy as np
from matplotlib.figure import Figure

from .curves import Corner, draw_curve, place_legend
from .style import new

WEIGHTS: dict[str, tuple[str, Corner]] = {
    "responses": ("cumulative share of responses (%)", "lower right"),
    "bytes": ("cumulative share of bytes (%)", "upper left"),
}

NOTHING = 0.1
"""Percent below which a curve lies on the axis."""


def sizes(data: dict, *, title: str = "", legend: str = "", weight: str = "responses") -> Figure:
    """One curve per entry of `data["curves"]`: `label`, `x_bytes` (edges of the table, drawn with
    straight lines between them on a logarithmic axis), `percent`, optionally `low`, `high`.
    """
    figure, axes = new()
    label, corner = WEIGHTS[weight]
    curves = data["curves"]
    left, right = _ends(curves)
    axes.set(xscale="log", xlim=(left, right), ylim=(0, 100))
    axes.set_yticks(np.arange(0, 101, 10))
    for index, curve in enumerate(curves):
        x = np.asarray(curve["x_bytes"], dtype=float)
        draw_curve(axes, x, np.asarray(curve["percent"], dtype=float), curve, index, len(curves))
    axes.set_xlabel("response size (bytes)")
    axes.set_ylabel(label)
    axes.set_title(title, pad=10)
    place_legend(figure, axes, legend, corner)
    return figure


def _ends(curves: list[dict]) -> tuple[float, float]:
    """From the last size with next to nothing below it, of all curves, to the largest."""
    first, last = [], []
    for curve in curves:
        x = np.asarray(curve["x_bytes"], dtype=float)
        begin = int(np.argmax(np.asarray(curve["percent"], dtype=float) > NOTHING))
        first.append(max(x[max(begin - 1, 0)], 1.0))
        last.append(x[-1])
    return min(first), max(*last, 2 * min(first))
