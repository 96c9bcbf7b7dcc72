"""Writes runs in Flent's file format (`.flent.gz`, format 4).

A run of one of Flent's tests (`app = "rrul"`) becomes a file that Flent opens and plots. TCP series
have the payload of whole seconds, repeated in each of Flent's steps; ping series have the mean
round-trip time of each step.
"""

from __future__ import annotations

import gzip
import json
import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from aqmlab.errors import AqmlabError
from aqmlab.io import files
from aqmlab.runs.laboratory import FinishedRun
from aqmlab.scores.fairness import jain
from aqmlab.simulator.network_tests import flent

FORMAT = 4
WRITTEN_AS = "2.3.0"
"""The version of Flent in whose format files are written."""
EPOCH_S = 946_684_800.0
"""Unix time of second 0 of a run, 2000-01-01, since a simulation has no date."""
STEP_S = 0.2
Series = list[float | None]


def test_of(names: Sequence[str]) -> str:
    """Flent's test that has exactly these series; the error for none names the series."""
    bases: dict[str, int | None] = {}
    for name in names:
        base, several, _ = name.partition("::")
        bases[base] = (bases.get(base) or 0) + 1 if several else None
    for test, about in flent.data().items():
        if test == flent.BOTH:
            continue
        expected = {one["name"]: one.get("n") for one in about["series"]}
        if expected.keys() == bases.keys() and all(
            n == bases[of] or (isinstance(n, str) and bases[of]) for of, n in expected.items()
        ):
            return test
    shown = ", ".join(list(names)[:6])
    raise AqmlabError(
        f'the groups of this run ({shown}) are of no test of Flent: run one, such as app = "rrul"'
    )


def measured(run: FinishedRun) -> dict[str, tuple[np.ndarray, np.ndarray]]:
    """Times (s) and values of every series: pings in ms, TCP in Mbit/s of each whole second."""
    found: dict[str, tuple[np.ndarray, np.ndarray]] = {}
    pings = run.columns("pings") if run.has("pings") else {}
    seconds = run.columns("seconds")
    for number, group in enumerate(run.scenario["traffic"]):
        name = group.get("name", "")
        if group["app"] == "ping":
            own = pings["group"] == number
            sent, trips = pings["sent_ns"][own] / 1e9, 1e3 * pings["rtt_s"][own]
            kept = np.isfinite(trips)
            found[name] = (sent[kept], trips[kept])
        elif f"{name}.goodput_bytes" in seconds:  # other groups have no such column
            bits = 8e-6 * seconds[f"{name}.goodput_bytes"].astype(float)
            busy = np.nonzero(bits)[0]
            kept = slice(busy[0], busy[-1] + 1) if len(busy) else slice(0)
            found[name] = (seconds["time_s"].astype(float)[kept] + 1.0, bits[kept])
    return found


def document(run: FinishedRun, title: str = "") -> dict[str, object]:
    """The content of a Flent file for a run of one of Flent's tests."""
    series = measured(run)
    test = test_of(list(series))
    lasts = float(run.summary["simulated_s"])
    steps = np.arange(0.0, lasts + STEP_S / 2, STEP_S)
    results = {
        name: _pings(times, values, steps)
        if name.startswith("Ping")
        else _held(times, values, steps)
        for name, (times, values) in series.items()
    }
    results |= {name: _combined(name, results) for name in flent.data()[test]["combined"]}
    raw = {
        name: [
            {"t": EPOCH_S + float(at), "val": float(value)}
            for at, value in zip(times, values, strict=True)
        ]
        for name, (times, values) in series.items()
    }
    length = max(0.0, lasts - 10.0)
    return {
        "metadata": _metadata(test, title, length, lasts, list(results)),
        "raw_values": raw,
        "results": results,
        "version": FORMAT,
        "x_values": [round(float(step), 9) for step in steps],
    }


def _pings(times: np.ndarray, values: np.ndarray, steps: np.ndarray) -> Series:
    """The mean round-trip time of the requests of each step; None without an answer."""
    place = np.rint(times / STEP_S).astype(int)
    sums = np.bincount(place, weights=values, minlength=len(steps))[: len(steps)]
    counts = np.bincount(place, minlength=len(steps))[: len(steps)]
    return [float(s / n) if n else None for s, n in zip(sums, counts, strict=True)]


def _held(times: np.ndarray, values: np.ndarray, steps: np.ndarray) -> Series:
    """For each step the value of the second in which it lies; None before and after the
    transfer."""
    if not len(times):
        return [None] * len(steps)
    second = (steps - (times[0] - 1.0)).astype(int)
    inside = (steps >= times[0] - 1.0) & (second < len(values))
    return [float(values[i]) if ok else None for i, ok in zip(second, inside, strict=True)]


def _combined(name: str, results: Mapping[str, Series]) -> Series:
    """Average, sum or fairness over the series that its name begins with."""
    ends = ("avg", "sum", "fairness", "totals")
    begins = "TCP" if name == "TCP totals" else name.rpartition(" ")[0]
    parts = [
        series
        for other, series in results.items()
        if other.startswith(begins) and other.rpartition(" ")[2] not in ends
    ]
    kind = "sum" if name == "TCP totals" else name.rpartition(" ")[2]
    return [_one(kind, [v for v in at if v is not None]) for at in zip(*parts, strict=True)]


def _one(kind: str, values: list[float]) -> float | None:
    if not values:
        return None
    if kind == "fairness":
        index = jain(values)
        return None if math.isnan(index) else index
    return math.fsum(values) / (1 if kind == "sum" else len(values))


def _metadata(
    test: str, title: str, length: float, lasts: float, names: Sequence[str]
) -> dict[str, Any]:
    units = {name: "ms" if name.startswith("Ping") else "Mbits/s" for name in names}
    at = "2000-01-01T00:00:00.000000Z"
    nothing = dict.fromkeys(("BATCH_NAME", "BATCH_TIME", "BATCH_TITLE", "BATCH_UUID", "NOTE"))
    return nothing | {
        "DATA_FILENAME": f"{test}.flent.gz",
        "FLENT_VERSION": WRITTEN_AS,
        "HOST": "simulated",
        "HOSTS": ["simulated"],
        "IP_VERSION": 4,
        "LENGTH": round(length),
        "LOCAL_HOST": "aqmlab",
        "NAME": test,
        "SERIES_META": {name: {"UNITS": unit} for name, unit in units.items()},
        "STEP_SIZE": STEP_S,
        "T0": at,
        "TEST_PARAMETERS": {},
        "TIME": at,
        "TITLE": title,
        "TOTAL_LENGTH": round(lasts),
    }


def write(run: FinishedRun, file: Path, title: str = "") -> Path:
    """Writes a run of one of Flent's tests; equal runs give equal files."""
    text = json.dumps(document(run, title), sort_keys=True, indent=1).encode()
    with files.whole(file) as draft, draft.open("wb") as out:
        out.write(gzip.compress(text, mtime=0))
    return file
