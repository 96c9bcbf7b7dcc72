"""The line that needs advice: a scenario, and the position at which a queue can be put into it."""

from __future__ import annotations

import copy
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, cast

from aqmlab.errors import SpecError
from aqmlab.experiment.experiment import load
from aqmlab.simulator import engine
from aqmlab.simulator.forms import Link, Queue, Scenario, Traffic, without

from . import users

AT_HOME = ("dsl", "adsl", "cable", "docsis", "fibre", "satellite", "leo")
"""Kinds of access whose own queues users cannot set: a router before them shapes."""
ROUTER = "router"
LINE = "line"
OTHER_NAMES = {"fiber": "fibre", "ftth": "fibre", "gpon": "fibre", "vdsl": "dsl"}
"""Other names that a user may give for a kind of access, with the kind's own name."""
CELLS = {"5g": (106, 186e6), "lte-cell": (100, 68e6)}
"""Cellular links: number of resource blocks, and the downstream rate in bit/s that these carry with
the default UEs of that access."""
SCALABLE = ("prague",)
"""Congestion controls that send ECT(1) and want a scalable queue (RFC 9331)."""


@dataclass(frozen=True)
class Situation:
    """An access line with its users: the scenario for which advice is given."""

    scenario: Scenario
    """The scenario with today's queue, without a seed."""
    place: str
    """Where a queue can be put: `router` (behind a shaper before the line) or `line`."""
    directions: tuple[str, ...] = ("forward", "reverse")
    described: str = ""
    """The situation in a few words, for people."""

    @property
    def line(self) -> Link:
        """The link that is advised on."""
        return self.scenario["link"][0]

    def rate(self, direction: str) -> float:
        """The line's rate in bit/s; the nominal rate if it changes."""
        resolved = engine.check({**self.scenario, "seed": 1})["link"][0]
        key = "rate" if direction == "forward" else "reverse_rate"
        return engine.quantity(resolved.get(key) or resolved["rate"], "rate")

    @property
    def wanders(self) -> bool:
        """Whether the line's rate changes during a run: runs at a misstated rate are then
        omitted."""
        line = engine.check({**self.scenario, "seed": 1})["link"][0]
        changes = (line.get("rate_trace"), line.get("rate_steps"))
        return any(change not in (None, "none", []) for change in changes)

    @property
    def scalable(self) -> bool:
        """Whether a sender uses a scalable congestion control."""
        groups = engine.check({**self.scenario, "seed": 1})["traffic"]
        senders = [tcp for group in groups if isinstance(tcp := group.get("tcp"), Mapping)]
        return any(sender.get("congestion") in SCALABLE for sender in senders)

    @property
    def classes(self) -> bool:
        """Whether any packet carries a DSCP other than the default."""
        groups = engine.check({**self.scenario, "seed": 1})["traffic"]
        return any(group.get("dscp", "default") != "default" for group in groups)

    def loaded(self, factor: float) -> Situation:
        """This situation with `factor` times the people."""
        traffic = users.scaled(list(self.scenario["traffic"]), factor)
        return replace(self, scenario={**self.scenario, "traffic": traffic})

    def on_line_of(self, factor: float) -> Situation:
        """This situation on a line of `factor` times the rate."""
        resolved = engine.check({**self.scenario, "seed": 1})["link"][0]
        line = {**self.line, **_channel_times(resolved, factor)}
        for way, key in (("forward", "rate"), ("reverse", "reverse_rate")):
            line[key] = f"{self.rate(way) * factor:.0f} bit/s"
        return replace(self, scenario={**self.scenario, "link": [line, *self.scenario["link"][1:]]})

    def with_queue(self, queues: Mapping[str, Queue], shares: Mapping[str, float]) -> Scenario:
        """The scenario with another queue in each direction (`forward`, `reverse`).

        At a router the queue belongs to a shaper at a share of the line's rate, and the line keeps
        its own queue; at the line the queue replaces the line's own.
        """
        made = copy.deepcopy(without(self.scenario))
        if self.place == LINE:
            ways = {way: dict(queues[way]) for way in self.directions}
            made["link"][0] = cast(Link, {**made["link"][0], **ways})
            return made
        router: dict[str, Any] = {"name": ROUTER}
        if framing := engine.check({**made, "seed": 1})["link"][0].get("framing"):
            router["framing"] = framing
        for way in ("forward", "reverse"):
            key = "rate" if way == "forward" else "reverse_rate"
            router[key] = f"{self.rate(way) * shares.get(way, 1.0):.0f} bit/s"
            if way in queues:
                router[way] = dict(queues[way])
        made["link"].append(cast(Link, router))
        return made


