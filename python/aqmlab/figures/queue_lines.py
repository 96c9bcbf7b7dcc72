"""A queue over time with its average: what traces and the slow start have in common."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from .colours import INK, PENS
from .style import LEVEL, SMALL

if TYPE_CHECKING:
    from matplotlib.axes import Axes

COLUMNS = 1500
"""About as many parts as a figure has dots across; each shows its least and largest sample."""


def draw_queue(axes: Axes, data: dict) -> None:
    """`time_s` with `packets` (solid), `average` (dashed, if there is one) and `levels`, pairs of
    a label and a number of packets.
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
    """A line that looks alike with a few thousand points: of every part its two extremes."""
    if len(time) <= 2 * COLUMNS:
        return time, value
    parts = np.array_split(np.arange(len(time)), COLUMNS)
    filled = np.where(np.isfinite(value), value, 0.0)
    extremes = [(part[filled[part].argmin()], part[filled[part].argmax()]) for part in parts]
    keep = np.unique([0, *np.ravel(extremes), len(time) - 1])
    return time[keep], value[keep]
