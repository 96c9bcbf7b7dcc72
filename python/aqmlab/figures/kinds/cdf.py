"""The share of the responses by response time, mean and 95 % band over the seeds."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from aqmlab.tables.statistics.responses import share_below

from ..colours import INK, Pen, pens
from ..curves import draw_curve, place_legend
from ..sources import Cells, Drawing, Sample, mean_band, seeds_note
from ..style import decades, few, grid

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

UPTO_MS = 2000.0
GRID_MS = np.arange(0.0, 2001.0, 5.0)
HISTOGRAM = "response_histogram"
TAIL_POINTS = 100
FULL = 99.0
"""A curve has a tail that is shown if it ends below this share, in percent."""


def collect(
    cells: Cells,
    *,
    upto_ms: float = UPTO_MS,
    table: str = HISTOGRAM,
    traffic: list[int] | None = None,
    against: str = "",
) -> Drawing | None:
    """A curve per cell: the mean of the seeds' distributions with its 95 % interval.

    `upto_ms` is the right end of the axis; what takes longer is drawn next to it on a logarithmic
    one. `table` has `upper_ms` and `count`, `traffic` are the numbers of the traffic groups whose
    responses count, where the table separates groups (all). `against` names a curve: how far the
    others are from it, paired by seed, is drawn below.
    """
    times = GRID_MS if upto_ms == UPTO_MS else np.linspace(0.0, upto_ms, len(GRID_MS))
    wanted = [
        (sample, found)
        for sample in cells.samples()
        if (found := histograms(sample, table, traffic))
    ]
    if not wanted:
        return None
    shares = {sample.label: shares_of(found, times) for sample, found in wanted}
    curves: list[dict[str, Any]] = [
        {"label": label} | band(rows, times) for label, rows in shares.items()
    ]
    last = max(longest(one) for _, found in wanted for one in found)
    if last > 1.5 * upto_ms and min(curve["percent"][-1] for curve in curves) < FULL:
        beyond = np.geomspace(upto_ms, last, TAIL_POINTS)
        for curve, (_, found) in zip(curves, wanted, strict=True):
            curve["tail"] = band(shares_of(found, beyond), beyond)
    data: dict = {"curves": curves}
    if against in shares:
        others = {label: rows for label, rows in shares.items() if label != against}
        data |= {"against": against, "differences": _differences(others, shares[against], times)}
    return Drawing(data, seeds_note([sample for sample, _ in wanted]))


def _differences(others: dict[str, list], first: list, times: np.ndarray) -> list[dict]:
    """The differences of the other curves from the first, paired by seed."""
    return [
        {"label": label} | band([a - b for a, b in zip(rows, first, strict=False)], times)
        for label, rows in others.items()
    ]


def histograms(
    sample: Sample, table: str, traffic: list[int] | None
) -> list[dict[str, np.ndarray]]:
    """The histograms of a cell's runs; an empty list if one run has no responses, because a mean
    over the others would favour the successful runs.
    """
    found = sample.tables(table, traffic)
    return found if all(histogram["count"].any() for histogram in found) else []


def longest(histogram: dict[str, np.ndarray]) -> float:
    """Upper edge (ms) of the last finite bin that holds a response."""
    upper = histogram["upper_ms"].astype(float)
    held = upper[(histogram["count"] > 0) & np.isfinite(upper)]
    return float(held.max()) if len(held) else 0.0


def shares_of(found: list[dict[str, np.ndarray]], times: np.ndarray) -> list[np.ndarray]:
    """The share in percent of the responses within each of these times, for every seed."""
    return [share_below(histogram, times) for histogram in found]


def band(rows: list[np.ndarray], times: np.ndarray) -> dict:
    """Mean over the seeds (rows) and its 95 % interval, at every time."""
    mean, low, high = mean_band(rows)
    return {"x_ms": times, "percent": mean, "low": low, "high": high}


def draw(
    data: dict, *, title: str = "", legend: str = "", axis: str = "response time (ms)"
) -> Figure:
    """One curve per entry of `data["curves"]`, with the band of its interval over the seeds.

    A curve has `label` and the columns `x_ms`, `percent`, and optionally `low`, `high` (the 95 %
    interval of the mean over the seeds, in percent), and `tail`, these columns beyond the axis.
    `data["differences"]` has the columns of each curve minus those of `data["against"]`.
    """
    curves, differences = data["curves"], data.get("differences", [])
    tails = [curve["tail"] for curve in curves if "tail" in curve]
    rows, columns = 1 + bool(differences), 1 + bool(tails)
    ratios: dict[str, Any] = {"width_ratios": [4, 1.3][:columns], "height_ratios": [2.6, 1][:rows]}
    figure, places = grid(5.4, 3.5 if rows == 1 else 4.9, rows, columns, sharex="col", **ratios)
    first, last = places[0][0], places[0][-1]
    first.set_title(title)
    first.set(xlim=(0, curves[0]["x_ms"][-1]), ylim=(0, 100))
    few(first.xaxis, 5)
    few(first.yaxis, 5)
    first.set_ylabel("cumulative share of responses (%)")
    looks = pens((c["label"] for c in curves), data.get("known", ()))
    pen_of = {curve["label"]: pen for curve, pen in zip(curves, looks, strict=True)}
    for place, curve in enumerate(curves):
        _draw(first, curve, pen_of[curve["label"]], (place, len(curves)))
    if differences:
        _below(places[1], data, pen_of)
    places[-1][0].set_xlabel(axis)
    place_legend(figure, first, legend, "lower right")
    if tails:
        _beyond(last, curves, pen_of)
    return figure


def _draw(axes: Axes, curve: dict, pen: Pen, place: tuple[int, int]) -> None:
    x, percent = (np.asarray(curve[k], dtype=float) for k in ("x_ms", "percent"))
    draw_curve(axes, x, percent, curve, pen, place)


def _beyond(axes: Axes, curves: list[dict], pen_of: dict[str, Pen]) -> None:
    """Draws the tails beyond the linear axis on a logarithmic one."""
    decades(axes.xaxis, unit=1000, subs=(1,))
    ends = curves[0]["tail"]["x_ms"]
    axes.set(xlim=(ends[0], ends[-1]), ylim=(0, 100))
    axes.tick_params(axis="y", length=0, labelleft=False)
    axes.tick_params(axis="x", labelbottom=True)
    axes.spines["left"].set_linestyle((0, (2, 2)))
    for place, curve in enumerate(curves):
        part = curve["tail"] | {"label": curve["label"]}
        _draw(axes, part, pen_of[curve["label"]], (place, len(curves)))
    axes.set_xlabel("longer (s)")


def _below(row: np.ndarray, data: dict, pen_of: dict[str, Pen]) -> None:
    """Draws the differences of the other curves from `data["against"]`."""
    axes, differences = row[0], data["differences"]
    for empty in row[1:]:
        empty.set_axis_off()
    ends = [np.abs(np.asarray(d["percent"], dtype=float)).max() for d in differences]
    top = 1.5 * max(ends) or 1.0
    axes.set_ylim(-top, top)
    axes.axhline(0.0, color=INK, linewidth=0.9)
    for place, difference in enumerate(differences):
        _draw(axes, difference, pen_of[difference["label"]], (place, len(differences)))
    few(axes.yaxis, 4)
    axes.set_ylabel(f"minus {data['against']}\n(points)")
