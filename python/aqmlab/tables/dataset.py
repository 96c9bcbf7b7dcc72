"""The runs of an experiment with all that tables, claims and figures need."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from aqmlab.experiment.grammar import Difference, Metric, Settings, Table
from aqmlab.experiment.plan import Cell, Plan
from aqmlab.runs.calibrate import Calibration
from aqmlab.runs.laboratory import FinishedRun
from aqmlab.simulator.forms import Scenario, without

from .loads import Target


@dataclass(frozen=True)
class Dataset:
    """The runs, calibrations and tables of an experiment, from which figures are drawn."""

    plan: Plan
    settings: Settings
    results: dict[tuple[str, int], FinishedRun]
    calibrations: dict[str | None, dict]
    tables: dict[str, list[dict]]
    metrics: Mapping[str, Metric]
    lines: Sequence[Calibration] = ()
    """The calibrations of loads that a scenario itself states."""
    targets: Sequence[Sequence[Target]] = ()
    """The loads that each cell requires."""

    def runs(self, cell: Cell) -> list[FinishedRun]:
        """A cell's runs, seed by seed."""
        return [self.results[cell.key, seed] for seed in self.plan.seeds(cell)]

    def all_runs(self) -> list[FinishedRun]:
        """The runs cell by cell, each with its cell's index, label and axis values."""
        return [
            replace(run, variant=number, label=cell.label, values=cell.labels)
            for number, cell in enumerate(self.plan.cells)
            for run in self.runs(cell)
        ]

    def values(self, cell: Cell, metric: Metric) -> list[float]:
        """A metric of a cell's runs, seed by seed, in its unit; NaN where it is undefined."""
        from . import statistics  # imported here, since a run does not need it

        return [statistics.value(run, metric) for run in self.runs(cell)]

    def columns(self, spec: Table | Difference) -> list[Metric]:
        """The metrics that a table shows: those it names, or all that are not hidden."""
        if spec.metrics is not None:
            return [self.metrics[name] for name in spec.metrics]
        return [metric for metric in self.metrics.values() if not metric.hidden]

    def scenario(self, cell: Cell) -> Scenario:
        """The complete scenario of a cell, with all defaults."""
        return without(self.runs(cell)[0].scenario)
