"""A study as a function of its unknowns: from their values, each scaled to 0 to 1, to the numbers
that are compared with the published targets."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from aqmlab import units
from aqmlab.claims import evaluate, expression, rule
from aqmlab.claims.evidence import Evidence
from aqmlab.errors import SpecError
from aqmlab.experiment import plan
from aqmlab.experiment.experiment import Experiment
from aqmlab.experiment.grammar import Group, Metric, Settings, Table
from aqmlab.experiment.plan import Cell, Plan, Run
from aqmlab.experiment.rules import Claim
from aqmlab.pipeline import calibrating
from aqmlab.runs.laboratory import Laboratory
from aqmlab.tables import published, statistics, tables
from aqmlab.tables.dataset import Dataset

from . import sets
from .spec import FILE, Amount, Inference
from .targets import Target, Targets
from .unknowns import Values

Read = Callable[[Dataset], Sequence[float]]
"""A function that reads one number per seed from a dataset."""


class Bench:
    """An experiment whose unknowns can be set: plans and runs it with given values."""

    def __init__(
        self, experiment: Experiment, inference: Inference, quick: bool, laboratory: Laboratory
    ) -> None:
        self.experiment, self.inference, self.quick = experiment, inference, quick
        self.laboratory = laboratory
        self.amount: Amount = inference.quick if quick else inference.full
        usual = experiment.setting(quick)
        own = {"duration": self.amount.duration, "warmup": self.amount.warmup}
        given = {name: value for name, value in own.items() if value is not None}
        self.settings: Settings = replace(usual, seeds=self.amount.seeds, **given)
        self._usual = usual
        self._calibrations: dict[str, dict[str | None, dict]] = {}

    def materials(
        self,
        title: str,
        sets: Sequence[Values],
        groups: Sequence[Group],
        seeds: int,
        requested: Callable[[Plan], set[str]] | None = None,
        *,
        apart: bool = False,
    ) -> list[Dataset]:
        """The runs of these groups with each set of values, one dataset for each set, under the
        seeds 1 to `seeds`.

        All scenarios of a plan are run, or those that are `requested`. `apart`: each set has seeds
        of its own, which follow those of the set before.
        """
        plans = [self.plan(values, groups, seeds) for values in sets]
        wanted = requested or (lambda made: {cell.key for cell in made.cells})
        runs: dict[tuple[int, str, int], Run] = {}
        for number, made in enumerate(plans):
            first = number * seeds if apart else 0
            for run in made.runs(keys=wanted(made)):
                scenario = {**run.scenario, "seed": first + run.seed}
                place = (number if apart else 0, run.key, run.seed)
                runs[place] = replace(run, seed=first + run.seed, scenario=scenario)
        finished = self.laboratory.run(title, list(runs.values()), self.experiment.where)
        results = dict(zip(runs, finished, strict=True))
        return [
            Dataset(
                made,
                self.settings,
                {place[1:]: r for place, r in results.items() if not apart or place[0] == number},
                self.calibrations(values, groups),
                {},
                self.experiment.metrics,
            )
            for number, (values, made) in enumerate(zip(sets, plans, strict=True))
        ]

    def plan(self, values: Values, groups: Sequence[Group], seeds: int) -> Plan:
        """The plan of the experiment's runs with these values of the unknowns."""
        loads = calibrating.lookup(self.experiment, self.calibrations(values, groups))
        bare = [replace(group, seeds={}) for group in groups]
        changed = sets.altered(self.experiment, self.inference.unknowns, values)
        return plan.make(changed, replace(self.settings, seeds=seeds), loads, bare)

    def calibrations(self, values: Values, groups: Sequence[Group]) -> dict[str | None, dict]:
        """The calibrations that convert loads into users, by base. They are measured with the
        experiment's own values, except for unknowns that are marked as changing the calibration."""
        unknowns = self.inference.unknowns
        chosen = {
            u.name: values[u.name] for u in unknowns.each if u.calibrates and u.name in values
        }
        found = self._calibrations.setdefault(repr(chosen), {})
        for base in {group.base for group in groups if group.uses_load}:
            if base in found:
                continue
            changed = sets.altered(self.experiment, unknowns, values)
            loads = calibrating.loads_of(self.experiment.group, base)
            # The study's own durations and seeds are used, since published loads refer to its
            # calibration.
            found[base] = calibrating.measure(changed, base, self._usual, self.laboratory, loads)
        return found

    def cells(self, spec: Table, where: Mapping[str, object]) -> list[Cell]:
        """The rows of a table that `where` selects."""
        groups = [g for g in self.experiment.group if g.name == spec.group]
        made = self.plan({}, groups, 1)
        return [c for c in made.of(spec.group, spec.where) if plan.matches(c.axes, where)]

    def published(self) -> float:
        """Variance of one published run relative to that of one simulated run. It is taken as
        inversely proportional to the measured duration, which underestimates it a little for
        long-range dependent traffic."""
        ours = units.seconds(self.settings.duration) - units.seconds(self.settings.warmup or "0 s")
        return ours / self.inference.published_s


