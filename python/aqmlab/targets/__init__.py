"""A discipline and its parameters in the words of real systems, and back from `tc`'s output.

A target is a file: a table with one row per parameter, read in both directions (`words.Row`), how
the lines of one queue are put together (`frame`), and those of both directions of a line
(`arrange`), what it cannot say of a line (`unsaid`), and how all is taken back (`undone`).
"""

from __future__ import annotations

from types import ModuleType
from typing import Any

from . import cisco, freebsd, ns3, openwrt, tc
from .plan import DEVICE, DOWN, UP, Direction, Lane, Plan
from .tc_words import rate_words
from .translation import Commands, Queue, entry_for, lost, said, spoken
from .words import line_of, plain

TARGETS: dict[str, tuple[str, ModuleType]] = {
    "tc": ("tc", tc),
    "openwrt": ("OpenWrt", openwrt),
    "freebsd": ("FreeBSD", freebsd),
    "cisco": ("IOS", cisco),
    "ns3": ("ns-3", ns3),
}
"""Targets by option: name and table."""

__all__ = [
    "DEVICE",
    "DOWN",
    "TARGETS",
    "UP",
    "Commands",
    "Direction",
    "Plan",
    "Queue",
    "commands",
    "for_line",
    "has",
    "native",
    "of_profile",
    "queue",
    "typed",
]


def queue(aqm: str, effective: dict[str, Any], wrote: set[str], rate: str) -> Queue:
    """A discipline as a scenario has it, behind a line of that rate."""
    return Queue(aqm, plain(aqm, effective), frozenset(wrote), line_of(rate))


def commands(target: str, queue: Queue, way: str = UP) -> Commands:
    """What to type at a target for one queue, with what it cannot say and what to know."""
    name, table = TARGETS[target]
    lane = _lane(target, way, Direction(queue))
    entry = lane.entry
    release = f"{table.RELEASE}; {entry.name}: {entry.since}" if entry.since else table.RELEASE
    pitfalls = [*entry.pitfalls, *table.GENERAL]
    return Commands(name, table.frame(lane), lost(entry, queue, name), pitfalls, release)


def for_line(target: str, plan: Plan, dev: str = DEVICE) -> Commands:
    """What to type at a target for both directions of a line; `dev` is its device towards it."""
    name, table = TARGETS[target]
    lanes, missed, known = [], [], []
    for way, one in plan.directions():
        lane = _lane(target, way, one)
        lanes.append(lane)
        missed += [*lost(lane.entry, one.queue, name), *table.unsaid(lane)]
        known += lane.entry.pitfalls
    known += [*table.GENERAL, *filter(None, [table.undone(lanes, dev)])]
    since = next((f"; {one.entry.name}: {one.entry.since}" for one in lanes if one.entry.since), "")
    return Commands(
        name,
        table.arrange(lanes, dev),
        list(dict.fromkeys(missed)),
        list(dict.fromkeys(known)),
        f"{table.RELEASE}{since}",
    )


def typed(target: str, queue: Queue, field: str, value: object) -> str | None:
    """A field with this value as a target takes it, such as `rtt 50ms`, with our name after a word
    that is another; None where the target cannot set it."""
    name, table = TARGETS[target]
    entry = entry_for(table.ENTRIES, name, queue, table.REMEDY)
    row = next((one for one, _ in said(entry, queue) if one.ours == field), None)
    if row is None or row.kind is None:
        return None
    text = row.kind.write(value, {**queue.known, field: value})
    words = f"{row.word} {text}".strip()
    return words if row.word == field else f"{words} ({field})"


def _lane(target: str, way: str, one: Direction) -> Lane:
    """A direction in a target's words."""
    name, table = TARGETS[target]
    entry = entry_for(table.ENTRIES, name, one.queue, table.REMEDY)
    words, line = spoken(entry, one.queue), _line(target, one.queue)
    return Lane(way, entry, words, line, one.queue.known, one.shaped, one.framing)


def has(target: str, aqm: str) -> bool:
    """Whether a target has a discipline."""
    return any(entry.aqm == aqm for entry in TARGETS[target][1].ENTRIES)


def native(target: str, aqm: str) -> bool:
    """Whether a target has a discipline without a package or module that it may lack."""
    return aqm in TARGETS[target][1].NATIVE


def of_profile(profile: str | None) -> str | None:
    """The target whose own implementation a profile is, for targets that name one profile so."""
    of = (target for target, (_, table) in TARGETS.items() if hasattr(table, "PROFILE"))
    return next((target for target in of if profile == TARGETS[target][1].PROFILE), None)


def _line(target: str, queue: Queue) -> str:
    if target == "cisco":
        return str(round(queue.line))
    text = rate_words(queue.known)
    return text if target in ("tc", "openwrt") else f"{text[:-4]}{text[-4:-3].upper()}bit/s"
