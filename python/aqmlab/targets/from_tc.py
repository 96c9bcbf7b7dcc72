"""What `tc qdisc show` prints, or a `tc qdisc add` command, to a scenario.

The tables of `tc.py`, read the other way round. Counters are kept, to be shown with the scenario.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from aqmlab.errors import SpecError

from . import tc
from .tc_words import read_rate
from .words import Entry, written

SHAPERS = ("htb", "tbf", "hfsc", "cbq")
"""Disciplines that only set a rate: what hangs below them is the queue."""
PARENTS = (*SHAPERS, "mq", "mqprio", "prio", "multiq", "ets")
NOTHING = ("noqueue", "ingress", "clsact", "noop")
_KNOWN = {
    "refcnt": 1,
    "Scell_log": 1,
    "depth": 1,
    "flows": 1,
    "split-gso": 0,
    "no-split-gso": 0,
    "nonat": 0,
    "nowash": 0,
    "raw": 0,
    "memory_limit": 1,
    "drop_dequeue": 0,
    "root": 0,
    "bands": 1,
    "priomap": 16,
    "any_ect": 0,
    "l4s_ect": 0,
    "split_gso": 0,
}
"""Words without an effect here, and how many values follow them."""


@dataclass(frozen=True)
class Seen:
    """One discipline of the output."""

    kind: str
    device: str
    handle: str
    parent: str
    words: Sequence[str]
    printed: bool = True
    """Whether tc printed it: a switch that is off is then left out."""
    sent: int | None = None
    dropped: int | None = None


@dataclass(frozen=True)
class DeviceQueue:
    """A queue of a device in our words."""

    device: str
    queue: Mapping[str, Any]
    """As a scenario has it."""
    rate: float | None
    """bit/s, if a shaper gives it."""
    ethernet: bool
    """Whether it counts the Ethernet header."""
    remarks: Sequence[str] = field(default_factory=tuple)


def seen(text: str) -> list[Seen]:
    """Every discipline that the text names."""
    blocks = re.split(r"(?m)^(?=\s*(?:qdisc|(?:sudo )?tc qdisc) )", text)
    return [_seen(block) for block in blocks if re.match(r"\s*(qdisc|(sudo )?tc qdisc) ", block)]


def _seen(block: str) -> Seen:
    head, _, rest = block.strip().partition("\n")
    words = shlex.split(head)
    if "tc" in words[:2]:
        return _command(words)
    kind, handle, tail = words[1], words[2].rstrip(":"), words[3:]
    values = {word: tail[i + 1] for i, word in enumerate(tail[:-1]) if word in ("dev", "parent")}
    for word in values:
        i = tail.index(word)
        tail = tail[:i] + tail[i + 2 :]
    counted = re.search(r"Sent \d+ bytes (\d+) pkts? \(dropped (\d+)", rest)
    sent, dropped = map(int, counted.groups()) if counted else (None, None)
    return Seen(
        kind,
        values.get("dev", "DEV"),
        handle,
        values.get("parent", "root"),
        tail,
        sent=sent,
        dropped=dropped,
    )


def _command(words: list[str]) -> Seen:
    """`tc qdisc replace dev eth0 [root | parent 1:1] [handle 10:] red limit …`."""
    left = words[words.index("qdisc") + 2 :]
    values = {"dev": "DEV", "parent": "root", "handle": ""}
    while left and left[0] in (*values, "root"):
        if left[0] == "root":
            left = left[1:]
        else:
            values[left[0]], left = left[1] if len(left) > 1 else "", left[2:]
    if not left:
        raise SpecError(f'"{" ".join(words)}" names no discipline: give the whole command')
    handle = values["handle"].rstrip(":")
    return Seen(left[0], values["dev"], handle, values["parent"], left[1:], printed=False)


def queues(text: str) -> list[DeviceQueue]:
    """The queue of every device that has one; nothing found is a mistake."""
    all_seen = seen(text)
    if not all_seen:
        raise SpecError("there is no line `qdisc …`: give what `tc -s -d qdisc show` prints")
    devices = dict.fromkeys(one.device for one in all_seen)
    found = [_of_device([one for one in all_seen if one.device == name]) for name in devices]
    kept = [one for one in found if one is not None]
    if not kept:
        raise SpecError(f"no device has a queue: there is only {all_seen[0].kind}")
    return kept


def _of_device(those: list[Seen]) -> DeviceQueue | None:
    """The discipline at the leaf, with the rate of the shaper above it."""
    leaves = [one for one in those if one.kind not in (*PARENTS, *NOTHING)]
    rate, remarks = None, []
    for one in those:
        if one.kind == "tbf" and "rate" in one.words:
            rate = read_rate(one.words[one.words.index("rate") + 1], {})
        elif one.kind in ("htb", "hfsc", "cbq"):
            remarks.append(
                f"{one.kind} has its rate in its classes (`tc class show dev {one.device}`): "
                "give it with --rate"
            )
    if not leaves:
        return None
    if len(leaves) > 1:
        remarks.append(
            f"{those[0].device} has {len(leaves)} queues side by side: the first is taken"
        )
    leaf = leaves[0]
    queue, about = parameters(leaf.kind, leaf.words, leaf.printed)
    remarks += about
    if any(one.kind in SHAPERS for one in those) and queue["aqm"] in ("red", "ared", "choke"):
        remarks.append(tc.ENTRIES[3].pitfalls[0])
    if leaf.sent is not None and leaf.sent + (leaf.dropped or 0):
        share = (leaf.dropped or 0) / (leaf.sent + (leaf.dropped or 0))
        remarks.append(f"it dropped {share:.2%} of {leaf.sent + (leaf.dropped or 0)} packets")
    own = queue.get("rate") if queue["aqm"] == "cake" else None
    if own is not None:
        rate = read_rate(leaf.words[leaf.words.index("bandwidth") + 1], {})
    ethernet = leaf.kind != "cake" or "raw" in leaf.words or "overhead" not in leaf.words
    return DeviceQueue(leaf.device, queue, rate, ethernet, tuple(remarks))


def parameters(
    kind: str, words: Sequence[str], printed: bool = True
) -> tuple[dict[str, Any], list[str]]:
    """A discipline of tc as a scenario's queue, and what was passed over."""
    if kind == "pfifo_fast":
        described = (
            "pfifo_fast is taken as one queue of the device's txqueuelen, 1,000 unless changed"
        )
        return {"aqm": "droptail", "limit": 1000}, [described]
    entry = _entry(kind, words)
    pairs, bare, remarks = _sorted(entry, words)
    given: dict[str, Any] = dict(entry.implies)
    for row in entry.rows:
        if row.kind is None or row.only == "write":
            continue
        if row.kind.bare:
            known = [word for word in bare if word in row.kind.words]
            if known:
                given[row.ours] = row.kind.read(known[0], given)
            elif printed and row.kind.read(row.kind.words[0], given) is True:
                given[row.ours] = False
        elif row.word in pairs and pairs[row.word] not in ("unlimited", ""):
            given[row.ours] = row.kind.read(pairs[row.word], given)
    if entry.profile:
        given["profile"] = entry.profile
    if kind == "red" and "ewma" not in pairs and "burst" not in pairs:
        remarks.append("w_q and max_p are not in this output, tc prints them with -d: defaults")
    if entry.name == "cake" and "interval" in given:
        given["target"] = given["interval"] / 20
    return {"aqm": entry.aqm, **written(entry.aqm, given)}, remarks


