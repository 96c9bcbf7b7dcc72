"""Unknowns: parameters that the paper does not state, with the values that they may have had.

An unknown is a range (perhaps on a logarithmic scale), a list of values, or a list of variants that
set several fields. Its value is scaled to a coordinate from 0 to 1, in which its prior is uniform;
a point has the coordinates of all unknowns.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from aqmlab.errors import SpecError
from aqmlab.experiment.grammar import Variant
from aqmlab.experiment.paths import alternatives
from aqmlab.experiment.shapes import key
from aqmlab.experiment.spec import set_path
from aqmlab.simulator.forms import Scenario, Traffic, without

Value = Any
"""A value of an unknown: a number, a text with its unit, or the name of a variant."""
Values = Mapping[str, Value]
"""Values of the unknowns, by the unknown's name; an unknown that is missing has the experiment's
value."""
_QUANTITY = re.compile(r"\s*([-+0-9.eE]+)\s*(.*?)\s*")
_DIGITS = 4
"""Significant digits of a value from a range, as a person might have set it."""

OTHERS = 32
"""Number of random sets of values that are tried to find fields which exist only with some
values."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Unknown:
    """A parameter that the paper does not state, and the values that it may have had."""

    CALLED = "unknown"

    name: str = key("how others call it")
    title: str = key("how a reader sees it")
    reason: str = key("why it may have been so, and why it is not known")
    source: str = key("where the range comes from; `constructed` if from nowhere")
    paths: tuple[str, ...] = key(
        "fields that its value goes to; `traffic.NAME.field` finds an entry of a list by its name, "
        "`traffic.*.field` takes all; what a scenario has not is passed over",
        default=(),
    )
    range: tuple[object, ...] = key('two ends, such as `["0.3 s", "3 s"]`', default=())
    scale: Literal["linear", "log"] = key("on which a range is uniform", default="linear")
    whole: bool = key("whether a range has whole numbers only", default=False)
    values: tuple[Value, ...] = key("in place of a range: values, equally likely", default=())
    variants: tuple[Variant, ...] = key(
        "the variants that it may be, each setting several fields (`name`, `set`)",
        name="variant",
        default=(),
    )
    ordered: bool = key("whether values or variants follow each other in effect", default=True)
    only: Mapping[str, object] = key(
        'only below tables that say so, such as `{ app = "web" }`; any of a list, or of a field '
        'within, such as `{ "tcp.profile" = ["a", "b"] }`',
        default_factory=dict,
    )
    factor: bool = key("whether it multiplies what the scenario has there", default=False)
    removed_with: Value = key(
        "with this one of its values the fields of `paths` are taken out, so that defaults hold; "
        "with every other they stay as they are",
        default=None,
    )
    kept_with: Value = key("with this one of its values nothing is changed", default=None)
    untrained: bool = key(
        "whether it is of scenarios of which no row trains: what is predicted has all its values",
        default=False,
    )
    calibrates: bool = key(
        "whether loads are calibrated anew with each of its values (of a list)", default=False
    )

    def mistake(self) -> str | None:
        """A sentence on what is wrong with this entry; None if nothing is."""
        given = [bool(self.range), bool(self.values), bool(self.variants)]
        if sum(given) != 1:
            return "give one of range, values and variant"
        if not self.variants and not self.paths:
            return "has no paths: name the fields of the scenario that its value goes to"
        if self.range:
            return self._wrong_range()
        for key_ in ("removed_with", "kept_with"):
            chosen = getattr(self, key_)
            if chosen is not None and chosen not in self.values:
                return f"{key_} is none of its values ({list(self.values)})"
        if len(self.choices) < 2:
            return "has one value only: give two or more, or set it in the scenario"
        return None

    def _wrong_range(self) -> str | None:
        if len(self.range) != 2:
            return f"range has two ends, not {len(self.range)}"
        if self.calibrates:
            return "a range cannot calibrate: give values, each of which costs a calibration"
        try:
            low, high, _ = self._ends()
        except SpecError as error:
            return str(error)
        if not low < high or (self.scale == "log" and low <= 0):
            return f"range {list(self.range)} does not rise, or begins at 0 on a log scale"
        return None

    @property
    def choices(self) -> Sequence[Value]:
        """The values, or the names of the variants; empty for a range."""
        return [v.name for v in self.variants] if self.variants else list(self.values)

    def _ends(self) -> tuple[float, float, str]:
        found = [_QUANTITY.fullmatch(str(end)) for end in self.range]
        try:
            (low, unit), (high, other) = [(float(f[1]), f[2]) for f in found if f is not None]
        except ValueError:
            raise SpecError(f"range {list(self.range)} has ends that are no quantities") from None
        if unit != other:
            raise SpecError(f'range {list(self.range)} has two units: write both in "{other}"')
        return low, high, unit

    def at(self, place: float) -> Value:
        """The unknown's value at a coordinate from 0 to 1: a number, a text with its unit, or the
        name of a variant."""
        if not self.range:
            return self.choices[min(int(place * len(self.choices)), len(self.choices) - 1)]
        low, high, unit = self._ends()
        value = low * (high / low) ** place if self.scale == "log" else low + place * (high - low)
        number = round(value) if self.whole else float(f"{value:.{_DIGITS}g}")
        return f"{number} {unit}" if unit else number

    def place(self, value: object) -> float:
        """The coordinate, from 0 to 1, of a value of the unknown (the inverse of `at`)."""
        if not self.range:
            if value not in self.choices:
                raise SpecError(f'{self.name} has no value "{value}" (known: {self.choices})')
            return (self.choices.index(value) + 0.5) / len(self.choices)
        low, high, unit = self._ends()
        found = _QUANTITY.fullmatch(str(value))
        try:
            number = float(found[1]) if found and found[2] == unit else np.nan
        except ValueError:
            number = np.nan
        if not min(low, high) <= number <= max(low, high):
            raise SpecError(f'{self.name} is no "{value}": give {self.range[0]} to {self.range[1]}')
        if self.scale == "log":
            return float(np.log(number / low) / np.log(high / low))
        return (number - low) / (high - low)

    def features(self, places: np.ndarray) -> np.ndarray:
        """Inputs of an emulator for these coordinates of the unknown: points × 1, or points ×
        choices if the choices have no order."""
        count = len(self.choices)
        if not count:
            return (2 * places - 1)[:, None]
        chosen = np.minimum((places * count).astype(int), count - 1)
        if self.ordered or count == 2:
            return (2 * chosen / (count - 1) - 1)[:, None]
        return np.eye(count)[chosen]

    def changes(self, value: object) -> Mapping[str, object]:
        """The scenario's fields that a value of the unknown sets, with their values; the fields'
        paths may contain names, stars and braces."""
        variant = next((v for v in self.variants if v.name == value), None)
        return variant.set if variant is not None else dict.fromkeys(self.paths, value)

    def applied(self, scenario: Scenario, value: object, own: Collection[str] = ()) -> Scenario:
        """The scenario with this value of the unknown. Fields at the paths `own` are not changed,
        unless the unknown is a factor."""
        changed = without(scenario)
        if self.removed_with is not None and value != self.removed_with:
            return changed
        if self.kept_with is not None and value == self.kept_with:
            return changed
        for pattern, each in self.changes(value).items():
            for path in alternatives(pattern):
                for place in self.places(changed, path):
                    if place in own and not self.factor:
                        continue
                    if self.removed_with is None:
                        changed = self._set(changed, place, each)
                    else:
                        changed = _without(changed, place.split("."))
        return changed

    def touches(self, scenarios: Sequence[Scenario]) -> bool:
        """Whether some value of the unknown changes some of these scenarios."""
        return any(
            self.places(scenario, path)
            for scenario in scenarios
            for value in (self.choices or [self.at(0.5)])
            if self.kept_with is None or value != self.kept_with
            for pattern in self.changes(value)
            for path in alternatives(pattern)
        )

    def places(self, scenario: Scenario, path: str) -> list[str]:
        """The paths of a scenario that the unknown changes; a factor changes only fields that
        exist."""
        found = _places(scenario, path, self.only)
        return [p for p in found if not self.factor or _get(scenario, p) is not None]

    def _set(self, scenario: Scenario, path: str, value: Any) -> Scenario:
        above = path.rpartition(".")[0]
        if above.endswith(".tcp") and isinstance(profile := _get(scenario, above), str):
            scenario = set_path(scenario, above, {"profile": profile})
        if self.factor:
            value = _times(_get(scenario, path), float(value), f"{self.name}: {path}")
        if path == "traffic":
            value = _with_ends_of(scenario, value)
        return set_path(scenario, path, value)


