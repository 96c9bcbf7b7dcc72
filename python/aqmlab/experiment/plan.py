"""Makes the list of an experiment's runs, each distinct scenario only once; has no side effects."""

from __future__ import annotations

import copy
import itertools
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import cast

from aqmlab.io import files
from aqmlab.simulator.forms import Scenario

from . import sweep
from .experiment import Change, Experiment
from .grammar import Group, Settings
from .paths import alternatives
from .spec import length_s, set_path

Loads = Callable[[str | None, str], Mapping[str, object]]
"""A function of the name of a base scenario (None for the experiment's own) and a load such as
"90%". It returns the fields that set this load, such as `traffic.0.users`, with their values."""


@dataclass(frozen=True)
class Cell:
    """A cell of a group: one combination of axis values, with the scenario that is run for it."""

    group: str
    axes: dict[str, object]
    """Axis values as the experiment states them; for a variant, its name."""
    labels: dict[str, str]
    """The labels of the axis values, for a reader."""
    key: str
    """Name of the scenario; cells of different groups may share it."""
    published: dict[str, object] = field(default_factory=dict)
    """Columns by which variants are found in a published table."""

    @property
    def label(self) -> str:
        """The text that distinguishes the cell for a reader; a sweep's only group is left out."""
        return ", ".join(
            [*([] if self.group == sweep.NAME else [self.group]), *self.labels.values()]
        )


@dataclass(frozen=True)
class Run:
    """One simulation: a complete scenario under one seed, and its cell in the plan."""

    key: str
    """Name of the scenario, which does not depend on the seed."""
    seed: int
    """The seed of the random numbers; common to all variants, so that their users are equal."""
    scenario: Scenario
    """The input of the simulator, with the seed."""
    variant: int = 0
    """Index in the plan of the first cell that uses the run."""
    label: str = ""
    """Label of that cell for a reader."""
    values: Mapping[str, str] = field(default_factory=dict)
    """The label of the value on each axis, by the axis's name."""
    keep: frozenset[str] | None = None
    """The tables of the run that stay on disk; None for all that it records."""


@dataclass(frozen=True)
class Plan:
    """The runs of an experiment, and the cells that use them."""

    cells: list[Cell]
    scenarios: dict[str, Scenario]
    replications: dict[str, tuple[int, ...]]
    """The seeds of the first interim analysis, by group."""
    keep: Mapping[str, Collection[str]] = field(default_factory=dict)
    """The tables that stay on disk, by group, for groups that limit them."""

    def seeds(self, cell: Cell, look: int = 1) -> tuple[int, ...]:
        """The seeds of a cell at interim analysis `look`, those of the earlier ones included:
        `look` times as many as at the first."""
        first = self.replications[cell.group]
        more = (look - 1) * len(first)
        return (*first, *range(max(first) + 1, max(first) + 1 + more))

    def runs(self, look: int = 1, keys: Collection[str] | None = None) -> list[Run]:
        """Every scenario (or those with these keys) under every seed.

        All scenarios get equal seeds (common random numbers): two disciplines under one seed serve
        equal users with equal sizes and think times, which narrows the interval of their paired
        difference.
        """
        firsts: dict[str, tuple[int, Cell]] = {}
        for number, cell in enumerate(self.cells):
            firsts.setdefault(cell.key, (number, cell))
        kept = self._kept()
        return [
            Run(
                key,
                seed,
                {**copy.deepcopy(self.scenarios[key]), "seed": seed},
                number,
                cell.label,
                cell.labels,
                kept[key],
            )
            for key, seeds in self._wanted(look, keys).items()
            for number, cell in [firsts[key]]
            for seed in seeds
        ]

    def places(self) -> list[tuple[str, int]]:
        """Scenario key and seed of every run of the first interim analysis, in the order of `runs`.
        The results of runs are stored under these pairs."""
        return [(key, seed) for key, seeds in self._wanted(1).items() for seed in seeds]

    def _kept(self) -> dict[str, frozenset[str] | None]:
        """The tables to keep of each scenario: those that any of its cells keeps; None for all."""
        kept: dict[str, frozenset[str] | None] = {}
        for cell in self.cells:
            own, before = self.keep.get(cell.group), kept.get(cell.key, frozenset())
            kept[cell.key] = None if own is None or before is None else before | set(own)
        return kept

    def _wanted(self, look: int, keys: Collection[str] | None = None) -> dict[str, dict[int, None]]:
        """The seeds of each scenario at interim analysis `look`: those of all cells that use it."""
        wanted: dict[str, dict[int, None]] = {}
        for cell in self.cells:
            if keys is None or cell.key in keys:
                wanted.setdefault(cell.key, {}).update(dict.fromkeys(self.seeds(cell, look)))
        return wanted

    def work(self, look: int = 1) -> dict[str, float]:
        """The simulated seconds of every scenario's runs up to interim analysis `look`."""
        wanted = self._wanted(look).items()
        return {key: len(seeds) * length_s(self.scenarios[key]) for key, seeds in wanted}

    def of(self, group: str, where: Mapping[str, object] | None = None) -> list[Cell]:
        """The cells of a group, in the order of its axes, that match `where`."""
        return [c for c in self.cells if c.group == group and matches(c.axes, where)]


