"""Offered load against the number of users, with the line through the origin."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

import numpy as np

from ..colours import INK, PENS
from ..sources import Dataset, Drawing
from ..style import LEVEL, SMALL, few, new

if TYPE_CHECKING:
    from matplotlib.figure import Figure

UNITS = {"KB/s": 1.0, "Mbit/s": 8 / 1000}
"""The value of 1 KB/s in each unit."""


def collect(
    dataset: Dataset,
    *,
    group: str | None = None,
    source: Literal["calibration"] | None = None,
    base: str | None = None,
) -> Drawing | None:
    """Offered load against users: the runs of a `group`, or the calibration of `base` itself."""
    if source == "calibration":
        line = dataset.calibrations.get(base)
        if line is None or line["open_loop"]:
            return None
        points = line["points"]
    else:
        points = [
            (cell.axes["users"], run.summary["throughput_bytes_per_s"])
            for cell in dataset.plan.of(group or "")
            for run in dataset.runs(cell)
        ]
    if not points:
        return None
    users, rates = np.array(points, dtype=float).T
    slope, r_squared = through_origin(users, rates)
    data = {
        "users": users,
        "kilobytes_per_s": rates / 1000,
        "slope": slope,
        "r_squared": r_squared,
        "marks": _full_load(dataset.calibrations.get(base)),
    }
    note = f"Every point is a run; the line through the origin has R² = {r_squared:.5f}."
    return Drawing(data, note)


def _full_load(calibration: dict | None) -> list[tuple[str, float]]:
    if calibration is None:
        return []
    return [(f"100 % of {calibration['rate']}", calibration["full_bytes_per_s"] / 1000)]


def through_origin(x: np.ndarray, y: np.ndarray) -> tuple[float, float]:
    """Slope of the least-squares line through the origin, and its R² about zero."""
    slope = float((x * y).sum() / (x * x).sum())
    return slope, float(1 - ((y - slope * x) ** 2).sum() / (y * y).sum())


def draw(data: dict, *, title: str = "", unit: Literal["KB/s", "Mbit/s"] = "KB/s") -> Figure:
    """Every run is a point of `data["users"]`, `data["kilobytes_per_s"]`.

    `data["slope"]` (bytes per second and user) and `data["r_squared"]` describe the fitted line;
    `data["marks"]`, optional, are pairs of a label and a rate in KB/s drawn as levels. The axis
    is in `unit` (KB/s as printed in Tuning RED).
    """
    figure, axes = new(5.4, 3.2, title)
    users = np.asarray(data["users"], dtype=float)
    rates = np.asarray(data["kilobytes_per_s"], dtype=float) * UNITS[unit]
    right = users.max() * 1.08
    slope = data["slope"] / 1000 * UNITS[unit]
    top = max(rates.max(), slope * right) * 1.06
    for label, kilobytes in data.get("marks", []):
        rate = kilobytes * UNITS[unit]
        if rate <= top:
            axes.axhline(rate, **LEVEL)
            axes.text(right * 0.01, rate + top * 0.012, label, **SMALL)
    axes.plot([0, right], [0, slope * right], color=INK, linewidth=1.2, zorder=2)
    dots = {"markersize": 5, "markeredgecolor": "white", "markeredgewidth": 0.6}
    axes.plot(users, rates, "o", color=PENS[0].colour, zorder=3, **dots)
    axes.text(
        0.98,
        0.06,
        f"{data['slope']:.0f} bytes/s per user\nR² = {data['r_squared']:.5f}",
        transform=axes.transAxes,
        ha="right",
        va="bottom",
        linespacing=1.5,
    )
    axes.set(xlim=(0, right), ylim=(0, top))
    few(axes.xaxis, 6)
    axes.yaxis.set_major_formatter("{x:,.0f}")
    axes.set_xlabel("users")
    axes.set_ylabel(f"offered load ({unit})")
    return figure
