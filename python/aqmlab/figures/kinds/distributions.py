"""The distributions of a traffic model: how much is below a value, and how heavy the tail is."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ..colours import PENS
from ..style import grid

if TYPE_CHECKING:
    from matplotlib.figure import Figure

AXES = {"bytes": "size (bytes)", "time": "time (s)", "count": "number", "": "value"}
LOWEST = 1e-6
"""The smallest share of the tail that is drawn."""


def draw(data: dict, *, title: str = "") -> Figure:
    """`data["variables"]` is a list of `name`, `unit` and `curve` (pairs of a value and the share
    at or below it); `counted` if the variable takes only these values, so that the curve has steps.
    One row of panels for every unit: left the share at or below a value, right the share above it,
    both logarithmic, where a power law is a straight line.
    """
    units = list(dict.fromkeys(variable["unit"] for variable in data["variables"]))
    figure, rows = grid(9.0, 0.6 + 2.9 * len(units), len(units), 2, title)
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
    return figure


def _draw(below, above, variable: dict, index: int) -> None:
    style = PENS[index % len(PENS)]
    x, p = np.array(variable["curve"], dtype=float).T
    shown = x > 0
    x, p = x[shown], p[shown]
    if x.size == 0:
        return
    line = {"color": style.colour, "linestyle": style.dash, "linewidth": 1.5}
    # The distribution of counts rises in steps at its values, as those of a list of values or of a
    # constant do.
    steps = variable.get("counted") or variable["unit"] == "count" or x[0] == x[-1]
    how = "steps-post" if steps else "default"
    below.plot(np.r_[x[0], x], 100 * np.r_[0.0, p], drawstyle=how, **line)
    tail = np.r_[x[0], x], np.r_[1.0, 1.0 - p]
    x, share = tail if steps else _to_the_end(*tail)
    # A logarithmic axis has no zero: zeros are drawn below the end of the axis.
    share = np.maximum(share, LOWEST / 10)
    above.plot(x, share, drawstyle=how, label=variable["name"], **line)


def _to_the_end(x: np.ndarray, share: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Adds points before the largest value, where the share above it falls to zero. Between two
    values the share falls linearly, which is no straight line on logarithmic axes."""
    if x.size < 2 or share[-1] > LOWEST or share[-2] <= LOWEST:
        return x, share
    falling = np.geomspace(share[-2], LOWEST / 10, 40)[1:]
    places = x[-1] - (x[-1] - x[-2]) * falling / share[-2]
    return np.r_[x[:-1], places], np.r_[share[:-1], falling]
