"""Finished results folders in the form for the page: sweeps with intervals, claims, figures."""

from __future__ import annotations

import math
import stat
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, TypedDict

from aqmlab.claims import cache
from aqmlab.errors import AqmlabError
from aqmlab.intervals import interval
from aqmlab.runs import run_files
from aqmlab.runs.contents import MANIFEST
from aqmlab.runs.store import Store
from aqmlab.simulator.renamed import Numbers

SHOWN = {
    "share_le_1s": "answered within 1 s",
    "response_p50_s": "median response time, s",
    "queue_delay_mean_s": "mean queue delay, s",
    "queue_delay_p99_s": "99 % of queue delays below, s",
    "queue_time_mean_packets": "mean queue, packets",
    "throughput_bytes_per_s": "throughput, B/s",
    "drop_rate": "share of packets lost",
}
"""The measures of a sweep that the page shows, with their titles."""


class SweepCell(TypedDict):
    """A mean over seeds, and half its interval."""

    mean: float
    half: float | None


class SweepRow(TypedDict):
    """A row of a sweep, a cell for each value of the last axis."""

    label: str
    cells: list[SweepCell | None]


class Sweep(TypedDict):
    """A table of one measure of a sweep: the last axis across, all others down."""

    figure: str
    columns: list[str]
    rows: list[SweepRow]


def names(results: Path) -> list[str]:
    """The folders directly below `results` that aqmlab wrote; links are not followed."""
    if not results.is_dir():
        return []
    return sorted(
        path.name
        for path in results.iterdir()
        if not path.is_symlink() and path.is_dir() and (path / MANIFEST).is_file()
    )


def shown(folder: Path) -> dict[str, object]:
    """The content of the page for one folder; an error becomes a sentence."""
    try:
        store = Store.existing(folder)
        manifest = store.manifest
        if "study" in manifest:
            result = store.read_json("result.json")
            claims = [
                {k: c.get(k) for k in ("id", "claim", "verdict")}
                for c in cache.renamed(result["claims"]) or ()
            ]
            return {"claims": claims, "figures": figures(folder)}
        return {"sweeps": _sweeps(folder, manifest), "figures": figures(folder)}
    except (AqmlabError, OSError, KeyError, TypeError) as error:
        return {"error": f"{folder.name} cannot be shown: {error}"}


def figures(folder: Path) -> list[str]:
    """Names of a folder's pictures: regular files in a real folder."""
    place = folder / "figures"
    if place.is_symlink() or not place.is_dir():
        return []
    return sorted(path.name for path in place.glob("*.svg") if stat.S_ISREG(path.lstat().st_mode))


def _sweeps(folder: Path, manifest: Mapping[str, Any]) -> list[Sweep]:
    cells: dict[tuple[str, str], list[Numbers]] = {}
    for values, summary in _runs(folder, manifest):
        words = [str(_word(value)) for value in values.values()] or ["the scenario"]
        # The values of the last axis are columns, those of all others rows.
        row, column = (", ".join(words[:-1]), words[-1]) if len(words) > 1 else (words[0], "")
        cells.setdefault((row, column), []).append(summary)
    rows = list(dict.fromkeys(row for row, _ in cells))
    columns = list(dict.fromkeys(column for _, column in cells))

    def table(name: str) -> list[SweepRow]:
        of: list[SweepRow] = [
            {"label": r, "cells": [_cell(cells.get((r, c)), name) for c in columns]} for r in rows
        ]
        return of if any(cell for row in of for cell in row["cells"]) else []

    made: Iterator[Sweep] = (
        {"figure": title, "columns": columns, "rows": table(n)} for n, title in SHOWN.items()
    )
    return [sweep for sweep in made if sweep["rows"]]


def _runs(
    folder: Path, manifest: Mapping[str, Any]
) -> Iterator[tuple[Mapping[str, object], Numbers]]:
    for run in manifest["runs"]:
        if not run["folder"]:
            continue
        place = folder / "runs" / Path(run["folder"]).name
        yield run["values"], run_files.summary(place, run_files.manifest(place))


def _word(value: object) -> object:
    return value.get("label") or value.get("aqm") or value if isinstance(value, dict) else value


def _cell(summaries: list[Numbers] | None, name: str) -> SweepCell | None:
    values = [float(s[name]) for s in summaries or [] if isinstance(s.get(name), int | float)]
    if not values:
        return None
    mean, _, high = interval(values)
    return {"mean": mean, "half": None if math.isnan(high) else high - mean}
