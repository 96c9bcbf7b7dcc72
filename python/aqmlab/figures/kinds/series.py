"""A quantity of one run second by second, with its mean over a minute."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from aqmlab import units

from ..colours import INK, PENS, SOFT
from ..sources import Cells, Drawing, joined, table
from ..style import SMALL, few, new

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

BATCHES = 10
"""Number of parts (batches) of the measured time whose means are compared."""
SURE = 2.0
"""The first and last third of a run differ by more than chance if their means differ by more
standard errors than this."""


def collect(
    cells: Cells, *, column: str, scale: float = 1.0, whole_run: bool = False
) -> Drawing | None:
    """A column of the table `seconds`, times `scale`, of the first seed; nothing if no second was
    measured. With `whole_run` the discarded part is shown, too.
    """
    found = cells.samples()
    seconds = table(found[0].runs[0], "seconds") if found else None
    if seconds is None:
        return None
    warmup = units.seconds(cells.dataset.settings.warmup)
    time = seconds["time_s"].astype(float)
    value = seconds[column].astype(float) * scale
    measured = time >= warmup
    keep = np.full(len(time), True) if whole_run else measured
    if not keep.any():
        return None
    sample = value[measured & np.isfinite(value)]
    note = ""
    if len(sample) and sample.mean() > 0:
        note = joined(
            f"After the discarded part: mean {sample.mean():,.0f}, "
            f"largest second {sample.max() / sample.mean():.1f} times the mean.",
            f"Variance over mean: {sample.var() / sample.mean():.2f} (1 if requests were "
            "independent)."
            if column == "requests"
            else "",
            _trend(sample) if whole_run else "",
        )
    data = {"time_s": time[keep], "value": value[keep], "warmup_s": warmup if whole_run else 0.0}
    return Drawing(data, note)


def _trend(sample: np.ndarray) -> str:
    """A sentence on whether the level still changes after the discarded part."""
    parts = [part.mean() for part in np.array_split(sample, BATCHES)] if len(sample) else []
    if len(sample) < BATCHES:
        return ""
    third = BATCHES // 3
    first, last = np.mean(parts[:third]), np.mean(parts[-third:])
    error = math.sqrt(2 / third) * float(np.std(np.diff(parts), ddof=1)) / math.sqrt(2)
    if abs(last - first) <= SURE * error:
        return (
            f"The level stays: mean {first:,.0f} in the first third of what is measured, "
            f"{last:,.0f} in the last."
        )
    word = "falls" if last < first else "rises"
    return (
        f"The level still {word} after the discarded part: mean {first:,.0f} in the first third "
        f"of what is measured, {last:,.0f} in the last. The run is not yet at rest there, so its "
        "means depend on how long it is; all scenarios of a comparison begin alike and are "
        "measured over the same time."
    )


def draw(data: dict, *, axis: str, title: str = "", window: int = 60) -> Figure:
    """Draws a quantity over time: `data["value"]` has its values at the times `data["time_s"]`, NaN
    for a second without a value, which stays empty. The time before `data["warmup_s"]` is shaded as
    discarded.
    """
    figure, axes = new(5.4, 3.0, title)
    time = np.asarray(data["time_s"], dtype=float)
    value = np.asarray(data["value"], dtype=float)
    minutes = time / 60
    axes.plot(minutes, value, color=PENS[0].colour, linewidth=0.45, alpha=0.75, label="each second")
    smooth = rolling_mean(value, window)
    axes.plot(minutes, smooth, color=INK, linewidth=1.5, label="mean over a minute")
    top = _top(value)
    axes.set(xlim=(minutes[0], minutes[-1]), ylim=(0, top))
    _discarded(axes, minutes, data.get("warmup_s", 0.0) / 60, top)
    few(axes.xaxis, 6)
    few(axes.yaxis, 6)
    axes.set_xlabel("time (min)")
    axes.set_ylabel(axis)
    legend = axes.legend(loc="upper right", ncols=2, borderaxespad=0.1)
    for line in legend.get_lines():
        line.set(linewidth=1.6, alpha=1)
    clipped = int(np.sum(value[np.isfinite(value)] > top))
    if clipped:
        seconds = "1 second" if clipped == 1 else f"{clipped} seconds"
        words = f"{seconds} above the axis, at most {np.nanmax(value):,.0f}"
        axes.text(1, 1.02, words, transform=axes.transAxes, ha="right", va="bottom", **SMALL)
    return figure


def _discarded(axes: Axes, minutes: np.ndarray, end: float, top: float) -> None:
    """Shades the beginning, which is not measured."""
    if end <= minutes[0]:
        return
    axes.axvspan(minutes[0], end, color=SOFT, alpha=0.10, linewidth=0)
    axes.axvline(end, color=SOFT, linewidth=0.9)
    left = minutes[0] + 0.012 * (minutes[-1] - minutes[0])
    axes.text(left, top * 0.98, "discarded", ha="left", va="top", color=SOFT, fontsize=8.5)


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
    """The upper end of the axis of values, with room for the legend. The values of 0.5 % of the
    seconds, the largest, may lie above it, so that they do not flatten the others."""
    good = value[np.isfinite(value)]
    if not len(good):
        return 1.0
    return float(min(good.max(), 1.5 * np.quantile(good, 0.995)) * 1.18) or 1.0
