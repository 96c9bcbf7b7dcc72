"""The share of datagrams by one-way delay: what is missing to 100 % at a curve's end was lost."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ..colours import Pen, pens
from ..curves import apart, draw_curve, look
from ..datagrams import LOST, ON_ITS_WAY, of_streams
from ..sources import Cells, Drawing, described, joined
from ..style import LEVEL, SMALL, few, new

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

POINTS = 500
GAP = 5.2
"""Least vertical distance of two labels next to the axes, in percent of the axis."""


def collect(
    cells: Cells, *, deadline_ms: float | None = None, streams: list[int] | None = None
) -> Drawing | None:
    """A curve per cell: percent of the datagrams that arrived within a delay, all runs together.

    Lost ones never arrive, so a curve ends below 100 %. Those on their way at the end of the run
    are left out. `deadline_ms`, if given, is drawn as a line, and the note says how many came in
    time; `streams` chooses senders by their number.
    """
    curves, lost, timely = [], {}, {}
    for sample in cells.samples():
        pooled = list(of_streams(sample, cells.dataset, streams))
        delay = np.concatenate(pooled) if pooled else np.array([], dtype=np.uint64)
        arrived = np.sort(delay[delay < ON_ITS_WAY].astype(float)) / 1e6
        known = len(arrived) + int((delay == LOST).sum())
        if not len(arrived):
            continue
        percent = 100 * np.arange(1, len(arrived) + 1) / known
        shown = np.unique(np.linspace(0, len(arrived) - 1, POINTS).round().astype(int))
        curves.append({"label": sample.label, "x_ms": arrived[shown], "percent": percent[shown]})
        lost[sample.label] = 100 - percent[-1]
        within = np.searchsorted(arrived, deadline_ms or np.inf, side="right")
        timely[sample.label] = 100 * within / known
    if not curves:
        return None
    note = described("Lost", lost)
    if deadline_ms is not None:
        note = joined(described(f"Within {deadline_ms:g} ms", timely), note)
    return Drawing({"curves": curves}, note)


def draw(
    data: dict,
    *,
    title: str = "",
    legend: str = "",
    upto_ms: float = 0.0,
    deadline_ms: float | None = None,
) -> Figure:
    """One curve per entry of `data["curves"]`: `label` and the columns `x_ms`, `percent` of all
    datagrams sent. A curve ends at its longest delay; its name and the loss stand at its end.

    `upto_ms` is the right end of the axis, by default a little beyond the longest delay;
    `deadline_ms` is drawn as a line.
    """
    figure, axes = new(7.0, 3.6)
    axes.set_title(title, pad=18 if deadline_ms else 10)
    curves = data["curves"]
    right = upto_ms or 1.04 * max(float(curve["x_ms"][-1]) for curve in curves)
    axes.set(xlim=(0, right), ylim=(0, 100))
    few(axes.yaxis, 5)
    few(axes.xaxis, 6)
    if deadline_ms is not None:
        axes.axvline(deadline_ms, **LEVEL)
        above = axes.get_xaxis_transform()
        words = f"{deadline_ms:g} ms"
        axes.text(deadline_ms, 1.01, words, transform=above, ha="center", va="bottom", **SMALL)
    looks = pens((c["label"] for c in curves), data.get("known", ()))
    ends = [float(curve["percent"][-1]) for curve in curves]
    heights = apart(ends, GAP, 1.5, 98.5)
    for index, (curve, pen) in enumerate(zip(curves, looks, strict=True)):
        x = np.concatenate([curve["x_ms"][:1], curve["x_ms"]])
        percent = np.concatenate([[0.0], curve["percent"]])
        # Curves are steep, so that their markers are equally spaced vertically.
        at = np.arange(8 + 12 * index / len(curves), percent[-1], 16)
        marks = np.unique(np.searchsorted(percent, at)).tolist()
        place = (index, len(curves))
        draw_curve(axes, x, percent, curve, pen, place, markevery=marks, clip_on=False)
        axes.plot(x[-1:], percent[-1:], "|", color=pen.colour, markersize=9, clip_on=False)
        _named(axes, curve["label"], (x[-1] / right, ends[index]), heights[index], pen)
    axes.set_xlabel("one-way delay (ms)")
    axes.set_ylabel("cumulative share of datagrams (%)")
    if legend:
        axes.text(1.055, 1.01, legend, transform=axes.transAxes, va="bottom", fontsize=8.5)
    return figure


def _named(axes: Axes, label: str, end: tuple[float, float], height: float, pen: Pen) -> None:
    """Writes a curve's name and its loss to the right of the axes, with a thin line from its
    end."""
    along = axes.get_yaxis_transform()
    x, percent = end
    axes.plot(
        [min(x, 1.0), 1.005, 1.03],
        [percent, percent, height],
        transform=along,
        color=pen.colour,
        linewidth=0.6,
        linestyle=(0, (1, 2)),
        clip_on=False,
        zorder=1,
    )
    lost = 100 - percent
    share = "none" if lost == 0 else "< 1 %" if lost < 1 else f"{lost:.0f} %"
    words = ", ".join(filter(None, (label, f"{share} lost")))
    mark = look(pen, linestyle="none", clip_on=False, transform=along)
    axes.plot([1.04], [height], **mark)
    axes.text(1.055, height, words, transform=along, va="center", fontsize=8.5)
