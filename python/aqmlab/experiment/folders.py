"""Finds the files of experiments: shipped ones and users' own."""

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

#: The folder of the experiments that come with the package.
SHIPPED = Path(__file__).resolve().parent.parent / "experiments"


def shipped() -> list[str]:
    """The names of the experiments that come with the package, which are the names of their
    folders."""
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
        return path  # an error is reported when the file is read
    hint = nearest(name, known)
    raise SpecError(
        f'no study "{name}"{hint} (known: {", ".join(known)}, or a file or a folder with {FILE})'
    )


def stem(file: Path) -> str:
    """The name of an experiment that states none: its file's name, or its folder's if the file is
    `experiment.toml` or `scenario.toml`."""
    if file.stem in ("experiment", "scenario"):
        return printable(file.resolve().parent.name or file.stem)
    return printable(file.stem)


def head(file: Path) -> dict[str, Any]:
    """The keys of an experiment's file before its first table, such as the title.

    Reading a whole experiment takes some ten times as long.
    """
    try:
        text = file.read_text(encoding="utf-8")
        return tomllib.loads(re.split(r"^\[", text, maxsplit=1, flags=re.MULTILINE)[0])
    except (OSError, ValueError):
        # A line of a multi-line array may begin with a bracket, too. The text before it is then no
        # valid TOML: the whole file is parsed instead, and any error is that of the whole file.
        return read_toml(file)


def sources(file: Path) -> list[Path]:
    """The files that make up an experiment: its main file, and the files that this includes."""
    return [file, *(file.parent / more for more in included(head(file), file))]
