"""How far it is from one loss of a sender to its next: a histogram per discipline."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ..colours import INK, pens
from ..datagrams import LOST, of_streams
from ..sources import Cells, Drawing, described
from ..style import few, grid

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

WIDE = True
COLUMNS = 3


def collect(cells: Cells, *, upto: int = 20, streams: list[int] | None = None) -> Drawing | None:
    """A histogram per cell: the distance from one loss of a sender to its next, in datagrams.

    1 means that neighbours were lost. `upto` is the last distance that is shown; the rest are
    counted as beyond. `streams` chooses senders by their number.
    """
    series, neighbours = [], {}
    for sample in cells.samples():
        found = [_distances(delay) for delay in of_streams(sample, cells.dataset, streams)]
        if not found:
            continue
        distance = np.minimum(np.concatenate(found), upto + 1)
        count = np.bincount(distance, minlength=upto + 2)[1:]
        series.append({"label": sample.label, "count": count[:upto], "beyond": int(count[upto])})
        pairs = int(count.sum())
        neighbours[sample.label] = 100 * count[0] / pairs if pairs else np.nan
    if not any(one["count"].any() or one["beyond"] for one in series):
        return None
    note = described("Pairs of losses next to each other", neighbours, "{:.0f} %")
    return Drawing({"series": series}, note)


def _distances(delay: np.ndarray) -> np.ndarray:
    """Distances from each loss to the next, in datagrams in the order of sending."""
    return np.diff(np.flatnonzero(delay == LOST))


def draw(data: dict, *, title: str = "", top: float = 0.0) -> Figure:
    """One panel per entry of `data["series"]`: `label`, `count` of pairs of losses at distances
    1, 2, … datagrams, and `beyond`, the pairs farther apart, which are given in words.

    All panels have equal axes. Bars are cut at `top` (0: none is cut), with a break and their
    counts written on them.
    """
    series = data["series"]
    columns = min(COLUMNS, len(series))
    rows = -(-len(series) // columns)
    size = (0.6 + 2.3 * columns, 0.7 + 1.45 * rows)
    figure, places = grid(*size, rows, columns, title, sharex=True, sharey=True)
    largest = max(float(np.max(one["count"], initial=0)) for one in series)
    limit = min(top or np.inf, max(1.12 * largest, 1.0))
    for axes in places.flat[len(series) :]:
        axes.set_axis_off()
    looks = pens((one["label"] for one in series), data.get("known", ()))
    for index, (axes, one, pen) in enumerate(zip(places.flat, series, looks, strict=False)):
        count = np.asarray(one["count"], dtype=float)
        distance = np.arange(1, len(count) + 1)
        axes.bar(distance, np.minimum(count, limit), width=0.8, color=pen.colour)
        axes.set(xlim=(0.3, len(count) + 0.7), ylim=(0, limit))
        for x in distance[count > limit]:
            _cut(axes, x, limit, f" {count[x - 1]:,.0f}")
        axes.set_title(one["label"], fontsize=9)
        words = f"{count.sum() + one['beyond']:,.0f} pairs,\n{one['beyond']:,} beyond"
        where = {"transform": axes.transAxes, "ha": "right", "va": "top"}
        axes.text(0.98, 0.94, words, fontsize=7.5, color=INK, **where)
        few(axes.yaxis, 4, whole=True)
        if index + columns >= len(series):
            axes.tick_params(labelbottom=True)
    figure.supxlabel("distance from a loss to the next (datagrams)", fontsize=9)
    figure.supylabel("pairs of losses", fontsize=9)
    return figure


def _cut(axes: Axes, x: float, limit: float, count: str) -> None:
    """Marks a bar that is cut: two slanted white strokes through it, and its count."""
    for height in (0.84, 0.89):
        ends = [(height - 0.02) * limit, (height + 0.02) * limit]
        axes.plot([x - 0.55, x + 0.55], ends, color="white", linewidth=1.8)
    axes.text(x + 0.3, limit, count, ha="left", va="top", fontsize=7.5)
