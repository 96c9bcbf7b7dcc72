"""Compares dated predictions, which were written before any comparison, with the published
tables."""

from __future__ import annotations

import csv
import json
import math
from collections.abc import Iterator, Mapping
from pathlib import Path

from aqmlab.experiment.experiment import Experiment
from aqmlab.experiment.grammar import Metric, Table
from aqmlab.tables import published, tables
from aqmlab.tables.document import Counted

from . import deviations, files, spec
from .deviations import summary
from .spec import Inference

COLUMNS = ("predicted", "plain")


class ComparedTable(Counted):
    """The table of one prediction: `inside` is how many published numbers lie in their predicted
    intervals, `width` the median half width of these intervals as a multiple of 1.96 standard
    deviations of the noise. The fields `plain_…` are those of the study without inferred values."""

    inside: int
    width: float | None
    plain_rms: float | None
    plain_near: int


class Foretold(ComparedTable):
    """A table of a dated prediction, with the command and commit that made it."""

    table: str
    id: str
    on: str
    commit: str
    command: str


def foretold(experiment: Experiment) -> list[Foretold]:
    """Every table of every dated prediction whose published numbers are available.

    Each row has how many numbers lie in the interval that was predicted for one published run, and
    how far the prediction and the plain study were off, in deviations of noise and discrepancy."""
    if not (experiment.folder / spec.FILE).is_file():
        return []
    inference = spec.load(experiment)
    return [
        row
        for listed in sorted((experiment.folder / files.FOLDER).rglob(files.LIST))
        for row in _of(experiment, inference, listed)
    ]


def _of(experiment: Experiment, inference: Inference, listed: Path) -> Iterator[Foretold]:
    described = json.loads(listed.read_text("utf-8"))
    for spec_ in experiment.table:
        path = listed.parent / f"{spec_.id}.csv"
        rows = published.read((experiment.folder,), spec_) if path.is_file() else None
        if not rows:
            continue
        found = _compared(experiment, inference, spec_, path, rows)
        if found["numbers"]:
            yield {
                "table": spec_.paper or spec_.title,
                "id": spec_.id,
                "on": described["made"][:10],
                "commit": described["commit"],
                "command": described["command"],
                **found,
            }


def _compared(
    experiment: Experiment,
    inference: Inference,
    spec_: Table,
    path: Path,
    rows: list[published.Row],
) -> ComparedTable:
    """The comparison for the table of one prediction."""
    lines = _lines(path)
    off: dict[str, list[float]] = {name: [] for name in COLUMNS}
    inside, wide = [], []
    places = deviations.cells(experiment, spec_, experiment.setting(quick=False))
    of_paper = published.find(rows, tables.places(spec_, places))
    for cell, row in zip(places, of_paper, strict=True):
        at = {column: str(tables.plain(cell.axes[axis])) for axis, column in spec_.keys.items()}
        for metric in experiment.metrics.values():
            line = lines.get((metric.name, *at.values()))
            number = published.number(row, metric)
            known = inference.maybe_known(metric.name, cell.axes)
            if line is None or number is None or known is None:
                continue
            for name in COLUMNS:
                off[name].append(deviations.deviation(line[name], number, known, metric))
            inside.append(_within(line, number, metric))
            own = deviations.noise(known, metric, number)
            wide.append((line["high"] - line["low"]) / 2 / 1.96 / own)
    found = {name: summary(values) for name, values in off.items()}
    wide.sort()
    return {
        "numbers": len(inside),
        "inside": sum(inside),
        "width": wide[len(wide) // 2] if wide else None,
        "rms": found["predicted"]["rms"],
        "near": found["predicted"]["near"],
        "plain_rms": found["plain"]["rms"],
        "plain_near": found["plain"]["near"],
    }


def _within(line: Mapping[str, float], number: float, metric: Metric) -> bool:
    slack = 0.5 * 10.0**-metric.digits
    return line["low"] - slack <= number <= line["high"] + slack


def _lines(path: Path) -> dict[tuple[str, ...], dict[str, float]]:
    """The numbers of a prediction by metric and keys of the row."""
    with path.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    numbers = ("predicted", "low", "high", "plain")
    found = {}
    for row in rows:
        keys = [name for name in row if name not in (*numbers, "metric", "unit", "runs")]
        values = {name: float(row[name]) if row[name] else math.nan for name in numbers}
        found[(row["metric"], *(row[name] for name in keys))] = values
    return found
