"""TOML files as documents. Content that no reader could hold is refused with one sentence."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from aqmlab.errors import SpecError, nearest

Document = dict[str, Any]
"""A file of TOML or JSON, or a table of it, before its form is known."""
LARGEST = 64 << 20
"""Largest size of a TOML file in bytes; a device such as /dev/zero has no end."""
MAX_DEPTH = 50
"""Deepest nesting of tables and lists; no scenario needs more than a few levels."""
_TOO_DEEP = f"tables or lists are nested more than {MAX_DEPTH} deep: write fewer within each other"


def read_toml(path: Path) -> Document:
    """A TOML file's content; an error is one sentence."""
    try:
        with path.open("rb") as file:
            content = file.read(LARGEST + 1)
        if len(content) > LARGEST:
            raise SpecError(
                f"{path}: longer than {LARGEST >> 20} MB: give a scenario written as TOML"
            )
        # The codec skips a byte-order mark, which Windows editors write.
        text = content.decode("utf-8-sig")
    except FileNotFoundError as error:
        raise SpecError(_missing(path)) from error
    except UnicodeDecodeError as error:
        raise SpecError(f"{path}: not UTF-8 text: give a scenario written as TOML") from error
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
        raise SpecError(
            f"{path}: cannot be read ({reason}): give the path of a TOML file"
        ) from error
    try:
        content = tomllib.loads(text)
        check_depth(content)
        return content
    except SpecError as error:
        raise SpecError(f"{path}: {error}") from error
    except tomllib.TOMLDecodeError as error:
        reason = " ".join(str(error).split())
        raise SpecError(f"{path}: not valid TOML, mend this place: {reason}") from error
    except ValueError as error:  # a number exceeds Python's limit of digits
        raise SpecError(f"{path}: a number has too many digits: write a smaller one") from error
    except RecursionError as error:
        raise SpecError(f"{path}: {_TOO_DEEP}") from error


def included(document: Document, path: Path) -> list[str]:
    """The file names under `include`, which are in the folder of this file."""
    names = document.get("include", [])
    if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
        raise SpecError(f'{path}: include: must be a list of files, such as ["claims.toml"]')
    return names


def check_depth(value: Any) -> None:
    """Refuses nesting that would exhaust the stack of a recursive function."""
    level, depth = [value], 0
    while level:
        if depth > MAX_DEPTH:
            raise SpecError(_TOO_DEEP)
        inner = [node.values() if isinstance(node, Mapping) else node for node in level]
        level = [v for values in inner for v in values if isinstance(v, Mapping | list | tuple)]
        depth += 1


def _missing(path: Path) -> str:
    try:
        known = sorted(p.stem for p in path.parent.glob("*.toml"))
    except OSError:
        known = []
    # Only stems are compared, since the common suffix would make any two names similar.
    hint = nearest(path.stem, known, cutoff=0.75).replace('"?', '.toml"?')
    return f"{path}: no such file{hint or '; give the path of a scenario file (TOML)'}"
