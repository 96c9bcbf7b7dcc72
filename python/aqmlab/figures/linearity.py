"""Calibration: offered load against the number of users, with the line through the origin."""

from __future__ import annotations

import numpy as np
from matplotlib.figure import Figure

from .style import INK, PENS, SOFT, new

UNITS = {"KB/s": 1.0, "Mbit/s": 8 / 1000}
"""One KB/s in these units."""


def linearity(data: dict, *, title: str = "", unit: str = "KB/s") -> Figure:
    """Every run is a point of `data["users"]`, `data["kilobytes_per_s"]`.

    `data["slope"]` (bytes per second and user) and `data["r_squared"]` describe the fitted line;
    `data["marks"]`, optional, are pairs of a label and a rate in KB/s drawn as levels. The axis
    is in `unit`.
    """
    figure, axes = new(5.4, 3.2)
    users = np.asarray(data["users"], dtype=float)
    rates = np.asarray(data["kilobytes_per_s"], dtype=float) * UNITS[unit]
    right = users.max() * 1.08
    slope = data["slope"] / 1000 * UNITS[unit]
    top = max(rates.max(), slope * right) * 1.06
    for label, kilobytes in data.get("marks", []):
        rate = kilobytes * UNITS[unit]
        if rate <= top:
            axes.axhline(rate, color=SOFT, linewidth=0.8, linestyle=(0, (3, 2)))
            axes.text(right * 0.01, rate + top * 0.012, label, color=SOFT, fontsize=8)
    axes.plot([0, right], [0, slope * right], color=INK, linewidth=1.2, zorder=2)
    axes.plot(
        users,
        rates,
        linestyle="none",
        marker="o",
        markersize=5,
        color=PENS[0].colour,
        markeredgecolor="white",
        markeredgewidth=0.6,
        zorder=3,
    )
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
    axes.xaxis.set_major_formatter("{x:,.0f}")
    axes.yaxis.set_major_formatter("{x:,.0f}")
    axes.set_xlabel("users")
    axes.set_ylabel(f"offered load ({unit})")
    axes.set_title(title, pad=10)
    return figure
