"""The page about a capture, as one self-contained HTML file."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from matplotlib.figure import Figure as Picture

from aqmlab import figures
from aqmlab.report.report import code, inline
from aqmlab.report.templates import environment, style, write_page
from aqmlab.simulator import forms
from aqmlab.simulator.forms import Histogram

from . import scenario, shares
from .model import Header

PANELS = (
    (
        "sizes",
        "Requests and responses",
        ("request_bytes", "response_bytes"),
        "Left: the share of data units up to a size; right: the share above it, where a power law "
        "is a straight line.",
    ),
    (
        "times",
        "Waiting: users and servers",
        ("think_us", "first_think_us", "delay_us"),
        "Times at the end systems: the least round-trip time of their half of the path has been "
        "taken off.",
    ),
    (
        "path",
        "Round-trip times and durations",
        ("rtt_us", "duration_us"),
        "The least round-trip time of a connection, where both halves of the path were seen, and "
        "the time from its first packet to its last.",
    ),
)
"""Figures of distributions: identifier, title, names of the distributions, caption."""


def write(path: Path, capture: str, model: str, header: Header, report: forms.Learned) -> Path:
    """Writes the page of a capture and its model."""
    page = (
        environment(code=code)
        .get_template("capture.html.jinja")
        .render(
            capture=capture,
            model=model,
            facts=shares.facts(header),
            shares=shares.SHARES,
            rows=shares.medians(header),
            warnings=header["warnings"],
            figures=list(_figures(report)),
            scenario=scenario.text(model, header) if header["connections"] else None,
            style=style(),
        )
    )
    return write_page(path, page)


def _figures(report: forms.Learned):
    """Every figure with data: its id, title, caption, and drawing."""
    load = report["load"]
    if load["tcp"]:
        drawn = figures.draw("load", load, title="Traffic over time")
        caption = "IP bytes in steps of " + _step(load["step_s"]) + ", both directions together."
        yield _entry("load", "Traffic over time", caption, drawn, wide=True)
    for name, title, members, caption in PANELS:
        variables = [_variable(one, report["histograms"][one]) for one in members]
        variables = [one for one in variables if one]
        if variables:
            drawn = figures.draw("distributions", {"variables": variables}, title=title)
            yield _entry(name, title, caption, drawn, wide=True)


def _entry(name: str, title: str, caption: str, drawn: Picture, *, wide: bool) -> dict[str, object]:
    svg = inline(figures.to_svg(drawn), name, f"{title}. {caption}")
    return {"id": name, "title": title, "caption": caption, "svg": svg, "wide": wide}


def _variable(name: str, histogram: Histogram) -> dict[str, object] | None:
    """A histogram as data for a figure: the share at or below each bucket's upper end; None if
    empty."""
    if not histogram["n"]:
        return None
    _, high, count = np.array(histogram["buckets"], dtype=float).T
    timed = name.endswith("_us")
    value = np.maximum(high, 1.0) * (1e-6 if timed else 1.0)
    curve = np.column_stack([value, np.cumsum(count) / count.sum()])
    unit = "time" if timed else "bytes"
    name = shares.title(name).rpartition(",")[0]
    return {"name": name, "unit": unit, "curve": curve.tolist(), "counted": True}


def _step(seconds: float) -> str:
    return f"{1e3 * seconds:g} ms" if seconds < 1 else f"{seconds:g} s"