class Unknowns:
    """All unknowns of an inference, in the order of a point's coordinates."""

    def __init__(self, each: Sequence[Unknown]) -> None:
        self.each = list(each)

    def __len__(self) -> int:
        return len(self.each)

    def values(self, point: np.ndarray) -> dict[str, Value]:
        """The values of the unknowns at a point (each coordinate from 0 to 1), by the unknown's
        name."""
        return {u.name: u.at(float(p)) for u, p in zip(self.each, point, strict=True)}

    def features(self, points: np.ndarray) -> np.ndarray:
        """Inputs of an emulator for these points: one row for each point."""
        return np.hstack([u.features(points[:, i]) for i, u in enumerate(self.each)])

    def applied(
        self,
        scenario: Scenario,
        values: Values,
        *,
        calibrating: bool = False,
        own: Collection[str] = (),
    ) -> Scenario:
        """The scenario with these values of the unknowns; with `calibrating` only with the values
        of unknowns that change the calibration. Fields at the paths `own` are not changed, except
        by a factor."""
        changed = without(scenario)
        for unknown in self.each:
            if unknown.name in values and (unknown.calibrates or not calibrating):
                changed = unknown.applied(changed, values[unknown.name], own)
        return changed

    def untouched(self, scenarios: Sequence[Scenario]) -> list[str]:
        """Unknowns that change nothing in any of these scenarios: their paths are wrong.

        The fields that an unknown finds may depend on the value of another; each is therefore also
        tried with random values of the others.
        """
        rng = np.random.default_rng(1)
        drawn = [{}, *(self.values(rng.random(len(self))) for _ in range(OTHERS))]
        left = [u for u in self.each if not u.untrained]
        for values in drawn:
            changed = [self.applied(scenario, values) for scenario in scenarios]
            left = [u for u in left if not u.touches(changed)]
        return [u.name for u in left]


