"""A discipline's portrait: its queue over time, and how fast users are answered."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ..colours import pens
from ..style import few, grid

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def draw(data: dict, *, title: str = "", reference: str = "") -> Figure:
    """Draws the queue over time and the distribution of response times: `data` has `this` and
    perhaps `reference`, each with `time_s` and `packets` (the queue) and `upper_ms` and `count`
    (the response-time histogram), and `ms_per_packet`, the transmission time of a packet of mean
    size.
    """
    figure, row = grid(7.6, 2.7, 1, 2, width_ratios=[1.25, 1])
    figure.set_layout_engine("constrained", wspace=0.07)
    queue, response = row[0]
    for name, label, width in (("reference", reference, 0.7), ("this", title, 1.2)):
        if name not in data:
            continue
        one, colour = data[name], pens([label])[0].colour
        queue.plot(one["time_s"], one["packets"], color=colour, linewidth=width, label=label)
        count = np.asarray(one["count"], dtype=float)
        share = 100 * np.cumsum(count) / max(count.sum(), 1)
        response.plot(one["upper_ms"], share, color=colour, linewidth=width + 0.3, label=label)
    queue.set(xlim=(data["this"]["time_s"][0], data["this"]["time_s"][-1]), ylim=(0, None))
    queue.set_xlabel("time (s)")
    queue.set_ylabel("queue (packets)")
    each = data.get("ms_per_packet")
    if each:
        delay = queue.secondary_yaxis("right", functions=(lambda n: n * each, lambda d: d / each))
        delay.set_ylabel("delay, about (ms)")
        few(delay.yaxis, 5)
    few(queue.xaxis, 6)
    few(queue.yaxis, 5)
    response.set(xlim=(0, 2000), ylim=(0, 100))
    few(response.xaxis, 4)
    few(response.yaxis, 5)
    response.set_xlabel("response time (ms)")
    response.set_ylabel("responses (%)")
    if "reference" in data:
        response.legend(loc="lower right")
    return figure
