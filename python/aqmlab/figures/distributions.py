"""The distributions of a traffic model: how much is below a value, and how heavy the tail is."""

from __future__ import annotations

import numpy as np
from matplotlib.figure import Figure

from .style import new, pen

AXES = {"bytes": "size (bytes)", "time": "time (s)", "count": "number", "": "value"}
LOWEST = 1e-6
"""The smallest share of the tail that is drawn."""


def distributions(data: dict, *, title: str = "") -> Figure:
    """`data["variables"]` is a list of `name`, `unit` and `curve` (pairs of a value and the share
    at or below it). One row of panels for every unit: left the share at or below a value, right
    the share above it, both logarithmic, where a power law is a straight line.
    """
    units = list(dict.fromkeys(variable["unit"] for variable in data["variables"]))
    figure, first = new(9.0, 0.6 + 2.9 * len(units))
    first.remove()
    rows = figure.subplots(len(units), 2, squeeze=False)
    for unit, (below, above) in zip(units, rows, strict=True):
        of_unit = [variable for variable in data["variables"] if variable["unit"] == unit]
        for index, variable in enumerate(of_unit):
            _draw(below, above, variable, index)
        for axes in (below, above):
            axes.set_xscale("log")
            axes.set_xlabel(AXES.get(unit, unit))
        below.set(ylim=(0, 100))
        below.set_ylabel("at or below (%)")
        above.set(yscale="log", ylim=(LOWEST, 1.2))
        above.set_ylabel("share above")
        above.legend(loc="lower left", fontsize=7.5, handlelength=3)
    if title:
        figure.suptitle(title, x=0.01, ha="left", fontweight="bold", fontsize=10)
    return figure


def _draw(below, above, variable: dict, index: int) -> None:
    style = pen(index)
    x, p = np.array(variable["curve"], dtype=float).T
    shown = x > 0
    x, p = x[shown], p[shown]
    if x.size == 0:
        return
    line = {"color": style.colour, "linestyle": style.dash, "linewidth": 1.5}
    # A list of values goes up in steps; so does a constant.
    steps = "steps-post" if variable["unit"] == "count" or x[0] == x[-1] else "default"
    start, end = np.r_[x[0], x], np.r_[x, x[-1]]
    below.plot(start, 100 * np.r_[0.0, p], drawstyle=steps, **line)
    above.plot(end, np.r_[1.0 - p, LOWEST / 10], drawstyle=steps, label=variable["name"], **line)
