"""Loads the source of a discipline or congestion control and adds it to the registry; this happens
in a separate process."""

from __future__ import annotations

import json
import sys
import traceback
from collections.abc import Callable, Mapping
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING

from aqmlab.errors import SpecError, nearest
from aqmlab.io import files

from ..forms import ProgramTable
from . import control
from .discipline import METHODS, Discipline, Parameter, name_of

if TYPE_CHECKING:
    from aqmlab._core import Registry

BUILTINS: dict[str, object] | None = None
"""The built-in functions of loaded programs, if they are restricted (`narrow`); None for
Python's."""
Own = type[Discipline] | type[control.CongestionControl]

KINDS = ("time", "rate", "bytes", "packets", "")


def registry_of(core: ModuleType, tables: list[ProgramTable]) -> tuple[Registry, list[str]]:
    """The simulator's registry with the user's own disciplines and congestion controls added, and
    their names. Each of `tables` (`source.table`) describes the program of one of them."""
    registry, names = core.Registry(), []
    for table in tables:
        try:
            name = _add(core, registry, table)
        except core.ScenarioError as error:
            raise SpecError(f"{table['file']}: {error}") from error
        if table.get("name") not in (None, name):
            raise SpecError(f"{table['file']}: it is called {name} and not {table['name']}")
        names.append(name)
    return registry, names


def _add(core: ModuleType, registry: Registry, table: ProgramTable) -> str:
    if "text" not in table:
        path = Path(table["file"])
        if not path.is_file():
            raise SpecError(f"{path}: no such file: build the library, or name another")
        if files.digest_of(path) != table.get("blake2b"):
            raise SpecError(
                f"{path} has changed since its results were requested: run the command again"
            )
        return registry.add_library(str(path))
    cls = _class_of(table)

    def explain(error: BaseException) -> str:
        return explained(error, table)

    if issubclass(cls, control.CongestionControl):
        description = json.dumps(_description_of_control(core, cls, table["file"]))
        return registry.add_python_control(description, _maker_of_control(cls), explain)
    description = json.dumps(_description(core, cls, table["file"]))
    return registry.add_python(description, _maker(cls), explain)


def _class_of(table: ProgramTable) -> Own:
    """The class that the text of a table defines."""
    file, wanted = table["file"], table.get("class")
    module = ModuleType(Path(file).stem)
    module.__file__ = file
    if BUILTINS is not None:
        module.__dict__["__builtins__"] = BUILTINS
    sys.modules.setdefault(module.__name__, module)
    try:
        exec(compile(table.get("text", ""), file, "exec"), module.__dict__)
    except Exception as error:
        raise SpecError(explained(error, table)) from error
    found = {
        name: one
        for name, one in vars(module).items()
        if isinstance(one, type)
        and issubclass(one, Discipline | control.CongestionControl)
        and one.__module__ == module.__name__
    }
    if wanted is not None:
        if wanted not in found:
            raise SpecError(
                f"{file} has no discipline or congestion control {wanted}"
                f"{nearest(wanted, list(found))}"
            )
        return found[wanted]
    named = {name: one for name, one in found.items() if one.__dict__.get("name")} or found
    if len(named) != 1:
        known = f"{', '.join(named)}: name one, {file}:{next(iter(named))}" if named else "none"
        raise SpecError(
            f"{file} defines {len(named)} disciplines and congestion controls, classes under "
            f"aqmlab.Discipline or aqmlab.CongestionControl ({known})"
        )
    return next(iter(named.values()))


def _maker(cls: type[Discipline]) -> Callable[[Mapping[str, object], int, int], Discipline]:
    def make(values: Mapping[str, object], bits_per_s: int, header_bytes: int) -> Discipline:
        made = cls.__new__(cls)
        for name, value in values.items():
            setattr(made, name, value)
        made.line_bits_per_s, made.line_header_bytes = bits_per_s, header_bytes
        made.__init__()
        return made

    return make


def _maker_of_control(
    cls: type[control.CongestionControl],
) -> Callable[[Mapping[str, object]], control.CongestionControl]:
    def make(values: Mapping[str, object]) -> control.CongestionControl:
        made = cls.__new__(cls)
        for name, value in values.items():
            setattr(made, name, value)
        made.__init__()
        return made

    return make


