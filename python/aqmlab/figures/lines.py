"""A number along an axis, one line per discipline, with 95 % intervals."""

from __future__ import annotations

import numpy as np
from matplotlib.figure import Figure

from .curves import draw_curve, place_legend
from .style import new


def lines(
    data: dict,
    *,
    title: str = "",
    axis: str = "",
    value: str = "",
    legend: str = "",
    log: bool = False,
) -> Figure:
    """One line per entry of `data["curves"]`: `label`, `x`, `y`, `low`, `high` (NaN: no interval).

    `data["places"]`, unless None, are the labels at 0, 1, …; `axis` and `value` are the words at
    the axes; `log` makes the horizontal one logarithmic.
    """
    figure, axes = new()
    curves = data["curves"]
    xs = np.unique(np.concatenate([np.asarray(c["x"], dtype=float) for c in curves]))
    tops = np.concatenate([np.asarray(c[k], dtype=float) for c in curves for k in ("y", "high")])
    named = data.get("places") is not None
    axes.set_ylim(0, 1.08 * np.nanmax(tops) or 1.0)
    if log:
        axes.set_xscale("log")
        axes.set_xlim(xs[0] / 1.1, xs[-1] * 1.1)
    else:
        edge = 0.3 if named else 0.03 * (xs[-1] - xs[0]) or 0.5
        axes.set_xlim(xs[0] - edge, xs[-1] + edge)
    for index, curve in enumerate(curves):
        x, y = (np.asarray(curve[k], dtype=float) for k in ("x", "y"))
        draw_curve(axes, x, y, curve, index, len(curves), markevery=1)
    if named:
        axes.set_xticks(range(len(data["places"])), data["places"])
    elif len(xs) <= 8:
        axes.set_xticks(xs, [f"{x:,g}" for x in xs])
        axes.set_xticks([], minor=True)
    axes.yaxis.set_major_formatter("{x:,g}")
    axes.set_xlabel(axis)
    axes.set_ylabel(value)
    axes.set_title(title, pad=10)
    place_legend(figure, axes, legend, "upper left", "lower right", "upper right")
    return figure
