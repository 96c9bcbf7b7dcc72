"""An experiment as data: read TOML, apply `--set`, catch the mistakes Python can see.

A file is either a bare scenario (exactly what the simulator accepts) or an experiment:

    [scenario]                              # what the simulator accepts
    [sweep]                                 # dotted path = list of values; all combinations are run
    "link.0.forward" = [{ label = "FIFO", aqm = "droptail", limit = 120 }, { aqm = "red" }]
    "traffic.0.load" = ["90%", "98%"]
    seeds = 10                              # or a list
    [calibration]                           # optional: how loads become users; in a bare
    duration = "40 min"                     # scenario, too

Fields of the scenario itself are checked by the simulator, which knows them.
"""

from __future__ import annotations

import copy
import math
import os
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, time
from pathlib import Path
from typing import Any

from aqmlab import units
from aqmlab.errors import SpecError, nearest
from aqmlab.io.documents import MAX_DEPTH, check_depth, read_toml
from aqmlab.io.terminal import printable

from .inlining import check_paths, inline_tables

MAX_SEED = 2**53
MAX_INTEGER = 2**64
MAX_RUNS = 100_000
"""Runs of one experiment: each is a scenario in memory and a folder."""
_EXPERIMENT_KEYS = ["name", "question", "scenario", "sweep", "calibration"]
_CALIBRATION_KEYS = ["duration", "warmup", "seeds"]
# Ways to say how many users there are: saying one with `--set` or on an axis replaces the other.
POPULATION = ("users", "flows", "load", "connections_per_s")


@dataclass(frozen=True)
class Axis:
    """One swept field: its dotted path and the values it takes."""

    path: str
    values: tuple[Any, ...]
    labels: tuple[str, ...]


@dataclass(frozen=True)
class Experiment:
    """A scenario, the axes along which it is varied, and its seeds."""

    name: str
    scenario: Mapping[str, Any]
    axes: tuple[Axis, ...] = ()
    seeds: tuple[int, ...] = (1,)
    calibration: Mapping[str, Any] = field(default_factory=dict)
    source: str = "scenario"
    """The file it came from, for error messages."""


def load(
    source: str | os.PathLike[str] | Mapping[str, Any],
    *,
    overrides: Sequence[str] | Mapping[str, Any] = (),
    seed: int | None = None,
    seeds: int | Sequence[int] | None = None,
) -> Experiment:
    """Reads a file (or takes a document) and applies what the command line adds to it.

    `overrides` are `"path=value"` strings or a mapping; paths are relative to the scenario.
    """
    if isinstance(source, Mapping):
        check_depth(source)
        document, where, stem = copy.deepcopy(dict(source)), "scenario", "scenario"
        folder = Path()
    else:
        path = Path(source)
        document, where, stem = read_toml(path), str(path), printable(path.stem)
        folder = path.parent
        if stem in ("experiment", "scenario") and path.resolve().parent.name:
            stem = path.resolve().parent.name
    try:
        if isinstance(overrides, Mapping):
            pairs = dict(overrides)
        else:
            pairs = dict(map(parse_override, overrides))
        check_depth(list(pairs.values()))
        check_paths(pairs)
        document, pairs = inline_tables(document, folder), inline_tables(pairs, folder)
        return _experiment(document, where, stem, pairs, seed, seeds)
    except SpecError as error:
        raise SpecError(f"{where}: {error}") from error


def _check_plain(value: Any, path: str) -> None:
    """TOML has values that no scenario has: nan, inf, dates."""
    if isinstance(value, Mapping):
        for key, inner in value.items():
            _check_plain(inner, f"{path}.{key}" if path else str(key))
    elif isinstance(value, list | tuple):
        for index, inner in enumerate(value):
            _check_plain(inner, f"{path}.{index}")
    elif isinstance(value, float) and not math.isfinite(value):
        raise SpecError(f"{path}: {value} is not a finite number: write a number")
    elif isinstance(value, int) and abs(value) >= MAX_INTEGER:
        raise SpecError(f"{path}: a whole number of more than 64 bits: write a smaller one")
    elif isinstance(value, date | time):
        raise SpecError(f'{path}: {value} is a date or time of day: write for example "90 min"')


