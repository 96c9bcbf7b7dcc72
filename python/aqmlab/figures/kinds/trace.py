"""The queue of one run over time: packets that wait, RED's average of them, and drops."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from aqmlab.simulator.forms import Scenario

from ..colours import PENS
from ..curves import below
from ..queue_lines import draw_queue
from ..sources import Cells, Drawing, Sample, table
from ..style import new

if TYPE_CHECKING:
    from matplotlib.figure import Figure

WIDE = True
DROPPED = 2
"""The number of a drop in the column `event` of the table `trace`."""


def collect(
    cells: Cells,
    *,
    port: str | None = None,
    gauge: str = "avg",
    levels: list[Any] | None = None,
    from_s: float = 0.0,
    upto_s: float | None = None,
) -> Drawing | None:
    """The first seed of the first selected cell, from `from_s` to `upto_s`.

    `port` names the queue (the only one, or the first of the table), `gauge` the average,
    `levels` are parameters of its discipline to be drawn as lines ("max_th"), or pairs of a label
    and a number of packets. Without gauges there is no average, without `trace` there are no drops.
    """
    found = cells.samples()
    queue = table(found[0].runs[0], "queue") if found else None
    if not found or queue is None:
        return None
    scenario = cells.dataset.scenario(found[0].cell)
    port = port or next(n for n in queue if n != "time_s" and n.count(".") == 1)
    time = queue["time_s"].astype(float)
    keep = (time >= from_s) & (time <= (np.inf if upto_s is None else upto_s))
    if not keep.any():
        return None
    average = f"{port}.{gauge}"
    data = {
        "time_s": time[keep],
        "packets": queue[port][keep].astype(float),
        "average": queue[average][keep].astype(float) if average in queue else None,
        "drops_s": _drops(found[0], _number(scenario, port), time[keep]),
        "levels": _levels(scenario, port, levels or []),
    }
    return Drawing(data, _note(data, _mean_bytes(scenario, port)))


def _number(scenario: Scenario, port: str) -> int:
    """The port's index among the recorded queues, which identifies it in the table `trace`."""
    recorded = scenario.get("record", {}).get("queues")
    return recorded.index(port) if isinstance(recorded, list) and port in recorded else 0


def _drops(sample: Sample, port: int, shown: np.ndarray) -> np.ndarray:
    """Times (s) at which packets were dropped at the port with this index."""
    events = table(sample.runs[0], "trace")
    if events is None:
        return np.array([])
    dropped = (events["event"] == DROPPED) & (events["port"] == port)
    at = events["time_ns"][dropped].astype(float) / 1e9
    return at[(at >= shown[0]) & (at <= shown[-1])]


def _discipline(scenario: Scenario, port: str) -> dict:
    """The parameters of the port's discipline; empty if the scenario does not list them."""
    link, direction = port.rsplit(".", 1)
    queue = next((one.get(direction) for one in scenario["link"] if one.get("name") == link), {})
    return queue if isinstance(queue, dict) else {}


def _mean_bytes(scenario: Scenario, port: str) -> int | None:
    """Mean packet size (bytes) that is the unit of average and thresholds in a RED that counts
    bytes; None otherwise."""
    known = _discipline(scenario, port)
    return known.get("mean_packet_bytes") if known.get("queue_in_bytes") else None


def _levels(scenario: Scenario, port: str, requested: list) -> list[tuple[str, float]]:
    """Labels and values of the requested levels: pairs as given, or parameters of the
    discipline."""
    known = _discipline(scenario, port)
    levels = []
    for level in requested:
        if not isinstance(level, str):
            levels.append((str(level[0]), float(level[1])))
        elif level in known:
            levels.append((level, float(known[level])))
    return levels


def _note(data: dict, mean_bytes: int | None) -> str:
    text = f"Largest queue: {data['packets'].max():,.0f} packets"
    if data["average"] is not None:
        text += f", largest average {np.nanmax(data['average']):,.1f}"
        if mean_bytes:
            text += f" (average and thresholds count mean packets of {mean_bytes:,} B)"
    drops = len(data["drops_s"])
    if drops:
        text += f"; {drops:,} packet{'s' if drops > 1 else ''} dropped"
    return f"{text}."


def draw(data: dict, *, title: str = "") -> Figure:
    """Draws the queue: `data` has the times `time_s`, the backlog `packets` and its `average` (or
    None) at these times, `drops_s` (times of drops in s, marked above the axes) and `levels`, pairs
    of a label and a number of packets.
    """
    figure, axes = new(7.6, 2.9)
    draw_queue(axes, data)
    drops = np.asarray(data.get("drops_s", []), dtype=float)
    if len(drops):
        axes.plot(
            drops,
            np.full(len(drops), 1.03),
            transform=axes.get_xaxis_transform(),
            linestyle="none",
            marker="x",
            markersize=4.5,
            markeredgewidth=1.0,
            color=PENS[1].colour,
            clip_on=False,
            label="drop",
        )
    axes.set_title(title, pad=14)
    below(figure, *axes.get_legend_handles_labels())
    return figure
