"""Queueing delay against goodput, one ellipse for every discipline."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from aqmlab import units
from aqmlab.simulator.forms import Scenario

from ..colours import SOFT, Pen, pens
from ..labels import name_points
from ..sources import Cells, Drawing, Sample
from ..style import LEVEL, SMALL, decades, few, hover, new

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

EVERY_S = 5
"""Seconds over which one point is a mean; our own choice, without a source."""


def collect(
    cells: Cells,
    *,
    every_s: int = EVERY_S,
    port: str | None = None,
    traffic: list[str] | None = None,
) -> Drawing | None:
    """Queueing delay and goodput of stretches of `every_s` seconds, all seeds together, as the
    ellipse of one standard deviation of a normal law in two dimensions, and their medians.

    `port` is the queue whose delay counts (by default the studied one), `traffic` names the traffic
    groups whose goodput counts (by default all). After K. Winstein and H. Balakrishnan, *TCP ex
    Machina*, SIGCOMM 2013, as RFC 7928 section 2.7 recommends for comparing delay and goodput.
    """
    warmup = units.seconds(cells.dataset.settings.warmup)
    curves, rates = [], set()
    for sample in cells.samples():
        runs = [run for run in sample.runs if run.has("seconds")]
        named = [(run.columns("seconds"), port or str(run.summary["studied_port"])) for run in runs]
        stretches = [points(*run, traffic, warmup, every_s) for run in named]
        found = np.concatenate([s for s in stretches if len(s)] or [np.empty((0, 2))])
        if len(found) > 2:
            curves.append({"label": sample.label, **ellipse(found)})
            rates.add(_rate(cells.dataset.scenario(sample.cell), named[0][1], sample))
    if not curves:
        return None
    note = (
        f"Ellipses: one standard deviation of stretches of {every_s} s over all seeds, cut at the "
        "line’s rate; marks: their medians. Better is up and to the left."
    )
    rate = rates.pop() if len(rates) == 1 else None
    return Drawing({"curves": curves, "rate": rate}, note)


def _rate(scenario: Scenario, port: str, _sample: Sample) -> float | None:
    """The line's rate behind a port (Mbit/s), if it has one that does not change."""
    name = port.rsplit(".", 1)[0]
    link = next((one for one in scenario["link"] if one.get("name") == name), None)
    if link is None or "rate" not in link or "rate_steps" in link or "rate_trace" in link:
        return None
    return units.bits_per_s(link["rate"]) / 1e6


def points(
    seconds: dict[str, np.ndarray],
    port: str,
    traffic: list[str] | None,
    warmup_s: float,
    every: int,
) -> np.ndarray:
    """Rows of queueing delay (ms) and goodput (Mbit/s) of the measured stretches of a run."""
    ends = ".goodput_bytes"
    groups = traffic or [c.removesuffix(ends) for c in seconds if c.endswith(ends)]
    keep = seconds["time_s"] >= warmup_s
    packets = seconds[f"{port}.departures"][keep].astype(float)
    waited = seconds[f"{port}.queue_delay_mean_s"][keep] * packets
    goodput = np.sum([seconds[group + ends][keep] for group in groups], axis=0).astype(float)
    whole = len(packets) // every * every
    packets, waited, goodput = (
        column[:whole].reshape(-1, every).sum(axis=1) for column in (packets, waited, goodput)
    )
    delays, rates = waited / np.maximum(packets, 1) * 1e3, goodput * 8 / every / 1e6
    return np.column_stack([delays, rates])[packets > 0]


def ellipse(found: np.ndarray) -> dict:
    """Centre and half axes of the ellipse of one standard deviation, and the medians."""
    variances, directions = np.linalg.eigh(np.cov(found.T))
    half = np.sqrt(np.clip(variances, 0, None))
    return {
        "centre": found.mean(axis=0).tolist(),
        "axes": (directions * half).T.tolist(),
        "median": np.median(found, axis=0).tolist(),
    }


def draw(
    data: dict, *, title: str = "", mark: list[str] | None = None, log: bool = False
) -> Figure:
    """Every entry of `data["curves"]` has `label`, `centre` and `median` (queueing delay in ms,
    goodput in Mbit/s) and `axes`, the two half axes as vectors in these units; `data["rate"]` is
    the line's rate in Mbit/s.

    With `mark` only curves with these labels are coloured, the others are grey behind them; `log`
    makes the axis of delays logarithmic. Every label stands at its median.
    """
    figure, axes = new(6.4, 4.4, title)
    rate = data.get("rate")
    looks = pens((c["label"] for c in data["curves"]), data.get("known", ()))
    shown = [not mark or curve["label"] in mark for curve in data["curves"]]
    for curve, pen, chosen in zip(data["curves"], looks, shown, strict=True):
        _draw(axes, curve, pen if chosen else None, log, rate)
    if log:
        decades(axes.xaxis)
    else:
        axes.set_xlim(left=0)
        few(axes.xaxis, 8)
    if rate is not None:
        axes.axhline(rate, **LEVEL)
        words = {"ha": "right", "va": "bottom", "transform": axes.get_yaxis_transform()} | SMALL
        axes.text(1.0, rate, f"the line: {rate:g} Mbit/s", **words)
    named = [
        (curve["median"], curve["label"], pen.colour if chosen else SOFT, 8 if chosen else 5.5)
        for curve, pen, chosen in zip(data["curves"], looks, shown, strict=True)
    ]
    name_points(axes, sorted(named, key=lambda one: -one[3]))
    axes.set_xlabel("queueing delay (ms)")
    axes.set_ylabel("goodput (Mbit/s)")
    return figure


def _draw(axes: Axes, curve: dict, pen: Pen | None, log: bool, rate: float | None) -> None:
    angle = np.linspace(0, 2 * np.pi, 61)
    centre, half = np.array(curve["centre"]), np.array(curve["axes"])
    outline = centre + np.cos(angle)[:, None] * half[0] + np.sin(angle)[:, None] * half[1]
    # A normal distribution has no bounds; delays are at least 0, and goodputs at most the line's
    # rate.
    outline[:, 0] = np.maximum(outline[:, 0], 1e-3 if log else 0.0)
    outline[:, 1] = np.clip(outline[:, 1], 0.0, rate)
    x, y = curve["median"]
    words = f"{curve['label']}: {x:,.3g} ms, {y:,.3g} Mbit/s"
    if pen is None:
        (line,) = axes.plot(*outline.T, color=SOFT, linewidth=0.6, alpha=0.4, zorder=1)
        (dot,) = axes.plot([x], [y], ".", color=SOFT, markersize=4, alpha=0.8, zorder=1)
    else:
        axes.fill(*outline.T, color=pen.colour, alpha=0.10, linewidth=0)
        (line,) = axes.plot(*outline.T, color=pen.colour, linestyle=pen.dash, linewidth=1.2)
        (dot,) = axes.plot(
            [x],
            [y],
            color=pen.colour,
            marker=pen.marker,
            markersize=5.5,
            markerfacecolor="white" if pen.hollow else pen.colour,
            label=curve["label"],
        )
    hover(line, words)
    hover(dot, words)
