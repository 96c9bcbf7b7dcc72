"""How a target says a parameter: one row for each, read in both directions.

A row names our field and the target's word; its `Kind` writes our number (in base units: seconds,
bit/s, bytes, packets) as the target takes it, and reads it back. What is lost on the way there and
back is what the target cannot say exactly.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from aqmlab.simulator import engine
from aqmlab.simulator.forms import Field

Given = Mapping[str, Any]
"""Values of a discipline's fields in base units; `LINE` is the line's rate in bit/s."""
LINE = "line's rate"


@dataclass(frozen=True)
class Kind:
    """How a value is written and read. Both also see the other values."""

    write: Callable[[Any, Given], str]
    read: Callable[[str, Given], Any]
    bare: bool = False
    """Whether the value itself is the word (`ecn`, `diffserv3`)."""
    words: tuple[str, ...] = ()
    """Of a bare kind: all that it may be."""


@dataclass(frozen=True)
class Row:
    """One parameter in one target."""

    ours: str
    """Our field."""
    word: str = ""
    """The target's word before the value; none for bare words and for what cannot be said."""
    kind: Kind | None = None
    """None: the target has no word for it."""
    always: Any = None
    """Without a word: the value that the target has, or a function of the others; `None`: it has no
    such thing."""
    note: str = ""
    """Why, or what to know."""
    only: str = ""
    """`write` or `read`: a row of one direction."""
    quiet: bool = False
    """Left out unless the user wrote it: the target's default follows our rule."""


@dataclass(frozen=True)
class Entry:
    """One discipline in one target."""

    aqm: str
    name: str
    """The target's name of it."""
    rows: tuple[Row, ...]
    profile: str | None = None
    """The profile of ours that is the target's implementation."""
    implies: Given = field(default_factory=dict)
    """Our fields that the name alone says."""
    also: tuple[str, ...] = ()
    """Words that always stand there."""
    fits: Callable[[Given], bool] = lambda _: True
    """Whether this entry is the one for these values, of several of one discipline."""
    pitfalls: tuple[str, ...] = ()
    since: str = ""
    """The first release that has it, where that is not old."""


def number(value: float) -> str:
    """As short as it is exact."""
    return f"{value:.12g}"


def _bare(choices: Mapping[bool, str] | Mapping[str, str]) -> Kind:
    meanings = {word: value for value, word in choices.items()}
    return Kind(
        lambda value, _: choices.get(value, ""),
        lambda word, _: meanings[word],
        bare=True,
        words=tuple(word for word in choices.values() if word),
    )


def flag(on: str, off: str = "") -> Kind:
    """A switch that is a word, or one of two."""
    return _bare({True: on, False: off})


def choice(**choices: str) -> Kind:
    """One of several words; our values use `_` where the target has `-`."""
    return _bare({ours.replace("_", "-"): word for ours, word in choices.items()})


def scaled(factor: float, whole: bool = True) -> Kind:
    """A number in the target's own unit: `factor` of them are one of ours."""

    def write(value: Any, _: Given) -> str:
        return str(round(value * factor)) if whole else number(value * factor)

    return Kind(write, lambda text, _: float(text) / factor)


def line_of(rate: str) -> float:
    """The rate of a line as people write it, in bit/s."""
    return engine.quantity(rate, "rate")


def plain(aqm: str, values: Given) -> dict[str, Any]:
    """A discipline's fields as a scenario has them, in base units."""
    units = {field["name"]: field for field in fields(aqm)}
    return {name: _plain(value, units.get(name, {"name": name})) for name, value in values.items()}


def _plain(value: object, about: Field) -> object:
    unit = about.get("unit")
    if isinstance(value, str) and unit in ("time", "rate"):
        return engine.quantity(value, unit)
    return value


def written(aqm: str, values: Given) -> dict[str, Any]:
    """The other way round: base units as a scenario writes them."""
    units = {field["name"]: field for field in fields(aqm)}
    return {
        name: _written(value, units.get(name, {"name": name})) for name, value in values.items()
    }


def _written(value: Any, about: Field) -> bool | str | int | float:
    if isinstance(value, bool | str):
        return value
    unit = {"time": " s", "rate": " bit/s"}.get(about.get("unit", ""))
    if unit:
        return f"{number(value)}{unit}"
    return round(value) if about.get("type") == "whole" else float(value)


def fields(aqm: str) -> list[Field]:
    """The parameters of a discipline, as the simulator describes them."""
    return next(
        entry.get("fields", []) for entry in engine.catalogue()["aqm"] if entry["name"] == aqm
    )
