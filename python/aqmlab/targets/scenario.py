"""Makes a scenario from the output of `tc`: the line and its queues, with users of
our own choice."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, cast

import tomlkit

from aqmlab.errors import SpecError
from aqmlab.simulator import engine
from aqmlab.simulator.forms import Link, Scenario, Traffic

from . import devices, sqm_config
from .words import line_of, number

RTT = "40 ms"
"""Round-trip time without queues; our own choice, without a source."""


def of_output(text: str, rate: str | None, device: str | None = None) -> tuple[Scenario, list[str]]:
    """The scenario, and remarks about what could not be taken over.

    Args:
        text: Output or commands of tc, or the configuration of OpenWrt's SQM.
        rate: The line's rate, if the text does not give it.
        device: The device whose queue is wanted; by default one with a shaper.
    """
    if sqm_config.is_config(text):
        ways, remarks = sqm_config.ways(text, device)
    else:
        ways, remarks = devices.ways(text, device)
    link: dict[str, Any] = {"name": "line"}
    for way, one in ways.items():
        key = "rate" if way == "forward" else "reverse_rate"
        known = line_of(rate) if rate is not None else one.rate
        if known is None:
            raise SpecError(f"{one.device}: the output has no rate: give the line's with --rate")
        link[key] = f"{number(known)} bit/s"
        link[way] = dict(one.queue)
        said = [remark for remark in one.remarks if rate is None or "--rate" not in remark]
        remarks += [f"{one.device}: {remark}" for remark in said]
    framings = [one.link for one in ways.values()]
    link |= next((known for known in framings if known), {})
    if any(known != framings[0] for known in framings):
        remarks.append("the two directions frame packets differently: one framing is taken")
    scenario: Scenario = {
        "name": "from-tc",
        "duration": "2 min",
        "warmup": "20 s",
        "network": {"rtt": RTT},
        "link": [cast(Link, link)],
        "traffic": _users(),
        "record": {"queues": [f"line.{way}" for way in ways], "by_group": True},
    }
    engine.check(scenario)
    return scenario, remarks


def _users() -> list[Traffic]:
    """The traffic: four endless transfers and a call. They are our own choice, for the user to
    replace."""
    bulk: Traffic = {"name": "bulk", "app": "bulk", "flows": 4, "tcp": {"profile": "linux"}}
    return [bulk, {"name": "talk", "app": "voip", "users": 1}]


def text(scenario: Scenario, remarks: Sequence[str]) -> str:
    """The text of the scenario's file, with the remarks as comments."""
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
