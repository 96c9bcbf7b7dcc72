"""Offered load against the number of users, with the line through the origin."""

from __future__ import annotations

import numpy as np

from .cdf import asked
from .material import Drawing, Material


def linearity(spec: dict, material: Material) -> Drawing | None:
    """Offered load against users: the runs of a group, or the calibration itself.

    `unit` is "KB/s" (as printed in Tuning RED) or "Mbit/s".
    """
    if spec.get("source") == "calibration":
        line = material.calibrations.get(spec.get("base"))
        if line is None or line["open_loop"]:
            return None
        points = line["points"]
    else:
        points = [
            (cell.axes["users"], run.summary["throughput_bytes_per_s"])
            for cell in material.plan.of(spec["group"])
            for run in material.runs(cell)
        ]
    if not points:
        return None
    users, rates = np.array(points, dtype=float).T
    slope, r_squared = through_origin(users, rates)
    data = {
        "users": users,
        "kilobytes_per_s": rates / 1000,
        "slope": slope,
        "r_squared": r_squared,
        "marks": _full_load(material.calibrations.get(spec.get("base"))),
    }
    note = f"Every point is a run; the line through the origin has R² = {r_squared:.5f}."
    return Drawing(data, asked(spec, "unit"), note)


def _full_load(calibration: dict | None) -> list[tuple[str, float]]:
    if calibration is None:
        return []
    return [(f"100 % of {calibration['rate']}", calibration["full_bytes_per_s"] / 1000)]


def through_origin(x: np.ndarray, y: np.ndarray) -> tuple[float, float]:
    """Slope of the least-squares line through the origin, and its R² about zero."""
    slope = float((x * y).sum() / (x * x).sum())
    return slope, float(1 - ((y - slope * x) ** 2).sum() / (y * y).sum())
