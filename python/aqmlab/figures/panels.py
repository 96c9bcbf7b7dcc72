"""A table drawn: a small panel per measure and column, ours with intervals, the paper's beside."""

from __future__ import annotations

import numpy as np
from matplotlib.figure import Figure

from .style import INK, PENS


def panels(data: dict, *, title: str = "", axis: str = "") -> Figure:
    """`data["rows"]`: measures with `title`, `unit` and one cell per entry of `data["columns"]`.

    A cell has `x`, `ours`, `low`, `high` and, where published numbers exist, `paper`.
    """
    rows, columns = data["rows"], data["columns"]
    figure = Figure(
        figsize=(1.75 * len(columns) + 0.6, 1.35 * len(rows) + 0.7), layout="constrained"
    )
    grid = figure.subplots(len(rows), len(columns), squeeze=False, sharex=True)
    for i, row in enumerate(rows):
        for j, cell in enumerate(row["cells"]):
            _cell(grid[i, j], cell)
        grid[i, 0].set_ylabel(f"{row['title']}\n({row['unit']})", fontsize=8.5)
    for j, name in enumerate(columns):
        grid[0, j].set_title(name, loc="center", fontsize=9)
    figure.supxlabel(axis, fontsize=9)
    figure.align_ylabels(grid[:, 0])
    figure.suptitle(title, x=0.01, ha="left", fontsize=10, fontweight="bold")
    handles, labels = grid[0, 0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside upper right", ncols=2, borderaxespad=0.2)
    return figure


#: Share of a panel's width that a label needs for itself.
LABEL_WIDTH = 0.12


def tick_labels(x: np.ndarray) -> list[str]:
    """The places along an axis; blank where one would run into the last that is told."""
    width, last, labels = float(np.ptp(x)), -np.inf, dict.fromkeys(x.tolist(), "")
    for place in sorted(labels):
        if place - last >= LABEL_WIDTH * width:
            labels[place], last = f"{place:g}", place
    return [labels[place] for place in x.tolist()]


def _cell(axes, cell: dict) -> None:
    x = np.asarray(cell["x"], dtype=float)
    ours, low, high = (np.asarray(cell[k], dtype=float) for k in ("ours", "low", "high"))
    blue = PENS[0].colour
    axes.fill_between(x, low, high, color=blue, alpha=0.18, linewidth=0)
    axes.plot(x, ours, color=blue, marker="o", markersize=3.8, linewidth=1.4, label="ours")
    tops = [np.nanmax(np.concatenate([ours, high]))]
    paper = cell.get("paper")
    if paper is not None:
        axes.plot(
            x,
            np.asarray(paper, dtype=float),
            linestyle="none",
            marker="D",
            markersize=4.2,
            markerfacecolor="white",
            markeredgecolor=INK,
            markeredgewidth=1.1,
            label="paper, one run each",
            zorder=4,
        )
        tops.append(np.nanmax(np.asarray(paper, dtype=float)))
    axes.set_ylim(0, max(*tops, 1e-9) * 1.12 if len(tops) > 1 else (tops[0] or 1.0) * 1.12)
    axes.set_xticks(x, tick_labels(x))
    axes.tick_params(labelsize=7.5)
    axes.yaxis.set_major_formatter("{x:,g}")