def _description_of_control(
    core: ModuleType, cls: type[control.CongestionControl], file: str
) -> dict[str, object]:
    if cls.on_ack is control.CongestionControl.on_ack:
        raise SpecError(f"{file}: {cls.__name__} needs on_ack(self, window, ack): write it")
    switches = {
        name: bool(getattr(cls, name)) for name in ("own_window", "own_marks", "paced", "rates")
    }
    return {**_about(core, cls, file), **switches, "ecn": cls.ecn}


def _description(core: ModuleType, cls: type[Discipline], file: str) -> dict[str, object]:
    has = {name for name in METHODS if callable(getattr(cls, name, None))}
    judges, holds = "admit" in has, {"enqueue", "dequeue"} <= has
    if judges == holds:
        raise SpecError(
            f"{file}: {cls.__name__} needs either admit(self, packet, queue) or both "
            "enqueue(self, packet, queue) and dequeue(self, queue): write one of the two kinds"
        )
    return {**_about(core, cls, file), "judges": judges}


def _about(core: ModuleType, cls: Own, file: str) -> dict[str, object]:
    """Name, summary, source and parameters of a class."""
    given = {n: v for base in reversed(cls.__mro__) for n, v in vars(base).items()}
    fields = [
        _field(core, name, value, file)
        for name, value in given.items()
        if isinstance(value, Parameter)
    ]
    summary = " ".join((cls.__doc__ or "").strip().split("\n\n")[0].split())
    return {"name": name_of(cls), "summary": summary, "source": cls.source, "fields": fields}


def _field(core: ModuleType, name: str, of: Parameter, file: str) -> dict[str, object]:
    """A parameter in the form of the catalogue's fields, in base units."""

    def wrong(why: str) -> SpecError:
        return SpecError(f"{file}: parameter {name}: {why}")

    def number(value: object, unit: str) -> object:
        if not isinstance(value, str):
            return value
        try:
            return core.quantity(value, unit)
        except core.ScenarioError as error:
            raise wrong(str(error)) from error

    unit = of.unit if of.unit is not None else _unit(core, of.default)
    if unit is None:
        raise wrong(f'{of.default!r} is no quantity: write for example "5 ms", or give choices')
    default = of.default if of.choices else number(of.default, unit)
    whole = isinstance(default, int) or unit in ("packets", "bytes", "count")
    kind = "choice" if of.choices else "whole" if whole else "real"
    if isinstance(default, bool):
        kind = "switch"
    elif kind == "whole" and isinstance(default, float):
        kind = "whole" if default.is_integer() and isinstance(of.default, str) else "real"
        default = int(default) if kind == "whole" else default
    least = of.least if of.above is None else of.above
    return {
        "name": name,
        "meaning": f"{of.meaning[:1].upper()}{of.meaning[1:].rstrip('.')}." if of.meaning else "",
        "source": of.source,
        "type": kind,
        "unit": "" if kind in ("choice", "switch") else unit,
        "default": default,
        "min": number(least, unit),
        "max": number(of.most, unit),
        "min_excluded": of.above is not None,
        "choices": list(of.choices),
    }


def _unit(core: ModuleType, default: object) -> str | None:
    """The kind of unit in which a default is written; None if it is not a valid quantity."""
    if not isinstance(default, str):
        return ""
    for unit in KINDS:
        try:
            core.quantity(default, unit)
        except core.ScenarioError:
            continue
        return unit
    return None


def explained(error: BaseException, table: ProgramTable) -> str:
    """A sentence on an error in a program's source, with its file and line."""
    file = table["file"]
    what = type(error).__name__ + (f": {error}" if str(error) else "")
    if isinstance(error, SpecError):
        return str(error)
    if isinstance(error, SyntaxError):
        return f"{file}, line {error.lineno}: {error.msg}: correct it"
    places = [p for p in traceback.extract_tb(error.__traceback__) if p.filename == file]
    if not places:
        return f"{file}: {what}"
    last = places[-1]
    where = f"{file}, line {last.lineno}"
    where += f", in {last.name}" if last.name != "<module>" else ""
    if isinstance(error, ModuleNotFoundError):
        return f"{where}: {what}: a discipline is one file, beside what is installed"
    return f"{where}: {what}"
