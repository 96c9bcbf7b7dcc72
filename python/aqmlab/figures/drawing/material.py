"""What every figure is drawn of, and what the kinds share: cells, tables, intervals, numbers."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from aqmlab.experiment.plan import Cell
from aqmlab.intervals import CONFIDENCE, student
from aqmlab.runs.laboratory import FinishedRun
from aqmlab.tables.material import Material


@dataclass(frozen=True)
class Drawing:
    """What `figures.draw` takes, and a sentence of numbers for the caption."""

    data: dict
    options: dict
    note: str = ""


@dataclass(frozen=True)
class Sample:
    """A cell under the name that it has in a figure, with its runs."""

    label: str
    cell: Cell
    runs: list[FinishedRun]

    def tables(self, name: str) -> list[dict[str, np.ndarray]]:
        """This table of every run that has it."""
        found = (table(run, name) for run in self.runs)
        return [columns for columns in found if columns is not None]


def samples(spec: dict, material: Material) -> list[Sample]:
    """The cells that a figure asks for, in its order, as far as the plan has them.

    Either `group`, `where` and `curve` (the axis whose values are the labels), or a list `curves`
    of such entries, each with a `label` of its own; what an entry does not say, the figure does.
    """
    found = []
    for entry in spec.get("curves", [{}]):
        full = {k: spec[k] for k in ("group", "where", "curve") if k in spec} | entry
        for cell in material.plan.of(full["group"], full.get("where")):
            names = (full.get("label"), cell.labels.get(full.get("curve", "")))
            found.append(Sample(" ".join(filter(None, names)), cell, material.runs(cell)))
    return found


def table(run: FinishedRun, name: str) -> dict[str, np.ndarray] | None:
    """One of a run's tables, or None if it has none of this name."""
    return run.columns(name) if run.has(name) else None


def of_traffic(columns: dict[str, np.ndarray], spec: dict) -> dict[str, np.ndarray]:
    """The rows of the traffic groups that a figure names by their numbers (`traffic`), or all."""
    if "traffic" not in spec or "group" not in columns:
        return columns
    wanted = np.isin(columns["group"], spec["traffic"])
    return {name: column[wanted] for name, column in columns.items()}


def mean_band(
    rows: Sequence[np.ndarray],
) -> tuple[np.ndarray, np.ndarray | None, np.ndarray | None]:
    """Mean over the seeds (rows) at every place, and the ends of its 95 % interval (Student's t).

    The ends are None for a single row. The same numbers as `intervals.interval` place by place.
    """
    values = np.array(rows, dtype=float)
    mean = values.mean(axis=0)
    n = len(values)
    if n == 1:
        return mean, None, None
    t = student((1 + CONFIDENCE) / 2, n - 1)
    half = t * values.std(axis=0, ddof=1) / math.sqrt(n)
    return mean, mean - half, mean + half


def titled(metric: dict) -> str:
    """A metric's title with its unit, if it has one."""
    return f"{metric['title']} ({metric['unit']})" if metric["unit"] else metric["title"]


def seeds_told(found: Sequence[Sample]) -> str:
    """How many runs a curve is the mean of, in a sentence."""
    counts = sorted({len(sample.runs) for sample in found})
    if counts == [1]:
        return "One seed: no intervals."
    several = str(counts[-1]) if len(counts) == 1 else f"{counts[0]} to {counts[-1]}"
    return f"Mean of {several} seeds; bands: 95 % intervals."


def told(what: str, values: Mapping[str, float], form: str = "{:.1f} %") -> str:
    """A number per curve as a sentence: up to four all, of more only the extremes.

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
    """Sentences to a note, empty ones left out."""
    return " ".join(filter(None, sentences))
