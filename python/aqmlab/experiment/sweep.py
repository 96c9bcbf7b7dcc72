"""A bare scenario, or one with a `[sweep]`, as an experiment of one group.

A file is either a bare scenario (exactly what the simulator accepts) or a scenario with axes:

    [scenario]                              # what the simulator accepts
    [sweep]                                 # dotted path = list of values; all combinations are run
    "link.0.forward" = [{ label = "FIFO", aqm = "droptail", limit = 120 }, { aqm = "red" }]
    "traffic.0.load" = ["90%", "98%"]
    seeds = 10                              # or a list
    [calibration]                           # optional: how loads become users; in a bare
    duration = "40 min"                     # scenario, too

Either may also have metrics, tables, figures and claims, as any experiment. In these the group is
called `sweep`, and each axis is named by its path.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TypedDict, cast

from aqmlab import units
from aqmlab.errors import SpecError, nearest
from aqmlab.io.documents import Document
from aqmlab.simulator.forms import Draft

from .inlining import check_paths
from .paths import alternatives
from .spec import (
    MAX_RUNS,
    POPULATION,
    check_loads,
    check_plain,
    is_seed,
    seed_list,
    set_path,
)

NAME = "sweep"
"""Name of a sweep's only group, and of the only part, to which all its entries belong."""
GROUPED = ("group", "part", "include")
"""Keys that only a document with groups has."""
SHOWN = ("metric", "table", "difference", "figure", "claim", "deviation")
"""Keys of reports, which a bare scenario and a sweep may have like any experiment."""
_TOLD = ("name", "question", "title", "subtitle", "source", "lead")
_KEYS = [*_TOLD[:2], "scenario", "sweep", "calibration", *_TOLD[2:], *SHOWN, "setup", "defaults"]
_CALIBRATION_KEYS = ["duration", "warmup", "seeds"]


class Calibrating(TypedDict, total=False):
    """`[calibration]`: how loads become users."""

    duration: str
    warmup: str
    seeds: tuple[int, ...]


class WrittenVariant(TypedDict):
    """A value of an axis as a document with groups writes it; `set` maps paths to values."""

    name: object
    label: str
    set: dict[str, object]


class WrittenAxis(TypedDict):
    """An axis of `[sweep]` as a document with groups writes it."""

    name: str
    variant: list[WrittenVariant]


@dataclass(frozen=True)
class Requested:
    """Changes to a file that the caller requests."""

    overrides: Mapping[str, object]
    """Paths of the scenario and their values."""
    seed: int | None = None
    seeds: int | Sequence[int] | None = None

    def __bool__(self) -> bool:
        return bool(self.overrides) or self.seed is not None or self.seeds is not None


def has_groups(document: Draft) -> bool:
    """Whether a document lists its groups itself, and so is not a sweep."""
    return any(key in document for key in GROUPED)


def in_full(document: Document, stem: str, requested: Requested) -> Document:
    """The document as one of an experiment, with group, settings and part written out; `stem` is
    its name if it states none."""
    check_plain(document, "")
    scenario, sweep, more = _parts(document)
    calibration = _calibration(_table(more.pop("calibration", {}), "calibration"))
    for path, value in requested.overrides.items():
        check_plain(value, path)
        for axis in sweep:
            if any(_sets(each, path) for each in alternatives(axis)):
                raise SpecError(
                    f'"{path}" cannot be set, the sweep sets it through its axis "{axis}": '
                    "change that axis in the file"
                )
        scenario = set_path(scenario, path, value)
    seeds = _seeds(scenario, requested, sweep.pop("seeds", None))
    check_paths(sweep)
    axes = [_axis(path, values) for path, values in sweep.items()]
    _check_number(math.prod(len(axis["variant"]) for axis in axes), len(seeds))
    _check_loads(scenario, axes)
    name = more.get("name", scenario.get("name", stem))
    if not isinstance(name, str) or not name:
        raise SpecError(f'name: {name!r} is not a name: write for example name = "red-98"')
    usual = {"title": name, "subtitle": "", "question": "", "source": "", "metric": []}
    return {
        **usual,
        **more,
        "name": name,
        "defaults": defaults(more),
        "part": [{"name": NAME, "title": "Results"}],
        "settings": {mode: {"seeds": list(seeds)} for mode in ("quick", "full")},
        "scenario": scenario,
        "group": [{"name": NAME, "part": NAME, "axis": axes}],
        "loads": calibration,
    }


def defaults(document: Draft) -> Document:
    """The default fields of entries, among them the only part, to which all belong."""
    return {"part": NAME} | _table(document.get("defaults", {}), "defaults")