def _experiment(
    document: dict[str, Any],
    where: str,
    stem: str,
    overrides: Mapping[str, Any],
    seed: int | None,
    seeds: int | Sequence[int] | None,
) -> Experiment:
    _check_plain(document, "")
    if "scenario" in document or "sweep" in document:
        for key in document:
            if key not in _EXPERIMENT_KEYS:
                hint = nearest(key, _EXPERIMENT_KEYS)
                raise SpecError(f'unknown entry "{key}"{hint} (known: {_list(_EXPERIMENT_KEYS)})')
        scenario = _as_table(document.get("scenario"), "scenario")
        sweep = _as_table(document.get("sweep", {}), "sweep")
    else:
        scenario, sweep = {k: v for k, v in document.items() if k != "calibration"}, {}
    calibration = _calibration(_as_table(document.get("calibration", {}), "calibration"))
    for path, value in overrides.items():
        _check_plain(value, path)
        for axis in sweep:
            if _sets(axis, path):
                raise SpecError(
                    f'"{path}" cannot be set, the sweep sets it through its axis "{axis}": '
                    "change that axis in the file"
                )
        scenario = set_path(scenario, path, value)
    sweep_seeds = sweep.pop("seeds", None)
    check_paths(sweep)
    axes = tuple(_axis(path, values) for path, values in sweep.items())
    replications = _seeds(scenario, seed, seeds if seeds is not None else sweep_seeds)
    variants = math.prod(len(axis.values) for axis in axes)
    if variants * len(replications) > MAX_RUNS:
        raise SpecError(
            f"sweep: {variants} variants and {len(replications)} seeds are "
            f"{variants * len(replications)} runs: give at most {MAX_RUNS}"
        )
    for axis in axes:
        for value in axis.values:
            check_loads(set_path(scenario, axis.path, value))
    if not axes:
        check_loads(scenario)
    name = document.get("name", scenario.get("name", stem))
    if not isinstance(name, str) or not name:
        raise SpecError(f'name: {name!r} is not a name: write for example name = "red-98"')
    return Experiment(
        name=name,
        scenario=scenario,
        axes=axes,
        seeds=replications,
        calibration=calibration,
        source=where,
    )


def _as_table(value: Any, name: str) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise SpecError(f"{name} is missing or not a table: write it under a line [{name}]")
    return dict(value)


def _calibration(table: dict[str, Any]) -> dict[str, Any]:
    for key in table:
        if key not in _CALIBRATION_KEYS:
            hint = nearest(key, _CALIBRATION_KEYS)
            known = _list(_CALIBRATION_KEYS)
            raise SpecError(f'calibration: unknown entry "{key}"{hint} (known: {known})')
    for key in ("duration", "warmup"):
        if key in table:
            units.seconds(table[key])
    if "seeds" in table:
        table["seeds"] = seed_list(table["seeds"], 1)
    return table


def _axis(path: str, values: Any) -> Axis:
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
    return Axis(path, tuple(bare), _distinct(labels))


def _distinct(labels: Sequence[str]) -> tuple[str, ...]:
    """Equal labels get a number."""
    numbered = []
    for index, label in enumerate(labels):
        earlier = labels[:index].count(label)
        numbered.append(f"{label} ({earlier + 1})" if labels.count(label) > 1 else label)
    return tuple(numbered)


def _sets(axis: str, path: str) -> bool:
    """Whether the values of an axis replace what is at `path`."""
    if axis == path or path.startswith(f"{axis}."):
        return True
    (above, _, field_of_axis), (there, _, name) = axis.rpartition("."), path.rpartition(".")
    return above == there and {field_of_axis, name} <= set(POPULATION)


def _short(value: Any) -> str:
    if isinstance(value, dict):
        if "file" in value and "name" in value:
            return str(value["name"])  # a discipline of the user's own
        shown = {k: v for k, v in value.items() if k != "text" or "file" not in value}
        return " ".join(f"{k}={_short(v)}" for k, v in shown.items())
    return str(value).lower() if isinstance(value, bool) else str(value)


def _seeds(
    scenario: Mapping[str, Any], seed: int | None, seeds: int | Sequence[int] | None
) -> tuple[int, ...]:
    first = scenario.get("seed", 1) if seed is None else seed
    if not _is_seed(first):
        raise SpecError(
            f"seed: {first!r} is not a whole number from 0 to 2^53: write for example 1"
        )
    if seed is not None or seeds is None:
        return (first,)
    return seed_list(seeds, first)


