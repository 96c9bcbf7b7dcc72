"""Where experiments lie: those that come with the package, and anybody's own."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path
from typing import Any

from aqmlab.errors import SpecError, nearest

FILE = "experiment.toml"

#: Where the experiments live that come with the package.
SHIPPED = Path(__file__).resolve().parent.parent / "experiments"


def shipped() -> list[str]:
    """The names of the experiments that come with the package: every folder that holds one."""
    return sorted(path.parent.name for path in SHIPPED.glob(f"*/{FILE}"))


def find(name: str) -> Path:
    """The folder of an experiment: a shipped one by its name, else one's own by its path."""
    known = shipped()
    if name in known:
        return SHIPPED / name
    folder = Path(name)
    folder = folder.parent if folder.name == FILE else folder
    if (folder / FILE).is_file():
        return folder
    if folder.is_dir():
        raise SpecError(f"{folder} holds no {FILE}: give the folder of an experiment")
    hint = nearest(name, known)
    raise SpecError(f'no study "{name}"{hint} (known: {", ".join(known)}, or a folder with {FILE})')


def holds_groups(path: Path) -> bool:
    """Whether this is an experiment with groups: what `find` finds, and no sweep."""
    folder = path if path.is_dir() else path.parent
    if not (folder / FILE).is_file() or (not path.is_dir() and path.name != FILE):
        return False
    return re.search(r"^\[+(group|part)\b", (folder / FILE).read_text("utf-8"), re.M) is not None


def head(folder: Path) -> dict[str, Any]:
    """What an experiment says of itself before its first table: title and the like.

    Reading all of an experiment takes some ten times as long.
    """
    text = (folder / FILE).read_text(encoding="utf-8")
    return tomllib.loads(re.split(r"^\[", text, maxsplit=1, flags=re.MULTILINE)[0])


def sources(folder: Path) -> list[Path]:
    """The files of an experiment."""
    return [folder / file for file in (FILE, *head(folder).get("include", []))]
