"""Parses the text of `tc`: the output of `tc qdisc show` and `tc class show` (also with `-j`), and
commands.

Lines of 50,000 disciplines are read within a second: words are split at spaces, and only commands
are split as a shell does.
"""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from aqmlab.errors import SpecError

_COMMAND = re.compile(r"^\s*(?:[#$>]\s*)?(?:sudo\s+)?tc\s+(?:-\S+\s+)*(qdisc|class)\s")
_PRINTED = re.compile(r"^(?:(?:added|replaced|deleted)\s+)?(qdisc|class)\s")
NO_DEVICE = "DEV"
"""The name of the device if the text gives none."""
_COUNTED = re.compile(r"Sent \d+ bytes (\d+) pkts? \(dropped (\d+)")
_STAB = re.compile(r"^\s+(?:linklayer \S+\s+)?(?:overhead -?\d+\s+)?(?:mpu \d+\s+)?mtu \d+ tsize")
_PLACES = {"dev": 1, "parent": 1, "handle": 1, "classid": 1, "root": 0, "est": 2}
_JSON_TIMES = (
    "target",
    "interval",
    "tupdate",
    "ce_threshold",
    "rtt",
    "reset_timeout",
    "step-thresh-us",
)
_JSON_TIMES_MORE = ("evict_timeout", "latency", "rehash", "db")
_JSON_RATES = ("bandwidth", "rate", "ceil", "peakrate")
_JSON_WORDS = {
    "memory-limit": "memlimit",
    "step-thresh-us": "step_thresh",
    "step-thresh-pkts": "step_thresh",
    "min-qlen-step": "min_qlen_step",
    "coupling": "coupling_factor",
    "c-protection": "classic_protection",
}
_JSON_VALUES = {
    ("ack-filter", "enabled"): "ack-filter",
    ("ack-filter", "aggressive"): "ack-filter-aggressive",
    ("ack-filter", "disabled"): "no-ack-filter",
    ("drop-overload", "drop"): "drop_on_overload",
    ("drop-overload", "overflow"): "overflow",
    ("drop-early", "drop-enqueue"): "drop_enqueue",
    ("drop-early", "drop-dequeue"): "drop_dequeue",
    ("ecn-mask", "l4s-ect"): "l4s_ect",
    ("ecn-mask", "any-ect"): "any_ect",
}
_JSON_BARE = ("diffserv", "flowmode", "atm", "autorate")
"""Keys of cake's JSON output whose values are the words of the command."""


@dataclass(frozen=True)
class Seen:
    """One discipline or class in the text."""

    kind: str
    device: str
    handle: str
    parent: str
    words: Sequence[str]
    printed: bool = True
    """Whether the text is output of tc, not a command: output leaves out a switch that is off."""
    sent: int | None = None
    dropped: int | None = None
    stab: Mapping[str, str] = field(default_factory=dict)
    """The settings of the size table: linklayer, overhead, mpu."""
    is_class: bool = False


def read(text: str) -> list[Seen]:
    """Every discipline and class in the text."""
    stripped = text.lstrip()
    if stripped.startswith(("[", "{")):
        return list(_of_json(stripped))
    found = []
    for block in _blocks(text.replace("\r", "").replace("\\\n", " ").split("\n")):
        is_shown = _PRINTED.match(block[0].lstrip())
        found.append(_shown(block) if is_shown else _command(block[0]))
    return [one for one in found if one is not None]


def _blocks(lines: Sequence[str]) -> Iterator[list[str]]:
    """Blocks of lines: each begins with the line that names a discipline or class."""
    block: list[str] = []
    for line in lines:
        if ("qdisc" in line or "class" in line) and (
            _PRINTED.match(line.lstrip()) or _COMMAND.match(line)
        ):
            if block:
                yield block
            block = [line]
        elif block:
            block.append(line)
    if block:
        yield block


def _places(words: Sequence[str]) -> tuple[dict[str, str], list[str]]:
    """The position of a discipline (`dev`, `parent`, `handle`, …), and the words after it."""
    values: dict[str, str] = {}
    i = 0
    while i < len(words) and words[i] in _PLACES:
        count = _PLACES[words[i]]
        values[words[i]] = words[i + 1] if count and i + 1 < len(words) else ""
        i += 1 + count
    return values, list(words[i:])


