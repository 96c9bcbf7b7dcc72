"""A quantity second by second, with its mean over a minute."""

from __future__ import annotations

import numpy as np
from matplotlib.figure import Figure

from .style import INK, PENS, SOFT, new


def series(
    data: dict, *, title: str = "", axis: str = "", warmup_s: float = 0.0, window: int = 60
) -> Figure:
    """`data["time_s"]` and `data["value"]`; what lies before `warmup_s` is shown as discarded.

    Seconds without a value are NaN and stay empty.
    """
    figure, axes = new(5.4, 3.0)
    time = np.asarray(data["time_s"], dtype=float)
    value = np.asarray(data["value"], dtype=float)
    minutes = time / 60
    axes.plot(minutes, value, color=PENS[0].colour, linewidth=0.45, alpha=0.75, label="each second")
    axes.plot(
        minutes, rolling_mean(value, window), color=INK, linewidth=1.5, label="mean over a minute"
    )
    top = _top(value)
    axes.set(xlim=(minutes[0], minutes[-1]), ylim=(0, top))
    if warmup_s > time[0]:
        axes.axvspan(minutes[0], warmup_s / 60, color=SOFT, alpha=0.10, linewidth=0)
        axes.axvline(warmup_s / 60, color=SOFT, linewidth=0.9)
        left = minutes[0] + 0.012 * (minutes[-1] - minutes[0])
        axes.text(left, top * 0.98, "discarded", ha="left", va="top", color=SOFT, fontsize=8.5)
    axes.yaxis.set_major_formatter("{x:,.0f}")
    axes.set_xlabel("time (min)")
    axes.set_ylabel(axis)
    axes.set_title(title, pad=10)
    legend = axes.legend(loc="upper right", ncols=2, borderaxespad=0.1)
    for line in legend.get_lines():
        line.set(linewidth=1.6, alpha=1)
    clipped = int(np.sum(value[np.isfinite(value)] > top))
    if clipped:
        seconds = "1 second" if clipped == 1 else f"{clipped} seconds"
        axes.text(
            1,
            1.02,
            f"{seconds} above the axis, at most {np.nanmax(value):,.0f}",
            transform=axes.transAxes,
            ha="right",
            va="bottom",
            color=SOFT,
            fontsize=8,
        )
    return figure


def rolling_mean(value: np.ndarray, window: int) -> np.ndarray:
    """Centred mean over `window` samples, leaving out NaN; shorter at both ends."""
    good = np.isfinite(value)
    sums = np.concatenate([[0.0], np.cumsum(np.where(good, value, 0.0))])
    counts = np.concatenate([[0], np.cumsum(good)])
    index = np.arange(len(value))
    low = np.maximum(index - window // 2, 0)
    high = np.minimum(index + (window + 1) // 2, len(value))
    total, count = sums[high] - sums[low], counts[high] - counts[low]
    return np.divide(total, count, out=np.full(len(value), np.nan), where=count > 0)


def _top(value: np.ndarray) -> float:
    """Leaves room for the legend; a few enormous seconds do not flatten all the others."""
    good = value[np.isfinite(value)]
    if not len(good):
        return 1.0
    return float(min(good.max(), 1.5 * np.quantile(good, 0.995)) * 1.18) or 1.0
