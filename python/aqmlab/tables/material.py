"""All that a study's runs gave: what tables, claims and figures are made of."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from aqmlab.experiment.grammar import Difference, Metric, Settings, Table
from aqmlab.experiment.plan import Cell, Plan
from aqmlab.runs.laboratory import FinishedRun

from . import statistics


@dataclass(frozen=True)
class Material:
    """All that a figure may be drawn of."""

    plan: Plan
    settings: Settings
    results: dict[tuple[str, int], FinishedRun]
    calibrations: dict[str | None, dict]
    tables: dict[str, list[dict]]
    metrics: Mapping[str, Metric]

    def runs(self, cell: Cell) -> list[FinishedRun]:
        """A cell's runs, seed by seed."""
        return [self.results[cell.key, seed] for seed in self.plan.seeds(cell)]

    def values(self, cell: Cell, metric: Metric) -> list[float]:
        """A metric of a cell's runs, seed by seed, in its unit; NaN where it is undefined."""
        return [statistics.value(run, metric) for run in self.runs(cell)]

    def columns(self, spec: Table | Difference) -> list[Metric]:
        """The metrics that a table shows: those it names, or all that are not hidden."""
        if spec.metrics is not None:
            return [self.metrics[name] for name in spec.metrics]
        return [metric for metric in self.metrics.values() if not metric.hidden]

    def scenario(self, cell: Cell) -> dict[str, Any]:
        """What was run in a cell, complete with all defaults."""
        return dict(self.runs(cell)[0].scenario)
