"""The axes of a sweep as columns of tables; quantities become numbers in base units."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from aqmlab import units
from aqmlab.errors import AqmlabError, nearest

from .grammar import Axis

_TAKEN = ("variant", "label", "seed", "seeds", "field", "n", "mean", "low", "high")
"""Names of other columns of the tables, which no axis may take."""


@dataclass(frozen=True)
class Column:
    """The column of one axis: `load` for `traffic.0.load`, `rtt_s` for `network.rtt`."""

    name: str
    path: str
    values: Mapping[str, float | str]
    """The axis value for each label: a number, a truth value, or else a text or the label
    itself."""

    def value(self, run: Mapping[str, str]) -> float | str:
        """The axis value of a run; `run` has the run's labels by path."""
        return self.values[run[self.path]]

    def matches(self, label: str, wanted: object) -> bool:
        """Whether the axis value is `wanted`: as a number, a text or a label."""
        have = self.values[label]
        if isinstance(wanted, str) and wanted in (label, have):
            return True
        if isinstance(wanted, bool) or isinstance(have, bool):
            return wanted is have
        known = units.quantity(wanted)
        return known is not None and isinstance(have, int | float) and _same(known[1], have)


def _same(a: float, b: float) -> bool:
    return math.isclose(a, b, rel_tol=1e-9)


def columns(axes: Sequence[Axis]) -> list[Column]:
    """The columns of a sweep, in the order of its axes.

    A column's name is the last part of the path if that is unique among the axes, followed by the
    unit if the values have one: `_s`, `_bits_per_s` or `_bytes`. Percentages become fractions.
    """
    short = [axis.name.rpartition(".")[2] for axis in axes]
    found = []
    for axis, name in zip(axes, short, strict=True):
        clear = short.count(name) == 1 and name not in _TAKEN and not name.isdigit()
        settings = list(axis.settings())
        labels = [label for _, label, *_ in settings]
        # The column's value for a table is its label, even if the label looks like a number.
        written = [
            None if any(isinstance(part, Mapping) for part in changes.values()) else value
            for value, _, changes, _ in settings
        ]
        unit, values = _values(written, labels)
        name = name if clear else axis.name
        if unit and not name.endswith(f"_{unit}"):
            name += f"_{unit}"
        found.append(Column(name, axis.name, dict(zip(labels, values, strict=True))))
    return found


def _values(written: Sequence[Any], labels: Sequence[str]) -> tuple[str, Sequence[float | str]]:
    """The unit of an axis and its values."""
    if all(isinstance(value, bool) for value in written):
        return "", written
    numbers = [units.quantity(value) for value in written]
    known = [number for number in numbers if number is not None]
    named = {unit for unit, _ in known if unit}
    # A bare number next to "60 kB" is a number of bytes, too.
    if len(known) < len(numbers) or len(named) > 1:
        texts = (v if isinstance(v, str) else None for v in written)
        return "", [text or label for text, label in zip(texts, labels, strict=True)]
    whole = all(isinstance(value, int) for value in written)
    return "".join(named), written if whole else [number for _, number in known]


def find(known: Sequence[Column], name: str) -> Column:
    """The column that this name denotes: the column's name, its axis's path or the path's last
    part."""
    for column in known:
        if name in (column.name, column.path):
            return column
    ends = [column for column in known if column.path.rpartition(".")[2] == name]
    if len(ends) == 1:
        return ends[0]
    if not known:
        raise AqmlabError(f'no axis "{name}": this result is of no sweep, leave out the selection')
    names = [column.name for column in known]
    raise AqmlabError(f'no axis "{name}"{nearest(name, names)} (known: {", ".join(names)})')