def _with_ends_of(scenario: Scenario, traffic: Sequence[Traffic]) -> list[Traffic]:
    """The groups of `traffic` with the end system that all TCP groups of the scenario have in
    common, so that an unknown that replaces the traffic does not change, say, today's hosts into
    older ones."""
    ends = [group["tcp"] for group in scenario.get("traffic", ()) if "tcp" in group]
    if not ends or any(tcp != ends[0] for tcp in ends):
        return list(traffic)
    return [{**group, "tcp": ends[0]} if "tcp" in group else group for group in traffic]


def _places(scenario: Scenario, path: str, only: Mapping[str, object]) -> list[str]:
    """The paths of a scenario that match a pattern with names and stars."""
    parts = path.split(".")
    if parts[0] not in scenario and len(parts) > 1:
        return []
    return [place for place in _walk(scenario, parts, "") if _says(scenario, place, only)]


def _says(scenario: Scenario, place: str, only: Mapping[str, object]) -> bool:
    """Whether each field of `only` has its value in one of the tables above a path."""
    parts = place.split(".")
    above = {n: _get(scenario, ".".join(parts[:n])) for n in range(1, len(parts))}
    tables = [scenario, *(node for node in above.values() if isinstance(node, Mapping))]
    # In `tcp`, the name of a profile is equivalent to a table with that profile.
    named = (node for n, node in above.items() if parts[n - 1] == "tcp" and isinstance(node, str))
    tables += [{"profile": name} for name in named]

    def fits(have: object, wanted: object) -> bool:
        return have in wanted if isinstance(wanted, list) else have == wanted

    return all(any(fits(_get(table, k), v) for table in tables) for k, v in only.items())


def _walk(node: object, parts: Sequence[str], before: str) -> Iterator[str]:
    if not parts:
        yield before
        return
    head, *rest = parts
    if isinstance(node, list | tuple):
        for i, entry in enumerate(node):
            if head in ("*", str(i)) or (isinstance(entry, Mapping) and entry.get("name") == head):
                yield from _walk(entry, rest, f"{before}.{i}")
    elif not rest or isinstance(node, Mapping):
        below = node.get(head) if isinstance(node, Mapping) else None
        here = f"{before}.{head}" if before else head
        # Below a missing field, or a profile's name in place of its table, the rest of the path is
        # kept; any other single value (such as a common round-trip time) has no fields below it.
        if isinstance(below, list | tuple | Mapping):
            yield from _walk(below, rest, here)
        elif below is None or not rest or head == "tcp":
            yield ".".join([here, *rest])


def _get(scenario: object, path: str) -> Any:
    node = scenario
    for part in path.split("."):
        if isinstance(node, list | tuple):
            node = node[int(part)]
        elif isinstance(node, Mapping):
            node = node.get(part)
        else:
            return None
    return node


def _without(node: object, parts: Sequence[str]) -> Any:
    """A copy of a scenario without a field; a scenario without the field is returned unchanged."""
    head, *rest = parts
    if isinstance(node, list | tuple):
        return [_without(e, rest) if str(i) == head else e for i, e in enumerate(node)]
    if not isinstance(node, Mapping) or head not in node:
        return node
    if not rest:
        return {name: value for name, value in node.items() if name != head}
    return {**node, head: _without(node[head], rest)}


def _times(value: object, factor: float, where: str) -> Any:
    """A quantity times a factor, in its own unit; counts stay whole and positive."""
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        raise SpecError(f"{where} holds {value!r}, which has no multiple: name a number's field")
    if isinstance(value, int):
        return max(1, round(value * factor))
    if isinstance(value, float):
        return value * factor
    found = _QUANTITY.fullmatch(value)
    if found is None:
        raise SpecError(f'{where} holds "{value}", which has no multiple: name a number\'s field')
    return f"{float(found[1]) * factor:.6g} {found[2]}"
