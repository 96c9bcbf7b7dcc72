"""A metric along a numeric axis, one line for every value of another."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np

from aqmlab.intervals import interval

from .cdf import asked
from .material import Drawing, Material, samples, seeds_told, titled


def lines(spec: dict, material: Material) -> Drawing | None:
    """`metric` against the axis `x`, one line per value of the axis `curve`: means over the seeds
    with 95 % intervals. A mean that is undefined leaves a gap. Values of `x` that are no numbers
    stand at equal distances under their labels. `axis` are the words under it, `log` makes it
    logarithmic.
    """
    metric = material.metrics[spec["metric"]]
    found = samples(spec, material)
    labels = list(dict.fromkeys(s.cell.labels.get(spec["x"], "") for s in found))
    numbers = [number(s.cell.axes.get(spec["x"])) for s in found]
    named = any(math.isnan(x) for x in numbers)
    points: dict[str, list[tuple[float, float, float, float]]] = {}
    for sample, x in zip(found, numbers, strict=True):
        place = float(labels.index(sample.cell.labels.get(spec["x"], ""))) if named else x
        values = material.values(sample.cell, metric)
        points.setdefault(sample.label, []).append((place, *interval(values)))
    curves = []
    for label, rows in points.items():
        x, y, low, high = np.array(rows).T
        if not np.isnan(y).all():
            curves.append({"label": label, "x": x, "y": y, "low": low, "high": high})
    if not curves:
        return None
    data = {"curves": curves, "places": labels if named else None}
    value = spec.get("label", titled(metric))
    options = {"value": value, "legend": spec.get("legend", "")}
    return Drawing(data, options | asked(spec, "axis", "log"), seeds_told(found))


def number(value: object) -> float:
    """An axis value as a number: 30, 0.1, "90%" (90), "1/512"; NaN if it is none."""
    if isinstance(value, int | float) and not isinstance(value, bool):
        return float(value)
    try:
        return float(Fraction(str(value).replace(" ", "").rstrip("%")))
    except (ValueError, ZeroDivisionError):
        return math.nan
