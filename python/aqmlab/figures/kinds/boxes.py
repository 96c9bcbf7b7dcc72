"""A metric over the repetitions: median, quartiles and extremes, side by side."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, TypedDict

import numpy as np

from ..colours import INK, Pen, discipline, pens
from ..curves import below, look
from ..sources import Cells, Drawing, titled
from ..style import decades, few, grid, hover, name_of

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes
    from matplotlib.axis import Axis
    from matplotlib.figure import Figure

    from aqmlab.experiment.grammar import Metric

WIDE = True
SPREAD = 0.82
"""Share of a group's width that its boxes take."""
STANDING = 10
"""Most boxes of a single series that are drawn side by side; more are drawn in rows."""
LEAST = 0.5
"""A linear axis begins at 0 unless all values are above this share of the largest."""


class Panel(TypedDict, total=False):
    """The entry of one panel; keys that it lacks are taken from the figure."""

    metric: str
    title: str
    group: str
    where: dict


def collect(
    cells: Cells,
    *,
    x: str,
    metric: str | None = None,
    panels: list[Panel] | None = None,
    label: str | None = None,
) -> Drawing | None:
    """A box per cell: `x` is the axis of the groups, `curve` the axis of the boxes in a group.

    `metric` is one, or `panels` is a list of `metric`, `title` and perhaps `group`, `where`; all
    panels have the unit of the first, and panels of one group have one scale. A run in which the
    metric is undefined (a burst that did not end) is in no box; the note counts them. `label` are
    the words at the axis of the values.
    """
    entries: list[dict[str, Any]] = [{"metric": metric} | panel for panel in panels or [{}]]
    metrics = cells.dataset.metrics
    drawn, missing, runs = [], 0, 0
    for entry in entries:
        panel, undefined, count = _panel(cells.but(entry), x, metrics[entry["metric"]])
        if panel["series"]:
            drawn.append(panel | {"title": entry.get("title", "")})
        missing, runs = missing + undefined, runs + count
    if not drawn:
        return None
    note = "Boxes: quartiles and median; lines: smallest and largest of the repetitions."
    if missing:
        note += f" In {missing} of {runs} runs the number is undefined; they are in no box."
    data = {
        "panels": drawn,
        "value": label or titled(metrics[entries[0]["metric"]]),
        "one_scale": len({entry.get("group") for entry in entries}) == 1,
    }
    return Drawing(data, note)


def _panel(cells: Cells, x: str, metric: Metric) -> tuple[dict, int, int]:
    """The boxes of a panel, the number of runs without a defined value, and the number of runs."""
    boxes_of: dict[str, dict[str, list[float]]] = {}
    places: dict[str, None] = {}
    missing = count = 0
    for sample in cells.samples():
        place = sample.cell.labels.get(x, "")
        values = cells.dataset.values(sample.cell, metric)
        defined = [value for value in values if math.isfinite(value)]
        missing, count = missing + len(values) - len(defined), count + len(values)
        places[place] = None
        boxes_of.setdefault(sample.label, {})[place] = defined
    series = [
        {"label": label, "values": [of.get(place, []) for place in places]}
        for label, of in boxes_of.items()
        if any(of.values())
    ]
    return {"places": list(places), "series": series}, missing, count


def draw(
    data: dict, *, title: str = "", axis: str = "", legend: str = "", log: bool = False
) -> Figure:
    """One panel per entry of `data["panels"]`: `title`, `places` (the groups along the axis) and
    `series`, each with a `label` and in `values` the sample of every group, which may be empty.

    `axis` and `data["value"]` are the words at the axes; `log` makes that of the values
    logarithmic. Many places of a single series lie below each other, so that names can be read.
    """
    panels = data["panels"]
    labels = list(dict.fromkeys(s["label"] for panel in panels for s in panel["series"]))
    places = max(len(panel["places"]) for panel in panels)
    shared = data.get("one_scale", True)
    if len(labels) == 1 and places > STANDING:
        return _lying(panels, title, data.get("value", ""), log)
    figure, stack = grid(7.6, 0.6 + 2.5 * len(panels), len(panels), 1, title, sharey=shared)
    looks = dict(zip(labels, pens(labels, data.get("known", ())), strict=True))
    for axes, panel in zip(stack[:, 0], panels, strict=True):
        _standing(axes, panel, looks)
        axes.set_title(panel.get("title", ""), fontsize=9)
        axes.set_ylabel(data.get("value", ""))
        _scaled(axes.yaxis, panels if shared else [panel], log)
    stack[-1, 0].set_xlabel(axis)
    if len(labels) > 1:
        below(figure, [_handle(pen) for pen in looks.values()], labels, legend)
    return figure


