"""The model's file (`docs/learned-models.md`): a first line about all, then the connections."""

from __future__ import annotations

import json
import mmap
from pathlib import Path
from typing import Any

import numpy as np

from aqmlab.store import whole

from .reading import Learned

UNITS = {
    "request_bytes": "bytes",
    "response_bytes": "bytes",
    "think_us": "us",
    "first_think_us": "us",
    "delay_us": "us",
    "epochs": "count",
    "rtt_us": "us",
    "gap_us": "us",
    "duration_us": "us",
}
"""The distributions of the first line, with their units."""

KNOTS = np.r_[np.linspace(0, 0.99, 100), 0.992, 0.995, 0.998, 0.999, 0.9995, 0.9999, 1.0]
"""The shares whose quantiles are written."""
_TOLD = ("format", "version", "duration_us", "connections", "concurrent", "partial", "bytes")


def header(learned: Learned) -> dict[str, Any]:
    """The first line."""
    report = learned.report
    histograms = report["histograms"] | {"gap_us": _gaps(learned.index)}
    distributions = {
        name: {"unit": unit, **quantiles(histograms[name])}
        for name, unit in UNITS.items()
        if histograms[name]["n"]
    }
    seen = report["seen"] | {"container": report["container"], "hosts": report["hosts"]}
    return {name: report[name] for name in _TOLD} | {
        "seen": seen,
        "warnings": report["warnings"],
        "distributions": distributions,
    }


def quantiles(histogram: dict[str, Any]) -> dict[str, Any]:
    """Number, mean, and quantiles at the knots of a histogram of whole numbers."""
    low, high, count = np.array(histogram["buckets"], dtype=float).T
    above = np.cumsum(count)
    # The bucket in which the value of this rank lies, and its middle.
    rank = np.clip(np.ceil(KNOTS * above[-1]), 1, above[-1])
    middle = np.floor((low + high) / 2)[np.searchsorted(above, rank)]
    return {
        "n": histogram["n"],
        "mean": round(histogram["mean"], 3),
        "p": [round(float(p), 4) for p in KNOTS],
        "x": [int(x) for x in middle],
    }


def _gaps(index: np.ndarray) -> dict[str, Any]:
    """Times between starts, as a histogram with a bucket for each value."""
    starts = np.sort(index[:, 0]).astype(np.int64)
    value, count = np.unique(np.diff(starts), return_counts=True)
    mean = float(np.diff(starts).mean()) if len(starts) > 1 else 0.0
    buckets = np.column_stack([value, value, count]).tolist()
    return {"n": int(count.sum()), "mean": mean, "buckets": buckets}


def write(path: Path, header: dict[str, Any], learned: Learned) -> None:
    """Writes the file all at once: the lines in order of the connections' starts."""
    at_us, serial, length = learned.index.T
    ends = np.cumsum(length)
    order = np.lexsort((serial, at_us))
    with whole(path) as draft, draft.open("wb") as file:
        file.write((json.dumps(header, separators=(",", ":")) + "\n").encode())
        if len(order):
            learned.lines.flush()
            with mmap.mmap(learned.lines.fileno(), 0, access=mmap.ACCESS_READ) as lines:
                for begin, end in zip(
                    (ends - length)[order].tolist(), ends[order].tolist(), strict=True
                ):
                    file.write(lines[begin:end])
