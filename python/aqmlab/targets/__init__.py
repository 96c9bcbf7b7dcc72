"""A discipline and its parameters in the words of real systems, and back from `tc`'s output.

A target is a file: a table with one row per parameter, read in both directions (`words.Row`), and
how its lines are put together (`frame`).
"""

from __future__ import annotations

from types import ModuleType
from typing import Any

from . import cisco, freebsd, ns3, openwrt, tc
from .tc_words import rate_words
from .translation import Commands, Queue, entry_for, lost, spoken
from .words import line_of, plain

TARGETS: dict[str, tuple[str, ModuleType]] = {
    "tc": ("tc", tc),
    "openwrt": ("OpenWrt", openwrt),
    "freebsd": ("FreeBSD", freebsd),
    "cisco": ("IOS", cisco),
    "ns3": ("ns-3", ns3),
}
"""By option: the target's name and its table."""

__all__ = ["TARGETS", "Commands", "Queue", "commands", "queue"]


def queue(aqm: str, effective: dict[str, Any], wrote: set[str], rate: str) -> Queue:
    """A discipline as a scenario has it, behind a line of that rate."""
    return Queue(aqm, plain(aqm, effective), frozenset(wrote), line_of(rate))


def commands(target: str, queue: Queue) -> Commands:
    """What to type at a target, with what it cannot say and what to know."""
    name, table = TARGETS[target]
    entry = entry_for(table.ENTRIES, name, queue, table.REMEDY)
    blocks = table.frame(entry, spoken(entry, queue), _line(target, queue), queue.known)
    release = f"{table.RELEASE}; {entry.name}: {entry.since}" if entry.since else table.RELEASE
    pitfalls = [*entry.pitfalls, *table.GENERAL]
    return Commands(name, blocks, lost(entry, queue, name), pitfalls, release)


def _line(target: str, queue: Queue) -> str:
    if target == "cisco":
        return str(round(queue.line))
    text = rate_words(queue.known)
    return text if target in ("tc", "openwrt") else f"{text[:-4]}{text[-4:-3].upper()}bit/s"
