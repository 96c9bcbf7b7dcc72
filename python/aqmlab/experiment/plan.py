"""From an experiment to the list of its runs: pure, and every distinct scenario only once."""

from __future__ import annotations

import copy
import itertools
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from aqmlab.io import files

from .experiment import Experiment
from .grammar import Axis, Group, Settings
from .spec import length_s, set_path

Loads = Callable[[str | None, str], Mapping[str, object]]
"""What a load such as "90%" means for a base: paths of the scenario and their values."""


@dataclass(frozen=True)
class Cell:
    """One point of a group's axes."""

    group: str
    axes: dict[str, object]
    """Axis values as the experiment states them; of a variant, its name."""
    labels: dict[str, str]
    """The same for the eyes of a reader."""
    key: str
    """Name of the scenario; cells of different groups may share it."""
    published: dict[str, object] = field(default_factory=dict)
    """Columns by which variants are found in a published table."""


@dataclass(frozen=True)
class Run:
    """One simulation: a complete scenario under one seed, and where it stands in the plan."""

    key: str
    """Name of the scenario, the same under every seed."""
    seed: int
    """The seed of the random numbers; common to all variants, so that their users are the same."""
    scenario: Mapping[str, Any]
    """What the simulator gets, seed included."""
    variant: int = 0
    """Which combination of axis values, in the order of the file."""
    label: str = ""
    """That combination in a few words."""
    values: Mapping[str, str] = field(default_factory=dict)
    """Axis to the label of its value."""


@dataclass(frozen=True)
class Plan:
    """What has to be run, and who wants it."""

    cells: list[Cell]
    scenarios: dict[str, dict]
    replications: dict[str, int]
    """Seeds 1 to this number, by group."""

    def seeds(self, cell: Cell) -> list[int]:
        """The seeds of a cell."""
        return list(range(1, self.replications[cell.group] + 1))

    def runs(self, look: int = 1, keys: Iterable[str] | None = None) -> list[Run]:
        """Every scenario (or those with these keys) under every seed.

        At a later look the number of seeds is so many times that of the first.
        """
        return [
            Run(key, seed, {**copy.deepcopy(self.scenarios[key]), "seed": seed})
            for key, seeds in self._most(look, keys).items()
            for seed in range(1, seeds + 1)
        ]

    def _most(self, look: int, keys: Iterable[str] | None = None) -> dict[str, int]:
        """How many seeds each scenario has at a look."""
        most: dict[str, int] = {}
        for cell in self.cells:
            if keys is None or cell.key in keys:
                wanted = look * self.replications[cell.group]
                most[cell.key] = max(most.get(cell.key, 0), wanted)
        return most

    def work(self, look: int = 1) -> dict[str, float]:
        """The simulated seconds of every scenario's runs up to a look."""
        most = self._most(look).items()
        return {key: seeds * length_s(self.scenarios[key]) for key, seeds in most}

    def of(self, group: str, where: Mapping[str, Any] | None = None) -> list[Cell]:
        """The cells of a group, in the order of its axes, that match `where`."""
        return [c for c in self.cells if c.group == group and matches(c.axes, where)]


def make(experiment: Experiment, settings: Settings, loads: Loads, groups: Sequence[Group]) -> Plan:
    """The plan of these groups."""
    cells: list[Cell] = []
    scenarios: dict[str, dict] = {}
    replications: dict[str, int] = {}
    for group in groups:
        if not group.runs_in(settings.mode):
            continue
        replications[group.name] = group.seeds.get(settings.mode, settings.seeds)
        base = timed(experiment.base(group.base), settings, group)
        for choice in itertools.product(*(axis.every(settings.mode) for axis in group.axes)):
            cell, scenario = _cell(group, choice, base, loads)
            scenarios.setdefault(cell.key, scenario)
            cells.append(cell)
    return Plan(cells, scenarios, replications)


def changed(made: Plan, change: Callable[[dict], dict]) -> Plan:
    """The plan with every scenario changed; those that agree then are one."""
    scenarios = {key: change(scenario) for key, scenario in made.scenarios.items()}
    keys = {key: key_of(scenario) for key, scenario in scenarios.items()}
    cells = [replace(cell, key=keys[cell.key]) for cell in made.cells]
    return Plan(cells, {keys[k]: one for k, one in scenarios.items()}, made.replications)


def timed(base: Mapping[str, Any], settings: Settings, group: Group) -> dict[str, Any]:
    """A base with its times: the group's own, else its own, else those of the settings."""
    usual = {"duration": settings.duration, "warmup": settings.warmup}
    own = group.times.get(settings.mode, {})
    known = {name: time for name, time in usual.items() if time is not None}
    return known | copy.deepcopy(dict(base)) | dict(own)


def varied(groups: Iterable[Group], of_load: Sequence[str]) -> list[str]:
    """The fields of a scenario (`link.0.forward`, `traffic.0.users`) of which these groups set
    anything; `of_load` are those that a load sets.
    """
    paths: list[str] = []
    for group in groups:
        paths += group.set
        for axis in group.axes:
            paths += of_load if axis.is_load else axis.paths
            paths += [path for variant in axis.variants for path in variant.set]
    return sorted({".".join(path.split(".")[:3]) for path in paths})


def matches(axes: Mapping[str, object], where: Mapping[str, Any] | None) -> bool:
    """Whether a cell has these axis values; a list of plain values means any of them."""
    for name, wanted in (where or {}).items():
        have = axes.get(name)
        several = isinstance(wanted, list) and not isinstance(have, list)
        if not (have in wanted if several else have == wanted):
            return False
    return True


def _cell(group: Group, choice: tuple, base: dict, loads: Loads) -> tuple[Cell, dict]:
    scenario = _with(base, group.set)
    axes, labels, published = {}, {}, {}
    for axis, value in zip(group.axes, choice, strict=True):
        axes[axis.name] = value
        labels[axis.name] = axis.told(value)
        scenario = _with(scenario, _changes(group, axis, value, loads))
        variant = axis.variant(value)
        published |= variant.published if variant else {}
    return Cell(group.name, axes, labels, key_of(scenario), published), scenario


def _changes(group: Group, axis: Axis, value: object, loads: Loads) -> Mapping[str, object]:
    return loads(group.base, str(value)) if axis.is_load else axis.changes(value)


def _with(scenario: dict, changes: Mapping[str, object]) -> dict:
    for path, value in changes.items():
        scenario = set_path(scenario, path, value)
    return scenario


def key_of(scenario: Mapping[str, Any]) -> str:
    """A short name of a scenario, the same for the same content, whatever the seed."""
    return files.identity({k: v for k, v in scenario.items() if k not in ("seed", "name")})[:12]
