"""The tail of the response times: the share above a time, both axes logarithmic."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from aqmlab.tables.statistics.responses import share_below

from ..colours import pens
from ..curves import draw_curve, place_legend
from ..sources import Cells, Drawing, described, joined, mean_band, seeds_note
from ..style import new
from .cdf import HISTOGRAM, histograms, longest

if TYPE_CHECKING:
    from matplotlib.figure import Figure

POINTS = 300
TOLD_MS = 10_000.0
"""The note under the figure counts the responses that took longer than this time."""
LOWEST = 1e-6
"""The smallest share that is drawn."""


def collect(
    cells: Cells,
    *,
    from_ms: float = 10.0,
    upto_ms: float | None = None,
    table: str = HISTOGRAM,
    traffic: list[int] | None = None,
) -> Drawing | None:
    """A curve per cell as in `cdf`, the shares above; `from_ms` and `upto_ms` (the last edge of
    the histogram) are the ends of the axis. Failed responses are above every time.
    """
    wanted = [
        (sample, found)
        for sample in cells.samples()
        if (found := histograms(sample, table, traffic))
    ]
    if not wanted:
        return None
    last = upto_ms or max(longest(one) for _, found in wanted for one in found)
    times = np.geomspace(from_ms, max(last, 2 * from_ms), POINTS)
    curves, above = [], {}
    for sample, found in wanted:
        mean, low, high = mean_band([1 - share_below(h, times) / 100 for h in found])
        curves.append(
            {"label": sample.label, "x_ms": times, "share": mean, "low": low, "high": high}
        )
        late = [100 - share_below(h, np.array([TOLD_MS]))[0] for h in found]
        above[sample.label] = float(np.mean(late))
    note = joined(
        described("Share above 10 s", above, "{:.3g} %"),
        seeds_note([sample for sample, _ in wanted]),
    )
    return Drawing({"curves": curves}, note)


def draw(
    data: dict, *, title: str = "", legend: str = "", axis: str = "response time (ms)"
) -> Figure:
    """One curve per entry of `data["curves"]`: `label`, `x_ms`, `share` (0 to 1), and optionally
    `low`, `high`. A power law is a straight line here.
    """
    figure, axes = new(title=title)
    curves = data["curves"]
    shares = np.concatenate([np.asarray(c["share"], dtype=float) for c in curves])
    positive = shares[shares > LOWEST]
    bottom = 10.0 ** np.floor(np.log10(positive.min())) if len(positive) else LOWEST
    ends = [np.asarray(c["x_ms"], dtype=float)[[0, -1]] for c in curves]
    axes.set(xscale="log", yscale="log", ylim=(bottom, 1.0))
    axes.set_xlim(min(first for first, _ in ends), max(last for _, last in ends))
    looks = pens((c["label"] for c in curves), data.get("known", ()))
    for index, (curve, pen) in enumerate(zip(curves, looks, strict=True)):
        share = np.asarray(curve["share"], dtype=float)
        # Shares decrease, so that the points to keep come first.
        keep = slice(0, int(np.sum(share >= bottom)))
        x = np.asarray(curve["x_ms"], dtype=float)[keep]
        if len(x):
            draw_curve(axes, x, share[keep], curve, pen, (index, len(curves)))
    axes.xaxis.set_major_formatter("{x:,g}")
    axes.set_xlabel(axis)
    axes.set_ylabel("share of responses above")
    place_legend(figure, axes, legend, "lower left")
    return figure
