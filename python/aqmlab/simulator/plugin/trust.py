"""Permission to run programs: a user's own discipline runs with the rights of its user.

A scenario from somebody else may name or carry such a program. It runs only if one of these holds:

- the user named its file in the command itself (`--aqm`, `--set`, `check-aqm`), or a Python program
  named it;
- its content has run here before with the user's permission;
- its file is one that the user named or permitted before, wherever it has been edited since;
- the command has `--trust`.

Permissions are kept below the user's home: a file for each content and each path.
docs/decisions/041-whose-programs-run.md has the reasons.
"""

from __future__ import annotations

import contextlib
import os
import stat
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from aqmlab.errors import SpecError
from aqmlab.io import files

from ..forms import Draft

FOLDER = "aqmlab/trusted"
_REMEDY = "read it, and if it may, give --trust (in Python trust=True)"


class Untrusted(SpecError):
    """A scenario wants to run a program without permission."""


_permitted: set[str] = set()
"""Hashes of the programs that this process may run. A permission holds for all threads and runs of
the process."""
_everything = 0
"""How many contexts of `granted` are open."""


@contextlib.contextmanager
def granted(given: bool = True) -> Iterator[None]:
    """If `given` (`--trust`), permits all programs that scenarios name or carry while the context
    is open."""
    global _everything
    _everything += given
    try:
        yield
    finally:
        _everything -= given


def permit(table: Mapping[str, object], path: Path | None = None) -> None:
    """Permits this program (a table of `source.table`), and whatever its file at `path` contains
    later."""
    _permitted.add(_content(table))
    _remember("content", _content(table), str(table.get("file")))
    if path is not None:
        _remember("place", _place(path), str(path.resolve()))


def permit_file(path: Path) -> None:
    """Permits a file, whatever it contains when it is used."""
    _remember("place", _place(path), str(path.resolve()))


def permit_run(scenario: Draft) -> None:
    """Permits the programs of a scenario in this process only: they were permitted elsewhere."""
    from . import source

    _permitted.update(_content(table) for table in source.tables(scenario))


def is_permitted(table: Mapping[str, object], path: Path | None = None) -> bool:
    """Whether a program may run; `path` is the file that holds it, if there is one."""
    content = _content(table)
    if content not in _permitted:
        if _everything:
            permit(table, path)
        elif _is_known("content", content) or (path is not None and _is_own(path)):
            _permitted.add(content)
    return content in _permitted


def require(tables: Sequence[Mapping[str, object]], path: Path | None = None) -> None:
    """Refuses the first program that is not permitted."""
    for table in tables:
        if not is_permitted(table, path):
            raise Untrusted(refusal(table, path))


def refusal(table: Mapping[str, object], path: Path | None = None) -> str:
    """The sentence of a refusal: it names the program and the remedy."""
    name = str(path or table.get("file"))
    how = "carries" if "text" in table and path is None else "names"
    return (
        f"it {how} the program {name}, which would run with your rights and is not known to be "
        f"yours: {_REMEDY}"
    )


def _content(table: Mapping[str, object]) -> str:
    """Hash of a program for its permission. A library may load others from its folder, so the hash
    includes its path."""
    if "text" in table:
        return files.identity(["text", table["text"]])
    return files.identity(["library", table.get("file"), table.get("blake2b")])


def _place(path: Path) -> str:
    return files.identity(["place", os.fsencode(path.resolve()).hex()])


def _is_own(path: Path) -> bool:
    """Whether the user has named this file before and only this user can have changed it since."""
    try:
        about = path.stat()
    except OSError:
        return False
    me = os.geteuid() if hasattr(os, "geteuid") else about.st_uid
    mine = about.st_uid in (me, 0) or me == 0
    return mine and not about.st_mode & stat.S_IWOTH and _is_known("place", _place(path))


def folder() -> Path | None:
    """The folder of permissions; None where a user has no home."""
    windows = os.name == "nt" and os.environ.get("LOCALAPPDATA")
    variable = (
        "LOCALAPPDATA" if windows and not os.environ.get("XDG_DATA_HOME") else "XDG_DATA_HOME"
    )
    place = files.of_user(variable, ".local", "share")
    return place and place / FOLDER


def _is_known(kind: str, identity: str) -> bool:
    """Whether a permission is kept, in a folder that belongs to this user alone."""
    place = folder()
    if place is None:
        return False
    try:
        about = place.stat()
        known = (place / f"{kind}-{identity}").is_file()
    except OSError:
        return False
    mine = not hasattr(os, "geteuid") or about.st_uid == os.geteuid()
    return known and mine and not about.st_mode & stat.S_IWOTH


def _remember(kind: str, identity: str, name: str) -> None:
    """Keeps a permission; where the folder cannot be written, a permission lasts as long as the
    command."""
    place = folder()
    if place is None or _is_known(kind, identity):
        return
    with contextlib.suppress(OSError):
        place.mkdir(mode=0o700, parents=True, exist_ok=True)
        with files.whole(place / f"{kind}-{identity}") as draft:
            draft.write_text(f"{name}\n", encoding="utf-8", errors="backslashreplace")
