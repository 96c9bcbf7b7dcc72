"""Differences with their 95 % intervals, one below the other: which of them is not zero?"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

import numpy as np

from ..colours import INK, SOFT, pens
from ..curves import look
from ..sources import Drawing, Rows, unit_of_difference
from ..style import few, grid, hover

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

WIDE = True
ARROWS = {"less": "← better", "more": "better →"}


def collect(
    table: Rows, *, on: list[str], better: dict[str, Literal["less", "more"]] | None = None
) -> Drawing | None:
    """The `[[difference]]` named by `table`, paired on one axis (`on`): its values from top to
    bottom, a panel for each metric in `rows`, every difference with its 95 % interval. `better`
    says of metrics whether less or more is better.
    """
    if not table.all():
        return None
    (axis,) = on
    places = list(dict.fromkeys(row[axis] for row in table.all()))
    panels = []
    for name in table.rows:
        metric = table.dataset.metrics[name]
        found = {row[axis]: row for row in table.of(name)}
        numbers = {
            key: [_number(found[place][column]) for place in places]
            for key, column in (("value", "ours"), ("low", "low"), ("high", "high"))
        }
        about = {"title": metric.title, "unit": unit_of_difference(metric)}
        panels.append(about | {"better": (better or {}).get(name)} | numbers)
    share = isinstance(places[0], int | float) and axis == "load"
    names = [f"{place} % load" if share else str(place) for place in places]
    return Drawing({"places": names, "panels": panels}, "Paired by seed; bars: 95 % intervals.")


def _number(value: float | None) -> float:
    return np.nan if value is None else value


def draw(data: dict, *, title: str = "") -> Figure:
    """A panel per entry of `data["panels"]` (`title`, `unit`, `better`, and `value`, `low`, `high`
    of every place), side by side over the common `data["places"]`, the first on top. Undefined
    values leave a gap, undefined intervals a bare point.
    """
    places, panels = data["places"], data["panels"]
    size = (1.8 + 2.9 * len(panels), 1.25 + 0.24 * len(places))
    figure, row = grid(*size, 1, len(panels), title, sharey=True)
    for axes, panel in zip(row[0], panels, strict=True):
        _panel(axes, panel, places)
    row[0][0].set_yticks(range(len(places)), places)
    return figure


def _panel(axes: Axes, panel: dict, places: list[str]) -> None:
    value, low, high = (np.array(panel[name], dtype=float) for name in ("value", "low", "high"))
    axes.axvline(0.0, color=INK, linewidth=0.9)
    for at, pen in enumerate(pens(places)):
        axes.hlines(at, low[at], high[at], color=pen.colour, linewidth=1.4)
        (mark,) = axes.plot([value[at]], [at], **look(pen, linestyle="none"))
        interval = f" [{low[at]:+,.3g}, {high[at]:+,.3g}]" if np.isfinite(low[at]) else ""
        hover(mark, f"{places[at]}: {value[at]:+,.3g}{interval} {panel['unit']}")
    axes.set_ylim(len(places) - 0.5, -0.5)
    axes.set_title(panel["title"], fontsize=9)
    arrow = ARROWS.get(panel.get("better") or "", "")
    axes.set_xlabel("  ".join(filter(None, (f"difference ({panel['unit']})", arrow))))
    few(axes.xaxis, 5)
    axes.tick_params(axis="y", length=0, labelcolor=SOFT)