def make(experiment: Experiment, settings: Settings, loads: Loads, groups: Sequence[Group]) -> Plan:
    """The plan of the runs of `groups`: their cells, the scenarios, and the seeds."""
    cells: list[Cell] = []
    scenarios: dict[str, Scenario] = {}
    replications: dict[str, tuple[int, ...]] = {}
    for group in groups:
        if not group.runs_in(settings.mode):
            continue
        seeds = group.seeds.get(settings.mode, settings.seeds)
        replications[group.name] = tuple(range(1, seeds + 1)) if isinstance(seeds, int) else seeds
        base = timed(experiment.base(group.base), settings, group)
        for choice in itertools.product(*(axis.settings(settings.mode) for axis in group.axes)):
            cell, scenario = _cell(group, choice, base, loads, experiment.change)
            scenarios.setdefault(cell.key, scenario)
            cells.append(cell)
    keep = {group.name: group.keep for group in groups if group.keep is not None}
    return Plan(cells, scenarios, replications, keep)


def timed(base: Scenario, settings: Settings, group: Group) -> Scenario:
    """A base scenario with duration and warm-up: the group's, else the base's, else those of the
    settings."""
    usual = {"duration": settings.duration, "warmup": settings.warmup}
    own = group.times.get(settings.mode, {})
    known = {name: time for name, time in usual.items() if time is not None}
    return cast(Scenario, known | copy.deepcopy(dict(base)) | dict(own))


def varied(groups: Iterable[Group], of_load: Sequence[str]) -> list[str]:
    """The fields of a scenario (`link.0.forward`, `traffic.0.users`) that these groups set, whole
    or in part; `of_load` lists the fields that a load sets.
    """
    paths: list[str] = []
    for group in groups:
        paths += group.set
        for axis in group.axes:
            paths += of_load if axis.is_load else axis.paths
            paths += [path for variant in axis.variants for path in variant.set]
    return sorted({".".join(path.split(".")[:3]) for path in paths})


def matches(axes: Mapping[str, object], where: Mapping[str, object] | None) -> bool:
    """Whether a cell has these axis values; a list of plain values means any of them."""
    for name, wanted in (where or {}).items():
        have = axes.get(name)
        if isinstance(wanted, list) and not isinstance(have, list):
            fits = have in wanted
        else:
            fits = have == wanted
        if not fits:
            return False
    return True


def _cell(
    group: Group, choice: tuple, base: Scenario, loads: Loads, change: Change | None
) -> tuple[Cell, Scenario]:
    scenario = _with(base, group.set)
    axes, labels, published = {}, {}, {}
    own: set[str] = set()
    for axis, (value, label, changes, columns) in zip(group.axes, choice, strict=True):
        axes[axis.name], labels[axis.name] = value, label
        scenario = _with(scenario, loads(group.base, str(value)) if axis.is_load else changes)
        published |= columns
        own |= {path for pattern in changes for path in alternatives(pattern)}
    scenario = change(scenario, own) if change is not None else scenario
    return Cell(group.name, axes, labels, key_of(scenario), published), scenario


def _with(scenario: Scenario, changes: Mapping[str, object]) -> Scenario:
    for path, value in changes.items():
        scenario = set_path(scenario, path, value)
    return scenario


def key_of(scenario: Scenario) -> str:
    """A short name of a scenario, a hash of its content without the seed."""
    return files.identity({k: v for k, v in scenario.items() if k not in ("seed", "name")})[:12]
