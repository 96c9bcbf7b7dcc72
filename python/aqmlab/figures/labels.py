"""Names next to points, placed so that they cover neither points nor each other."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_LETTER = 0.58
"""Width of a letter divided by its font size."""
_ANGLES = np.deg2rad([0, 180, 45, 315, 135, 225, 90, 270, 20, 340, 160, 200])
_DISTANCES = (7, 14, 24, 36, 50, 66)
"""Distances tried between a point and its name, in points of 1/72 inch."""

Named = tuple[Sequence[float], str, str, float]
"""The position of a point, its name, and the colour and font size (points) of the name."""


def name_points(axes: Axes, named: Sequence[Named]) -> None:
    """Writes every name at the nearest free position; a name that is far from its point gets a thin
    line to it. Earlier names choose first. The axes' scale and limits must be set before.
    """
    figure = axes.get_figure(root=True)
    assert figure is not None
    size = 72 * figure.get_size_inches() * (0.86, 0.8)
    x, y = np.array([place for place, *_ in named], dtype=float).T
    to_axes = axes.transLimits.transform(axes.transScale.transform(np.column_stack([x, y])))
    dots = to_axes * size
    taken: list[np.ndarray] = [np.concatenate([dot - 3, dot + 3]) for dot in dots]
    for dot, (place, words, colour, type_size) in zip(dots, named, strict=True):
        half = np.array([_LETTER * type_size * len(words), 1.15 * type_size]) / 2
        shift, box = _free(dot, half, size, taken)
        taken.append(box)
        far = np.hypot(*shift) > np.hypot(*half) + _DISTANCES[1]
        axes.annotate(
            words,
            xy=(place[0], place[1]),
            xytext=(shift[0], shift[1]),
            textcoords="offset points",
            ha="center",
            va="center",
            color=colour,
            fontsize=type_size,
            arrowprops={"arrowstyle": "-", "color": colour, "linewidth": 0.4} if far else None,
            zorder=5,
        )


def _free(
    dot: np.ndarray, half: np.ndarray, size: np.ndarray, taken: list[np.ndarray]
) -> tuple[np.ndarray, np.ndarray]:
    """The shift of a name of this half width and height from its point, and the name's box: the
    nearest free position, or the one with the least overlap.
    """
    best: tuple[float, np.ndarray, np.ndarray] | None = None
    for distance in _DISTANCES:
        for angle in _ANGLES:
            way = np.array([np.cos(angle), np.sin(angle)])
            shift = way * (distance + half * np.abs(way))
            middle = dot + shift
            box = np.concatenate([middle - half, middle + half])
            cost = sum(_shared(box, other) for other in taken)
            outside = np.maximum(0, -box[:2]) + np.maximum(0, box[2:] - size)
            cost += 20 * float(outside.sum())
            if cost == 0:
                return shift, box
            if best is None or cost < best[0]:
                best = (cost, shift, box)
    assert best is not None
    return best[1], best[2]


def _shared(one: np.ndarray, other: np.ndarray) -> float:
    """The area that two boxes share."""
    width, height = np.minimum(one[2:], other[2:]) - np.maximum(one[:2], other[:2])
    return float(max(0.0, width) * max(0.0, height))
