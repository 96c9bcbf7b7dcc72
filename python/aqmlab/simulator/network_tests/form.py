"""The form of a network test, and the reading of its fields."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from aqmlab.errors import SpecError

from ..forms import Draft, Entry, Schema
from ..forms import Field as FieldOf

Written = dict[str, object]
"""A traffic group as a scenario writes it, with the fields of its application."""
Settings = dict[str, Any]
"""The values of a test's fields: times in seconds, counts, and choices."""
Groups = Callable[[Settings, Draft], list[Written]]

KEPT = ("tcp", "via", "rtt")
"""Fields of a traffic group that every group of a test gets."""
OWN = ("app", "name")
_TIME = re.compile(r"\s*([0-9.]+(?:e[-+]?[0-9]+)?)\s*(us|ms|s|min)\s*")
_SECONDS = {"us": 1e-6, "ms": 1e-3, "s": 1.0, "min": 60.0}


@dataclass(frozen=True)
class Field:
    """A field of a test: a time, a count, a list of times, or a word of `choices`."""

    name: str
    type: str
    default: Any
    meaning: str
    source: str
    choices: tuple[str, ...] = ()
    most: float = 1e9

    def read(self, value: object, where: str) -> Any:
        """The value in seconds or as a number; an error names the field and its form."""
        path = f"{where}.{self.name}"
        if self.type == "time":
            return _seconds(value, path)
        if self.type == "times":
            if not isinstance(value, list) or not value:
                raise SpecError(f'{path}: {value!r} is no list of times: write ["10 ms", "50 ms"]')
            return [_seconds(one, path) for one in value]
        if self.type == "choice":
            if value not in self.choices:
                raise SpecError(f'{path}: "{value}" is none of {", ".join(self.choices)}')
            return value
        if not isinstance(value, int) or isinstance(value, bool) or not 1 <= value <= self.most:
            raise SpecError(f"{path}: {value!r} is no whole number from 1 to {self.most:g}")
        return value

    def entry(self) -> FieldOf:
        """The field in the form of the catalogue's fields of applications."""
        kinds = {"time": ("real", "time"), "count": ("whole", ""), "choice": ("choice", "")}
        kind, unit = kinds.get(self.type, ("text", ""))
        default = self.default if self.type != "times" else ", ".join(self.default)
        return {
            "name": self.name,
            "type": kind,
            "unit": unit,
            "default": default,
            "min": 1 if kind == "whole" else 0.0,
            "max": self.most,
            "min_excluded": self.type == "time",
            "choices": list(self.choices) or None,
            "meaning": self.meaning,
            "source": self.source,
        }

    def schema(self) -> Schema:
        """The JSON schema of the field."""
        time = {"$ref": "#/$defs/time"}
        kinds: dict[str, Schema] = {
            "time": dict(time),
            "times": {"type": "array", "items": time},
            "choice": {"enum": list(self.choices)},
            "count": {"type": "integer", "minimum": 1, "maximum": self.most},
        }
        return kinds[self.type] | {"description": self.meaning}


def _seconds(value: object, path: str) -> float:
    found = _TIME.fullmatch(value) if isinstance(value, str) else None
    if found is None or not 0 <= float(found[1]) * _SECONDS[found[2]] <= 1e6:
        raise SpecError(f'{path}: {value!r} is no time: write for example "60 s"')
    return float(found[1]) * _SECONDS[found[2]]


@dataclass(frozen=True)
class NetworkTest:
    """A test: its name, its source, its fields, and a function that makes its traffic groups."""

    name: str
    summary: str
    year: int
    source: str
    deviations: str
    fields: tuple[Field, ...]
    groups: Groups

    def entry(self) -> Entry:
        """The test in the form of the catalogue's applications."""
        return {
            "name": self.name,
            "summary": self.summary,
            "year": self.year,
            "source": self.source,
            "deviations": self.deviations,
            "datagrams": False,
            "fetches": False,
            "open_loop": False,
            "models": [],
            "noun": ["test", "tests"],
            "fields": [field.entry() for field in self.fields],
            "stands_for": True,
        }

    def schema(self, kept: Schema) -> Schema:
        """The JSON schema of a traffic group with this test; `kept` has the schemas of common
        fields."""
        own = {field.name: field.schema() for field in self.fields}
        return {
            "type": "object",
            "description": self.summary,
            "properties": {"app": {"const": self.name}, **kept, **own},
            "required": ["app"],
            "additionalProperties": False,
        }


def settings(test: NetworkTest, group: Draft, where: str) -> Settings:
    """The values of a test's fields, from a group or by default."""
    return {
        field.name: field.read(group.get(field.name, field.default), where) for field in test.fields
    }


def seconds(value: float) -> str:
    """A time as a scenario writes it."""
    return f"{value:.9g} s"


def transfer(name: str, up: bool, begins: float, lasts: float, **more: object) -> Written:
    """A group with one TCP transfer, as an upload (`up`) or a download."""
    side = "clients" if up else "servers"
    times = {"start": seconds(begins), "start_within": "0 s", "lasts": seconds(lasts)}
    return {"name": name, "app": "bulk", "flows": 1, "side": side, **times, **more}


def ping(name: str, interval: float, begins: float, lasts: float, **more: object) -> Written:
    """A group with one sender of echo requests on the clients' side."""
    times = {"start": seconds(begins), "start_within": "0 s", "lasts": seconds(lasts)}
    shape = {"flows": 1, "side": "clients", "interval": seconds(interval)}
    return {"name": name, "app": "ping", **shape, **times, **more}
