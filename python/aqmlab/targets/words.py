"""The forms of a discipline's parameters on a target system: one row for each, used in both
directions.

A row names aqmlab's field and the target's word; its `Kind` writes aqmlab's number (in base units:
seconds, bit/s, bytes, packets) as the target takes it, and reads it back. A value that changes when
it is written and read back is one that the target cannot express exactly.
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
    """How a value is written and read. Both functions also get the other values."""

    write: Callable[[Any, Given], str]
    read: Callable[[str, Given], Any]
    bare: bool = False
    """Whether the value has no word before it, but is a word itself (`ecn`, `diffserv3`)."""
    words: tuple[str, ...] = ()
    """If `bare`: all words that the value may be."""


@dataclass(frozen=True)
class Row:
    """How one parameter of a discipline is written in the words of one target."""

    ours: str
    """Name of aqmlab's field."""
    word: str = ""
    """The target's word before the value; empty for bare words and for what the target cannot
    express."""
    kind: Kind | None = None
    """How the value is written; None if the target has no word for the parameter."""
    always: Any = None
    """For a parameter for which the target has no word: the value that the target uses, or a
    function of the other values; None if the target has no such parameter."""
    note: str = ""
    """A remark for the user, such as why the target cannot express the value."""
    only: str = ""
    """`write` or `read` if the row is used in one direction only."""
    quiet: bool = False
    """Whether the word is left out unless the user set the value, since the target's default
    follows the rule of aqmlab."""


@dataclass(frozen=True)
class Entry:
    """How one discipline is written in the words of one target, such as tc."""

    aqm: str
    name: str
    """The target's name for the discipline."""
    rows: tuple[Row, ...]
    profile: str | None = None
    """The profile of aqmlab that models the target's implementation."""
    implies: Given = field(default_factory=dict)
    """Values of aqmlab's fields that the target's name implies."""
    also: tuple[str, ...] = ()
    """Words that are always written into a command for the discipline."""
    fits: Callable[[Given], bool] = lambda _: True
    """If a discipline has several entries: whether this one fits the values."""
    pitfalls: tuple[str, ...] = ()
    since: str = ""
    """The first release with the discipline, unless that is old."""


def number(value: float) -> str:
    """A number in as few digits as represent it exactly (12 at most)."""
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
    """A switch that is written as a word, or as one of two."""
    return _bare({True: on, False: off})


def choice(**choices: str) -> Kind:
    """One of several words; the keywords have `_` in place of `-` in aqmlab's values."""
    return _bare({ours.replace("_", "-"): word for ours, word in choices.items()})


def scaled(factor: float, whole: bool = True) -> Kind:
    """A number in the target's unit, which is aqmlab's unit divided by `factor`."""

    def write(value: Any, _: Given) -> str:
        return str(round(value * factor)) if whole else number(value * factor)

    return Kind(write, lambda text, _: float(text) / factor)


def line_of(rate: str) -> float:
    """The rate of a line as people write it, in bit/s."""
    return engine.quantity(rate, "rate")


def plain(aqm: str, values: Given) -> dict[str, Any]:
    """A discipline's fields, converted from the forms of a scenario into base units."""
    units = {field["name"]: field for field in fields(aqm)}
    return {name: _plain(value, units.get(name, {"name": name})) for name, value in values.items()}


def _plain(value: object, about: Field) -> object:
    unit = about.get("unit")
    if isinstance(value, str) and unit in ("time", "rate"):
        return engine.quantity(value, unit)
    return value


def written(aqm: str, values: Given) -> dict[str, Any]:
    """The inverse of `plain`: fields in base units, converted into the forms of a scenario."""
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
