"""A scenario as a document: fields by path, overrides by `--set`, offered loads and seeds.

The simulator itself checks the scenario's fields.
"""

from __future__ import annotations

import copy
import math
import tomllib
from collections.abc import Mapping
from datetime import date, time
from typing import Any, TypeGuard, TypeVar

from aqmlab import units
from aqmlab.errors import SpecError
from aqmlab.io.documents import MAX_DEPTH
from aqmlab.simulator.forms import Draft

T = TypeVar("T", bound=Mapping[str, object])

MAX_SEED = 2**53
MAX_INTEGER = 2**64
MAX_RUNS = 100_000
"""The most runs of one experiment: each needs a scenario in memory and a folder."""
# Fields that give the number of users: setting one with `--set` or on an axis removes the others.
POPULATION = ("users", "flows", "load", "connections_per_s")
# Fields whose table may be written as one name, and the key which that name has in the table.
NAMED_BY = {"forward": "aqm", "reverse": "aqm", "tcp": "profile", "congestion": "name"}


def check_plain(value: object, path: str) -> None:
    """Refuses values that TOML has but no scenario: nan, inf, dates and integers of more than 64
    bits."""
    if isinstance(value, Mapping):
        for key, inner in value.items():
            check_plain(inner, f"{path}.{key}" if path else str(key))
    elif isinstance(value, list | tuple):
        for index, inner in enumerate(value):
            check_plain(inner, f"{path}.{index}")
    elif isinstance(value, float) and not math.isfinite(value):
        raise SpecError(f"{path}: {value} is not a finite number: write a number")
    elif isinstance(value, int) and abs(value) >= MAX_INTEGER:
        raise SpecError(f"{path}: a whole number of more than 64 bits: write a smaller one")
    elif isinstance(value, date | time):
        raise SpecError(f'{path}: {value} is a date or time of day: write for example "90 min"')


def is_seed(value: object) -> TypeGuard[int]:
    """Whether a value is a seed: a whole number that JSON and every language hold exactly."""
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= MAX_SEED


def seed_list(seeds: object, first: int) -> tuple[int, ...]:
    """The seeds of a field: `10` means ten seeds from `first` on, and a list of distinct seeds
    means these."""
    if is_seed(seeds) and seeds > MAX_RUNS:
        raise SpecError(f"seeds: {seeds} replications are too many: give at most {MAX_RUNS}")
    if is_seed(seeds) and seeds >= 1 and is_seed(first + seeds - 1):
        return tuple(range(first, first + seeds))
    listed = tuple(seeds) if isinstance(seeds, list | tuple) else ()
    if listed and all(map(is_seed, listed)) and len(set(listed)) == len(listed):
        return listed
    raise SpecError(
        f"seeds: {seeds!r} is neither a number of replications from 1 on nor a list of "
        "different whole numbers: write for example seeds = 10"
    )


def parse_override(text: str) -> tuple[str, object]:
    """`"link.0.rate=10 Mbit/s"` split into path and value; the value is parsed as TOML if possible,
    else it is text."""
    path, equals, value = text.partition("=")
    if not equals or not path.strip():
        raise SpecError(
            f'--set "{text}" has no path and value: write for example --set link.0.forward.limit=60'
        )
    return path.strip(), _toml_value(value.strip())


def _toml_value(text: str) -> object:
    if "\n" in text or "\r" in text:
        return text
    try:
        parsed = tomllib.loads(f"v = {text}")
    except (ValueError, RecursionError):  # the text is not TOML, or too deeply nested
        return text
    value = parsed["v"]
    # Dates and inf are TOML but no scenario value: they are kept as text.
    return value if len(parsed) == 1 and _plain(value) else text


def _plain(value: object) -> bool:
    if isinstance(value, dict):
        return all(_plain(v) for v in value.values())
    if isinstance(value, list):
        return all(_plain(v) for v in value)
    if isinstance(value, float):
        return value - value == 0.0
    return isinstance(value, bool | int | str)


def set_path(document: T, path: str, value: object) -> T:
    """A copy of `document` with one field changed; the original is not modified.

    A name that does not exist is created, so that the simulator can answer with the nearest
    known name; an index must exist.
    """
    parts = path.split(".")
    if not all(parts) or len(parts) > MAX_DEPTH:
        raise SpecError(f'"{path}" is not a path: write for example link.0.forward.limit')
    return _set(document, parts, value, path, 0)


def _set(node: Any, parts: list[str], value: object, path: str, depth: int) -> Any:
    if depth == len(parts):
        return copy.deepcopy(value)
    part = parts[depth]
    here = ".".join(parts[:depth])
    if isinstance(node, str) and depth and parts[depth - 1] in NAMED_BY:
        node = {NAMED_BY[parts[depth - 1]]: node}
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


def loaded_group(scenario: Draft) -> int | None:
    """The index of the first traffic group given by its load, if any."""
    return next((i for i, group in enumerate(_traffic(scenario)) if "load" in group), None)


def _traffic(scenario: Draft) -> list[Draft]:
    groups = scenario.get("traffic", [])
    if not isinstance(groups, list) or not all(isinstance(g, Mapping) for g in groups):
        raise SpecError("traffic is not a list of tables: start each with a line [[traffic]]")
    return groups


def check_loads(scenario: Draft) -> None:
    """Refuses a load that is not a share, and a group that has both a load and users."""
    groups = _traffic(scenario)
    loaded = [i for i, group in enumerate(groups) if "load" in group]
    for i in loaded:
        if "users" in groups[i]:
            raise SpecError(f"traffic.{i} has both a load and users: keep one of them")
        try:
            units.share(groups[i]["load"])
        except SpecError as error:
            raise SpecError(f"traffic.{i}.load: {error}") from error


def length_s(scenario: Draft) -> float:
    """Simulated seconds of a scenario, for the progress display."""
    try:
        return units.seconds(scenario.get("duration"))
    except SpecError:
        return 1.0
