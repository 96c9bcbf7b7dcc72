"""A scenario made of what `tc` printed: the line, its queues, and constructed users."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import tomlkit

from aqmlab.errors import SpecError
from aqmlab.simulator import engine

from .from_tc import DeviceQueue, queues
from .words import line_of, number

HEADER_BYTES = 14
"""Of Ethernet, which tc counts in every packet."""
RTT = "40 ms"
"""Besides the queue; constructed."""
_IFB = "ifb"


def of_output(text: str, rate: str | None) -> tuple[dict[str, Any], list[str]]:
    """The scenario, and remarks about what could not be taken over."""
    found = queues(text)
    ways = _ways(found)
    link: dict[str, Any] = {"name": "line"}
    remarks: list[str] = []
    for way, one in ways.items():
        key = "rate" if way == "forward" else "reverse_rate"
        known = line_of(rate) if rate is not None else one.rate
        if known is None:
            raise SpecError(f"{one.device}: the output has no rate: give the line's with --rate")
        link[key] = f"{number(known)} bit/s"
        link[way] = dict(one.queue)
        remarks += [f"{one.device}: {remark}" for remark in one.remarks]
    if any(one.ethernet for one in ways.values()):
        link |= {"framing": "ethernet", "header_bytes": HEADER_BYTES}
    scenario = {
        "name": "from-tc",
        "duration": "2 min",
        "warmup": "20 s",
        "network": {"rtt": RTT},
        "link": [link],
        "traffic": _users("reverse" if "forward" not in ways else "forward"),
        "record": {"queues": [f"line.{way}" for way in ways], "by_group": True},
    }
    if "reverse" in ways and "forward" not in ways:
        link["rate"] = link["reverse_rate"]
    engine.check(scenario)
    return scenario, remarks


def _ways(found: Sequence[DeviceQueue]) -> dict[str, DeviceQueue]:
    """Downloads pass an ifb device, uploads the device that it mirrors; one queue alone is
    forward."""
    down = [one for one in found if one.device.startswith(_IFB)]
    up = [one for one in found if not one.device.startswith(_IFB)]
    if down and up:
        return {"forward": down[0], "reverse": up[0]}
    return {"forward": found[0]}


def _users(way: str) -> list[dict[str, Any]]:
    """Four transfers without end and a call; constructed, to be replaced."""
    bulk = {"name": "bulk", "app": "bulk", "flows": 4, "tcp": {"profile": "linux"}}
    if way == "reverse":
        bulk["direction"] = "reverse"
    return [bulk, {"name": "talk", "app": "voip", "users": 1}]


def text(scenario: dict[str, Any], remarks: Sequence[str]) -> str:
    """The file, with the remarks as comments."""
    document = tomlkit.document()
    for line in (
        "Made by `aqmlab from-tc` of what tc printed. The round-trip time and the users are",
        "constructed: replace them. `aqmlab run` runs it.",
        *remarks,
    ):
        document.add(tomlkit.comment(line))
    for key, value in scenario.items():
        document[key] = value
    return tomlkit.dumps(document)
