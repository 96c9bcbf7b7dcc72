"""Finds the numbers of a rule: one value per seed, from the runs of a plan."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

import numpy as np

from aqmlab.errors import SpecError, nearest
from aqmlab.experiment.grammar import Metric
from aqmlab.experiment.plan import Cell, Plan
from aqmlab.experiment.rules import Across, Cells, Let, Number, OfCalibration, Pair, Probe
from aqmlab.runs.laboratory import FinishedRun
from aqmlab.tables import statistics

OVER: dict[str, Callable[[np.ndarray], np.ndarray]] = {
    "max": lambda rows: rows.max(axis=0),
    "mean": lambda rows: rows.mean(axis=0),
    "min": lambda rows: rows.min(axis=0),
    "range": lambda rows: rows.max(axis=0) - rows.min(axis=0),
    "sum": lambda rows: rows.sum(axis=0),
}
"""Functions that combine the values of several cells under each seed."""


class NotRun(Exception):
    """A rule needs runs that this study did not make."""


@dataclass
class Evidence:
    """The runs, metrics and calibrations from which rules take their numbers."""

    plan: Plan
    metrics: Mapping[str, Metric]
    results: dict[tuple[str, int], FinishedRun]
    calibrations: Mapping[str | None, dict] = field(default_factory=dict)
    requested: set[str] = field(default_factory=set)
    """Keys of the scenarios whose runs were used since this set was last emptied."""
    _known: dict = field(default_factory=dict)

    def number(self, let: Let) -> np.ndarray:
        """The number that a name of a rule denotes: an array over seeds, or an exact number."""
        match let:
            case Probe():
                return np.asarray(statistics.probe(let.probe, let.args))
            case OfCalibration():
                return np.asarray(self._calibration(let))
            case Pair():
                return self._pair(let)
            case Across():
                cells, how = self._cells(let), statistics.across(let.across)
                return self._by_seed(
                    cells, lambda runs: how(list(zip(cells, runs, strict=True)), **let.args), let
                )
        if let.over is not None:
            return _together([self._single(cell, let) for cell in self._cells(let)], let.over)
        return self._single(self._one(let), let)

    def _pair(self, let: Pair) -> np.ndarray:
        """A statistic of `a` and `b`; with `over`, of `a` and every cell of `b`, combined."""
        how, a = statistics.pair(let.pair), self._one(let.a)
        others = [self._one(let.b)] if let.over is None else self._cells(let.b)
        rows = [self._by_seed([a, b], lambda runs: how(*runs, **let.args), let) for b in others]
        return rows[0] if let.over is None else _together(rows, let.over)

    def _calibration(self, let: OfCalibration) -> float:
        found = self.calibrations.get(let.base)
        if found is None:
            raise NotRun("no load was calibrated")
        return float(found[let.calibration])

    def _single(self, cell: Cell, let: Number) -> np.ndarray:
        return self._by_seed([cell], lambda runs: self.value(runs[0], let), let)

    def value(self, run: FinishedRun, how: Number) -> float:
        """One run's value of a metric (`metric = name`) or of a statistic with arguments."""
        return statistics.value(run, how if how.metric is None else self._metric(how.metric))

    def _metric(self, name: str) -> Metric:
        if name not in self.metrics:
            raise SpecError(f'no metric "{name}"{nearest(name, list(self.metrics))}')
        return self.metrics[name]

    def _by_seed(self, cells: list[Cell], how: Callable, let: Let) -> np.ndarray:
        """One value of a statistic for every seed under which all of `cells` have run."""
        self.requested |= {cell.key for cell in cells}
        place = (tuple(cell.key for cell in cells), repr(let))
        values = self._known.setdefault(place, {})
        for seed in self._seeds(cells):
            if seed not in values:
                values[seed] = float(how([self.results[cell.key, seed] for cell in cells]))
        return np.array([values[seed] for seed in sorted(values)])

    def _seeds(self, cells: list[Cell]) -> list[int]:
        first = self.plan.seeds(cells[0])
        every = itertools.chain(first, itertools.count(max(first) + 1))
        there = ((seed, all((cell.key, seed) in self.results for cell in cells)) for seed in every)
        return [seed for seed, _ in itertools.takewhile(lambda one: one[1], there)]

    def _cells(self, of: Cells | Across | Number) -> list[Cell]:
        cells = self.plan.of(of.group, of.where)
        if not cells:
            raise NotRun(f"{of.group}{_where(of.where)} is not a part of these runs")
        return cells

    def _one(self, of: Cells | Number) -> Cell:
        cells = self._cells(of)
        if len({cell.key for cell in cells}) > 1:
            raise SpecError(f"{of.group}{_where(of.where)} is {len(cells)} cells: say which")
        return cells[0]


def _together(rows: list[np.ndarray], over: str) -> np.ndarray:
    """The combined values of several cells, under the seeds that all of them have."""
    seeds = min(len(row) for row in rows)
    return OVER[over](np.array([row[:seeds] for row in rows]))


def defined(sample: np.ndarray) -> bool:
    """Whether a number of a rule has a value, not NaN, under every seed."""
    return bool(sample.size) and not any(math.isnan(v) for v in np.atleast_1d(sample))


def _where(where: Mapping[str, object]) -> str:
    described = ", ".join(f"{k} {v}" for k, v in where.items())
    return f" ({described})" if described else ""