def _is_seed(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= MAX_SEED


def seed_list(seeds: Any, first: int) -> tuple[int, ...]:
    """`10` means ten seeds from `first` on; a list means itself, each once."""
    if _is_seed(seeds) and seeds > MAX_RUNS:
        raise SpecError(f"seeds: {seeds} replications are too many: give at most {MAX_RUNS}")
    if _is_seed(seeds) and seeds >= 1 and _is_seed(first + seeds - 1):
        return tuple(range(first, first + seeds))
    listed = isinstance(seeds, list | tuple) and seeds and all(_is_seed(seed) for seed in seeds)
    if listed and len(set(seeds)) == len(seeds):
        return tuple(seeds)
    raise SpecError(
        f"seeds: {seeds!r} is neither a number of replications from 1 on nor a list of "
        "different whole numbers: write for example seeds = 10"
    )


def parse_override(text: str) -> tuple[str, Any]:
    """`"link.0.rate=10 Mbit/s"` to its path and value: TOML if it is TOML, else text."""
    path, equals, value = text.partition("=")
    if not equals or not path.strip():
        raise SpecError(
            f'--set "{text}" has no path and value: write for example --set link.0.forward.limit=60'
        )
    return path.strip(), _toml_value(value.strip())


def _toml_value(text: str) -> Any:
    if "\n" in text or "\r" in text:
        return text
    try:
        parsed = tomllib.loads(f"v = {text}")
    except (ValueError, RecursionError):  # no TOML, or nothing that a scenario could hold
        return text
    value = parsed["v"]
    # Dates and inf are TOML but no scenario value: they stay the text that was written.
    return value if len(parsed) == 1 and _plain(value) else text


def _plain(value: Any) -> bool:
    if isinstance(value, dict):
        return all(_plain(v) for v in value.values())
    if isinstance(value, list):
        return all(_plain(v) for v in value)
    if isinstance(value, float):
        return value - value == 0.0
    return isinstance(value, bool | int | str)


def set_path(document: Mapping[str, Any], path: str, value: Any) -> dict[str, Any]:
    """A copy of `document` with one field changed; nothing that it shares is modified.

    A name that does not exist is created, so that the simulator can answer with the nearest
    known name; an index must exist.
    """
    parts = path.split(".")
    if not all(parts) or len(parts) > MAX_DEPTH:
        raise SpecError(f'"{path}" is not a path: write for example link.0.forward.limit')
    return _set(document, parts, value, path, 0)


def _set(node: Any, parts: list[str], value: Any, path: str, depth: int) -> Any:
    if depth == len(parts):
        return copy.deepcopy(value)
    part = parts[depth]
    here = ".".join(parts[:depth])
    if isinstance(node, list):
        index = int(part) if part.isascii() and part.isdigit() else -1
        if not 0 <= index < len(node):
            entries = "1 entry" if len(node) == 1 else f"{len(node)} entries"
            raise SpecError(
                f'"{path}": {here} has {entries}, "{part}" is none of them: count from 0'
            )
        changed = list(node)
        changed[index] = _set(node[index], parts, value, path, depth + 1)
        return changed
    if not isinstance(node, Mapping):
        raise SpecError(f'"{path}": {here} is a single value, it has no "{part}": shorten the path')
    changed = dict(node)
    last = depth + 1 == len(parts)
    if last and parts[0] == "traffic" and part in POPULATION:
        changed = {name: v for name, v in changed.items() if name not in POPULATION}
    changed[part] = _set(changed.get(part, {}), parts, value, path, depth + 1)
    return changed


def loaded_group(scenario: Mapping[str, Any]) -> int | None:
    """The index of the first traffic group given by its load, if any."""
    return next((i for i, group in enumerate(_traffic(scenario)) if "load" in group), None)


def _traffic(scenario: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    groups = scenario.get("traffic", [])
    if not isinstance(groups, list) or not all(isinstance(g, Mapping) for g in groups):
        raise SpecError("traffic is not a list of tables: start each with a line [[traffic]]")
    return groups


def check_loads(scenario: Mapping[str, Any]) -> None:
    """Loads are shares, and no group is given by its load and its users as well."""
    groups = _traffic(scenario)
    loaded = [i for i, group in enumerate(groups) if "load" in group]
    for i in loaded:
        if "users" in groups[i]:
            raise SpecError(f"traffic.{i} has both a load and users: keep one of them")
        try:
            units.share(groups[i]["load"])
        except SpecError as error:
            raise SpecError(f"traffic.{i}.load: {error}") from error


def _list(names: Sequence[str]) -> str:
    return ", ".join(names)


def length_s(scenario: Mapping[str, Any]) -> float:
    """Simulated seconds of a scenario, for the progress display."""
    try:
        return units.seconds(scenario.get("duration"))
    except SpecError:
        return 1.0