def _entry(kind: str, words: Sequence[str]) -> Entry:
    adaptive = "adaptive" in words or "adaptative" in words
    for entry in tc.ENTRIES:
        if entry.name == kind and ("adaptive" in entry.also) == adaptive:
            return entry
    names = ", ".join(dict.fromkeys(entry.name for entry in tc.ENTRIES))
    raise SpecError(f"there is no counterpart of tc's {kind} here: those of {names} are read")


def _sorted(entry: Entry, words: Sequence[str]) -> tuple[dict[str, str], list[str], list[str]]:
    """Words with their values, words alone, and sentences about those that are not known."""
    rows = {row.word for row in entry.rows if row.word}
    alone = {word for row in entry.rows if row.kind for word in row.kind.words} | set(entry.also)
    pairs: dict[str, str] = {}
    bare: list[str] = []
    remarks: list[str] = []
    i = 0
    while i < len(words):
        word = words[i]
        if word in rows and i + 1 < len(words):
            pairs[word] = words[i + 1]
            i += 1
        elif word in alone:
            bare.append(word)
        elif word in _KNOWN:
            i += _KNOWN[word]
        elif not re.match(r"[-+0-9.]", word):
            remarks.append(f"{word} has no counterpart here and is left out")
        i += 1
    return pairs, bare, remarks
