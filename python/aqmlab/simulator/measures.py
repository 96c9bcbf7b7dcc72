"""The simulator's registry of measures: name, meaning and unit of each number of a summary."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from typing import Any

from aqmlab.errors import nearest

from . import engine
from .forms import Measure
from .renamed import current


def _of_the_machine(name: str, title: str, unit: str, summary: str) -> Measure:
    about: Measure = {"name": name, "title": title, "shown": unit, "scale": 1.0, "digits": 1}
    return {**about, "summary": summary, "interval": "whole run", "unit": unit}


MACHINES = (
    _of_the_machine("wall_s", "elapsed time", "s", "wall-clock time of the run"),
    _of_the_machine(
        "cpu_s",
        "CPU time",
        "s",
        "CPU time of the run; none where code of a user's own or real stacks ran",
    ),
    _of_the_machine(
        "data_packets_per_wall_s", "speed", "packets/s", "`data_packets` over `wall_s`"
    ),
)
"""Numbers of a summary about the machine's speed, which are no measures of the network."""


def _of_a_live_run(name: str, title: str, summary: str) -> Measure:
    where = f"live.{name}"
    about: Measure = {"name": where, "title": title, "shown": "%", "scale": 100.0, "digits": 1}
    return {**about, "summary": summary, "interval": "whole run", "unit": "share"}


LIVE = (
    _of_a_live_run("cpu_share", "router", "of a core, by the router of a live run"),
    _of_a_live_run(
        "users_cpu_share.clients", "users, clients", "of a core, by users' programs of a live run"
    ),
    _of_a_live_run("users_cpu_share.servers", "users, servers", "the same on the servers' side"),
)
"""Measures that only a live run has: the CPU shares of its programs."""


def registered() -> list[Measure]:
    """Every measure that a summary may have."""
    return [*engine.catalogue().get("measures", []), *MACHINES, *LIVE]


def find(path: str) -> Measure | None:
    """The measure of the number at `path` of a summary (`ports.bottleneck.forward.drops`)."""
    path = current(path)
    exact, patterns = _places(id(engine.catalogue()))
    if path in exact:
        return exact[path]
    return next((measure for pattern, measure in patterns if pattern.fullmatch(path)), None)


def unknown(path: str) -> str | None:
    """The error message for a name that no summary has; None if there is such a measure."""
    if not engine.catalogue().get("measures") or find(path) is not None:
        return None
    last = path.rpartition(".")[2]
    hint = nearest(path, list(_names())) or nearest(last, list(_names()))
    return f'no measure "{path}"{hint} (`aqmlab list measures` shows all)'


def defaults(path: str) -> dict[str, Any]:
    """The default title, unit, scale and digits of a metric that shows the measure at `path`."""
    measure = find(path)
    if measure is None:
        return {}
    title = measure["title"]
    return {
        "title": title[:1].upper() + title[1:],
        "unit": measure["shown"],
        "scale": measure["scale"],
        "digits": measure["digits"],
    }


def _names() -> Iterator[str]:
    for measure in registered():
        yield measure["name"]
        yield from measure.get("also", [])


@cache
def _places(_: int) -> tuple[dict[str, Measure], list[tuple[re.Pattern[str], Measure]]]:
    """The measures by name, and by pattern if the name contains that of a group or port."""
    exact: dict[str, Measure] = {}
    patterns = []
    for measure in registered():
        for name in (measure["name"], *measure.get("also", [])):
            if "<" in name:
                parts = (".+" if "<" in part else re.escape(part) for part in _parts(name))
                patterns.append((re.compile("".join(parts)), measure))
            else:
                exact[name] = measure
    return exact, patterns


def _parts(name: str) -> list[str]:
    return re.split(r"(<[^>]*>)", name)