class Training:
    """The target numbers, with a function for each that reads it from runs."""

    def __init__(self, bench: Bench, *, every: bool = False) -> None:
        """`every`: all rows, also those that a quick inference omits."""
        self.bench, self.every = bench, every
        self.targets: list[Target] = []
        self.reads: list[Read] = []
        self._tables: set[str] = set()
        self._claims: list[Claim] = []
        groups: dict[str, Group] = {}
        for entry in bench.inference.train:
            groups |= self._table(entry.table, entry)
        for name in bench.inference.claims:
            groups |= self._claim(name)
        self.groups = list(groups.values())
        scenarios = list(bench.plan({}, self.groups, 1).scenarios.values())
        if idle := bench.inference.unknowns.untouched(scenarios):
            raise SpecError(
                f"{FILE}: the unknown {idle[0]} is in none of the scenarios that are run: mend "
                "its paths"
            )

    def all(self) -> Targets:
        """All target numbers: those of the table rows and the claims with which the unknowns are
        inferred."""
        return Targets(self.targets)

    def __call__(self, points: np.ndarray) -> np.ndarray:
        """Simulates the study at `points` (points × unknowns, values scaled to 0 to 1). Returns the
        runs' numbers for all targets: points × seeds × targets."""
        bench = self.bench
        sets = [bench.inference.unknowns.values(point) for point in points]
        return self.runs(sets, bench.amount.seeds, f"{bench.experiment.name}: {len(points)} points")

    def runs(self, sets: Sequence[Values], seeds: int, title: str) -> np.ndarray:
        """Runs the experiment with sets of values of the unknowns. Returns the runs' numbers for
        all targets: sets × seeds × targets."""
        found = self.bench.materials(title, sets, self.groups, seeds, self._requested)
        return np.array([self._numbers(dataset) for dataset in found])

    def _requested(self, made: Plan) -> set[str]:
        """Keys of the scenarios that a target uses."""
        of_tables = {cell.key for cell in made.cells if cell.group in self._tables}
        return of_tables.union(*(evaluate.scenarios(claim, made) for claim in self._claims))

    def _numbers(self, dataset: Dataset) -> np.ndarray:
        return np.array([read(dataset) for read in self.reads]).T

    def _table(self, name: str, entry: Any) -> dict[str, Group]:
        bench, experiment = self.bench, self.bench.experiment
        spec = next((t for t in experiment.table if t.id == name), None)
        if spec is None:
            known = ", ".join(t.id for t in experiment.table)
            raise SpecError(f'{FILE}: no table "{name}" (known: {known})')
        rows = published.read((experiment.folder,), spec)
        if rows is None:
            raise SpecError(f"{FILE}: table {name} has no published numbers ({spec.reference})")
        fewer = entry.quick if bench.quick and not self.every else {}
        where = {**entry.where, **fewer}
        cells = bench.cells(spec, where)
        found = published.find(rows, tables.places(spec, cells))
        names = entry.metrics or [m.name for m in columns(experiment, spec)]
        before = len(self.targets)
        for cell, row in zip(cells, found, strict=True):
            for metric in (experiment.metrics[n] for n in names):
                number = published.needed(
                    row, metric, f"{FILE}: {spec.reference}, row {cell.label}"
                )
                if number is not None:
                    self._add(spec, cell, metric, number)
        if len(self.targets) == before:
            raise SpecError(
                f"{FILE}: table {name} ({spec.reference}) has no number in the rows and columns "
                "that are to be met: fill them in, or leave the table out"
            )
        group = next(g for g in experiment.group if g.name == spec.group)
        self._tables.add(group.name)
        return {group.name: _narrowed(group, cells)}

    def _add(self, spec: Table, cell: Cell, metric: Metric, number: float) -> None:
        known = self.bench.inference.known(metric.name, cell.axes)
        rounding = 10.0**-metric.digits / math.sqrt(12)
        noise = math.hypot(known.sd, known.share * number, rounding)
        model = math.hypot(known.discrepancy, known.discrepancy_share * number)
        row = ", ".join([spec.paper or spec.id, *cell.labels.values()])
        self.targets.append(Target(row, metric.name, number, number, noise, model, known.log))

        def read(dataset: Dataset) -> list[float]:
            same = next(c for c in dataset.plan.of(cell.group) if c.axes == cell.axes)
            return [statistics.value(run, metric) for run in dataset.runs(same)]

        self.reads.append(read)

    def _claim(self, name: str) -> dict[str, Group]:
        experiment = self.bench.experiment
        claim = next((c for c in experiment.claim if c.id == name), None)
        if claim is None:
            raise SpecError(f'{FILE}: no claim "{name}"')
        self._claims.append(claim)
        for condition, names in rule.leaves(claim):
            low, high = condition.low, condition.high
            known = self.bench.inference.known(name, {})
            size = max(abs(b) for b in (low, high) if math.isfinite(b))
            model = math.hypot(known.discrepancy, known.discrepancy_share * size)
            noise = math.hypot(known.sd, known.share * size)
            text = rule.described(condition, names)
            self.targets.append(Target(text, name, low, high, noise, model, known.log))
            self.reads.append(_reader(condition, names))
        return {g.name: g for g in experiment.groups_of([claim])}


