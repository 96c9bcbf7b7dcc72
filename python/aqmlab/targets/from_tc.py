"""Converts the output of `tc qdisc show`, or a `tc qdisc add` command, into a queue of a scenario.

It uses the tables of `tc.py` in the reverse direction. Counters are kept for remarks on the
scenario.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from aqmlab.errors import SpecError

from . import cake_words, gred_words, tc
from .tc_defaults import OF_TC_ALONE, passed_by_tc
from .tc_text import Seen, read
from .tc_words import COUNT
from .words import Entry, Given, written

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
    "root": 0,
    "bands": 1,
    "priomap": 16,
    "split_gso": 0,
    "no_split_gso": 0,
    "unlimited": 0,
    "offloaded": 0,
    "nat": 0,
    "wash": 0,
    "fwmark": 1,
}
"""Words that have no effect in aqmlab, and the number of values after each. (No address is
translated, no packet has a firewall mark, and no later queue reads the DSCP that `wash` clears.)"""
_SAYS = {
    "adaptive": "tc adapts nothing by adaptive (iproute2 since 5.7 sends it in TCA_RED_FLAGS; "
    "sch_red.c starts its timer by the older tc_red_qopt.flags alone): this is red with a "
    "fixed max_p; for an older tc write ared in place of red",
}
"""Remarks on words whose effect differs in aqmlab."""
_SAYS["adaptative"] = _SAYS["adaptive"]


def seen(text: str) -> list[Seen]:
    """All queue disciplines in a text of `tc`, without the classes."""
    return [one for one in read(text) if not one.is_class]


def parameters(
    kind: str, words: Sequence[str], printed: bool = True
) -> tuple[dict[str, Any], list[str]]:
    """A discipline of tc as a scenario's queue, and remarks on what was left out."""
    if kind == "pfifo_fast":
        described = (
            "pfifo_fast is taken as one queue of the device's txqueuelen, 1,000 unless changed"
        )
        return {"aqm": "droptail", "limit": 1000}, [described]
    if kind == "gred":
        return gred_words.parameters(words, printed, parameters)
    if kind in ("cake", "cake_mq"):
        words = cake_words.plain(words)
    entry = _entry(kind)
    pairs, bare, remarks = _sorted(entry, words)
    if not printed:
        passed, about = passed_by_tc(kind, pairs)
        pairs |= passed
        remarks += about
    given: dict[str, Any] = dict(entry.implies)
    if kind == "dualpi2" and pairs.get("step_thresh", "").endswith("p"):
        given["step_packets"] = int(COUNT.read(pairs.pop("step_thresh"), {}))
    for row in entry.rows:
        if row.kind is None or row.only == "write":
            continue
        if row.kind.bare:
            known = [word for word in bare if word in row.kind.words]
            if known:
                given[row.ours] = row.kind.read(known[-1], given)
            elif printed and row.kind.read(row.kind.words[0], given) is True:
                given[row.ours] = False
        elif row.word in pairs and pairs[row.word] not in ("unlimited", ""):
            given[row.ours] = _value(row.kind.read, row.word, pairs[row.word], given)
    if "red_max_th" not in given:
        # SFQ without RED in its queues has none of RED's parameters.
        given = {name: value for name, value in given.items() if not name.startswith("red_")}
    if entry.profile:
        given["profile"] = entry.profile
    if kind == "red" and "ewma" not in pairs and "burst" not in pairs:
        remarks.append("w_q and max_p are not in this output, tc prints them with -d: defaults")
    if entry.aqm == "cake":
        if "interval" in given:
            given["target"] = given["interval"] / 20
        if given.get("overhead", 0) < 0:
            below = given.pop("overhead")
            remarks.append(f"overhead {below} is less than none and is left out")
    return {"aqm": entry.aqm, **written(entry.aqm, given)}, remarks


def _value(read_value: Any, word: str, text: str, given: Given) -> object:
    try:
        return read_value(text, given)
    except (ValueError, OverflowError):
        raise SpecError(f'"{word} {text}" is no value that tc takes: give its output') from None


def _entry(kind: str) -> Entry:
    for entry in tc.ENTRIES:
        # Skips an entry for a word that has no effect in the kernel (`adaptive` of red): the kernel
        # runs the discipline without it.
        if entry.name == kind and not set(entry.also) & set(_SAYS):
            return entry
    names = ", ".join(dict.fromkeys(entry.name for entry in tc.ENTRIES))
    raise SpecError(f"there is no counterpart of tc's {kind} here: those of {names} are read")


def _sorted(entry: Entry, words: Sequence[str]) -> tuple[dict[str, str], list[str], list[str]]:
    """Words with their values, words without values, and remarks on unknown words."""
    rows = {row.word for row in entry.rows if row.word} | set(OF_TC_ALONE.get(entry.name, ()))
    alone = {word for row in entry.rows if row.kind for word in row.kind.words} | set(entry.also)
    pairs: dict[str, str] = {}
    bare: list[str] = []
    remarks: list[str] = []
    i = 0
    while i < len(words):
        word = words[i]
        if word in _SAYS:
            remarks.append(_SAYS[word])
        if word in rows and i + 1 < len(words):
            pairs[word] = words[i + 1]
            i += 1
        elif word in alone:
            bare.append(word)
        elif word in _KNOWN:
            i += _KNOWN[word]
        elif word not in _SAYS and not re.match(r"[-+0-9.]", word):
            remarks.append(f"{word} has no counterpart here and is left out")
        i += 1
    return pairs, bare, remarks
