"""Curves with their bands, and a legend that stays out of their way."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from .style import Pen, pen

Corner = Literal["lower right", "lower left", "upper right", "upper left"]

MARKS = 6
"""Markers on a curve."""
INSIDE = 6
"""The most curves whose legend may stand inside the axes."""
LINE_INCHES = 0.19
"""Height of a line of a legend."""


def draw_curve(
    axes: Axes, x: np.ndarray, y: np.ndarray, curve: dict, index: int, count: int, **more: Any
) -> Line2D:
    """The curve with this index of `count`, with markers at places of its own, so that curves on
    top of each other remain readable; with the band between `low` and `high` where it has one.

    The axes' scale and limits must be set before. The curve must not leave them at its ends.
    """
    style = pen(index)
    if curve.get("low") is not None:
        bottom, top = axes.get_ylim()
        low, high = (
            np.clip(np.asarray(curve[k], dtype=float)[: len(x)], bottom, top)
            for k in ("low", "high")
        )
        alpha = 0.16 if count <= INSIDE else 0.10
        axes.fill_between(x, low, high, color=style.colour, alpha=alpha, linewidth=0)
    options: dict[str, Any] = {
        "markevery": places(axes, x, index, count),
        "zorder": 3 + index / 100,
    } | more
    (line,) = axes.plot(x, y, label=curve["label"], **look(style), **options)
    return line


def look(style: Pen) -> dict[str, Any]:
    """How a line of this pen is drawn."""
    return {
        "color": style.colour,
        "linestyle": style.dash,
        "marker": style.marker,
        "markersize": 5.0,
        "markerfacecolor": "white" if style.hollow else style.colour,
        "markeredgecolor": style.colour if style.hollow else "white",
        "markeredgewidth": 1.0 if style.hollow else 0.6,
    }


def places(axes: Axes, x: np.ndarray, index: int, count: int) -> list[int]:
    """Which points of a curve get a marker: equally far apart on the axis, curve after curve."""
    shares = np.arange((0.35 + index / count) / MARKS, 1.0, 1 / MARKS)
    left, right = axes.get_xlim()
    if axes.get_xscale() == "log":
        at = left * (right / left) ** shares
    else:
        at = left + (right - left) * shares
    return np.unique(np.searchsorted(x, at).clip(0, len(x) - 1)).tolist()


def place_legend(figure: Figure, axes: Axes, title: str, *corners: Corner) -> None:
    """A legend in the first of these corners that few curves leave free, else below the axes."""
    handles, labels = axes.get_legend_handles_labels()
    if len(labels) < 2:
        return
    few = len(labels) <= INSIDE
    free: list[Corner] = [
        corner for corner in corners if few and not _crowded(figure, axes, labels, title, corner)
    ]
    if free:
        axes.legend(loc=free[0], title=title, alignment="left", handlelength=3.2)
    else:
        below(figure, handles, labels, title)


def below(figure: Figure, handles: list, labels: list[str], title: str = "") -> None:
    """A legend below the axes in as many columns as fit; the figure grows by it."""
    width, height = figure.get_size_inches()
    longest = max(map(len, labels))
    rows = -(-len(labels) // max(1, int(width / (0.72 + 0.071 * longest))))
    columns = -(-len(labels) // rows)
    figure.set_size_inches(width, height + LINE_INCHES * (rows + bool(title)) + 0.08)
    figure.legend(
        handles,
        labels,
        loc="outside lower center",
        ncols=columns,
        title=title,
        alignment="left",
        handlelength=3.2,
        columnspacing=1.6,
    )


def _crowded(figure: Figure, axes: Axes, labels: list[str], title: str, corner: Corner) -> bool:
    """Whether a curve passes through the corner in which the legend would stand."""
    width, height = figure.get_size_inches()
    wide = (0.8 + 0.075 * max(map(len, [*labels, title]))) / (0.84 * width)
    high = (LINE_INCHES * (len(labels) + bool(title)) + 0.1) / (0.76 * height)
    inverse = axes.transAxes.inverted()
    curves = (line for line in axes.get_lines() if line.get_label() in labels)
    for line in curves:
        points = inverse.transform(axes.transData.transform(np.column_stack(line.get_data())))
        x, y = points[np.isfinite(points).all(axis=1)].T
        if "right" in corner:
            x = 1 - x
        if "upper" in corner:
            y = 1 - y
        if np.any((x < wide) & (y < high) & (x >= 0) & (y >= 0)):
            return True
    return False
