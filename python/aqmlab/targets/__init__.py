"""Translates a discipline and its parameters into commands of real systems, and `tc`'s output back.

A target is a module with a table of one row per parameter, used in both directions (`words.Row`),
and functions: `frame` makes the lines for one queue, `arrange` those for both directions of a line,
`unsaid` lists properties of a line that cannot be expressed, `undone` explains how to remove the
configuration.
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
"""The targets by the name of the option: title and module."""

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
    """A scenario's discipline before a line of the given rate, in base units, for translation."""
    return Queue(aqm, plain(aqm, effective), frozenset(wrote), line_of(rate))


def commands(target: str, queue: Queue, way: str = UP) -> Commands:
    """The commands for one queue on a target, with the settings that are lost and pitfalls."""
    name, table = TARGETS[target]
    lane = _lane(target, way, Direction(queue))
    entry = lane.entry
    release = f"{table.RELEASE}; {entry.name}: {entry.since}" if entry.since else table.RELEASE
    pitfalls = [*entry.pitfalls, *table.GENERAL]
    return Commands(name, table.frame(lane), lost(entry, queue, name), pitfalls, release)


def for_line(target: str, plan: Plan, dev: str = DEVICE) -> Commands:
    """The commands for both directions of a line on a target; `dev` is its device towards the
    line."""
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
    """A field with this value in a target's form, such as `rtt 50ms`, followed by aqmlab's name of
    the field if that differs; None if the target cannot set it."""
    name, table = TARGETS[target]
    entry = entry_for(table.ENTRIES, name, queue, table.REMEDY)
    row = next((one for one, _ in said(entry, queue) if one.ours == field), None)
    if row is None or row.kind is None:
        return None
    text = row.kind.write(value, {**queue.known, field: value})
    words = f"{row.word} {text}".strip()
    return words if row.word == field else f"{words} ({field})"


def _lane(target: str, way: str, one: Direction) -> Lane:
    """A direction of a line in a target's words."""
    name, table = TARGETS[target]
    entry = entry_for(table.ENTRIES, name, one.queue, table.REMEDY)
    words, line = spoken(entry, one.queue), _line(target, one.queue)
    return Lane(way, entry, words, line, one.queue.known, one.shaped, one.framing)


def has(target: str, aqm: str) -> bool:
    """Whether a target has a discipline."""
    return any(entry.aqm == aqm for entry in TARGETS[target][1].ENTRIES)


def native(target: str, aqm: str) -> bool:
    """Whether a target has a discipline without an additional package or module."""
    return aqm in TARGETS[target][1].NATIVE


def of_profile(profile: str | None) -> str | None:
    """The target whose implementation of the disciplines a profile models; None if no target
    declares it."""
    of = (target for target, (_, table) in TARGETS.items() if hasattr(table, "PROFILE"))
    return next((target for target in of if profile == TARGETS[target][1].PROFILE), None)


def _line(target: str, queue: Queue) -> str:
    if target == "cisco":
        return str(round(queue.line))
    text = rate_words(queue.known)
    return text if target in ("tc", "openwrt") else f"{text[:-4]}{text[-4:-3].upper()}bit/s"