def _reader(condition: Any, names: Mapping[str, Any]) -> Read:
    def read(dataset: Dataset) -> Sequence[float]:
        evidence = Evidence(dataset.plan, dataset.metrics, dataset.results, dataset.calibrations)
        lets = {name: evidence.number(let) for name, let in rule.lets_of(condition, names).items()}
        seeds = max((len(v) for v in lets.values() if v.ndim), default=1)
        value = expression.evaluate(condition.value, rule.numbers(names) | lets)
        return list(np.broadcast_to(value, seeds))

    return read


def columns(experiment: Experiment, spec: Table) -> list[Metric]:
    """The metrics that a table shows."""
    if spec.metrics is not None:
        return [experiment.metrics[name] for name in spec.metrics]
    return [metric for metric in experiment.metric if not metric.hidden]


def _narrowed(group: Group, cells: Sequence[Cell]) -> Group:
    """A group of scenarios, reduced to those values of its axes that `cells` have."""
    axes = []
    for axis in group.axes:
        wanted = [cell.axes[axis.name] for cell in cells]
        if axis.variants:
            kept = tuple(v for v in axis.variants if v.name in wanted)
            axes.append(replace(axis, variants=kept, quick=None))
        else:
            kept = tuple(v for v in axis.values if v in wanted)
            axes.append(replace(axis, values=kept, quick=None, constructed=()))
    return replace(group, axes=tuple(axes))
