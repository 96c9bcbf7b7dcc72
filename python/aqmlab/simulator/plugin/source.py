"""Programs (disciplines or congestion controls) that a scenario names by their files: the form of
the names, and the tables that replace them. These contain the source or its hash, so that the
identity of a scenario and of its results depends on every byte."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, cast

from aqmlab.errors import SpecError
from aqmlab.io import files

from ..forms import Draft, Entry, ProgramTable, Schema
from . import trust

if TYPE_CHECKING:
    from .control import CongestionControl
    from .discipline import Discipline

PYTHON = ".py"
LIBRARIES = (".so", ".dylib")
NAMED = r"\.py(:[^\W\d]\w*)?$|\.(so|dylib)$"
"""`FILE.py`, `FILE.py:CLASS` or the name of a shared library (a pattern of editors, too)."""
SCHEMA: list[Schema] = [
    {"type": "string", "pattern": NAMED, "description": "a discipline of your own"},
    {
        "type": "object",
        "properties": {"aqm": {"type": "string", "pattern": NAMED}},
        "required": ["aqm"],
        "description": "a discipline of your own, with its parameters",
    },
]
"""The JSON schema of the forms in which a queue names a user's own discipline."""
CONTROL_SCHEMA: list[Schema] = [
    {"type": "string", "pattern": NAMED, "description": "a congestion control of your own"},
    {
        "type": "object",
        "properties": {"name": {"type": "string", "pattern": NAMED}},
        "required": ["name"],
        "description": "a congestion control of your own, with its parameters",
    },
]
"""The JSON schema of the forms in which an end system names a user's own congestion control."""


def names_file(value: object) -> bool:
    """Whether `value` names a discipline or congestion control by its file."""
    return isinstance(value, str) and re.search(NAMED, value) is not None


def table(value: str, folder: Path = Path(), *, by_user: bool = True) -> ProgramTable:
    """The table that replaces `FILE[:CLASS]`, a path relative to a folder: the program's own name,
    its file, and the text of its source or the hash of its library.

    The program is run to find its name. Unless it was named `by_user`, in a command or in the
    user's own Python program, it must be permitted (see `trust`).
    """
    file, _, cls = (
        value.rpartition(":") if not value.endswith((PYTHON, *LIBRARIES)) else (value, "", "")
    )
    path = folder / file
    try:
        if path.suffix == PYTHON:
            entry: dict[str, str] = {"file": path.name, "text": files.read_given(path).decode()}
        else:
            entry = {"file": str(path.resolve()), "blake2b": files.digest_of(path)}
    except FileNotFoundError as error:
        raise SpecError(f"{path}: no such file: give the path of a program") from error
    except UnicodeDecodeError as error:
        raise SpecError(f"{path}: not UTF-8 text: give a program in Python") from error
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
        raise SpecError(f"{path}: cannot be read ({reason}): make it readable") from error
    if cls:
        entry["class"] = cls
    if by_user:
        trust.permit(entry, path)
    trust.require([entry], path)
    return cast(ProgramTable, {"name": described(entry)["name"], **entry})


def check_whole(named: object, field: str) -> None:
    """Refuses a table that names a file as `table` does, but holds neither its text nor its hash:
    it was written by hand in place of the file's name."""
    if isinstance(named, Mapping) and "file" in named and not {"text", "blake2b"} & named.keys():
        raise SpecError(
            f"{field}: a table with file = {json.dumps(named['file'])} does not hold the program: "
            f"write the name alone, {field} = {json.dumps(named['file'])}"
        )


def of_class(cls: type[Discipline | CongestionControl]) -> ProgramTable:
    """The table of a class, which must be defined in a file."""
    import inspect

    try:
        file = inspect.getsourcefile(cls)
    except TypeError:
        file = None
    if file is None or not Path(file).is_file():
        raise SpecError(
            f"{cls.__name__} stands in no file: write it into one, runs happen in processes of "
            "their own"
        )
    return table(f"{file}:{cls.__qualname__}")


def described(entry: Mapping[str, object]) -> Entry:
    """A program in the form of the catalogue's entries, with `kind`: `aqm` or `congestion`."""
    return _described(json.dumps(entry, sort_keys=True))


@cache
def _described(entry: str) -> Entry:
    from .process import questions

    return json.loads(questions.ask("describe", [json.loads(entry)]))


def tables(scenario: Draft) -> list[ProgramTable]:
    """The tables of the programs that a scenario's queues and end systems name, each once."""
    found: dict[str, ProgramTable] = {}
    for entry in _entries(scenario):
        if found.setdefault(str(entry.get("name")), entry) != entry:
            raise SpecError(f"two programs are called {entry.get('name')}: rename one of them")
    return list(found.values())


def _entries(scenario: Draft) -> Iterator[ProgramTable]:
    places = [
        *(
            (link, (way, "aqm"))
            for link in _list(scenario, "link")
            for way in ("forward", "reverse")
        ),
        *((group, ("tcp", "congestion", "name")) for group in _list(scenario, "traffic")),
    ]
    for place, path in places:
        entry: object = place
        for key in path:
            entry = entry.get(key) if isinstance(entry, Mapping) else None
        if isinstance(entry, Mapping) and "file" in entry:
            yield cast(ProgramTable, dict(entry))


def _list(scenario: Draft, key: str) -> list[object]:
    found = scenario.get(key)
    return found if isinstance(found, list) else []