def of_words(rate: str, access: str | None, who: str, place: str | None) -> Situation:
    """A line given by its rates (`down/up`), its kind and its users."""
    # The slash of "50 Mbit/s" does not separate two rates: only one before a digit does.
    down, *more = re.split(r"\s*/\s*(?=[\d.])", rate.strip(), maxsplit=1)
    up = "".join(more)
    unit = "".join(c for c in (up or down) if not (c.isdigit() or c in ". "))
    down = down if any(c.isalpha() for c in down) else f"{down} {unit}".strip()
    line: dict[str, Any] = {"name": LINE, "rate": _rate(down)}
    line |= {"reverse_rate": _rate(up)} if up else {}
    if access is not None:
        access = OTHER_NAMES.get(access.lower(), access)
        line["access"] = access
        line |= channel_of(access, line["rate"], line.get("reverse_rate", line["rate"]))
    else:
        line["framing"] = "ethernet"
    scenario: Scenario = {
        "duration": "240 s",
        "warmup": "20 s",
        "network": {"rtt": users.RTT.get(who, "30 ms")},
        "link": [cast(Link, line)],
        "traffic": users.named(who),
    }
    described = f"{rate}{f' {access}' if access else ''}, {who}"
    upload = resolved(line).get("reverse_rate")
    if upload and not up:
        mbit = engine.quantity(upload, "rate") / 1e6
        described += f", {mbit:g} Mbit/s up (assumed: give DOWN/UP)"
    if place is None:
        place = ROUTER if access in AT_HOME else LINE
    return _checked(Situation(scenario, place, described=described))


def resolved(line: Mapping[str, Any]) -> Link:
    """A line completed by the defaults of its kind of access."""
    traffic = [{"app": "bulk", "flows": 1}]
    scenario = {"duration": "1 s", "seed": 1, "link": [line], "traffic": traffic}
    return engine.check(scenario)["link"][0]


def channel_of(access: str, down: str, up: str) -> dict[str, Any]:
    """The channel of an access link that has these rates.

    A cell gets enough resource blocks, a DOCSIS channel twice the upstream rate (100 Mbit/s at
    least). The rate of Wi-Fi is the physical layer's rate of two stations; a far third one has a
    twentieth of it.
    """
    forward, reverse = (engine.quantity(text, "rate") for text in (down, up))
    if access in CELLS:
        blocks, carried = CELLS[access]
        return {"cell": {"blocks": max(1, round(blocks * forward / carried))}}
    if access == "docsis":
        return {"docsis": {"channel": f"{max(1e8, 2 * reverse):.0f} bit/s"}}
    if access == "wifi":
        return {"wifi": {"rates": [down, down, f"{forward / 20:.0f} bit/s"]}}
    return {}


def _channel_times(line: Link, factor: float) -> dict[str, Any]:
    """The channel of a complete link with `factor` times its capacity. A cell's or Wi-Fi's capacity
    is independent of the link's own rate; a DOCSIS link needs nothing, since its rate is the
    limit."""
    if cell := line.get("cell"):
        return {"cell": {**cell, "blocks": max(1, round(cell["blocks"] * factor))}}
    if wifi := line.get("wifi"):
        rates = (engine.quantity(rate, "rate") * factor for rate in wifi["rates"])
        return {"wifi": {**wifi, "rates": [f"{rate:.0f} bit/s" for rate in rates]}}
    return {}


def _rate(text: str) -> str:
    """A rate in tc's notation (`50mbit`) as a scenario writes it (`50 Mbit/s`)."""
    low = text.lower().removesuffix("/s").replace(" ", "")
    for word, unit in (
        ("gbit", "Gbit/s"),
        ("mbit", "Mbit/s"),
        ("kbit", "kbit/s"),
        ("bit", "bit/s"),
    ):
        if low.endswith(word):
            return f"{low.removesuffix(word)} {unit}"
    return text


def of_file(file: Path, place: str | None, directions: Sequence[str] = ("forward",)) -> Situation:
    """The situation of a scenario file, whose first link is the line; offered loads are replaced by
    numbers of users before it is run."""
    experiment = load(file)
    if not experiment.swept or any(group.axes for group in experiment.group):
        raise SpecError(f"{file} is no single scenario: leave [sweep] and [[group]] out")
    return of_scenario(experiment.scenario, place, file.stem, directions)


def at_rate(found: Situation, rate: str, access: str | None) -> Situation:
    """The situation on a line of these rates, with its users."""
    other = of_words(rate, access, "household", found.place)
    scenario = {**found.scenario, "link": other.scenario["link"]}
    return replace(found, scenario=scenario, described=f"{rate}, {found.described}")


def of_scenario(
    scenario: Scenario,
    place: str | None,
    described: str,
    directions: Sequence[str] = ("forward",),
) -> Situation:
    """The situation of a scenario, whose first link is the line."""
    bare = without(scenario, "seed", "name")
    return _checked(Situation(bare, place or LINE, tuple(directions), described))


def _checked(situation: Situation) -> Situation:
    if situation.place not in (LINE, ROUTER):
        raise SpecError(f'no place "{situation.place}": give line or router')
    if situation.place == ROUTER and len(situation.scenario["link"]) > 1:
        raise SpecError("a router stands before a single link: give --place line")
    record = {"responses": False, "datagrams": False, "samples": False}
    scenario: Scenario = {**situation.scenario, "record": record}
    engine.check({**scenario, "seed": 1, "traffic": _requested(scenario["traffic"])})
    return replace(situation, scenario=scenario)


def _requested(traffic: Sequence[Traffic]) -> list[Traffic]:
    """The traffic with one user in place of each load, which is enough to check everything else."""
    return [
        {**without(group, "load"), "users": 1} if "load" in group else without(group)
        for group in traffic
    ]
