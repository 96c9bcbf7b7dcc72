"""How many responses, or how many of their bytes, are in responses of up to a size."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

import numpy as np

from ..colours import pens
from ..curves import Corner, draw_curve, place_legend
from ..sources import Cells, Drawing, described, joined, mean_band, seeds_note
from ..style import few, new

if TYPE_CHECKING:
    from matplotlib.figure import Figure

CORNERS: dict[str, Corner] = {"responses": "lower right", "bytes": "upper left"}
"""The corner of the axes that is likely to have room for a legend."""
NOTHING = 0.1
"""A curve below this share, in percent, counts as zero."""


def collect(cells: Cells, *, weight: Literal["responses", "bytes"] = "responses") -> Drawing | None:
    """A curve per cell: the share of the answered responses (`weight`) or of their payload bytes
    that is in responses of up to a size.
    """
    drawn, curves, half = [], [], {}
    for sample in cells.samples():
        found = sample.tables("response_sizes")
        # The other runs alone would be a biased sample.
        if not found or not all(t[weight].any() for t in found):
            continue
        edges = np.unique(np.concatenate([t["upto_bytes"].astype(float) for t in found]))
        mean, low, high = mean_band([_share(t, weight, edges) for t in found])
        curves.append(
            {"label": sample.label, "x_bytes": edges, "percent": mean, "low": low, "high": high}
        )
        half[sample.label] = float(edges[np.searchsorted(mean, 50.0)])
        drawn.append(sample)
    if not curves:
        return None
    note = joined(
        described(f"Half of the {weight} are in responses of up to", half, "{:,.0f} bytes"),
        seeds_note(drawn),
    )
    return Drawing({"curves": curves}, note)


def _share(table: dict[str, np.ndarray], weight: str, edges: np.ndarray) -> np.ndarray:
    """The share, in percent, of responses (or bytes) at or below each of these sizes."""
    below = np.concatenate([[0.0], np.cumsum(table[weight].astype(float))])
    place = np.searchsorted(table["upto_bytes"].astype(float), edges, side="right")
    return 100 * below[place] / below[-1]


def draw(
    data: dict,
    *,
    title: str = "",
    legend: str = "",
    weight: Literal["responses", "bytes"] = "responses",
) -> Figure:
    """One curve per entry of `data["curves"]`: `label`, `x_bytes` (edges of the table, drawn with
    straight lines between them on a logarithmic axis), `percent`, optionally `low`, `high`.
    """
    figure, axes = new(title=title)
    curves = data["curves"]
    axes.set(xscale="log", xlim=_ends(curves), ylim=(0, 100))
    few(axes.yaxis, 5)
    axes.xaxis.set_major_formatter("{x:,g}")
    looks = pens((c["label"] for c in curves), data.get("known", ()))
    for index, (curve, pen) in enumerate(zip(curves, looks, strict=True)):
        x, percent = (np.asarray(curve[k], dtype=float) for k in ("x_bytes", "percent"))
        draw_curve(axes, x, percent, curve, pen, (index, len(curves)))
    axes.set_xlabel("response size (bytes)")
    axes.set_ylabel(f"cumulative share of {weight} (%)")
    place_legend(figure, axes, legend, CORNERS[weight])
    return figure


def _ends(curves: list[dict]) -> tuple[float, float]:
    """Ends of the axis: the last size at which all curves are still near zero, and the largest
    size."""
    first, last = [], []
    for curve in curves:
        x = np.asarray(curve["x_bytes"], dtype=float)
        begin = int(np.argmax(np.asarray(curve["percent"], dtype=float) > NOTHING))
        first.append(max(x[max(begin - 1, 0)], 1.0))
        last.append(x[-1])
    return min(first), max(*last, 2 * min(first))
