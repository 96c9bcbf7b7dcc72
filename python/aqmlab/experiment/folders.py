"""Where experiments lie: those that come with the package, and anybody's own."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path
from typing import Any

from aqmlab.errors import SpecError, nearest
from aqmlab.io.documents import included, read_toml
from aqmlab.io.terminal import printable

from . import examples

FILE = "experiment.toml"

#: Where the experiments live that come with the package.
SHIPPED = Path(__file__).resolve().parent.parent / "experiments"


def shipped() -> list[str]:
    """The names of the experiments that come with the package: every folder that holds one."""
    return sorted(path.parent.name for path in SHIPPED.glob(f"*/{FILE}"))


def find(name: str) -> Path:
    """The file of an experiment: a shipped one by its name, an example by `example:` and its name,
    else by its path or its folder's."""
    if name.startswith(examples.PREFIX):
        return examples.find(name.removeprefix(examples.PREFIX))
    known = shipped()
    if name in known:
        return SHIPPED / name / FILE
    path = Path(name)
    if path.is_dir():
        if not (path / FILE).is_file():
            raise SpecError(f"{path} holds no {FILE}: give the folder of an experiment")
        return path / FILE
    if path.exists() or path.suffix or path.parent.name:
        return path  # the reader of the file reports what is wrong
    hint = nearest(name, known)
    raise SpecError(
        f'no study "{name}"{hint} (known: {", ".join(known)}, or a file or a folder with {FILE})'
    )


def stem(file: Path) -> str:
    """What an experiment is called that has no name: as its file, or as the folder of that."""
    if file.stem in ("experiment", "scenario"):
        return printable(file.resolve().parent.name or file.stem)
    return printable(file.stem)


def head(file: Path) -> dict[str, Any]:
    """What an experiment says of itself before its first table: title and the like.

    Reading all of an experiment takes some ten times as long.
    """
    try:
        text = file.read_text(encoding="utf-8")
        return tomllib.loads(re.split(r"^\[", text, maxsplit=1, flags=re.MULTILINE)[0])
    except (OSError, ValueError):
        # A fault is reported for the whole file: a list may begin a line, too.
        return read_toml(file)


def sources(file: Path) -> list[Path]:
    """The files of an experiment."""
    return [file, *(file.parent / more for more in included(head(file), file))]