def _parts(document: Draft) -> tuple[dict, dict, dict]:
    """The scenario, the sweep, and the other keys of a document."""
    if "scenario" not in document and "sweep" not in document:
        more = {k: v for k, v in document.items() if k in ("calibration", *SHOWN)}
        return {k: v for k, v in document.items() if k not in more}, {}, more
    for key in document:
        if key not in _KEYS and "scenario" not in document:
            remedy = f"write [scenario] before it, and [[scenario.{key}]] for lists of tables"
            raise SpecError(f'beside [sweep], "{key}" belongs to the scenario: {remedy}')
        if key not in _KEYS:
            known = ", ".join(_KEYS)
            raise SpecError(f'unknown entry "{key}"{nearest(key, _KEYS)} (known: {known})')
    more = {k: v for k, v in document.items() if k not in ("scenario", "sweep")}
    return (
        _table(document.get("scenario"), "scenario"),
        _table(document.get("sweep", {}), "sweep"),
        more,
    )


def _table(value: object, name: str) -> Document:
    if not isinstance(value, dict):
        raise SpecError(f"{name} is missing or not a table: write it under a line [{name}]")
    return dict(value)


def _calibration(table: dict[str, object]) -> Calibrating:
    for key in table:
        if key not in _CALIBRATION_KEYS:
            hint = nearest(key, _CALIBRATION_KEYS)
            known = ", ".join(_CALIBRATION_KEYS)
            raise SpecError(f'calibration: unknown entry "{key}"{hint} (known: {known})')
    for key in ("duration", "warmup"):
        if key in table:
            units.seconds(table[key])
    if "seeds" in table:
        table["seeds"] = seed_list(table["seeds"], 1)
    return cast(Calibrating, table)


def _axis(path: str, values: object) -> WrittenAxis:
    """An axis of a sweep. A variant is named by its plain value, or by the label of its table."""
    if not isinstance(values, list) or not values:
        raise SpecError(
            f'sweep: "{path}" needs a list of at least one value: write for example '
            f'"{path}" = [1, 2]'
        )
    labels, bare = [], []
    for value in values:
        if isinstance(value, dict):
            value = dict(value)
            labels.append(str(value.pop("label", None) or _short(value)))
        else:
            labels.append(f"{path.rsplit('.', 1)[-1]}={_short(value)}")
        bare.append(value)
    named = zip(_distinct(labels), bare, strict=True)
    variants: list[WrittenVariant] = [
        {"name": label if isinstance(v, dict | list) else v, "label": label, "set": {path: v}}
        for label, v in named
    ]
    return {"name": path, "variant": variants}


def _distinct(labels: Sequence[str]) -> list[str]:
    """Labels made distinct: equal ones get a number."""
    numbered = []
    for index, label in enumerate(labels):
        earlier = labels[:index].count(label)
        numbered.append(f"{label} ({earlier + 1})" if labels.count(label) > 1 else label)
    return numbered


def _sets(axis: str, path: str) -> bool:
    """Whether the values of an axis replace what is at `path`."""
    if axis == path or path.startswith(f"{axis}."):
        return True
    (above, _, field_of_axis), (there, _, name) = axis.rpartition("."), path.rpartition(".")
    return above == there and {field_of_axis, name} <= set(POPULATION)


def _short(value: object) -> str:
    if isinstance(value, dict):
        if "file" in value and "name" in value:
            return str(value["name"])  # a user's own discipline, shown by its name
        shown = {k: v for k, v in value.items() if k != "text" or "file" not in value}
        return " ".join(f"{k}={_short(v)}" for k, v in shown.items())
    return str(value).lower() if isinstance(value, bool) else str(value)


def _seeds(scenario: Draft, requested: Requested, swept: object) -> tuple[int, ...]:
    """The requested seeds, else those of the sweep, else the scenario's."""
    first = scenario.get("seed", 1) if requested.seed is None else requested.seed
    if not is_seed(first):
        raise SpecError(
            f"seed: {first!r} is not a whole number from 0 to 2^53: write for example 1"
        )
    seeds = requested.seeds if requested.seeds is not None else swept
    return (first,) if requested.seed is not None or seeds is None else seed_list(seeds, first)


def _check_number(variants: int, seeds: int) -> None:
    if variants * seeds > MAX_RUNS:
        raise SpecError(
            f"sweep: {variants} variants and {seeds} seeds are {variants * seeds} runs: "
            f"give at most {MAX_RUNS}"
        )


def _check_loads(scenario: dict, axes: Sequence[WrittenAxis]) -> None:
    for axis in axes:
        for variant in axis["variant"]:
            changed = scenario
            for path in alternatives(axis["name"]):
                changed = set_path(changed, path, *variant["set"].values())
            check_loads(changed)
    if not axes:
        check_loads(scenario)
