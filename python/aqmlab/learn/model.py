"""The model's file (`docs/learned-models.md`): a first line about the whole capture, then one line
for each connection."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import IO, TypedDict, cast

import numpy as np

from aqmlab.io.files import whole
from aqmlab.simulator.forms import Histogram, LearnedAbout

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
"""The distributions in the first line of a model's file, with their units."""

KNOTS = np.r_[np.linspace(0, 0.99, 100), 0.992, 0.995, 0.998, 0.999, 0.9995, 0.9999, 1.0]
"""The probabilities whose quantiles are written into a model's file."""
_BLOCK = 16_384
"""Number of the file's lines that are sorted and written together."""
_WINDOW = 32 << 20
"""Largest range of the file, in bytes, that is read at once to get several lines."""
_TOLD = ("format", "version", "duration_us", "connections", "concurrent", "partial", "bytes")


class Quantiles(TypedDict):
    """A distribution: how many values, their mean, and the values `x` at the shares `p`."""

    n: int
    mean: float
    p: list[float]
    x: list[int]


class Distribution(Quantiles):
    """A distribution in the first line of a model's file, with its unit."""

    unit: str


class Header(LearnedAbout):
    """The content of the first line of a model's file: facts about the capture, and the
    distributions of its connections."""

    distributions: dict[str, Distribution]


def header(learned: Learned) -> Header:
    """The content of the first line of the model's file, from the result of reading a capture."""
    report = learned.report
    histograms = report["histograms"] | {"gap_us": _gaps(learned.index)}
    distributions = {
        name: {"unit": unit, **quantiles(histograms[name])}
        for name, unit in UNITS.items()
        if histograms[name]["n"]
    }
    seen = {**report["seen"], "container": report["container"], "hosts": report["hosts"]}
    return cast(
        Header,
        {name: report[name] for name in _TOLD}
        | {
            "seen": seen,
            "warnings": report["warnings"],
            "distributions": distributions,
        },
    )


def quantiles(histogram: Histogram) -> Quantiles:
    """Number, mean, and quantiles (at `KNOTS`) of a histogram of whole numbers."""
    low, high, count = np.array(histogram["buckets"], dtype=float).T
    above = np.cumsum(count)
    # Each rank is mapped to the midpoint of the bucket that contains it.
    rank = np.clip(np.ceil(KNOTS * above[-1]), 1, above[-1])
    middle = np.floor((low + high) / 2)[np.searchsorted(above, rank)]
    return {
        "n": histogram["n"],
        "mean": round(histogram["mean"], 3),
        "p": [round(float(p), 4) for p in KNOTS],
        "x": [int(x) for x in middle],
    }


def _gaps(index: np.ndarray) -> Histogram:
    """Histogram of the times between connections' starts, microseconds: exact below 256, above in
    buckets at most 0.8 % wide."""
    gaps = np.diff(np.sort(index[:, 0])).astype(np.int64)
    octave = np.maximum(np.log2(np.maximum(gaps, 1)).astype(np.int64) - 7, 0)
    low, count = np.unique(gaps >> octave << octave, return_counts=True)
    mean = float(gaps.mean()) if len(gaps) else 0.0
    buckets = np.column_stack([low, low, count]).tolist()
    return {"n": len(gaps), "mean": mean, "buckets": buckets}


def write(path: Path, header: Header, learned: Learned) -> None:
    """Writes the file atomically, with the lines in the order of the connections' starts."""
    at_us, serial, length = learned.index.astype(np.int64).T
    begins = np.cumsum(length) - length
    order = np.lexsort((serial, at_us))
    with whole(path) as draft, draft.open("wb") as file:
        file.write((json.dumps(header, separators=(",", ":")) + "\n").encode())
        for block in np.split(order, range(_BLOCK, len(order), _BLOCK)):
            file.writelines(_lines(learned.lines, begins[block], length[block]))


def _lines(source: IO[bytes], begins: np.ndarray, lengths: np.ndarray) -> Iterator[bytes]:
    """The lines of `source` that begin at these offsets. Lines that are close together are read in
    one piece."""
    if not len(begins):
        return
    first, last = int(begins.min()), int((begins + lengths).max())
    near = last - first <= _WINDOW
    source.seek(first)
    window = source.read(last - first) if near else b""
    for begin, length in zip(begins.tolist(), lengths.tolist(), strict=True):
        if near:
            yield window[begin - first : begin - first + length]
        else:
            source.seek(begin)
            yield source.read(length)
