"""Entries with `for` stand for several: one copy is made for each row of names and values."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator, Mapping
from typing import Any

from aqmlab.errors import SpecError


def spread(node: Any, where: str) -> Any:
    """A copy in which each entry of a list that has `for` is replaced by the entries that it stands
    for."""
    if isinstance(node, dict):
        return {key: spread(value, where) for key, value in node.items()}
    if isinstance(node, list):
        return [each for entry in node for each in _rows(entry, where)]
    return node


def _rows(entry: object, where: str) -> Iterator[object]:
    if not isinstance(entry, dict) or "for" not in entry:
        yield spread(entry, where)
        return
    rest = {key: value for key, value in entry.items() if key != "for"}
    rows = _rows_of(entry["for"], where)
    for row in rows:
        if row.keys() != rows[0].keys():
            missing = sorted(rows[0].keys() ^ row.keys())[0]
            raise SpecError(
                f'{where}: for: not every row has "{missing}": give it to all or to none'
            )
        yield spread(_filled(rest, row, where), where)


def _rows_of(given: Any, where: str) -> list[dict]:
    lists = isinstance(given, dict) and all(isinstance(values, list) for values in given.values())
    if lists or (isinstance(given, list) and all(isinstance(row, dict) for row in given)):
        return list(choices(given))
    raise SpecError(f"{where}: for: give a list of rows {{ name = value }}, or lists of values")


def choices(given: Mapping[str, list] | list[dict]) -> Iterator[dict[str, object]]:
    """Rows of names and values: those listed, or every combination of the lists of values."""
    if isinstance(given, list):
        yield from given
        return
    for values in itertools.product(*given.values()):
        yield dict(zip(given, values, strict=True))


def _filled(node: object, names: dict, where: str) -> object:
    """A copy in which "$name" is the value of that name, and "{name}" in a text shows it."""
    if isinstance(node, dict):
        return {_text(key, names, where): _filled(v, names, where) for key, v in node.items()}
    if isinstance(node, list):
        return [_filled(value, names, where) for value in node]
    if not isinstance(node, str):
        return node
    if node.startswith("$") and node[1:] in names:
        return names[node[1:]]
    return _text(node, names, where)


def _text(text: str, names: dict, where: str) -> str:
    for name in re.findall(r"\$(\w+)", text):
        if name in names:
            raise SpecError(
                f'{where}: "{text}": a text shows a value as {{{name}}}, not as ${name}'
            )
    for name, value in names.items():
        text = text.replace(f"{{{name}}}", str(plain(value)))
    return text


def plain(value: object) -> object:
    """A value in the form for a text: a list in brackets, a percentage with a space."""
    if isinstance(value, list):
        return f"({', '.join(str(v) for v in value)})"
    return f"{value[:-1]} %" if isinstance(value, str) and value.endswith("%") else value
