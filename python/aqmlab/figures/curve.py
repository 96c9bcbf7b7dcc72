"""A discipline's law: the probability of a signal against the average queue."""

from __future__ import annotations

import numpy as np
from matplotlib.figure import Figure

from .curves import draw_curve, place_legend
from .style import SOFT, new


def curve(data: dict, *, title: str = "") -> Figure:
    """One line per entry of `data["curves"]`: `label`, `x` (packets), `p`, and `low`, `high` where
    the law is adapted between two ends. `data["marks"]` are pairs of a label and an average queue.
    """
    figure, axes = new()
    curves = data["curves"]
    axes.set(xlim=(0, max(float(c["x"][-1]) for c in curves)), ylim=(0, 1.04))
    for label, x in data.get("marks", []):
        axes.axvline(x, color=SOFT, linewidth=0.9, linestyle=(0, (1.5, 1.5)), zorder=2)
        axes.text(
            x,
            1.01,
            label,
            transform=axes.get_xaxis_transform(),
            ha="center",
            va="bottom",
            color=SOFT,
            fontsize=8,
        )
    for index, one in enumerate(curves):
        x, p = (np.asarray(one[k], dtype=float) for k in ("x", "p"))
        draw_curve(axes, x, p, one, index, len(curves))
    axes.set_xlabel("average queue (packets)")
    axes.set_ylabel("probability of a drop or mark")
    axes.set_title(title, pad=16)
    place_legend(figure, axes, "", "upper left")
    return figure
