"""Translates one discipline into a target's words, and lists what the translation loses."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, replace

from aqmlab.errors import SpecError

from .words import LINE, Entry, Given, Row, number


@dataclass(frozen=True)
class Queue:
    """A discipline with its parameters before a line, as `aqmlab describe` completes them."""

    aqm: str
    given: Given
    """Every field that has an effect, in base units."""
    wrote: frozenset[str]
    """The fields that the user wrote."""
    line: float
    """The line's rate, bit/s."""

    @property
    def known(self) -> Given:
        """All values that rows may use: the fields and the line's rate."""
        return {**self.given, LINE: self.line}


@dataclass(frozen=True)
class Commands:
    """The commands for a target, with remarks."""

    target: str
    blocks: Sequence[tuple[str, Sequence[str]]]
    """Blocks of commands: title and lines."""
    lost: Sequence[str]
    """Sentences on settings that the target cannot express."""
    pitfalls: Sequence[str]
    release: str

    def document(self) -> dict[str, object]:
        """The commands as a JSON document."""
        blocks = [{"for": title, "lines": list(lines)} for title, lines in self.blocks]
        return {**asdict(replace(self, blocks=())), "blocks": blocks}


def entry_for(entries: Iterable[Entry], target: str, queue: Queue, remedy: str) -> Entry:
    """The entry that fits the queue; the error for a target without one lists its disciplines."""
    known = list(entries)
    for entry in known:
        if entry.aqm == queue.aqm and entry.fits(queue.given):
            return entry
    names = ", ".join(dict.fromkeys(entry.aqm for entry in known))
    raise SpecError(f"{target} has no {queue.aqm}: it has {names}{remedy}")


def said(entry: Entry, queue: Queue) -> list[tuple[Row, str]]:
    """The rows that are written, each with its text. If several rows have one word, the first with
    a value is written."""
    taken: set[str] = set()
    found = []
    for row in entry.rows:
        value = queue.known.get(row.ours)
        if row.kind is None or row.only == "read" or value is None:
            continue
        if row.word in taken or (row.quiet and row.ours not in queue.wrote):
            continue
        if text := row.kind.write(value, queue.known):
            taken |= {row.word} - {""}
            found.append((row, text))
    return found


def spoken(entry: Entry, queue: Queue) -> list[str]:
    """The translation as words of a command line."""
    pairs = [[row.word, text] if row.word else [text] for row, text in said(entry, queue)]
    return [word for pair in pairs for word in pair] + list(entry.also)


def lost(entry: Entry, queue: Queue, target: str) -> list[str]:
    """Sentences on fields that the translation does not express, or not exactly."""
    found = _profile(entry, queue, target)
    covered = {"profile", *(row.ours for row in entry.rows), *entry.implies}
    for row, text in said(entry, queue):
        assert row.kind is not None
        back = row.kind.read(text, queue.known)
        if not _same(back, queue.known[row.ours]):
            described = f": {row.note}" if row.note else ""
            wanted = _shown(queue.known[row.ours])
            found.append(f"{row.ours} = {wanted} becomes {_shown(back)} in {target}{described}")
    for row in entry.rows:
        value = queue.given.get(row.ours)
        always = row.always(queue.known) if callable(row.always) else row.always
        if row.kind is None and value is not None and not _same(value, always):
            what = f"always {_shown(always)}" if always is not None else "no such parameter"
            described = f" ({row.note})" if row.note else ""
            found.append(
                f"{row.ours} = {_shown(value)} cannot be said: {target} has {what}{described}"
            )
    for name, value in queue.given.items():
        implied = entry.implies.get(name)
        if (name not in covered and name in queue.wrote) or (
            implied is not None and not _same(implied, value)
        ):
            found.append(f"{name} = {_shown(value)} cannot be said in {target}")
    return found


def _profile(entry: Entry, queue: Queue, target: str) -> list[str]:
    profile = queue.given.get("profile")
    if profile is None or entry.profile in (None, profile):
        return []
    return [
        f"profile {profile} is another implementation: {target} has that of profile "
        f"{entry.profile} (`aqmlab describe {queue.aqm}` says how they differ; measure with "
        f"profile={entry.profile})"
    ]


def _same(a: object, b: object) -> bool:
    if isinstance(a, int | float) and isinstance(b, int | float):
        return math.isclose(a, b, rel_tol=1e-4, abs_tol=1e-12)
    return a == b


def _shown(value: object) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    return number(float(f"{value:.6g}")) if isinstance(value, int | float) else str(value)
