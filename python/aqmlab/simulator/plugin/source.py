"""A discipline that a scenario names by its file: how it is named, and how it becomes part of the
scenario, whose identity (and so that of its results) then covers every byte of it."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from aqmlab.errors import SpecError
from aqmlab.io import files

from . import trust

if TYPE_CHECKING:
    from .discipline import Discipline

PYTHON = ".py"
LIBRARIES = (".so", ".dylib")
NAMED = r"\.py(:[^\W\d]\w*)?$|\.(so|dylib)$"
"""`FILE.py`, `FILE.py:CLASS` or the name of a shared library (a pattern of editors, too)."""
SCHEMA: list[dict[str, Any]] = [
    {"type": "string", "pattern": NAMED, "description": "a discipline of your own"},
    {
        "type": "object",
        "properties": {"aqm": {"type": "string", "pattern": NAMED}},
        "required": ["aqm"],
        "description": "a discipline of your own, with its parameters",
    },
]
"""What a queue may be besides a discipline of the registry, as a JSON schema."""


def names_file(value: object) -> bool:
    """Whether this names a discipline by its file."""
    return isinstance(value, str) and re.search(NAMED, value) is not None


def table(value: str, folder: Path = Path(), *, by_user: bool = True) -> dict[str, Any]:
    """What a scenario holds in place of `FILE[:CLASS]`, relative to a folder: the name that the
    discipline gives itself, its file, and the text of its source or the hash of its library.

    To find the name, the program runs. Unless it was named `by_user`, in a command or a program of
    his, it has to be permitted (see `trust`).
    """
    file, _, cls = (
        value.rpartition(":") if not value.endswith((PYTHON, *LIBRARIES)) else (value, "", "")
    )
    path = folder / file
    try:
        if path.suffix == PYTHON:
            entry = {"file": path.name, "text": files.read_given(path).decode()}
        else:
            entry = {"file": str(path.resolve()), "blake2b": files.digest_of(path)}
    except FileNotFoundError as error:
        raise SpecError(f"{path}: no such file: give the path of a discipline") from error
    except UnicodeDecodeError as error:
        raise SpecError(f"{path}: not UTF-8 text: give a discipline in Python") from error
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
        raise SpecError(f"{path}: cannot be read ({reason}): make it readable") from error
    if cls:
        entry["class"] = cls
    if by_user:
        trust.permit(entry, path)
    trust.require([entry], path)
    return {"name": described(entry)["name"], **entry}


def of_class(cls: type[Discipline]) -> dict[str, Any]:
    """The table of a class, which must stand in a file."""
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


def described(entry: Mapping[str, Any]) -> dict[str, Any]:
    """A discipline as the catalogue has ours, with `kind`."""
    return _described(json.dumps(entry, sort_keys=True))


@cache
def _described(entry: str) -> dict[str, Any]:
    from .process import questions

    return json.loads(questions.ask("describe", [json.loads(entry)]))


def tables(scenario: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Those that the queues of a scenario name, each once."""
    found: dict[str, dict[str, Any]] = {}
    for entry in _entries(scenario):
        if found.setdefault(str(entry.get("name")), dict(entry)) != entry:
            raise SpecError(f"two disciplines are called {entry.get('name')}: rename one of them")
    return list(found.values())


def _entries(scenario: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    links = scenario.get("link")
    for link in links if isinstance(links, list) else ():
        for direction in ("forward", "reverse"):
            queue = link.get(direction) if isinstance(link, Mapping) else None
            entry = queue.get("aqm") if isinstance(queue, Mapping) else None
            if isinstance(entry, Mapping) and "file" in entry:
                yield entry
