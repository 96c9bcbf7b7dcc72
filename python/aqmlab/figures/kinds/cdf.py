"""The share of the responses by response time, mean and 95 % band over the seeds."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from aqmlab.tables.statistics.responses import share_below

from ..colours import pens
from ..curves import draw_curve, place_legend
from ..sources import Cells, Drawing, Sample, mean_band, seeds_told
from ..style import decades, few, grid

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

UPTO_MS = 2000.0
GRID_MS = np.arange(0.0, 2001.0, 5.0)
HISTOGRAM = "response_histogram"
TAIL_POINTS = 100
FULL = 99.0
"""Percent below which a curve has a tail that is worth showing."""


def collect(
    cells: Cells,
    *,
    upto_ms: float = UPTO_MS,
    table: str = HISTOGRAM,
    traffic: list[int] | None = None,
) -> Drawing | None:
    """A curve per cell: the mean of the seeds' distributions with its 95 % interval.

    `upto_ms` is the right end of the axis; what takes longer is drawn beside it on a logarithmic
    one. `table` has `upper_ms` and `count`, `traffic` are the numbers of the traffic groups whose
    responses count where the table tells them apart (all).
    """
    times = GRID_MS if upto_ms == UPTO_MS else np.linspace(0.0, upto_ms, len(GRID_MS))
    drawn, curves, tails = [], [], []
    for sample in cells.samples():
        found = histograms(sample, table, traffic)
        if found:
            curves.append({"label": sample.label} | band(found, times))
            tails.append((found, max(longest(one) for one in found)))
            drawn.append(sample)
    if not curves:
        return None
    last = max(end for _, end in tails)
    if last > 1.5 * upto_ms and min(curve["percent"][-1] for curve in curves) < FULL:
        beyond = np.geomspace(upto_ms, last, TAIL_POINTS)
        for curve, (found, _) in zip(curves, tails, strict=True):
            curve["tail"] = band(found, beyond)
    return Drawing({"curves": curves}, seeds_told(drawn))


def histograms(
    sample: Sample, table: str, traffic: list[int] | None
) -> list[dict[str, np.ndarray]]:
    """The histograms of a cell's runs; none if one of them is empty, because a mean over the other
    runs would be that of the lucky ones.
    """
    found = sample.tables(table, traffic)
    return found if all(histogram["count"].any() for histogram in found) else []


def longest(histogram: dict[str, np.ndarray]) -> float:
    """Upper edge (ms) of the last finite bin that holds a response."""
    upper = histogram["upper_ms"].astype(float)
    held = upper[(histogram["count"] > 0) & np.isfinite(upper)]
    return float(held.max()) if len(held) else 0.0


def band(found: list[dict[str, np.ndarray]], times: np.ndarray) -> dict:
    """Mean over the seeds' histograms and its 95 % interval, at every time."""
    mean, low, high = mean_band([share_below(histogram, times) for histogram in found])
    return {"x_ms": times, "percent": mean, "low": low, "high": high}


def draw(
    data: dict, *, title: str = "", legend: str = "", axis: str = "response time (ms)"
) -> Figure:
    """One curve per entry of `data["curves"]`, with the band of its interval over the seeds.

    A curve has `label` and the columns `x_ms`, `percent`, and optionally `low`, `high` (the 95 %
    interval of the mean over the seeds, in percent), and `tail`, the same beyond the axis.
    """
    curves = data["curves"]
    tails = [curve["tail"] for curve in curves if "tail" in curve]
    figure, row = grid(
        5.4, 3.5, 1, 1 + bool(tails), sharey=True, width_ratios=[4, 1.3][: 1 + bool(tails)]
    )
    first, last = row[0][0], row[0][-1]
    first.set_title(title)
    first.set(xlim=(0, curves[0]["x_ms"][-1]), ylim=(0, 100))
    few(first.xaxis, 5)
    few(first.yaxis, 5)
    looks = pens((c["label"] for c in curves), data.get("known", ()))
    for index, (curve, pen) in enumerate(zip(curves, looks, strict=True)):
        _draw(first, curve, curve, pen, (index, len(curves)))
    first.set_xlabel(axis)
    first.set_ylabel("cumulative share of responses (%)")
    place_legend(figure, first, legend, "lower right")
    if tails:
        decades(last.xaxis)
        last.set_xlim(tails[0]["x_ms"][0], tails[0]["x_ms"][-1])
        last.tick_params(axis="y", length=0)
        last.spines["left"].set_linestyle((0, (2, 2)))
        for index, (curve, pen) in enumerate(zip(curves, looks, strict=True)):
            _draw(last, curve, curve["tail"], pen, (index, len(curves)))
        last.set_xlabel("longer (log.)")
    return figure


def _draw(axes: Axes, curve: dict, part: dict, pen, place: tuple[int, int]) -> None:
    x, percent = (np.asarray(part[k], dtype=float) for k in ("x_ms", "percent"))
    named = part | {"label": curve["label"]}
    draw_curve(axes, x, percent, named, pen, place)
