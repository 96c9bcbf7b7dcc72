"""What a queue did over time: delay, packets that wait, drops and marks, one below the other."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from aqmlab import units

from ..colours import SOFT, pens
from ..curves import below, look
from ..sources import Cells, Drawing, Sample, table
from ..style import few, grid

if TYPE_CHECKING:
    from matplotlib.figure import Figure

WIDE = True
BINS = 150
"""Largest number of time bins of a run: more would be narrower than the lines."""
PANELS = {
    "delay_ms": "delay (ms)",
    "packets": "queue (packets)",
    "drops": "drops (1/s)",
    "marks": "marks (1/s)",
}
"""The columns that are drawn, with the labels of their axes."""


def collect(cells: Cells, *, port: str | None = None) -> Drawing | None:
    """A line per cell, of the first seed: means over equal parts of the run, warm-up included.

    `port` names the queue (the first that is recorded). Delay is that of the packets that left in
    the part; what did not happen in any cell has no panel.
    """
    curves = [curve for sample in cells.samples() if (curve := _curve(sample, port))]
    if not curves:
        return None
    shown = [name for name in PANELS if any(np.nansum(c.get(name, [0])) > 0 for c in curves)]
    seed = cells.samples()[0].runs[0].seed
    note = f"Seed {seed}; each point is the mean of {curves[0]['width_s']:g} s."
    warmup = units.seconds(cells.dataset.scenario(cells.samples()[0].cell).get("warmup", "0 s"))
    return Drawing({"curves": curves, "shown": shown, "warmup_s": warmup}, note)


def _curve(sample: Sample, port: str | None) -> dict | None:
    """The time series of one cell's first run; None without recorded seconds of a port."""
    seconds = table(sample.runs[0], "seconds")
    if seconds is None or not len(seconds["time_s"]):
        return None
    ports = [name.removesuffix(".departures") for name in seconds if name.endswith(".departures")]
    port = port or next(iter(ports), None)
    if port is None:
        return None
    width = max(1, -(-len(seconds["time_s"]) // BINS))
    departures = _sums(seconds[f"{port}.departures"], width)
    waited = _sums(seconds[f"{port}.queue_delay_mean_s"] * seconds[f"{port}.departures"], width)
    with np.errstate(invalid="ignore", divide="ignore"):
        delay = 1e3 * waited / departures
    found = {
        "label": sample.label,
        "width_s": float(width),
        "time_s": (np.arange(len(delay)) + 0.5) * width,
        "delay_ms": delay,
        "drops": _sums(seconds[f"{port}.drops"], width) / width,
        "marks": _sums(seconds[f"{port}.marks"], width) / width,
    }
    queue = table(sample.runs[0], "queue")
    if queue is not None and port in queue:
        place = (queue["time_s"] // width).astype(int)
        counts = np.bincount(place, minlength=len(delay))[: len(delay)]
        sums = np.bincount(place, queue[port].astype(float), len(delay))[: len(delay)]
        with np.errstate(invalid="ignore", divide="ignore"):
            found["packets"] = sums / counts
    return found


def _sums(column: np.ndarray, width: int) -> np.ndarray:
    """Sums over `width` seconds each; an incomplete last bin is left out."""
    whole = len(column) // width * width
    return column[:whole].astype(float).reshape(-1, width).sum(axis=1)


def draw(data: dict, *, title: str = "") -> Figure:
    """A panel for each name in `data["shown"]`; an entry of `data["curves"]` has `label`, `time_s`
    and these columns. The time before `data["warmup_s"]` is shaded, since it is not measured.
    """
    curves, shown = data["curves"], data["shown"] or ["delay_ms"]
    figure, places = grid(9.0, 1.0 + 1.35 * len(shown), len(shown), 1, title, sharex="col")
    looks = pens((curve["label"] for curve in curves), data.get("known", ()))
    for name, (axes,) in zip(shown, places, strict=True):
        for curve, pen in zip(curves, looks, strict=True):
            if name in curve:
                line = look(pen, marker="", linewidth=1.1, alpha=0.9)
                axes.plot(curve["time_s"], curve[name], label=curve["label"], **line)
        if data["warmup_s"] > 0:
            axes.axvspan(0, data["warmup_s"], color=SOFT, alpha=0.10, linewidth=0)
        axes.set(ylabel=PANELS[name], xlim=(0, curves[0]["time_s"][-1] + curves[0]["width_s"] / 2))
        axes.set_ylim(bottom=0)
        axes.yaxis.set_major_formatter("{x:,g}")
        few(axes.yaxis, 4)
    places[-1][0].set_xlabel("time (s)")
    handles, labels = places[0][0].get_legend_handles_labels()
    if len(labels) > 1:
        below(figure, handles, labels)
    return figure
