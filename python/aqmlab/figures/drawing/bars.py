"""What every connection or source got: a bar each, with the mean."""

from __future__ import annotations

import numpy as np

from .material import Drawing, Material, joined, of_traffic, samples, told


def bars(spec: dict, material: Material) -> Drawing | None:
    """A panel per cell, from a table with a row per source (`table`, by default "sources").

    `column` (goodput_bits_per_s) times `scale` (0.001) is drawn, in `unit` (kbit/s); `traffic`
    chooses groups of the scenario by their numbers; `sorted` puts the largest first. Bars are of
    the first seed: a mean over seeds would show sources as more equal than they ever were. Jain's
    index in the note is the mean over all seeds.
    """
    column, scale = spec.get("column", "goodput_bits_per_s"), spec.get("scale", 0.001)
    panels, jain = [], {}
    for sample in samples(spec, material):
        found = [
            of_traffic(columns, spec)[column].astype(float) * scale
            for columns in sample.tables(spec.get("table", "sources"))
        ]
        found = [values for values in found if len(values)]
        if not found:
            continue
        values = np.sort(found[0])[::-1] if spec.get("sorted") else found[0]
        panels.append({"title": sample.label, "values": values, "mean": float(values.mean())})
        jain[sample.label] = float(np.mean([_jain(one) for one in found]))
    if not panels:
        return None
    unit = spec.get("unit", "kbit/s")
    means = {panel["title"]: panel["mean"] for panel in panels}
    note = joined(
        told("Mean", means, f"{{:,.1f}} {unit}"),
        told("Jain’s index (1: all equal)", jain, "{:.3f}"),
    )
    options = {"axis": spec.get("axis", "connection"), "value": f"goodput ({unit})"}
    return Drawing({"panels": panels}, options, note)


def _jain(values: np.ndarray) -> float:
    """Jain, Chiu and Hawe, 1984: (sum of x)² over n times the sum of x²."""
    squares = float((values**2).sum())
    return float(values.sum()) ** 2 / (len(values) * squares) if squares else np.nan
