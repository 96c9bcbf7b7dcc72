"""A metric along an axis, one line for every value of another, with 95 % intervals."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

from aqmlab.intervals import interval

from ..colours import pens
from ..curves import draw_band, draw_curve, place_legend
from ..sources import Cells, Drawing, seeds_note, titled
from ..style import decades, few, new

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

REACH = 1.5
"""The axis ends at this multiple of the largest mean at most, even if an interval is cut."""
NUDGE = 0.008
"""Share of the axis by which points of neighbouring curves are shifted, so that their intervals are
visible."""


def collect(cells: Cells, *, x: str, metric: str, label: str | None = None) -> Drawing | None:
    """`metric` against the axis `x`, one line per value of the axis `curve`: means over the seeds
    with 95 % intervals. A mean that is undefined leaves a gap. Values of `x` that are no numbers
    stand at equal distances under their labels. `label` are the words at the axis of the metric.
    """
    about = cells.dataset.metrics[metric]
    found = cells.samples()
    labels = list(dict.fromkeys(s.cell.labels.get(x, "") for s in found))
    numbers = [number(s.cell.axes.get(x)) for s in found]
    named = any(math.isnan(at) for at in numbers)
    points: dict[str, list[tuple[float, float, float, float]]] = {}
    for sample, at in zip(found, numbers, strict=True):
        place = float(labels.index(sample.cell.labels.get(x, ""))) if named else at
        values = cells.dataset.values(sample.cell, about)
        points.setdefault(sample.label, []).append((place, *interval(values)))
    curves = []
    for name, rows in points.items():
        places, y, low, high = np.array(rows).T
        if not np.isnan(y).all():
            curves.append({"label": name, "x": places, "y": y, "low": low, "high": high})
    if not curves:
        return None
    value = label or titled(about)
    data = {"curves": curves, "places": labels if named else None, "value": value}
    return Drawing(data, seeds_note(found, "bars"))


def number(value: object) -> float:
    """An axis value as a number: 30, 0.1, "90%" (90), "1/512"; NaN if it is none."""
    if isinstance(value, int | float) and not isinstance(value, bool):
        return float(value)
    try:
        return float(Fraction(str(value).replace(" ", "").rstrip("%")))
    except (ValueError, ZeroDivisionError):
        return math.nan


def draw(
    data: dict,
    *,
    title: str = "",
    axis: str = "",
    legend: str = "",
    log: bool = False,
    log_value: bool = False,
    band: bool = False,
) -> Figure:
    """One line per entry of `data["curves"]`: `label`, `x`, `y`, `low`, `high` (NaN: no interval).

    `data["places"]`, unless None, are the labels at 0, 1, …; `axis` and `data["value"]` are the
    words at the axes; `log` makes the horizontal one logarithmic, `log_value` the vertical one
    (values not above zero are left out), `band` draws intervals as bands.
    """
    figure, axes = new(title=title)
    curves = data["curves"]
    xs = np.unique(np.concatenate([np.asarray(c["x"], dtype=float) for c in curves]))
    _upward(axes, curves, log_value)
    _along(axes, xs, data.get("places"), log)
    looks = pens((c["label"] for c in curves), data.get("known", ()))
    for index, (curve, pen) in enumerate(zip(curves, looks, strict=True)):
        shift = NUDGE * (index - (len(curves) - 1) / 2)
        x, y = (np.asarray(curve[k], dtype=float) for k in ("x", "y"))
        x = x if band else _nudged(axes, x, shift)
        low, high = (np.asarray(curve[k], dtype=float) for k in ("low", "high"))
        if band:
            draw_band(axes, x, low.tolist(), high.tolist(), pen)
        else:
            axes.vlines(x, low, high, color=pen.colour, linewidth=1.0, alpha=0.75)
        bare = {"label": curve["label"]}
        draw_curve(axes, x, y, bare, pen, (index, len(curves)), markevery=1)
    axes.set_xlabel(axis)
    axes.set_ylabel(data.get("value", ""))
    place_legend(figure, axes, legend, "upper left", "lower right", "upper right")
    return figure


def _upward(axes: Axes, curves: list[dict], log: bool) -> None:
    """Sets scale and ends of the vertical axis."""
    y, high = (
        np.concatenate([np.asarray(c[k], dtype=float) for c in curves]) for k in ("y", "high")
    )
    y, high = y[np.isfinite(y)], high[np.isfinite(high)]
    if log and (y > 0).any():
        axes.set_ylim(y[y > 0].min() / REACH, y.max() * REACH)
        decades(axes.yaxis)
        return
    highest, top = (float(values.max()) if values.size else 0.0 for values in (y, high))
    axes.set_ylim(0, min(max(1.08 * highest, 1.04 * top), REACH * highest) or 1.0)
    axes.yaxis.set_major_formatter("{x:,g}")


def _along(axes: Axes, xs: np.ndarray, places: list[str] | None, log: bool) -> None:
    """Sets scale, ends and ticks of the horizontal axis."""
    if log:
        axes.set_xscale("log")
        axes.set_xlim(xs[0] / 1.1, xs[-1] * 1.1)
    else:
        edge = 0.3 if places else 0.03 * (xs[-1] - xs[0]) or 0.5
        axes.set_xlim(xs[0] - edge, xs[-1] + edge)
    if places:
        axes.set_xticks(range(len(places)), places)
    elif len(xs) <= 8:
        axes.set_xticks(xs, [f"{x:,g}" for x in xs])
        axes.set_xticks([], minor=True)
    elif not log:
        few(axes.xaxis, 8)


def _nudged(axes: Axes, x: np.ndarray, share: float) -> np.ndarray:
    """Positions moved along the axis by a share of its length."""
    left, right = axes.get_xlim()
    return x * (right / left) ** share if axes.get_xscale() == "log" else x + share * (right - left)
