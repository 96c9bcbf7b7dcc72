"""An experiment as data: the folder `experiments/<name>` with its `experiment.toml`.

The format is described in `docs/studies.md`.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from aqmlab.errors import SpecError, nearest
from aqmlab.io import documents

from . import shared_forms

#: Where the experiments live that come with the package.
SHIPPED = Path(__file__).resolve().parent.parent / "experiments"

FILE = "experiment.toml"

#: Lists whose entries belong to a part.
LISTS = ("group", "table", "difference", "figure", "claim")

#: What makes a file one that holds claims, and which of its entries tell what they are.
_CLAIM = re.compile(r"^\[+claim\b", re.MULTILINE)
_OF_CLAIMS = ("claim", "defaults")


@dataclass(frozen=True)
class Experiment:
    """What `experiment.toml` and the files it includes say, and the folder they lie in."""

    folder: Path
    data: dict
    files: dict[str, list[Path]] = field(default_factory=dict)
    """The file that every entry of a list stands in."""

    @property
    def name(self) -> str:
        """The study's name, as typed on the command line."""
        return self.data["name"]

    @property
    def source(self) -> str:
        """The file that it is read from, for error messages."""
        return str(self.folder / FILE)

    @property
    def parts(self) -> list[str]:
        """The parts that can be run one by one, in the order of the report."""
        return [part["name"] for part in self.data["part"]]

    def of(self, kind: str, parts: list[str] | None = None) -> list[dict]:
        """The entries of a list (`group`, `table`, `figure`, …) that belong to these parts."""
        entries = self.data.get(kind, [])
        return [e for e in entries if parts is None or e.get("part") in parts]

    def base(self, name: str | None) -> dict:
        """The scenario that a group starts from: `[scenario]`, or `[base.<name>]`."""
        if name is None:
            return self.data["scenario"]
        bases = self.data.get("base", {})
        if name not in bases:
            raise SpecError(f'{self.name} has no base "{name}"{nearest(name, list(bases))}')
        return bases[name]

    def settings(self, quick: bool) -> dict:
        """Run length, warm-up, number of seeds and looks of the quick or the full study."""
        mode = "quick" if quick else "full"
        return {"looks": [1]} | self.data["settings"][mode] | {"mode": mode}

    def check_parts(self, parts: list[str] | None) -> list[str]:
        """These parts in the order of the file, or all; an unknown one is the user's mistake."""
        for part in parts or []:
            if part not in self.parts:
                known = ", ".join(self.parts)
                raise SpecError(f'{self.name} has no part "{part}": its parts are {known}')
        return [p for p in self.parts if not parts or p in parts]

    def figure(self, identity: str) -> dict:
        """The figure with this number; an unknown one is the user's mistake."""
        known = {figure["id"]: figure for figure in self.of("figure")}
        if identity not in known:
            raise SpecError(f'{self.name} has no figure "{identity}": it has {", ".join(known)}')
        return known[identity]

    def groups_of(self, entries: list[dict]) -> list[dict]:
        """The groups of runs that any of these entries names, in the order of the file."""
        tables = {t["id"]: t for t in self.of("table") + self.of("difference")}
        named = set()
        for entry in entries:
            named |= set(_named(entry))
            if entry.get("table") in tables:
                named |= set(_named(tables[entry["table"]]))
        unknown = named - {g["name"] for g in self.of("group")}
        if unknown:
            raise SpecError(f"{self.name} has no group {', '.join(sorted(unknown))}")
        return [g for g in self.of("group") if g["name"] in named]

    def groups(self, parts: list[str]) -> list[dict]:
        """The groups of these parts, and those of other parts that their entries refer to."""
        entries = [e for kind in LISTS if kind != "group" for e in self.of(kind, parts)]
        wanted = [g["name"] for g in self.groups_of(entries) + self.of("group", parts)]
        return [g for g in self.of("group") if g["name"] in wanted]


def _named(node: Any) -> Iterator[str]:
    """Every group that an entry refers to, however deep."""
    if isinstance(node, dict):
        for key, value in node.items():
            if key in ("group", "minus") and isinstance(value, str):
                yield value
            else:
                yield from _named(value)
    elif isinstance(node, list):
        for value in node:
            yield from _named(value)


def load(name: str, folder: Path | None = None) -> Experiment:
    """The experiment of this name (see `find`), or that of a folder."""
    folder = folder or find(name)
    first = documents.read_toml(folder / FILE)
    files = {folder / file: documents.read_toml(folder / file) for file in first.get("include", [])}
    whole = shared_forms.expand({folder / FILE: first} | files)
    return Experiment(folder, whole.data, whole.files)


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


def head(folder: Path) -> dict:
    """What an experiment says of itself before its first table: title and the like.

    Reading all of an experiment takes some ten times as long.
    """
    text = (folder / FILE).read_text(encoding="utf-8")
    return tomllib.loads(re.split(r"^\[", text, maxsplit=1, flags=re.MULTILINE)[0])


def claims(folder: Path) -> list[dict]:
    """An experiment's claims alone, as `load` has them, from the files that hold any."""
    files = [folder / file for file in (FILE, *head(folder).get("include", []))]
    holding = [file for file in files if _CLAIM.search(file.read_text(encoding="utf-8"))]
    said = {file: documents.read_toml(file) for file in holding}
    alone = {file: {k: v for k, v in d.items() if k in _OF_CLAIMS} for file, d in said.items()}
    return shared_forms.expand(alone).data["claim"]
