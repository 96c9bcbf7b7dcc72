"""What a capture carried over time: TCP, and on top of it everything else."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ..colours import PENS
from ..style import new

if TYPE_CHECKING:
    from matplotlib.figure import Figure

WIDE = True


def draw(data: dict, *, title: str = "") -> Figure:
    """Draws the load over time: `data["tcp"]` and `data["other"]` have the bytes of TCP and of
    other packets in each step of `data["step_s"]` seconds."""
    figure, axes = new(9.0, 2.8, title)
    step = float(data["step_s"])
    to_mbit = 8e-6 / step
    tcp = np.asarray(data["tcp"], dtype=float) * to_mbit
    both = tcp + np.asarray(data["other"], dtype=float) * to_mbit
    edges = step * np.arange(len(tcp) + 1)
    minutes = edges[-1] > 300
    edges = edges / 60 if minutes else edges
    axes.stairs(tcp, edges, fill=True, color=PENS[0].colour, alpha=0.75, label="TCP")
    if np.any(both > tcp):
        axes.stairs(both, edges, baseline=tcp, fill=True, color=PENS[5].colour, label="other")
        axes.legend(loc="upper right", ncols=2)
    axes.set(xlim=(0, edges[-1]), ylim=(0, 1.15 * both.max() or 1.0))
    axes.yaxis.set_major_formatter("{x:,g}")
    axes.set_xlabel("time (min)" if minutes else "time (s)")
    axes.set_ylabel("load (Mbit/s)")
    return figure
