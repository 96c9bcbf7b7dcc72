"""Posterior predictive intervals for tables and figures that have not been compared yet.

They are made from some points of the posterior, each simulated under a seed of its own. An interval
thus covers the remaining uncertainty of the unknowns and the chance of one run; the model's
discrepancy is added. If simulated runs are shorter than the published ones their variance is
larger, and the interval a little too wide.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from aqmlab.errors import SpecError
from aqmlab.experiment.experiment import Experiment
from aqmlab.experiment.grammar import Figure, Group, Metric, Table
from aqmlab.experiment.plan import Cell, Plan
from aqmlab.intervals import CONFIDENCE, student
from aqmlab.tables import statistics, tables
from aqmlab.tables.dataset import Dataset
from aqmlab.tables.document import Row

from .bench import Bench, columns
from .spec import FILE
from .unknowns import Values

COLUMNS = ("metric", "unit", "predicted", "low", "high", "plain", "runs")


@dataclass(frozen=True)
class Requested:
    """A table or figure whose cells' metrics are predicted."""

    id: str
    paper: str
    keys: Mapping[str, str]
    """The name of the column of each axis, by the axis's name."""
    places: Sequence[tuple[str, Mapping[str, object]]]
    """Groups, each with the values that select its cells."""
    metrics: Sequence[Metric]

    def cells(self, plan: Plan) -> list[Cell]:
        """The table's or figure's cells in a plan, each once."""
        found = [cell for group, where in self.places for cell in plan.of(group, where)]
        return list({(cell.group, *map(str, cell.axes.values())): cell for cell in found}.values())


@dataclass(frozen=True)
class Prediction:
    """The predictions for a table or figure: one row for each cell and metric."""

    id: str
    paper: str
    rows: list[Row]

    @property
    def columns(self) -> list[str]:
        """All columns, those that distinguish the cells first."""
        keys = [name for row in self.rows for name in row if name not in COLUMNS]
        return [*dict.fromkeys(keys), *COLUMNS]


def predict(bench: Bench, draws: Sequence[Values]) -> list[Prediction]:
    """The predictions for all requested tables and figures, from runs with each set of values in
    `draws`, which are points of the posterior."""
    requested = list(_requested(bench))
    if not requested:
        return []
    names = {group for one in requested for group, _ in one.places}
    groups = [group for group in bench.experiment.group if group.name in names]
    title = f"{bench.experiment.name}: predictions"
    wanted = _wanted(requested)
    drawn = bench.materials(title, draws, groups, 1, wanted, apart=True)
    plain = bench.materials(title, [{}], groups, bench.amount.confirm, wanted)[0]
    return [Prediction(a.id, a.paper, _rows(a, bench, drawn, plain)) for a in requested]


def _wanted(requested: Sequence[Requested]) -> Callable[[Plan], set[str]]:
    """A function that selects the scenarios of a plan that any of these tables or figures needs."""
    return lambda plan: {cell.key for one in requested for cell in one.cells(plan)}


def _requested(bench: Bench) -> Iterable[Requested]:
    experiment, ask = bench.experiment, bench.inference.predict
    known = {table.id: table for table in experiment.table}
    for name in ask.tables:
        if name not in known:
            raise SpecError(f'{FILE}: predict: no table "{name}" (known: {", ".join(known)})')
        yield _of_table(experiment, known[name])
    metrics = [experiment.metrics[name] for name in ask.metrics]
    for name in ask.figures:
        yield _of_figure(experiment.picture(name), metrics, experiment.group)


def _of_table(experiment: Experiment, spec: Table) -> Requested:
    places = [(spec.group, spec.where)]
    return Requested(
        spec.id, spec.paper or spec.title, spec.keys, places, columns(experiment, spec)
    )


def _of_figure(spec: Figure, metrics: Sequence[Metric], groups: Sequence[Group]) -> Requested:
    own = {name: spec.of.get(name) for name in ("group", "where")}
    shown = [own | entry for entry in spec.of.get("curves") or spec.of.get("panels") or [{}]]
    places = [(str(e["group"]), {**(own["where"] or {}), **(e["where"] or {})}) for e in shown]
    several = len({group for group, _ in places}) > 1
    named = {g.name for g in groups if g.name in {group for group, _ in places}}
    axes = {axis.name: axis.name for g in groups if g.name in named for axis in g.axes}
    keys = {"": "group"} | axes if several else axes
    return Requested(f"figure-{spec.id}", spec.paper or f"Figure {spec.id}", keys, places, metrics)


def _rows(
    requested: Requested, bench: Bench, drawn: Sequence[Dataset], plain: Dataset
) -> list[Row]:
    rows = []
    of_draws = [requested.cells(dataset.plan) for dataset in drawn]
    for number, cell in enumerate(requested.cells(plain.plan)):
        place = {
            column: tables.plain(cell.axes[axis]) if axis else cell.group
            for axis, column in requested.keys.items()
            if not axis or axis in cell.axes
        }
        for metric in requested.metrics:
            # Totals are scaled to the measured duration of a published run.
            longer = 1 / bench.published() if metric.name in bench.inference.predict.totals else 1.0
            values = [
                longer * statistics.value(dataset.runs(cells[number])[0], metric)
                for dataset, cells in zip(drawn, of_draws, strict=True)
            ]
            described = _interval(bench, metric, cell, values)
            usual = longer * float(np.mean(plain.values(cell, metric)))
            row = {"metric": metric.name, "unit": metric.unit, **described, "plain": usual}
            rows.append(place | row | {"runs": len(values)})
    return rows


def predictive(sample: np.ndarray, model: float) -> tuple[float, float]:
    """The ends of the interval in which a further run's number lies with 95 % probability. `sample`
    has the numbers of some points of the posterior, each under a seed of its own; `model` is the
    standard deviation of all else."""
    mean, spread = float(sample.mean()), float(sample.var(ddof=1)) * (1 + 1 / len(sample))
    half = student((1 + CONFIDENCE) / 2, len(sample) - 1) * math.sqrt(spread + model**2)
    return mean - half, mean + half


def _interval(
    bench: Bench, metric: Metric, cell: Cell, values: Sequence[float]
) -> dict[str, float]:
    """The mean, and the ends between which the number of one published run lies with 95 %
    probability."""
    known = bench.inference.maybe_known(metric.name, cell.axes)
    sample = np.array([v for v in values if math.isfinite(v)])
    if len(sample) < 2:
        return dict.fromkeys(("predicted", "low", "high"), math.nan)
    mean = float(sample.mean())
    model = 0.0
    if known is not None:
        model = math.hypot(
            known.sd, known.share * mean, known.discrepancy, known.discrepancy_share * mean
        )
    low, high = predictive(sample, model)
    if sample.min() >= 0:
        low = max(low, 0.0)
    if metric.unit == "%":
        high = min(high, 100.0)
    return {"predicted": mean, "low": low, "high": high}
