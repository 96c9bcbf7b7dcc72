"""Draws curves with bands, and a legend that does not cover them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from .colours import Pen
from .style import hover

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.lines import Line2D

Corner = Literal["lower right", "lower left", "upper right", "upper left"]

MARKS = 6
"""Number of markers on a curve."""
INSIDE = 6
"""Largest number of curves for which the legend may be inside the axes."""
BANDS = 6
"""Largest number of curves for which bands are drawn; more bands would hide each other."""
LINE_INCHES = 0.19
"""Height of a line of a legend in inches."""


def draw_curve(
    axes: Axes,
    x: np.ndarray,
    y: np.ndarray,
    curve: dict,
    pen: Pen,
    place: tuple[int, int] = (0, 1),
    **more: Any,
) -> Line2D:
    """Draws a curve, and the band between `low` and `high` if it has one. `place` is the curve's
    index and the number of curves: each has markers at other positions, so that curves on top of
    each other can be read.

    The axes' scale and limits must be set before. The first and last point must lie within them.
    """
    index, count = place
    if curve.get("low") is not None and count <= BANDS:
        draw_band(axes, x, curve["low"], curve["high"], pen)
    options: dict[str, Any] = {
        "markevery": places(axes, x, index, count),
        "zorder": 3 + index / 100,
    } | more
    (line,) = axes.plot(x, y, label=curve["label"], **look(pen), **options)
    if curve["label"]:
        hover(line, curve["label"])
    return line


def draw_band(axes: Axes, x: np.ndarray, low: Sequence, high: Sequence, pen: Pen) -> None:
    """Fills the area between two curves, cut at the ends of the axis."""
    ends = (np.asarray(each, dtype=float)[: len(x)] for each in (low, high))
    bottom, top = (np.clip(each, *axes.get_ylim()) for each in ends)
    axes.fill_between(x, bottom, top, color=pen.colour, alpha=0.16, linewidth=0)


def look(pen: Pen, **more: Any) -> dict[str, Any]:
    """The keywords of matplotlib for a line of this pen."""
    usual = {
        "color": pen.colour,
        "linestyle": pen.dash,
        "marker": pen.marker,
        "markersize": 5.0 if pen.marker in "osDhp" else 6.5,
        "markerfacecolor": "white" if pen.hollow else pen.colour,
        "markeredgecolor": pen.colour if pen.hollow else "white",
        "markeredgewidth": 1.0 if pen.hollow else 0.6,
    }
    return usual | more


def places(axes: Axes, x: np.ndarray, index: int, count: int) -> list[int]:
    """Indices of the points that get a marker: equally spaced along the axis, with an offset for
    each curve."""
    shares = np.arange((0.35 + index / count) / MARKS, 1.0, 1 / MARKS)
    left, right = axes.get_xlim()
    if axes.get_xscale() == "log":
        at = left * (right / left) ** shares
    else:
        at = left + (right - left) * shares
    return np.unique(np.searchsorted(x, at).clip(0, len(x) - 1)).tolist()


def apart(values: Sequence[float], gap: float, low: float, high: float) -> list[float]:
    """Heights for labels that should be at `values`, moved so that none is closer than `gap` to the
    next, and all are between `low` and `high` if they fit.
    """
    order = sorted(range(len(values)), key=lambda i: values[i])
    placed: list[float] = []
    for i in order:
        placed.append(max(values[i], placed[-1] + gap if placed else low))
    limit = high
    for n in reversed(range(len(placed))):
        placed[n] = min(placed[n], limit)
        limit = placed[n] - gap
    found = [0.0] * len(values)
    for i, value in zip(order, placed, strict=True):
        found[i] = value
    return found


def place_legend(figure: Figure, axes: Axes, title: str, *corners: Corner) -> None:
    """Puts a legend into the first of these corners that no curve crosses, if there are few curves,
    else below the axes."""
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
    """Puts a legend below the axes in as many columns as fit, and enlarges the figure by its
    height."""
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
    """Whether a curve passes through the corner that the legend would cover."""
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
