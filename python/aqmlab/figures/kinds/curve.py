"""RED's published law: its probability of a signal against the average queue."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypedDict

import numpy as np

from ..colours import pens
from ..curves import draw_curve, place_legend
from ..sources import Dataset, Drawing
from ..style import LEVEL, SMALL, new

if TYPE_CHECKING:
    from matplotlib.figure import Figure

POINTS = 2001


class _Needed(TypedDict):
    label: str
    min_th: float
    max_th: float
    max_p: float


class Law(_Needed, total=False):
    """The parameters of a RED; thresholds in packets."""

    gentle: bool
    max_p_low: float
    max_p_high: float


def collect(_dataset: Dataset, *, laws: list[Law], note: str = "") -> Drawing | None:
    """RED's published law for every entry of `laws`: `label`, `min_th` and `max_th` (packets),
    `max_p`, and `gentle` (false).

    `max_p_low` and `max_p_high`, if given, are the ends between which an adaptive RED moves max_p;
    the band between their laws is drawn. The figure needs no run.
    """
    right = 1.15 * max(law["max_th"] * (2 if law.get("gentle") else 1) for law in laws)
    average = np.linspace(0.0, right, POINTS)
    curves = []
    for law in laws:
        gentle = law.get("gentle", False)
        one = {"label": law["label"], "x": average, "low": None, "high": None}
        one["p"] = probability(average, law["min_th"], law["max_th"], law["max_p"], gentle)
        ends = {"low": law.get("max_p_low"), "high": law.get("max_p_high")}
        for name, p in ends.items():
            if p is not None:
                one[name] = probability(average, law["min_th"], law["max_th"], p, gentle)
        curves.append(one)
    marks = {name: law[name] for law in laws[:1] for name in ("min_th", "max_th")}
    return Drawing({"curves": curves, "marks": list(marks.items())}, note)


def probability(
    average: np.ndarray, min_th: float, max_th: float, max_p: float, gentle: bool
) -> np.ndarray:
    """RED's initial probability p_b at these average queues (packets, as the thresholds).

    Floyd and Jacobson, IEEE/ACM ToN 1(4), 1993: 0 below min_th, then linear to max_p at max_th,
    1 from there on. Gentle (Floyd, 2000): linear on from max_p at max_th to 1 at twice max_th.
    """
    band = max_p * (average - min_th) / (max_th - min_th)
    above = max_p + (1 - max_p) * (average - max_th) / max_th if gentle else np.ones_like(average)
    p = np.where(average < min_th, 0.0, np.where(average < max_th, band, above))
    return np.minimum(p, 1.0)


def draw(data: dict, *, title: str = "") -> Figure:
    """One line per entry of `data["curves"]`: `label`, `x` (packets), `p`, and `low`, `high` where
    the law is adapted between two ends. `data["marks"]` are pairs of a label and an average queue.
    """
    figure, axes = new()
    axes.set_title(title, pad=16)
    curves = data["curves"]
    axes.set(xlim=(0, max(float(c["x"][-1]) for c in curves)), ylim=(0, 1.04))
    above = axes.get_xaxis_transform()
    for label, x in data.get("marks", []):
        axes.axvline(x, **LEVEL)
        axes.text(x, 1.01, label, transform=above, ha="center", va="bottom", **SMALL)
    looks = pens(c["label"] for c in curves)
    for index, (one, pen) in enumerate(zip(curves, looks, strict=True)):
        x, p = (np.asarray(one[k], dtype=float) for k in ("x", "p"))
        draw_curve(axes, x, p, one, pen, (index, len(curves)))
    axes.set_xlabel("average queue (packets)")
    axes.set_ylabel("probability of a drop or mark")
    place_legend(figure, axes, "", "upper left")
    return figure
