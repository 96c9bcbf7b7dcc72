"""Cisco IOS and IOS XE: WRED in a policy map (command references, read; not run here)."""

from __future__ import annotations

import math
from collections.abc import Sequence

from .plan import DEVICE, UNDO, Lane
from .words import Entry, Given, Kind, Row

RELEASE = "IOS 12.2T and later, IOS XE (modular QoS; read, not run)"
GENERAL = (
    "platforms differ: some count bytes or time in thresholds, some take fewer precedences",
    "a policy works where packets wait: on a faster interface shape first (the second block)",
    "IOS's average is updated at arrivals; how it ages while idle is not published",
)
REMEDY = "; IOS has no discipline that measures delay (CoDel, PIE)"
MOST = 4096
"""The largest threshold, in packets."""

COUNT = Kind(lambda value, _: str(min(MOST, max(1, round(value)))), lambda text, _: float(text))
LIMIT = Kind(lambda value, _: f"{round(value)} packets", lambda text, _: int(text.split()[0]))
WEIGHT = Kind(lambda value, _: str(round(-math.log2(value))), lambda text, _: 2.0 ** -int(text))
DENOMINATOR = Kind(lambda value, _: str(max(1, round(1 / value))), lambda text, _: 1 / int(text))
WHOLE = Kind(lambda value, _: str(round(value)), lambda text, _: float(text))
ECN = Kind(lambda value, _: "ecn" if value else "", lambda text, _: text == "ecn", bare=True)

_COMMON = (
    Row("limit", "queue-limit", LIMIT),
    Row("ecn", "random-detect", ECN),
    Row("min_th", "min", COUNT, note=f"whole, 1 to {MOST}"),
    Row("max_th", "max", COUNT, note=f"whole, 1 to {MOST}"),
)
ENTRIES = (
    Entry(
        "droptail",
        "tail",
        (Row("limit", "queue-limit", LIMIT), Row("limit_bytes")),
        implies={"from_front": False},
    ),
    Entry(
        "red",
        "random-detect",
        (
            *_COMMON,
            Row("w_q", "random-detect exponential-weighting-constant", WEIGHT, note="2^-n"),
            Row("max_p", "denominator", DENOMINATOR, note="one over a whole number"),
            Row("gentle", always=False),
            Row("queue_in_bytes", always=False),
            Row("byte_probability", always=False),
            Row("wait", always=False),
        ),
        pitfalls=(
            "without random-detect precedence lines each precedence has another lower threshold: "
            "here all eight are written alike, which is RED",
        ),
    ),
    Entry(
        "wred",
        "random-detect",
        (
            *_COMMON,
            Row("n", "random-detect exponential-weighting-constant", WHOLE),
            Row("mpd", "denominator", WHOLE, note="a whole number"),
        ),
    ),
)
_LINES = ("queue-limit", "random-detect exponential-weighting-constant")
CLASSES = 8


NATIVE = ("droptail", "red", "wred")


def frame(lane: Lane) -> list[tuple[str, list[str]]]:
    """The lines for one queue: a policy map, and one that shapes and contains it."""
    body = _policy("QUEUE", lane.entry, lane.words, lane.given)
    own = ["interface DEV", " service-policy output QUEUE"]
    shaped = [*_shaper("LINE", "QUEUE", lane.line), "interface DEV", " service-policy output LINE"]
    return [("the queue", body), ("DEV is the slow link itself", own), ("or shape first", shaped)]


def arrange(lanes: Sequence[Lane], dev: str = DEVICE) -> list[tuple[str, list[str]]]:
    """The policy maps for each direction; that of downloads is at the interface towards the
    users."""
    blocks = []
    for lane in lanes:
        name = lane.way.upper()
        body = _policy(f"QUEUE-{name}", lane.entry, lane.words, lane.given)
        port = f"LAN-{dev}" if lane.down and lane.shaped else lane.device(dev)
        policy = f"QUEUE-{name}"
        if lane.shaped:
            body += _shaper(f"LINE-{name}", policy, lane.line)
            policy = f"LINE-{name}"
        side = "users" if port.startswith("LAN") else "line"
        title = f"{lane.way}; {port} is the interface towards the {side}"
        blocks.append((title, [*body, f"interface {port}", f" service-policy output {policy}"]))
    return blocks


def unsaid(lane: Lane) -> list[str]:
    """Properties of the line that a policy map cannot express."""
    if lane.framing.bare or not lane.shaped:
        return []
    return ["shape average counts the interface's own frames, not the line's framing"]


def undone(lanes: Sequence[Lane], dev: str) -> str:
    """The sentence on how to remove the configuration."""
    del lanes, dev
    return f"{UNDO}write no before each service-policy line of the interfaces"


def _shaper(name: str, policy: str, line: str) -> list[str]:
    return [
        f"policy-map {name}",
        " class class-default",
        f"  shape average {line}",
        f"  service-policy {policy}",
    ]


def _policy(name: str, entry: Entry, words: list[str], given: Given) -> list[str]:
    said = dict(zip(words[::2], words[1::2], strict=True))
    body = [f"policy-map {name}", " class class-default"]
    if entry.name != "tail":
        body.append("  random-detect")
        body += [f"  random-detect precedence {i} {_curve(i, said, given)}" for i in range(CLASSES)]
    body += [f"  {word} {said[word]}" for word in _LINES if word in said]
    if said.get("random-detect") == "ecn":
        body.append("  random-detect ecn")
    return body


def _curve(precedence: int, described: dict[str, str], given: Given) -> str:
    """`min max denominator` of a precedence; for RED all precedences are equal."""
    low = float(described["min"])
    high = float(described["max"])
    spacing = given.get("spacing", "same")
    if spacing == "even":
        low = math.floor(low + precedence * (high - low) / 9)
    elif spacing == "sixteenths":
        low += precedence * high / 16
    lowest = given.get(f"min_th_{precedence}", low)
    highest = given.get(f"max_th_{precedence}", high)
    denominator = given.get(f"mpd_{precedence}", described["denominator"])
    return f"{round(lowest)} {round(highest)} {round(float(denominator))}"
