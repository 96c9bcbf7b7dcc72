"""Draws a queue over time with its average, for the kinds `trace` and `slow-start`."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from .colours import INK, PENS
from .style import LEVEL, SMALL

if TYPE_CHECKING:
    from matplotlib.axes import Axes

COLUMNS = 1500
"""Number of parts into which long series are cut, about the pixels of a figure's width; each part
shows its smallest and largest sample."""


def draw_queue(axes: Axes, data: dict) -> None:
    """Draws `packets` (solid) and `average` (dashed, if there is one) against `time_s`, and
    `levels`, pairs of a label and a number of packets.
    """
    time, packets = (np.asarray(data[k], dtype=float) for k in ("time_s", "packets"))
    axes.plot(*thinned(time, packets), color=PENS[0].colour, linewidth=0.9, label="queue")
    top = packets.max()
    average = data.get("average")
    if average is not None:
        average = np.asarray(average, dtype=float)
        axes.plot(
            *thinned(time, average),
            color=INK,
            linewidth=1.5,
            linestyle=(0, (5, 1.8)),
            label="average",
            zorder=4,
        )
        top = max(top, np.nanmax(average, initial=0.0))
    for label, level in data.get("levels", []):
        axes.axhline(level, **LEVEL)
        beside = axes.get_yaxis_transform()
        axes.text(1.005, level, label, transform=beside, va="center", **SMALL)
        top = max(top, level)
    axes.set(xlim=(time[0], time[-1]), ylim=(0, 1.08 * top or 1.0))
    axes.set_xlabel("time (s)")
    axes.set_ylabel("queue (packets)")


def thinned(time: np.ndarray, value: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """A line with a few thousand points that looks like the given one: the two extremes of every
    part."""
    if len(time) <= 2 * COLUMNS:
        return time, value
    parts = np.array_split(np.arange(len(time)), COLUMNS)
    filled = np.where(np.isfinite(value), value, 0.0)
    extremes = [(part[filled[part].argmin()], part[filled[part].argmax()]) for part in parts]
    keep = np.unique([0, *np.ravel(extremes), len(time) - 1])
    return time[keep], value[keep]