def _shown(block: Sequence[str]) -> Seen | None:
    words = block[0].split()
    while words and words[0] in ("added", "replaced", "deleted"):
        words = words[1:]
    is_class, words = words[0] == "class", words[1:]
    if not words:
        return None
    kind, handle = words[0], words[1] if len(words) > 1 else ""
    places, tail = _places(words[2:])
    counted = next((found for line in block[1:8] if (found := _COUNTED.search(line))), None)
    sent, dropped = map(int, counted.groups()) if counted else (None, None)
    return Seen(
        kind,
        places.get("dev", NO_DEVICE),
        handle if is_class else handle.rstrip(":"),
        places.get("parent") or "root",
        tail,
        sent=sent,
        dropped=dropped,
        stab=_stab(block[1:2]),
        is_class=is_class,
    )


def _stab(line: Sequence[str]) -> dict[str, str]:
    """The settings of a size table, such as `linklayer atm overhead 44 mtu 2047 tsize 512`, which
    tc prints below a discipline with -d."""
    if not line or not _STAB.match(line[0] + " "):
        return {}
    words = line[0].split()
    return dict(zip(words[::2], words[1::2], strict=False))


def _split(line: str) -> list[str]:
    """A command's words; with an unmatched quote it is split at spaces only."""
    try:
        return shlex.split(line, comments=False)
    except ValueError:
        return line.split()


def _command(line: str) -> Seen | None:
    """The discipline or class of a command such as `tc qdisc replace dev eth0 [root | parent 1:1]
    [handle 10:] [stab …] red limit …`; None for commands that delete or show."""
    words = _split(line)
    at = next(i for i, word in enumerate(words) if word in ("qdisc", "class"))
    verb = words[at + 1] if at + 1 < len(words) else ""
    if verb in ("del", "delete", "show", "list", "ls", "get"):
        return None
    places, left = _places(words[at + 2 :])
    stab: dict[str, str] = {}
    if left and left[0] == "stab":
        left = left[1:]
        while len(left) > 1 and left[0] in ("linklayer", "overhead", "mpu", "mtu", "tsize"):
            stab[left[0]], left = left[1], left[2:]
    more, left = _places(left)
    places |= more
    if not left:
        raise SpecError(f'"{line.strip()}" names no discipline: give the whole command')
    is_class = words[at] == "class"
    handle = places.get("classid", "") if is_class else places.get("handle", "").rstrip(":")
    device, parent = places.get("dev") or NO_DEVICE, places.get("parent") or "root"
    return Seen(left[0], device, handle, parent, left[1:], False, stab=stab, is_class=is_class)


def _of_json(text: str) -> Iterator[Seen]:
    """The disciplines in the output of `tc -j qdisc show`, where sizes are in bytes, times in
    microseconds, rates in bytes per second."""
    try:
        made = json.loads(text)
    except ValueError as error:
        raise SpecError(
            f"this begins like the output of `tc -j`, but is no JSON: {error}"
        ) from None
    for one in made if isinstance(made, list) else [made]:
        if not isinstance(one, dict) or not isinstance(one.get("kind", one.get("class")), str):
            continue
        options = one.get("options")
        known = options if isinstance(options, dict) else {}
        is_class = "class" in one
        handle = str(one.get("handle", ""))
        sent, dropped = one.get("packets"), one.get("drops")
        yield Seen(
            str(one.get("kind", one.get("class"))),
            str(one.get("dev", NO_DEVICE)),
            handle if is_class else handle.rstrip(":"),
            str(one.get("parent") or "root"),
            list(_json_words(one if is_class else known)),
            sent=sent if isinstance(sent, int) else None,
            dropped=dropped if isinstance(dropped, int) else None,
            stab={key: str(value) for key, value in (one.get("stab") or {}).items()},
            is_class=is_class,
        )


def _json_words(options: Mapping[str, object]) -> Iterator[str]:
    selector = options.get("ce_threshold_selector")
    for key, value in options.items():
        if isinstance(value, str) and (key, value) in _JSON_VALUES:
            yield _JSON_VALUES[key, value]
        elif key in _JSON_BARE and isinstance(value, str):
            yield value
        elif key == "ce_threshold_selector":
            yield from (key, f"{selector}/{options.get('ce_threshold_mask', 0)}")
        elif key == "ce_threshold_mask" or value is False or isinstance(value, list | dict):
            continue
        elif value is True or value is None:
            yield key.replace("_", "-") if key == "split_gso" else key
        else:
            yield from (_JSON_WORDS.get(key, key), _json_value(key, value))


def _json_value(key: str, value: object) -> str:
    if isinstance(value, int | float) and key in (*_JSON_TIMES, *_JSON_TIMES_MORE):
        return f"{value}us"
    if isinstance(value, int | float) and key in _JSON_RATES:
        return f"{8 * value}bit"
    return str(value)
