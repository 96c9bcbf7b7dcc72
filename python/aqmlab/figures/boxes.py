"""Repetitions as boxes: median, quartiles, extremes; side by side for every discipline."""

from __future__ import annotations

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Patch
from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

from .curves import below
from .style import INK, hatch, pen

SPREAD = 0.82
"""Share of a group's width that its boxes take."""

ROOM = 110
"""Letters that fit side by side below the axis; more stand aslant."""


def boxes(
    data: dict,
    *,
    title: str = "",
    axis: str = "",
    value: str = "",
    legend: str = "",
    log: bool = False,
) -> Figure:
    """One panel per entry of `data["panels"]`, one above the other on the same scale: `title`,
    `places` (the groups along the axis) and `series`, each with a `label` and in `values` the
    sample of every place, which may be empty.

    `axis` and `value` are the words at the axes; `log` makes that of the values logarithmic.
    """
    panels = data["panels"]
    labels = list(dict.fromkeys(s["label"] for panel in panels for s in panel["series"]))
    figure = Figure(figsize=(7.6, 0.6 + 2.5 * len(panels)), layout="constrained")
    stack = figure.subplots(len(panels), 1, squeeze=False, sharey=True)[:, 0]
    for axes, panel in zip(stack, panels, strict=True):
        _panel(axes, panel, labels)
        axes.set_title(panel.get("title", ""), fontsize=9)
        axes.set_ylabel(value)
    if log:
        _logarithmic(stack[0])
    else:
        stack[0].set_ylim(bottom=0)
    stack[-1].set_xlabel(axis)
    figure.suptitle(title, x=0.01, ha="left", fontsize=10, fontweight="bold")
    if len(labels) > 1:
        patches = [Patch(**_fill(i), linewidth=0.9) for i in range(len(labels))]
        below(figure, patches, labels, legend)
    return figure


def _logarithmic(axes: Axes) -> None:
    """Ticks as plain numbers, 1, 2 and 5 of every decade."""
    axes.set_yscale("log")
    axes.yaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
    axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    axes.yaxis.set_minor_formatter(NullFormatter())


def _panel(axes: Axes, panel: dict, labels: list[str]) -> None:
    width = SPREAD / len(labels)
    for series in panel["series"]:
        index = labels.index(series["label"])
        for place, sample in enumerate(series["values"]):
            if len(sample):
                _box(axes, place + width * (index - (len(labels) - 1) / 2), sample, width, index)
    count = len(panel["places"])
    axes.set_xticks(range(count), panel["places"])
    if sum(len(str(place)) + 2 for place in panel["places"]) > ROOM:
        axes.tick_params(axis="x", rotation=60)
        for label in axes.get_xticklabels():
            label.set(ha="right", rotation_mode="anchor", fontsize=8)
    axes.tick_params(axis="x", length=0)
    axes.set_xlim(-0.5, count - 0.5)
    axes.grid(visible=False, axis="x")
    for place in range(1, count):
        axes.axvline(place - 0.5, color="#e4e4e4", linewidth=0.7)


def _box(axes: Axes, at: float, sample: list[float], width: float, index: int) -> None:
    low, first, middle, third, high = np.quantile(sample, [0, 0.25, 0.5, 0.75, 1])
    drawn = axes.bxp(
        [{"med": middle, "q1": first, "q3": third, "whislo": low, "whishi": high}],
        positions=[at],
        widths=[0.78 * width],
        showfliers=False,
        patch_artist=True,
        manage_ticks=False,
        medianprops={"color": INK, "linewidth": 1.5},
        whiskerprops={"color": pen(index).colour, "linewidth": 0.9},
        capprops={"color": pen(index).colour, "linewidth": 0.9},
    )
    drawn["boxes"][0].set(**_fill(index), linewidth=0.9)


def _fill(index: int) -> dict:
    """A pale area with a coloured edge, and a hatch that survives a black-and-white print."""
    colour = pen(index).colour
    return {"facecolor": f"{colour}33", "edgecolor": colour, "hatch": hatch(index)}
