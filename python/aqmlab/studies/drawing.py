"""From runs to what the figures are drawn of. One function per kind of figure."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from aqmlab import units
from aqmlab.measure import interval

from . import statistics
from .laboratory import Measured
from .plan import Cell, Plan
from .statistics import responses

GRID_MS = np.arange(0.0, 2001.0, 5.0)


@dataclass(frozen=True)
class Material:
    """All that a figure may be drawn of."""

    plan: Plan
    settings: dict
    results: dict[tuple[str, int], Measured]
    calibrations: dict[str | None, dict]
    tables: dict[str, list[dict]]
    metrics: dict[str, dict]

    def runs(self, cell: Cell) -> list[Measured]:
        """A cell's runs, seed by seed."""
        return [self.results[cell.key, seed] for seed in self.plan.seeds(cell)]

    def values(self, cell: Cell, metric: dict) -> list[float]:
        """A metric of a cell's runs, seed by seed, in its unit."""
        scale = metric.get("scale", 1.0)
        return [scale * statistics.of_run(run, metric) for run in self.runs(cell)]

    def columns(self, spec: dict) -> list[dict]:
        """The metrics that a table shows: those it names, or all that are not hidden."""
        if "metrics" in spec:
            return [self.metrics[name] for name in spec["metrics"]]
        return [metric for metric in self.metrics.values() if not metric.get("hidden")]


@dataclass(frozen=True)
class Drawing:
    """What `figures.draw` takes, and a sentence of numbers for the caption."""

    data: dict
    options: dict
    note: str = ""


def cdf(spec: dict, material: Material) -> Drawing:
    """A curve per cell: the mean of the seeds' distributions with its 95 % interval."""
    curves = []
    for cell in material.plan.of(spec["group"], spec.get("where")):
        name = cell.labels.get(spec.get("curve", ""), "")
        shares = [responses.shares(run, GRID_MS) for run in material.runs(cell)]
        curves.append({"label": name} | band(np.array(shares)))
    seeds = max((len(material.runs(c)) for c in material.plan.of(spec["group"])), default=0)
    note = (
        f"Mean of {seeds} seeds; bands: 95 % intervals." if seeds > 1 else "One seed: no intervals."
    )
    return Drawing({"curves": curves}, {"legend": spec.get("legend", "")}, note)


def band(shares: np.ndarray) -> dict[str, np.ndarray | None]:
    """Mean over the seeds (rows) and its 95 % interval, at every time of the grid."""
    found = np.array([interval(list(column)) for column in shares.T])
    several = len(shares) > 1
    return {
        "x_ms": GRID_MS,
        "percent": found[:, 0],
        "low": found[:, 1] if several else None,
        "high": found[:, 2] if several else None,
    }


def linearity(spec: dict, material: Material) -> Drawing | None:
    """Offered load against users: the runs of a group, or the calibration itself."""
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
    return Drawing(data, {}, note)


def _full_load(calibration: dict | None) -> list[tuple[str, float]]:
    if calibration is None:
        return []
    return [(f"100 % of {calibration['rate']}", calibration["full_bytes_per_s"] / 1000)]


def through_origin(x: np.ndarray, y: np.ndarray) -> tuple[float, float]:
    """Slope of the least-squares line through the origin, and its R² about zero."""
    slope = float((x * y).sum() / (x * x).sum())
    return slope, float(1 - ((y - slope * x) ** 2).sum() / (y * y).sum())


def series(spec: dict, material: Material) -> Drawing:
    """A column second by second, of the first seed."""
    (cell,) = material.plan.of(spec["group"], spec.get("where"))
    seconds = material.runs(cell)[0].table("seconds")
    warmup = units.seconds(material.settings["warmup"])
    time = seconds["time_s"].astype(float)
    value = seconds[spec["column"]].astype(float) * spec.get("scale", 1.0)
    measured = time >= warmup
    sample = value[measured & np.isfinite(value)]
    keep = np.full(len(time), True) if spec.get("whole_run") else measured
    note = ""
    if len(sample) and sample.mean() > 0:
        note = (
            f"After the discarded part: mean {sample.mean():,.0f}, "
            f"largest second {sample.max() / sample.mean():.1f} times the mean."
        )
        if spec["column"] == "requests":
            dispersion = sample.var() / sample.mean()
            note += f" Variance over mean: {dispersion:.2f} (1 if requests were independent)."
    return Drawing(
        {"time_s": time[keep], "value": value[keep]},
        {"axis": spec["axis"], "warmup_s": warmup if spec.get("whole_run") else 0.0},
        note,
    )


def panels(spec: dict, material: Material) -> Drawing:
    """A table drawn: one panel per measure and value of the column axis."""
    rows = material.tables[spec["table"]]
    keys = spec["keys"]
    x_key, column_key = keys[spec["x"]], keys[spec["columns"]]
    columns = list(dict.fromkeys(row[column_key] for row in rows))
    drawn = []
    for name in spec["rows"]:
        metric = material.metrics[name]
        cells = [
            _panel([r for r in rows if r["metric"] == name and r[column_key] == column], x_key)
            for column in columns
        ]
        drawn.append({"title": metric["title"], "unit": metric["unit"], "cells": cells})
    names = [f"{c} % load" if spec["columns"] == "load" else str(c) for c in columns]
    return Drawing({"columns": names, "rows": drawn}, {"axis": spec["axis"]})


def _panel(rows: list[dict], x_key: str) -> dict:
    cell: dict[str, list | None] = {"x": [row[x_key] for row in rows]}
    for name in ("ours", "low", "high"):
        cell[name] = [np.nan if row[name] is None else row[name] for row in rows]
    paper = [np.nan if row["paper"] is None else row["paper"] for row in rows]
    cell["paper"] = None if np.isnan(paper).all() else paper
    return cell


KINDS: dict[str, Callable[[dict, Material], Drawing | None]] = {
    "cdf": cdf,
    "linearity": linearity,
    "panels": panels,
    "series": series,
}
