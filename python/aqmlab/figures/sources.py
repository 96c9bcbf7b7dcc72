"""The sources of figures (cells and rows of tables), and functions that the kinds of figures
share."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TypedDict

import numpy as np

from aqmlab.experiment.grammar import Metric
from aqmlab.experiment.plan import Cell
from aqmlab.intervals import CONFIDENCE, student
from aqmlab.runs.laboratory import FinishedRun
from aqmlab.tables.dataset import Dataset

NO_KEY = {"key": False}
"""Metadata of a field that no entry of an experiment may set."""


@dataclass(frozen=True)
class Drawing:
    """The data that a kind draws, and a sentence of numbers for the caption."""

    data: dict
    note: str = ""


@dataclass(frozen=True)
class Sample:
    """A cell with its label in a figure, and its runs."""

    label: str
    cell: Cell
    runs: list[FinishedRun]

    def tables(self, name: str, traffic: list | None = None) -> list[dict[str, np.ndarray]]:
        """The table of this name of every run that has it; only rows of the traffic groups with
        these indices, or all."""
        found = (table(run, name) for run in self.runs)
        return [_of_traffic(columns, traffic) for columns in found if columns is not None]


class Curve(TypedDict, total=False):
    """The entry of one curve of a figure; keys that it lacks are taken from the figure."""

    group: str
    where: dict
    curve: str
    label: str


@dataclass(frozen=True)
class Cells:
    """The cells that a figure shows: `group`, `where` (axes and values) and `curve`, the axis
    whose values are the labels; or a list `curves` of such entries, each with a `label`.
    """

    dataset: Dataset = field(metadata=NO_KEY)
    group: str = ""
    where: dict = field(default_factory=dict)
    curve: str = ""
    curves: list[Curve] = field(default_factory=list)

    def but(self, entry: Mapping) -> Cells:
        """These cells with `group` and `where` of an entry in place of their own."""
        return replace(self, **{k: entry[k] for k in ("group", "where") if k in entry})

    def samples(self) -> list[Sample]:
        """The selected cells that the plan has, in order, with their runs."""
        found = []
        for entry in self._entries():
            for cell in self.dataset.plan.of(entry["group"], entry["where"]):
                names = (entry.get("label"), cell.labels.get(entry["curve"]))
                found.append(Sample(" ".join(filter(None, names)), cell, self.dataset.runs(cell)))
        return found

    def known(self) -> list[str]:
        """All labels that curves of these axes can have, whether they are drawn or not."""
        every = (
            cell.labels.get(entry["curve"], "")
            for entry in self._entries()
            if not entry.get("label")
            for cell in self.dataset.plan.of(entry["group"])
        )
        return list(dict.fromkeys(filter(None, every)))

    def _entries(self) -> list[dict]:
        usual = {"group": self.group, "where": self.where, "curve": self.curve}
        return [usual | entry for entry in self.curves or [{}]]


@dataclass(frozen=True)
class Rows:
    """Rows of a table of the study, or of one of its differences: those of the metrics `rows`."""

    dataset: Dataset = field(metadata=NO_KEY)
    table: str
    rows: list[str]
    keys: Mapping[str, str] = field(default_factory=dict, metadata=NO_KEY)
    """The columns that distinguish the table's rows, by axis."""

    def all(self) -> list[dict]:
        """All rows of the table, or none if the study has no such table."""
        return self.dataset.tables.get(self.table) or []

    def of(self, metric: str, **where: object) -> list[dict]:
        """The rows of a metric in which these columns have these values."""
        return [
            row
            for row in self.all()
            if row["metric"] == metric and all(row[k] == v for k, v in where.items())
        ]


def table(run: FinishedRun, name: str) -> dict[str, np.ndarray] | None:
    """One of a run's tables, or None if it has none of this name."""
    return run.columns(name) if run.has(name) else None


def _of_traffic(columns: dict[str, np.ndarray], traffic: list | None) -> dict[str, np.ndarray]:
    if traffic is None or "group" not in columns:
        return columns
    wanted = np.isin(columns["group"], traffic)
    return {name: column[wanted] for name, column in columns.items()}


def mean_band(
    rows: Sequence[np.ndarray],
) -> tuple[np.ndarray, np.ndarray | None, np.ndarray | None]:
    """Mean over the seeds (rows) at every point, and the ends of its 95 % interval (Student's t).

    The ends are None for a single row. They equal those of `intervals.interval` at every point.
    """
    values = np.array(rows, dtype=float)
    mean = values.mean(axis=0)
    n = len(values)
    if n == 1:
        return mean, None, None
    t = student((1 + CONFIDENCE) / 2, n - 1)
    half = t * values.std(axis=0, ddof=1) / math.sqrt(n)
    return mean, mean - half, mean + half


def titled(metric: Metric) -> str:
    """A metric's title with its unit, if it has one."""
    return f"{metric.title} ({metric.unit})" if metric.unit else metric.title


def unit_of_difference(metric: Metric) -> str:
    """The unit of a metric's differences, which is points for percentages."""
    return "points" if metric.unit == "%" else metric.unit


def seeds_note(found: Sequence[Sample], shown: str = "bands") -> str:
    """A sentence on the number of runs over which a curve is a mean."""
    counts = sorted({len(sample.runs) for sample in found})
    if counts == [1]:
        return "One seed: no intervals."
    several = str(counts[-1]) if len(counts) == 1 else f"{counts[0]} to {counts[-1]}"
    return f"Mean of {several} seeds; {shown}: 95 % intervals."


def described(what: str, values: Mapping[str, float], form: str = "{:.1f} %") -> str:
    """A sentence with one number per curve: all of up to four numbers, else only the extremes.

    Undefined values are left out; without any the sentence is empty.
    """
    known = {label: value for label, value in values.items() if math.isfinite(value)}
    if not known:
        return ""

    def one(label: str) -> str:
        number = form.format(known[label])
        return f"{number} ({label})" if label else number

    same = {form.format(value) for value in known.values()}
    if len(known) > 1 and len(same) == 1:
        return f"{what}: {same.pop()} (all)."
    if len(known) <= 4:
        return f"{what}: {', '.join(map(one, known))}."
    low, high = min(known, key=known.__getitem__), max(known, key=known.__getitem__)
    return f"{what}: from {one(low)} to {one(high)}."


def joined(*sentences: str) -> str:
    """The sentences joined into one note, without empty ones."""
    return " ".join(filter(None, sentences))
