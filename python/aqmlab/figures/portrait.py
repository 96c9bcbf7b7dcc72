"""A discipline's portrait: its queue over time, and how fast users are answered."""

from __future__ import annotations

import numpy as np
from matplotlib.figure import Figure

from .style import PENS, SOFT, new


def portrait(data: dict, *, title: str = "", reference: str = "") -> Figure:
    """`data` has `this` and perhaps `reference`, each with `time_s` and `packets` (the queue) and
    `upper_ms` and `count` (the response-time histogram). The reference is drawn in grey.
    """
    figure, first = new(7.6, 2.5)
    first.remove()
    queue, response = figure.subplots(1, 2, gridspec_kw={"width_ratios": [1.25, 1]})
    drawings = [("reference", SOFT, 0.7, reference), ("this", PENS[0].colour, 1.2, title)]
    for name, colour, width, label in drawings:
        if name not in data:
            continue
        one = data[name]
        queue.plot(one["time_s"], one["packets"], color=colour, linewidth=width, label=label)
        count = np.asarray(one["count"], dtype=float)
        share = 100 * np.cumsum(count) / max(count.sum(), 1)
        response.plot(one["upper_ms"], share, color=colour, linewidth=width + 0.3, label=label)
    queue.set(xlim=(data["this"]["time_s"][0], data["this"]["time_s"][-1]), ylim=(0, None))
    queue.set_xlabel("time (s)")
    queue.set_ylabel("queue (packets)")
    response.set(xlim=(0, 2000), ylim=(0, 100))
    response.set_xlabel("response time (ms)")
    response.set_ylabel("responses (%)")
    if "reference" in data:
        response.legend(loc="lower right")
    return figure
