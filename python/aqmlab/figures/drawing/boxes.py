"""A metric over the repetitions: median, quartiles and extremes, side by side."""

from __future__ import annotations

import math

from .cdf import asked
from .material import Drawing, Material, samples, titled


def boxes(spec: dict, material: Material) -> Drawing | None:
    """A box per cell: `x` is the axis of the groups, `curve` the axis of the boxes in a group.

    `metric` is one, or `panels` is a list of `metric`, `title` and perhaps `group`, `where`; all
    panels have the unit of the first. A run in which the metric is undefined (a burst that did
    not end) is in no box; the note counts them. `log` makes the axis of the values logarithmic.
    """
    panels, missing, runs = [], 0, 0
    for panel in spec.get("panels", [{}]):
        drawn, undefined, count = _panel(spec | panel, material)
        if drawn["series"]:
            panels.append(drawn | {"title": panel.get("title", "")})
        missing, runs = missing + undefined, runs + count
    if not panels:
        return None
    metric = material.metrics[_first_metric(spec)]
    label = spec.get("label", titled(metric))
    note = "Boxes: quartiles and median; lines: smallest and largest of the repetitions."
    if missing:
        note += f" In {missing} of {runs} runs the number is undefined; they are in no box."
    options = {"axis": spec.get("axis", ""), "value": label, "legend": spec.get("legend", "")}
    return Drawing({"panels": panels}, options | asked(spec, "log"), note)


def _first_metric(spec: dict) -> str:
    return spec["metric"] if "metric" in spec else spec["panels"][0]["metric"]


def _panel(spec: dict, material: Material) -> tuple[dict, int, int]:
    """The boxes of a panel, how many runs have no value, and how many runs there are."""
    metric = material.metrics[spec["metric"]]
    boxes_of: dict[str, dict[str, list[float]]] = {}
    places: dict[str, None] = {}
    missing = count = 0
    for sample in samples(spec, material):
        place = sample.cell.labels.get(spec["x"], "")
        values = material.values(sample.cell, metric)
        defined = [value for value in values if math.isfinite(value)]
        missing, count = missing + len(values) - len(defined), count + len(values)
        places[place] = None
        boxes_of.setdefault(sample.label, {})[place] = defined
    series = [
        {"label": label, "values": [of.get(place, []) for place in places]}
        for label, of in boxes_of.items()
        if any(of.values())
    ]
    return {"places": list(places), "series": series}, missing, count
