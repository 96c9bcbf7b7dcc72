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


def sizes(data: dict, *, title: str = "", legend: str = "", weight: str = "responses") -> Figure:
    """One curve per entry of `data["curves"]`: `label`, `x_bytes` (edges of the table, drawn with
    straight lines between them on a logarithmic axis), `percent`, optionally `low`, `high`.
    """
    figure, axes = new()
    label, corner = WEIGHTS[weight]
    curves = data["curves"]
    edges = np.concatenate([np.asarray(c["x_bytes"], dtype=float) for c in curves])
    edges = edges[edges > 0]
    axes.set(xscale="log", xlim=(edges.min(), max(edges.max(), 2 * edges.min())), ylim=(0, 100))
    axes.set_yticks(np.arange(0, 101, 10))
    for index, curve in enumerate(curves):
        x = np.asarray(curve["x_bytes"], dtype=float)
        draw_curve(axes, x, np.asarray(curve["percent"], dtype=float), curve, index, len(curves))
    axes.set_xlabel("response size (bytes)")
    axes.set_ylabel(label)
    axes.set_title(title, pad=10)
    place_legend(figure, axes, legend, corner)
    return figure
