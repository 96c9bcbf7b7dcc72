"""A table of differences, drawn."""

from __future__ import annotations

import numpy as np

from .material import Drawing, Material


def effects(spec: dict, material: Material) -> Drawing | None:
    """The `[[difference]]` named by `table`, paired on one axis: its values from top to bottom, a
    panel for each metric in `rows`, every difference with its 95 % interval.
    """
    rows = material.tables.get(spec["table"])
    if not rows:
        return None
    (axis,) = spec["on"]
    places = list(dict.fromkeys(row[axis] for row in rows))
    panels = []
    for name in spec["rows"]:
        metric = material.metrics[name]
        found = {row[axis]: row for row in rows if row["metric"] == name}
        numbers = {
            key: [_number(found[place][column]) for place in places]
            for key, column in (("value", "ours"), ("low", "low"), ("high", "high"))
        }
        # A difference of percentages is in points, as in the tables.
        unit = "points" if metric["unit"] == "%" else metric["unit"]
        panels.append({"title": metric["title"], "unit": unit} | numbers)
    share = isinstance(places[0], int | float) and axis == "load"
    names = [f"{place} % load" if share else str(place) for place in places]
    return Drawing({"places": names, "panels": panels}, {}, "Paired by seed; bars: 95 % intervals.")


def _number(value: float | None) -> float:
    return np.nan if value is None else value
