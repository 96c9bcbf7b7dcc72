"""The law of a discipline: its probability against the average queue."""

from __future__ import annotations

import numpy as np

from .material import Drawing, Material

POINTS = 2001


def curve(spec: dict, _material: Material) -> Drawing | None:
    """RED's published law for every entry of `laws`: `label`, `min_th` and `max_th` (packets),
    `max_p`, and `gentle` (false).

    `max_p_low` and `max_p_high`, if given, are the ends between which an adaptive RED moves max_p;
    the band between their laws is drawn. The figure needs no run.
    """
    laws = spec["laws"]
    right = 1.15 * max(law["max_th"] * (2 if law.get("gentle") else 1) for law in laws)
    average = np.linspace(0.0, right, POINTS)
    curves = []
    for law in laws:
        gentle = law.get("gentle", False)
        one = {"label": law["label"], "x": average, "low": None, "high": None}
        one["p"] = probability(average, law["min_th"], law["max_th"], law["max_p"], gentle)
        for name in ("low", "high"):
            if f"max_p_{name}" in law:
                p = law[f"max_p_{name}"]
                one[name] = probability(average, law["min_th"], law["max_th"], p, gentle)
        curves.append(one)
    marks = {name: law[name] for law in laws[:1] for name in ("min_th", "max_th")}
    return Drawing({"curves": curves, "marks": list(marks.items())}, {}, spec.get("note", ""))


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
