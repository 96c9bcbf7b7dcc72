"""Entries that extend another one by `like`: fields need not be repeated."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from aqmlab.errors import SpecError, nearest

from .paths import braces
from .spec import set_path


def all_alike(entries: list[dict], key: str, kind: str, files: list[Path]) -> list[dict]:
    """The entries of a kind, each completed by the fields of the entry that it is `like`."""
    named = {entry[key]: entry for entry in entries if key in entry}
    return [
        like(entry, named, kind, f"{path}: {kind} {entry.get(key, '?')}: ")
        for entry, path in zip(entries, files, strict=True)
    ]


def like(entry: dict, named: Mapping[str, dict], kind: str, where: str = "", deep: int = 0) -> dict:
    """An entry, with the fields that it lacks taken from the entry that it is `like`; tables are
    merged by key."""
    if "like" not in entry:
        return entry
    other = like(known(entry["like"], named, kind, where, deep), named, kind, where, deep + 1)
    own = {key: value for key, value in entry.items() if key != "like"}
    return other | {key: _over(other.get(key), value) for key, value in own.items()}


def known(name: str, named: Mapping[str, dict], kind: str, where: str, deep: int) -> dict:
    """The entry that another one is `like`, at most `deep` references away from the first."""
    if name not in named:
        raise SpecError(f'{where}no {kind} "{name}" to be like{nearest(str(name), list(named))}')
    if deep > len(named):
        raise SpecError(f'{where}{kind} "{name}" is in the end like itself: give it its own values')
    return named[name]


def _over(other: object, own: object) -> object:
    return other | own if isinstance(other, dict) and isinstance(own, dict) else own


def base_like(base: dict, bases: Mapping[str, dict], where: str, deep: int = 0) -> dict:
    """A base scenario. If it is `like` another, it is that scenario with the fields of `set`
    replaced."""
    if "like" not in base:
        return base
    found = base_like(known(base["like"], bases, "base", where, deep), bases, where, deep + 1)
    for path, value in braces(base.get("set", {})).items():
        found = set_path(found, path, value)
    return found | {key: value for key, value in base.items() if key not in ("like", "set")}
