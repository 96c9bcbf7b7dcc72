"""The queue of one run over time: packets that wait, RED's average of them, and drops."""

from __future__ import annotations

import numpy as np

from .material import Drawing, Material, Sample, samples, table

DROPPED = 2
"""The number of a drop in the column `event` of the table `trace`."""


def trace(spec: dict, material: Material) -> Drawing | None:
    """The first seed of the first cell that is asked for, from `from_s` to `upto_s`.

    `port` names the queue (the only one, or the first of the table), `gauge` the average ("avg"),
    `levels` are parameters of its discipline to be drawn as lines ("max_th"), or pairs of a label
    and a number of packets. Without gauges there is no average, without `trace` there are no drops.
    """
    found = samples(spec, material)
    queue = table(found[0].runs[0], "queue") if found else None
    if not found or queue is None:
        return None
    port = spec.get("port") or next(n for n in queue if n != "time_s" and n.count(".") == 1)
    time = queue["time_s"].astype(float)
    keep = (time >= spec.get("from_s", 0.0)) & (time <= spec.get("upto_s", np.inf))
    if not keep.any():
        return None
    gauge = f"{port}.{spec.get('gauge', 'avg')}"
    data = {
        "time_s": time[keep],
        "packets": queue[port][keep].astype(float),
        "average": queue[gauge][keep].astype(float) if gauge in queue else None,
        "drops_s": _drops(found[0], _number(material.scenario(found[0].cell), port), time[keep]),
        "levels": _levels(spec, material, found[0], port),
    }
    return Drawing(data, {}, _note(data))


def _number(scenario: dict, port: str) -> int:
    """The port's place among the recorded ones, by which the table `trace` names it."""
    recorded = scenario.get("record", {}).get("queues", [])
    return recorded.index(port) if port in recorded else 0


def _drops(sample: Sample, port: int, shown: np.ndarray) -> np.ndarray:
    """When packets were dropped at the port with this number, s."""
    events = table(sample.runs[0], "trace")
    if events is None:
        return np.array([])
    dropped = (events["event"] == DROPPED) & (events["port"] == port)
    at = events["time_ns"][dropped].astype(float) / 1e9
    return at[(at >= shown[0]) & (at <= shown[-1])]


def _levels(spec: dict, material: Material, sample: Sample, port: str) -> list[tuple[str, float]]:
    """Levels as the figure states them, or as the discipline's parameters have them."""
    link, direction = port.rsplit(".", 1)
    links = material.scenario(sample.cell)["link"]
    queue = next((one[direction] for one in links if one.get("name") == link), {})
    known = queue if isinstance(queue, dict) else {}
    levels = []
    for level in spec.get("levels", []):
        if not isinstance(level, str):
            levels.append((str(level[0]), float(level[1])))
        elif level in known:
            levels.append((level, float(known[level])))
    return levels


def _note(data: dict) -> str:
    text = f"Largest queue: {data['packets'].max():,.0f} packets"
    if data["average"] is not None:
        text += f", largest average {np.nanmax(data['average']):,.1f}"
    drops = len(data["drops_s"])
    if drops:
        text += f"; {drops:,} packet{'s' if drops > 1 else ''} dropped"
    return f"{text}."
