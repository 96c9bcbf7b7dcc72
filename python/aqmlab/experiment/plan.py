"""From an experiment to the list of its runs: pure, and every distinct scenario only once."""

from __future__ import annotations

import copy
import itertools
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from aqmlab.io import files

from .experiment import Experiment
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

    def of(self, group: str, where: dict | None = None) -> list[Cell]:
        """The cells of a group, in the order of its axes, that match `where`."""
        return [c for c in self.cells if c.group == group and matches(c.axes, where)]


def make(experiment: Experiment, settings: dict, loads: Loads, groups: list[dict]) -> Plan:
    """The plan of these groups."""
    cells: list[Cell] = []
    scenarios: dict[str, dict] = {}
    replications: dict[str, int] = {}
    for group in groups:
        if not runs_in(group, settings["mode"]):
            continue
        replications[group["name"]] = _mode(group, "seeds", settings["mode"], settings["seeds"])
        base = timed(experiment.base(group.get("base")), settings, group)
        for choice in itertools.product(*(values(a, settings["mode"]) for a in axes_of(group))):
            cell, scenario = _cell(group, choice, base, loads)
            scenarios.setdefault(cell.key, scenario)
            cells.append(cell)
    return Plan(cells, scenarios, replications)


def runs_in(group: dict, mode: str) -> bool:
    """Whether a group is a part of the quick or the full study; `only` names the one it is in."""
    return group.get("only", mode) == mode


def _mode(entry: dict, field_: str, mode: str, default):
    """A field that may differ between quick and full."""
    return entry.get(field_, {}).get(mode, default)


def timed(base: dict, settings: dict, group: dict) -> dict:
    """A base with its times: the group's own, else its own, else those of the settings."""
    own = _mode(group, "times", settings["mode"], {})
    usual = {k: settings[k] for k in ("duration", "warmup") if k in settings}
    return usual | copy.deepcopy(base) | own


def axes_of(group: dict) -> list[dict]:
    """The axes along which a group varies its scenario."""
    return group.get("axis", [])


def values(axis: dict, mode: str) -> list:
    """An axis's values, or those for the quick study, where it has fewer; names of variants."""
    every = [v["name"] for v in axis["variant"]] if "variant" in axis else axis["values"]
    return axis.get("quick", every) if mode == "quick" else every


def uses_load(groups: list[dict]) -> set[str | None]:
    """The bases of those groups that ask for a load, and so need a calibration."""
    return {g.get("base") for g in groups for axis in axes_of(g) if is_load(axis)}


def is_load(axis: dict) -> bool:
    """Whether an axis is the load, which a calibration turns into users."""
    return axis["name"] == "load" and "paths" not in axis and "variant" not in axis


def varied(groups: list[dict], of_load: Iterable[str]) -> list[str]:
    """The fields of a scenario (`link.0.forward`, `traffic.0.users`) of which these groups set
    anything; `of_load` are those that a load sets.
    """
    paths: list[str] = []
    for group in groups:
        paths += group.get("set", {})
        for axis in axes_of(group):
            if is_load(axis):
                paths += of_load
            elif "variant" in axis:
                paths += [path for variant in axis["variant"] for path in variant["set"]]
            else:
                paths += axis["paths"]
    return sorted({".".join(path.split(".")[:3]) for path in paths})


def matches(axes: dict[str, object], where: dict | None) -> bool:
    """Whether a cell has these axis values; a list of plain values means any of them."""
    for name, wanted in (where or {}).items():
        have = axes.get(name)
        several = isinstance(wanted, list) and not isinstance(have, list)
        if not (have in wanted if several else have == wanted):
            return False
    return True


def _cell(group: dict, choice: tuple, base: dict, loads: Loads) -> tuple[Cell, dict]:
    scenario = _with(base, group.get("set", {}))
    axes, labels, published = {}, {}, {}
    for axis, value in zip(axes_of(group), choice, strict=True):
        axes[axis["name"]] = value
        labels[axis["name"]] = label(axis, value)
        scenario = _with(scenario, _changes(group, axis, value, loads))
        if "variant" in axis:
            published |= _variant(axis, value).get("published", {})
    return Cell(group["name"], axes, labels, key_of(scenario), published), scenario


def _changes(group: dict, axis: dict, value: object, loads: Loads) -> Mapping[str, object]:
    if is_load(axis):
        return loads(group.get("base"), str(value))
    if "variant" in axis:
        return _variant(axis, value)["set"]
    parts = value if isinstance(value, list) else [value]
    # One value may go to several paths, as the same queue in both directions.
    parts = parts * len(axis["paths"]) if len(parts) == 1 else parts
    return dict(zip(axis["paths"], parts, strict=True))


def _variant(axis: dict, name: object) -> dict:
    return next(v for v in axis["variant"] if v["name"] == name)


def _with(scenario: dict, changes: Mapping[str, object]) -> dict:
    for path, value in changes.items():
        scenario = set_path(scenario, path, value)
    return scenario


def label(axis: dict, value: object) -> str:
    """An axis value for a legend or a table: "98 %", "120 packets", "(30, 90)"."""
    parts = value if isinstance(value, list) else [value]
    text = axis.get("label", "{0}").format(*parts)
    if text.endswith("%") and not text.endswith(" %"):
        text = f"{text[:-1]} %"
    constructed = value in axis.get("constructed", []) or (
        "variant" in axis and _variant(axis, value).get("constructed", False)
    )
    return f"{text} *" if constructed else text


def key_of(scenario: Mapping[str, Any]) -> str:
    """A short name of a scenario, the same for the same content, whatever the seed."""
    return files.identity({k: v for k, v in scenario.items() if k not in ("seed", "name")})[:12]
