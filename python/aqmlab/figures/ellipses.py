"""Delay against goodput, an ellipse for every discipline."""

from __future__ import annotations

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from .style import SOFT, Pen, new, pen


def ellipses(
    data: dict,
    *,
    title: str = "",
    legend: str = "",
    mark: list[str] | None = None,
    log: bool = False,
) -> Figure:
    """Every entry of `data["curves"]` has `label`, `centre` and `median` (queueing delay in ms,
    goodput in Mbit/s) and `axes`, the two half axes as vectors in these units.

    With `mark` only these labels have colour and a place in the legend; `log` makes the axis of
    delays logarithmic.
    """
    figure, axes = new(5.4, 4.0)
    shown = 0
    for curve in data["curves"]:
        chosen = not mark or curve["label"] in mark
        _draw(axes, curve, pen(shown) if chosen else None, log)
        shown += chosen
    if log:
        axes.set_xscale("log")
        axes.xaxis.set_major_formatter("{x:,g}")
    else:
        axes.set_xlim(left=0)
    bottom, top = axes.get_ylim()
    axes.set_ylim(max(0.0, bottom - 0.25 * (top - bottom)), top)
    axes.set_xlabel("queueing delay (ms)")
    axes.set_ylabel("goodput (Mbit/s)")
    axes.set_title(title, pad=10)
    columns = 1 if shown <= 12 else 2
    figure.legend(loc="outside right upper", title=legend or None, ncols=columns)
    return figure


def _draw(axes: Axes, curve: dict, chosen: Pen | None, log: bool) -> None:
    angle = np.linspace(0, 2 * np.pi, 61)
    centre, half = np.array(curve["centre"]), np.array(curve["axes"])
    outline = centre + np.cos(angle)[:, None] * half[0] + np.sin(angle)[:, None] * half[1]
    if log:
        # An ellipse that reaches below no delay is cut there.
        outline[:, 0] = np.maximum(outline[:, 0], 1e-3)
    x, y = curve["median"]
    if chosen is None:
        axes.plot(*outline.T, color=SOFT, linewidth=0.6, alpha=0.5, zorder=1)
        axes.plot([x], [y], ".", color=SOFT, markersize=3, alpha=0.6, zorder=1)
        return
    axes.fill(*outline.T, color=chosen.colour, alpha=0.10, linewidth=0)
    axes.plot(*outline.T, color=chosen.colour, linestyle=chosen.dash, linewidth=1.2)
    axes.plot(
        [x],
        [y],
        linestyle=chosen.dash,
        color=chosen.colour,
        marker=chosen.marker,
        markersize=5.5,
        markerfacecolor="white" if chosen.hollow else chosen.colour,
        label=curve["label"],
    )
