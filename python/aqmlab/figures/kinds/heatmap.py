"""A metric over two axes, as fields whose colour is its mean and whose words are its number."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from aqmlab.intervals import interval

from ..sources import Cells, Drawing, titled
from ..style import new

if TYPE_CHECKING:
    from matplotlib.figure import Figure

MAP = "cividis"
"""A colour map that differs in brightness, for colour-blind readers and for print."""
MOST = 12
"""Largest number of columns with which the fields show their numbers."""
AROUND = "PuOr_r"
"""A diverging colour map of two hues that colour-blind readers distinguish, pale in the middle."""
FARTHEST = 4.0
"""The factor from the centre at which the colours end."""
ON_DARK, ON_PALE = "#fdfdfd", "#101010"
"""Colours of the numbers. They do not follow the page's dark mode, since the fields' colours do not
either."""
WIDTH, LETTER = 0.62, 0.075
"""Width in inches of a column, and of a letter of its label."""


def collect(cells: Cells, *, x: str, y: str, metric: str) -> Drawing | None:
    """The mean of `metric` over the seeds for each value of the axes `x` and `y`."""
    about = cells.dataset.metrics[metric]
    found = cells.samples()
    across, up = (
        list(dict.fromkeys(s.cell.labels[axis] for s in found if axis in s.cell.labels))
        for axis in (x, y)
    )
    if not across or not up:
        return None
    means = np.full((len(up), len(across)), np.nan)
    for sample in found:
        labels = sample.cell.labels
        values = cells.dataset.values(sample.cell, about)
        means[up.index(labels[y]), across.index(labels[x])] = interval(values)[0]
    if np.isnan(means).all():
        return None
    counts = {len(sample.runs) for sample in found}
    note = f"Means of {max(counts)} seeds." if max(counts) > 1 else "One seed."
    axes = {"x": across, "y": up}
    data = {**axes, "means": means, "value": titled(about), "digits": about.digits}
    return Drawing(data, note)


def draw(
    data: dict, *, title: str = "", axis: str = "", axis_y: str = "", center: float | None = None
) -> Figure:
    """`data` has the labels `x` and `y`, `means` with a row for each of `y`, `value` (the words of
    the colours) and `digits`; an undefined mean leaves its field empty. With a `center` above zero,
    for ratios, the colours follow the logarithm of the factor from it, and the first row is on top.
    """
    across, up = data["x"], data["y"]
    means = np.ma.masked_invalid(np.asarray(data["means"], dtype=float))
    figure, axes = new(max(3.6, 1.6 + WIDTH * len(across)), max(2.6, 1.2 + 0.4 * len(up)), title)
    if center:
        end = np.log(FARTHEST)
        shown = np.ma.clip(np.ma.log(means / center), -end, end)
        axes.imshow(shown, cmap=AROUND, aspect="auto", vmin=-end, vmax=end)
        dark = np.ma.abs(shown) > 0.75 * end
    else:
        picture = axes.imshow(means, cmap=MAP, aspect="auto", origin="lower")
        dark = means < (float(means.min()) + float(means.max())) / 2
        bar = figure.colorbar(picture, ax=axes, pad=0.02)
        bar.set_label(data.get("value", ""))
        bar.outline.set_visible(False)
    axes.set_xticks(range(len(across)), across)
    if max(map(len, across)) * LETTER > WIDTH:
        for label in axes.get_xticklabels():
            label.set(rotation=30, ha="right", rotation_mode="anchor")
    axes.set_yticks(range(len(up)), up)
    axes.grid(visible=False)
    axes.set(xlabel=axis, ylabel=axis_y)
    if len(across) <= MOST:
        for (row, column), value in np.ma.ndenumerate(means):
            colour = ON_DARK if dark[row, column] else ON_PALE
            words = f"{value:,.{data.get('digits', 2)}f}"
            axes.text(column, row, words, ha="center", va="center", color=colour, fontsize=8)
    return figure
