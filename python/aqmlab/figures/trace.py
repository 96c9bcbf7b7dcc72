"""The queue of one run over time, RED's average of it, and when packets were dropped."""

from __future__ import annotations

import numpy as np
from matplotlib.figure import Figure

from .queue_lines import draw_queue
from .style import PENS, new


def trace(data: dict, *, title: str = "") -> Figure:
    """`data` has `time_s`, `packets`, `average` (or None), `drops_s` (times of drops, marked above
    the axes) and `levels`, pairs of a label and a number of packets.
    """
    figure, axes = new(7.6, 3.0)
    draw_queue(axes, data)
    drops = np.asarray(data.get("drops_s", []), dtype=float)
    if len(drops):
        axes.plot(
            drops,
            np.full(len(drops), 1.03),
            transform=axes.get_xaxis_transform(),
            linestyle="none",
            marker="x",
            markersize=4.5,
            markeredgewidth=1.0,
            color=PENS[1].colour,
            clip_on=False,
            label="drop",
        )
    axes.set_title(title, pad=14)
    axes.legend(loc="lower right", bbox_to_anchor=(1.0, 1.05), ncols=3, borderaxespad=0)
    return figure
