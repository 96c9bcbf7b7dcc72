"""From an experiment to the list of its runs: pure, and every distinct scenario only once."""

from __future__ import annotations

import copy
import hashlib
import itertools
import json
from collections.abc import Callable
from dataclasses import dataclass

from aqmlab.spec import set_path

from .experiment import Experiment


@dataclass(frozen=True)
class Cell:
    """One point of a group's axes."""

    group: str
    axes: dict[str, object]
    """Axis values as the experiment states them."""
    labels: dict[str, str]
    """The same for the eyes of a reader."""
    key: str
    """Name of the scenario; cells of different groups may share it."""


@dataclass(frozen=True)
class Run:
    """One simulation: a complete scenario under one seed."""

    key: str
    seed: int
    scenario: dict


@dataclass(frozen=True)
class Plan:
    """What has to be run, and who wants it."""

    cells: list[Cell]
    scenarios: dict[str, dict]
    seeds: list[int]

    @property
    def runs(self) -> list[Run]:
        """Every scenario under every seed; all seeds of a scenario together."""
        return [
            Run(key, seed, {**copy.deepcopy(scenario), "seed": seed})
            for key, scenario in self.scenarios.items()
            for seed in self.seeds
        ]

    def of(self, group: str, where: dict | None = None) -> list[Cell]:
        """The cells of a group, in the order of its axes, that match `where`."""
        return [c for c in self.cells if c.group == group and matches(c.axes, where)]


def make(
    experiment: Experiment,
    settings: dict,
    users_for: Callable[[str], int],
    parts: list[str] | None = None,
) -> Plan:
    """The plan of these parts. `users_for` turns a load such as "90%" into a number of users."""
    base = copy.deepcopy(experiment.data["scenario"])
    base["duration"], base["warmup"] = settings["duration"], settings["warmup"]
    cells: list[Cell] = []
    scenarios: dict[str, dict] = {}
    for group in needed_groups(experiment, parts):
        for values in itertools.product(*(axis["values"] for axis in group.get("axis", []))):
            cell, scenario = _cell(group, values, base, users_for)
            scenarios.setdefault(cell.key, scenario)
            cells.append(cell)
    return Plan(cells, scenarios, list(range(1, settings["seeds"] + 1)))


def needed_groups(experiment: Experiment, parts: list[str] | None) -> list[dict]:
    """The groups of these parts, and those of other parts that their differences refer to."""
    names = [g["name"] for g in experiment.of("group", parts)]
    for difference in experiment.of("difference", parts):
        names += [difference["group"], difference["minus"]]
    return [g for g in experiment.of("group") if g["name"] in names]


def uses_load(experiment: Experiment, parts: list[str] | None) -> bool:
    """Whether any group of these parts asks for a load, and so needs the calibration."""
    groups = needed_groups(experiment, parts)
    return any(axis["name"] == "load" for g in groups for axis in g.get("axis", []))


def matches(axes: dict[str, object], where: dict | None) -> bool:
    """Whether a cell has these axis values; a list of plain values means any of them."""
    for name, wanted in (where or {}).items():
        have = axes.get(name)
        several = isinstance(wanted, list) and not isinstance(have, list)
        if not (have in wanted if several else have == wanted):
            return False
    return True


def _cell(group: dict, values: tuple, base: dict, users_for) -> tuple[Cell, dict]:
    scenario = base
    for path, value in group.get("set", {}).items():
        scenario = set_path(scenario, path, value)
    axes, labels = {}, {}
    for axis, value in zip(group.get("axis", []), values, strict=True):
        axes[axis["name"]] = value
        labels[axis["name"]] = label(axis, value)
        if axis["name"] == "load" and "paths" not in axis:
            scenario = set_path(scenario, "traffic.0.users", users_for(value))
        else:
            parts = value if isinstance(value, list) else [value]
            for path, part in zip(axis["paths"], parts, strict=True):
                scenario = set_path(scenario, path, part)
    return Cell(group["name"], axes, labels, key_of(scenario)), scenario


def label(axis: dict, value: object) -> str:
    """An axis value for a legend or a table: "98 %", "120 packets", "(30, 90)"."""
    parts = value if isinstance(value, list) else [value]
    text = axis.get("label", "{0}").format(*parts)
    if text.endswith("%") and not text.endswith(" %"):
        text = f"{text[:-1]} %"
    return f"{text} *" if value in axis.get("constructed", []) else text


def key_of(scenario: dict) -> str:
    """A short name of a scenario, the same for the same content, whatever the seed."""
    content = {k: v for k, v in scenario.items() if k not in ("seed", "name")}
    text = json.dumps(content, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()[:12]
