"""What every connection or source got: a bar each, with the mean."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ..colours import INK, pens
from ..sources import Cells, Drawing, described, joined
from ..style import few, grid

if TYPE_CHECKING:
    from matplotlib.figure import Figure

WIDE = True
COLUMNS = 2


def collect(
    cells: Cells,
    *,
    table: str = "sources",
    column: str = "goodput_bits_per_s",
    scale: float = 0.001,
    unit: str = "kbit/s",
    traffic: list[int] | None = None,
    sorted: bool = False,
) -> Drawing | None:
    """A panel per cell, from a table with a row per source.

    `column` times `scale` is drawn, in `unit`; `traffic` chooses groups of the scenario by their
    numbers; `sorted` puts the largest first. Bars are of the first seed: a mean over seeds would
    show sources as more equal than they ever were. Jain's index in the note is the mean over all
    seeds.
    """
    panels, jain = [], {}
    for sample in cells.samples():
        found = [one[column].astype(float) * scale for one in sample.tables(table, traffic)]
        found = [values for values in found if len(values)]
        if not found:
            continue
        values = np.sort(found[0])[::-1] if sorted else found[0]
        panels.append({"title": sample.label, "values": values, "mean": float(values.mean())})
        jain[sample.label] = float(np.mean([_jain(one) for one in found]))
    if not panels:
        return None
    means = {panel["title"]: panel["mean"] for panel in panels}
    note = joined(
        described("Mean", means, f"{{:,.1f}} {unit}"),
        described("Jain’s index (1: all equal)", jain, "{:.3f}"),
    )
    return Drawing({"panels": panels, "value": f"goodput ({unit})"}, note)


def _jain(values: np.ndarray) -> float:
    """Jain's fairness index (Jain, Chiu and Hawe, 1984): (sum of x)² over n times the sum of x²."""
    squares = float((values**2).sum())
    return float(values.sum()) ** 2 / (len(values) * squares) if squares else np.nan


def draw(data: dict, *, title: str = "", axis: str = "connection") -> Figure:
    """One panel per entry of `data["panels"]`, all on one scale: `title`, `values` and
    `mean`, drawn as a line. `axis` and `data["value"]` are the words at the axes.
    """
    panels = data["panels"]
    columns = min(COLUMNS, len(panels))
    rows = -(-len(panels) // columns)
    figure, places = grid(0.6 + 3.5 * columns, 0.7 + 2.1 * rows, rows, columns, title, sharey=True)
    for axes in places.flat[len(panels) :]:
        axes.set_axis_off()
    looks = pens((p["title"] for p in panels), data.get("known", ()))
    for axes, panel, pen in zip(places.flat, panels, looks, strict=False):
        values = np.asarray(panel["values"], dtype=float)
        axes.bar(np.arange(1, len(values) + 1), values, width=0.75, color=pen.colour)
        axes.axhline(panel["mean"], color=INK, linewidth=1.2, linestyle=(0, (5, 1.8)))
        mean = f"mean {panel['mean']:,.1f}"
        axes.text(1, 1.02, mean, transform=axes.transAxes, ha="right", va="bottom", fontsize=8.5)
        axes.set_title(panel["title"], fontsize=9)
        axes.set_xlim(0.3, len(values) + 0.7)
        few(axes.xaxis, 6, whole=True)
        axes.yaxis.set_major_formatter("{x:,.0f}")
        axes.grid(visible=False, axis="x")
        axes.set_xlabel(axis)
    for axes in places[:, 0]:
        axes.set_ylabel(data.get("value", ""))
    return figure