def _scaled(axis: Axis, panels: list[dict], log: bool) -> None:
    """Scales an axis: logarithmic, or linear from 0 unless that would squeeze all values into its
    end."""
    every = [v for panel in panels for s in panel["series"] for v in s["values"] if len(v)]
    values = np.concatenate(every)
    if log:
        # Less than a decade would have too few ticks at 1, 2 and 5.
        narrow = values.max() < 10 * values.min()
        decades(axis, subs=(1, 2, 3, 5, 7) if narrow else (1, 2, 5))
    elif 0 <= values.min() < LEAST * values.max() or not values.any():
        axis.axes.set(**{f"{name_of(axis)}lim": (0, 1.06 * values.max() or 1.0)})


def _handle(pen: Pen) -> Artist:
    from matplotlib.patches import Patch

    return Patch(**_fill(pen), linewidth=0.9)


def _standing(axes: Axes, panel: dict, looks: dict[str, Pen]) -> None:
    """Draws the boxes of a panel side by side."""
    width = SPREAD / len(looks)
    order = list(looks)
    single = len(looks) == 1
    for series in panel["series"]:
        shift = width * (order.index(series["label"]) - (len(looks) - 1) / 2)
        for place, sample in enumerate(series["values"]):
            if len(sample):
                named = discipline(panel["places"][place]) if single else None
                pen = pens([panel["places"][place]])[0] if named else looks[series["label"]]
                words = " ".join(filter(None, (series["label"], str(panel["places"][place]))))
                _box(axes, place + shift, sample, width, pen, words)
    count = len(panel["places"])
    axes.set_xticks(range(count), panel["places"])
    axes.tick_params(axis="x", length=0)
    axes.set_xlim(-0.5, count - 0.5)
    axes.grid(visible=False, axis="x")
    for place in range(1, count):
        axes.axvline(place - 0.5, color="#e4e4e4", linewidth=0.7)


def _box(axes: Axes, at: float, sample: list[float], width: float, pen: Pen, words: str) -> None:
    low, first, middle, third, high = np.quantile(sample, [0, 0.25, 0.5, 0.75, 1])
    drawn = axes.bxp(
        [{"med": middle, "q1": first, "q3": third, "whislo": low, "whishi": high}],
        positions=[at],
        widths=[0.78 * width],
        showfliers=False,
        patch_artist=True,
        manage_ticks=False,
        medianprops={"color": INK, "linewidth": 1.5},
        whiskerprops={"color": pen.colour, "linewidth": 0.9},
        capprops={"color": pen.colour, "linewidth": 0.9},
    )
    drawn["boxes"][0].set(**_fill(pen), linewidth=0.9)
    # If all repetitions agree the box has no height: the marker still shows whose median it is.
    (mark,) = axes.plot([at], [middle], **look(pen, markersize=4.4, linestyle="none"))
    for artist in (drawn["boxes"][0], mark):
        hover(artist, _described(words, sample))


def _described(words: str, sample: list[float]) -> str:
    low, middle, high = np.quantile(sample, [0, 0.5, 1])
    return f"{words}: median {middle:,.4g}, {low:,.4g} to {high:,.4g}"


def _fill(pen: Pen) -> dict:
    """A pale area with a coloured edge, and a hatch that survives a black-and-white print."""
    return {"facecolor": f"{pen.colour}33", "edgecolor": pen.colour, "hatch": pen.hatch}


def _lying(panels: list[dict], title: str, value: str, log: bool) -> Figure:
    """Draws a row for every group and a column for every panel: lines for range and quartiles, a
    marker for the median."""
    places = list(dict.fromkeys(place for panel in panels for place in panel["places"]))
    size = (1.4 + 6.2 * max(0.72, 1 - 0.5 / len(panels)), 1.0 + 0.185 * len(places))
    figure, row = grid(*size, 1, len(panels), title, sharey=True)
    looks = dict(zip(places, pens(places), strict=True))
    for axes, panel in zip(row[0], panels, strict=True):
        for place, sample in zip(panel["places"], panel["series"][0]["values"], strict=True):
            if len(sample):
                _line(axes, places.index(place), sample, looks[place], place)
        _scaled(axes.xaxis, [panel], log)
        if not log:
            few(axes.xaxis, 5)
        axes.set_title(panel.get("title", ""), fontsize=9)
        axes.tick_params(axis="y", length=0)
    row[0][0].set_yticks(range(len(places)), places, fontsize=8)
    row[0][0].set_ylim(len(places) - 0.4, -0.6)
    figure.supxlabel(value, fontsize=9)
    return figure


def _line(axes: Axes, at: int, sample: list[float], pen: Pen, place: str) -> None:
    low, first, middle, third, high = np.quantile(sample, [0, 0.25, 0.5, 0.75, 1])
    axes.hlines(at, low, high, color=pen.colour, linewidth=1.0)
    axes.hlines(at, first, third, color=pen.colour, linewidth=4.5, alpha=0.4)
    (mark,) = axes.plot([middle], [at], **look(pen, linestyle="none"))
    hover(mark, _described(place, sample))
