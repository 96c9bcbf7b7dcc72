"""A queue in slow start and its average, which follows late."""

from __future__ import annotations

from matplotlib.figure import Figure

from .curves import place_legend
from .queue_lines import draw_queue
from .style import new


def slow_start(data: dict, *, title: str = "") -> Figure:
    """`data` has `time_s`, `packets`, `average` and `levels`, pairs of a label and a number of
    packets.
    """
    figure, axes = new()
    draw_queue(axes, data)
    axes.set_title(title, pad=10)
    place_legend(figure, axes, "", "upper left")
    return figure
