"""What each queue costs at a glance: how long packets wait over time, and against what is used."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from aqmlab.intervals import interval

from ..colours import pens
from ..curves import below
from ..sources import Cells, Drawing, Sample, table
from ..style import few, grid

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

WIDE = True
DELAY = "queue_delay_mean_s"
USED = "utilisation"


def collect(cells: Cells, *, port: str | None = None) -> Drawing | None:
    """A curve and a point per cell; the queue `port` (that which the runs study).

    The curve is the mean delay of each second over the seeds, the point has 95 % intervals of the
    mean delay and of the used share of the line.
    """
    found = [one for sample in cells.samples() if (one := _of(sample, port)) is not None]
    if not found:
        return None
    seeds = max(one["seeds"] for one in found)
    note = f"Means of {seeds} seeds with 95 % intervals." if seeds > 1 else "One seed."
    return Drawing({"cells": found}, note)


def _of(sample: Sample, port: str | None) -> dict | None:
    """The data of one cell; None if no second was recorded or a mean is undefined."""
    summaries = [run.summary for run in sample.runs]
    queue = port or next((s["studied_port"] for s in summaries if s.get("studied_port")), None)
    name = f"{queue}.{DELAY}"
    seconds = [t[name].astype(float) for run in sample.runs if (t := _seconds(run, name))]
    delays = [_number(s.get("ports", {}).get(queue, s).get(DELAY)) for s in summaries]
    used = [_number(s.get("ports", {}).get(queue, s).get(USED)) for s in summaries]
    if not seconds or any(map(math.isnan, (*delays, *used))):
        return None
    shortest = min(map(len, seconds))
    # A second without a departure has no delay; its queue was empty.
    over = np.nan_to_num(np.vstack([each[:shortest] for each in seconds])).mean(axis=0)
    return {
        "label": sample.label,
        "ms": over * 1e3,
        "delay_ms": [value * 1e3 for value in interval(delays)],
        "used_percent": [value * 100 for value in interval(used)],
        "seeds": len(summaries),
    }


def _seconds(run: object, name: str) -> dict[str, np.ndarray] | None:
    found = table(run, "seconds")  # pyright: ignore[reportArgumentType]
    return found if found is not None and name in found else None


def _number(value: object) -> float:
    return float(value) if isinstance(value, int | float) else math.nan


def draw(data: dict, *, title: str = "") -> Figure:
    """An entry of `data["cells"]` has `label`, the delay `ms` of every second, and mean, low and
    high end of `delay_ms` and `used_percent`."""
    figure, axes = grid(8.6, 3.3, 1, 2, title, width_ratios=(1.7, 1))
    over, against = axes[0]
    found = data["cells"]
    for cell, pen in zip(found, pens([c["label"] for c in found]), strict=True):
        over.plot(
            np.arange(len(cell["ms"])) + 0.5,
            cell["ms"],
            color=pen.colour,
            linestyle=pen.dash,
            label=cell["label"],
        )
        _point(against, cell, pen)
    over.set(xlabel="time (s)", ylabel="packets wait (ms)", ylim=(0, None))
    over.set_xlim(0, max(len(cell["ms"]) for cell in found))
    against.set(xlabel="used of the line (%)", ylabel="packets wait, mean (ms)")
    most, least = ([cell["delay_ms"][0] for cell in found], 1e-3)
    if max(most) > 20 * max(min(most), least):
        for each in (over, against):
            each.set_yscale("symlog", linthresh=10)
            each.yaxis.set_major_formatter("{x:,g}")
    against.set_ylim(0, None)
    # An interval may exceed 0 to 100 %; the axis ends there.
    left, right = against.get_xlim()
    against.set_xlim(max(left, 0.0), min(right, 101.0))
    few(over.xaxis, 6)
    few(against.xaxis, 4)
    if len(found) > 1:
        below(figure, *over.get_legend_handles_labels())
    return figure


def _point(axes: Axes, cell: dict, pen: object) -> None:
    """Draws mean delay against utilisation, with both intervals."""
    (used, *across), (delay, *up) = cell["used_percent"], cell["delay_ms"]
    bars = [
        [[abs(mean - end)] if end == end else [0.0] for end in ends]
        for mean, ends in ((used, across), (delay, up))
    ]
    axes.errorbar(
        used,
        delay,
        xerr=bars[0],
        yerr=bars[1],
        color=pen.colour,  # pyright: ignore[reportAttributeAccessIssue]
        marker=pen.marker,  # pyright: ignore[reportAttributeAccessIssue]
        markersize=6,
        capsize=3,
        linestyle="none",
    )
