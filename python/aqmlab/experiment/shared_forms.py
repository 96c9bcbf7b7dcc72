"""Expands what an experiment's files state once for several entries.

`docs/studies.md` describes the forms under "Said once". Later steps see entries that are complete,
as if each had been written in full.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from aqmlab.errors import SpecError, nearest
from aqmlab.io.documents import Document
from aqmlab.simulator import measures

from .group_axes import axis_of, in_full, written
from .inherit import all_alike, base_like
from .rows import spread

#: Kinds of entries that have names, and the key of the name. `[kind.NAME]` is such an entry.
NAME = {
    "part": "name",
    "group": "name",
    "metric": "name",
    "table": "id",
    "difference": "id",
    "figure": "id",
    "claim": "id",
    "deviation": "what",
}

#: The key whose value a plain text is, if it is given in place of an entry.
TEXT = {"part": "title", "deviation": "text"}

#: Kinds of entries that show a group of runs, and belong to the group's part unless they name one.
SHOWS_A_GROUP = ("table", "difference", "figure")

#: Tables of named entries to which several files may add.
TABLES = ("base", "axis")


@dataclass(frozen=True)
class Whole:
    """An experiment's files as one document."""

    data: Document
    files: dict[str, list[Path]]
    """The file of each entry, for each list of entries."""


def expand(documents: Mapping[Path, Document]) -> Whole:
    """An experiment's files, in their order, as one document whose entries are complete."""
    data: Document = {}
    files: dict[str, list[Path]] = {}
    for path, document in documents.items():
        for key, value in _of_file(document, path).items():
            data[key] = _joined(data[key], value, path, key) if key in data else value
            if isinstance(value, list):
                files.setdefault(key, []).extend([path] * len(value))
    for kind, key in NAME.items():
        if kind in data:
            data[kind] = all_alike(data[kind], key, kind, files[kind])
    return Whole(_linked(data, files), files)


def _linked(data: Document, files: dict[str, list[Path]]) -> Document:
    """The document with entries completed by what they take from entries of other kinds."""
    found = dict(data)
    if "base" in data:
        bases = data["base"] | {"scenario": data.get("scenario", {})}
        found["base"] = {
            name: base_like(base, bases, f"base {name}: ") for name, base in data["base"].items()
        }
    if "metric" in data:
        found["metric"] = [_measured(metric) for metric in data["metric"]]
    shared = data.get("axis", {})
    if shared:
        found["axis"] = {name: written(axis_of(axis, shared)) for name, axis in shared.items()}
    if "group" in data:
        found["group"] = [
            in_full(group, shared, path)
            for group, path in zip(data["group"], files["group"], strict=True)
        ]
    parts = {group.get("name"): group.get("part") for group in data.get("group", [])}
    claims = {claim.get("id"): claim for claim in data.get("claim", [])}
    for kind in SHOWS_A_GROUP:
        if kind in data:
            found[kind] = [_placed(entry, parts) for entry in data[kind]]
    if claims:
        found["claim"] = [_reassessed(claim, claims) for claim in data["claim"]]
    return found


# --- one file: entries by name, what all of a kind have, several entries in one -------------------


def _of_file(document: dict, path: Path) -> dict:
    """The document of one file with lists of complete entries: defaults are added, and `for` is
    expanded."""
    defaults = document.get("defaults", {})
    for kind in defaults:
        if kind != "part" and kind not in NAME:
            known = ["part", *NAME]
            hint = nearest(kind, known) or f" (known: {', '.join(known)})"
            raise SpecError(f'{path}: defaults: no kind of entry "{kind}"{hint}')
    entries = {kind: _listed(document[kind], kind, path) for kind in NAME if kind in document}
    entries = {
        kind: [_usual(defaults, kind) | entry for entry in listed]
        for kind, listed in entries.items()
    }
    whole = {key: entries.get(key, value) for key, value in document.items() if key != "defaults"}
    return {key: spread(value, f"{path}: {key}") for key, value in whole.items()}


def _listed(entries: Any, kind: str, path: Path) -> list[dict]:
    """The entries of `[kind.NAME]` as those of `[[kind]]`."""
    if isinstance(entries, list) and all(isinstance(entry, dict) for entry in entries):
        return entries
    if not isinstance(entries, dict):
        raise SpecError(f"{path}: {kind} is no list of entries: write [{kind}.NAME] for each")
    found = []
    for name, entry in entries.items():
        if isinstance(entry, str) and kind in TEXT:
            entry = {TEXT[kind]: entry}
        if not isinstance(entry, dict):
            raise SpecError(
                f"{path}: {kind} {name}: {entry!r} is no entry: write {{ key = value }}"
            )
        found.append({NAME[kind]: name} | entry)
    return found


def _usual(defaults: dict, kind: str) -> dict:
    """The default fields of entries of this kind in a file."""
    part = {"part": defaults["part"]} if "part" in defaults and kind in _OF_A_PART else {}
    own = defaults.get(kind, {}) if kind != "part" else {}
    return part | own


_OF_A_PART = ("group", "claim", *SHOWS_A_GROUP)


# --- all files: entries like others ---------------------------------------------------------------


def _joined(have: object, more: object, path: Path, key: str) -> object:
    """The value of a key from earlier files joined with that of this file: lists are appended,
    bases and shared axes merged by name."""
    if isinstance(have, list) and isinstance(more, list):
        return have + more
    what = key
    if isinstance(have, dict) and isinstance(more, dict) and key in TABLES:
        twice = sorted(have.keys() & more.keys())
        if not twice:
            return have | more
        what = f"{key}.{twice[0]}"
    raise SpecError(f'{path}: "{what}" is already in another file of the experiment')


def _measured(metric: dict) -> dict:
    """A metric completed by title, unit, scale and digits from the registry of measures. Unit and
    scale are taken together or not at all."""
    if "summary" not in metric or {"title", "unit", "digits"} <= metric.keys():
        return metric
    own = {"unit", "scale"} if metric.keys() & {"unit", "scale"} else set()
    known = measures.defaults(metric["summary"])
    usual = {key: v for key, v in known.items() if key not in own and (key, v) != ("scale", 1.0)}
    return usual | metric


def _placed(entry: dict, parts: Mapping[Any, Any]) -> dict:
    """A table or figure with the part that it belongs to: its group's unless it says otherwise."""
    part = parts.get(entry.get("group"))
    return entry if "part" in entry or part is None else entry | {"part": part}


def _reassessed(claim: dict, claims: Mapping[str, dict]) -> dict:
    """A claim. If it revisits another one and has no conditions, it takes that one's conditions
    with the names of groups replaced according to `groups`.
    """
    own = {key: value for key, value in claim.items() if key != "groups"}
    other = claims.get(str(claim.get("revisits")), {})
    if not other:
        return own
    if "rule" in own and "rule" in other:
        own["rule"] = own["rule"].replace("{rule}", other["rule"])
    if "condition" not in own and "condition" in other:
        own["condition"] = _regrouped(other["condition"], claim.get("groups", "{group}"))
    return own


def _regrouped(node: object, called: str) -> object:
    if isinstance(node, list):
        return [_regrouped(value, called) for value in node]
    if not isinstance(node, dict):
        return node
    return {
        key: called.replace("{group}", value)
        if key == "group" and isinstance(value, str)
        else _regrouped(value, called)
        for key, value in node.items()
    }
