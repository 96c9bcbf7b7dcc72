"""Where the numbers of a rule come from: one value per seed, from the runs of a plan."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

import numpy as np

from aqmlab.errors import SpecError, nearest
from aqmlab.experiment.plan import Cell, Plan
from aqmlab.runs.laboratory import FinishedRun
from aqmlab.tables import statistics

OVER: dict[str, Callable[[np.ndarray], np.ndarray]] = {
    "max": lambda rows: rows.max(axis=0),
    "mean": lambda rows: rows.mean(axis=0),
    "min": lambda rows: rows.min(axis=0),
    "range": lambda rows: rows.max(axis=0) - rows.min(axis=0),
    "sum": lambda rows: rows.sum(axis=0),
}
"""What several cells become under one seed."""


class NotRun(Exception):
    """A rule asks for runs that this study did not make."""


@dataclass
class Evidence:
    """All that rules look at."""

    plan: Plan
    metrics: dict[str, dict]
    results: dict[tuple[str, int], FinishedRun]
    calibrations: Mapping[str | None, dict] = field(default_factory=dict)
    asked: set[str] = field(default_factory=set)
    """Keys of the scenarios that were looked at since this was last emptied."""
    _known: dict = field(default_factory=dict)

    def number(self, let: dict) -> np.ndarray:
        """What a name of a rule stands for: an array over seeds, or an exact number."""
        if "probe" in let:
            return np.asarray(statistics.probe(let["probe"], let.get("args", {})))
        if "calibration" in let:
            return np.asarray(self._calibration(let))
        if "pair" in let:
            return self._pair(let)
        cells = self._cells(let)
        if "across" in let:
            how, args = statistics.across(let["across"]), let.get("args", {})
            return self._by_seed(
                cells, lambda runs: how(list(zip(cells, runs, strict=True)), **args), let
            )
        if "over" in let:
            return _together([self._single(cell, let) for cell in cells], let["over"])
        return self._single(self._one(let), let)

    def _pair(self, let: dict) -> np.ndarray:
        """A statistic of `a` and `b`; with `over` of `a` and every cell of `b`, taken together."""
        how, args = statistics.pair(let["pair"]), let.get("args", {})
        a = self._one(let["a"])
        others = self._cells(let["b"]) if "over" in let else [self._one(let["b"])]
        rows = [self._by_seed([a, b], lambda runs: how(*runs, **args), let) for b in others]
        return _together(rows, let["over"]) if "over" in let else rows[0]

    def _calibration(self, let: dict) -> float:
        found = self.calibrations.get(let.get("base"))
        if found is None:
            raise NotRun("no load was calibrated")
        return float(found[let["calibration"]])

    def _single(self, cell: Cell, let: dict) -> np.ndarray:
        return self._by_seed([cell], lambda runs: self.value(runs[0], let), let)

    def value(self, run: FinishedRun, how: dict) -> float:
        """One run's value of a metric (`metric = name`) or of a statistic with arguments."""
        return statistics.value(run, self._metric(how["metric"]) if "metric" in how else how)

    def _metric(self, name: str) -> dict:
        if name not in self.metrics:
            raise SpecError(f'no metric "{name}"{nearest(name, list(self.metrics))}')
        return self.metrics[name]

    def _by_seed(self, cells: list[Cell], how: Callable, let: dict) -> np.ndarray:
        """One value for every seed under which all of these cells have run."""
        self.asked |= {cell.key for cell in cells}
        place = (tuple(cell.key for cell in cells), repr(let))
        values = self._known.setdefault(place, {})
        for seed in self._seeds(cells):
            if seed not in values:
                values[seed] = float(how([self.results[cell.key, seed] for cell in cells]))
        return np.array([values[seed] for seed in sorted(values)])

    def _seeds(self, cells: list[Cell]) -> list[int]:
        seed, found = 1, []
        while all((cell.key, seed) in self.results for cell in cells):
            found.append(seed)
            seed += 1
        return found

    def _cells(self, let: dict) -> list[Cell]:
        cells = self.plan.of(let["group"], let.get("where"))
        if not cells:
            raise NotRun(f"{let['group']}{_where(let)} is not a part of these runs")
        return cells

    def _one(self, let: dict) -> Cell:
        cells = self._cells(let)
        if len({cell.key for cell in cells}) > 1:
            raise SpecError(f"{let['group']}{_where(let)} is {len(cells)} cells: say which")
        return cells[0]


def _together(rows: list[np.ndarray], over: str) -> np.ndarray:
    """Several cells under the seeds that all of them have."""
    seeds = min(len(row) for row in rows)
    return OVER[over](np.array([row[:seeds] for row in rows]))


def defined(sample: np.ndarray) -> bool:
    """Whether the number exists under every seed."""
    return bool(sample.size) and not any(math.isnan(v) for v in np.atleast_1d(sample))


def _where(let: dict) -> str:
    told = ", ".join(f"{k} {v}" for k, v in let.get("where", {}).items())
    return f" ({told})" if told else ""
