"""Describes a scenario in words: rates and times as people write them, senders, queues.

Scenarios may be as written in a file or complete; values that a scenario leaves out are left out
here as well.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from aqmlab import units
from aqmlab.errors import SpecError
from aqmlab.simulator import engine
from aqmlab.simulator.forms import Link, Queue, Traffic

_RATES = ((1e9, "Gbit/s"), (1e6, "Mbit/s"), (1e3, "kbit/s"), (1.0, "bit/s"))
_BYTES = ((1e6, "MB"), (1e3, "kB"), (1.0, "B"))


def rate(value: object) -> str:
    """A line rate as text, in the largest unit in which it is at least 1."""
    try:
        bits = units.bits_per_s(value)
    except SpecError:
        return str(value)
    return _scaled(bits, _RATES)


def line_rate(link: Link, prefix: str = "") -> str:
    """The line rate in one direction of a link, or the range in which it changes, as text; `prefix`
    is empty for the forward direction, else `reverse_`."""
    nominal, steps, trace = (link.get(f"{prefix}{name}") for name in ("rate", *_CHANGES))
    if steps:
        ends = [extreme((r for _, r in steps), key=_bits) for extreme in (min, max)]
        return " to ".join(map(rate, ends))
    if isinstance(trace, Mapping):
        return f"about {rate(nominal)}" if "model" in trace else _recorded(trace)
    return rate(nominal)


def _recorded(trace: Mapping[str, Any]) -> str:
    """The smallest and the largest rate of a recorded table of rates, as text; a recording of
    transmission opportunities has no rates."""
    shown = engine.trace(trace["text"]) if "text" in trace else None
    if shown is None or shown["format"] != "table":
        return "rate by trace"
    of = next(column for column in shown["series"] if column["name"] == "rate")
    return " to ".join(rate(f"{of[end]:.0f} bit/s") for end in ("min", "max"))


_CHANGES = ("rate_steps", "rate_trace")


def _bits(value: str) -> float:
    """A rate in bit/s; 0 for a text such as "0 Mbit/s", which is not valid as a link's rate."""
    try:
        return units.bits_per_s(value)
    except SpecError:
        return 0.0


def time(value: object) -> str:
    """A time as text: in milliseconds if it is below a second, in minutes if it is a whole number
    of at least two minutes, otherwise in seconds."""
    try:
        seconds = units.seconds(value)
    except SpecError:
        return str(value)
    if seconds >= 120 and seconds % 60 == 0:
        return f"{seconds / 60:g} min"
    return f"{seconds:g} s" if seconds >= 1 else f"{1000 * seconds:g} ms"


def _scaled(value: float, scale: tuple[tuple[float, str], ...]) -> str:
    factor, unit = next(((f, u) for f, u in scale if value >= f), scale[-1])
    return f"{value / factor:g} {unit}"


def size(value: object) -> str:
    """A number of bytes as text, in B, kB or MB; a text is returned unchanged."""
    return _scaled(value, _BYTES) if isinstance(value, int | float) else str(value)


def queue(value: object) -> list[str]:
    """Lines on a queue discipline: its name with its preset or profile, then thresholds and
    limit."""
    if value is None:
        return []
    given: Queue = value if isinstance(value, Mapping) else {"aqm": value}
    described = given.get("aqm", "")
    name = "drop-tail" if described == "droptail" else str(described)
    if isinstance(described, Mapping):
        name = str(described.get("name", ""))  # the table of a user's own discipline
    choice = given.get("preset") or given.get("profile")
    lines = [f"{name}, {choice}" if choice else name]
    details = []
    if "min_th" in given and "max_th" in given:
        details.append(f"({_plain(given['min_th'])}, {_plain(given['max_th'])})")
    if "limit" in given:
        details.append(f"{_plain(given['limit'])} packets")
    elif "limit_bytes" in given:
        details.append(size(given["limit_bytes"]))
    return lines + ([", ".join(details)] if details else [])


def _plain(value: object) -> str:
    return f"{value:,g}" if isinstance(value, int | float) else str(value)


_USERS = ("user", "users")
"""Singular and plural of the word for a traffic group's sources, if its application gives none."""


def group(one: Traffic, counted: bool = True) -> str:
    """A text on a traffic group: "3,000 users (web, mah-fit)", "voice: 1 constant-rate stream".

    Without `counted` the number of users or flows is left out, because it differs from run to run.
    """
    app = str(one.get("app", ""))
    count = one.get("users", one.get("flows"))
    single, several = (engine.application(app) or {}).get("noun", _USERS)
    members = single if count == 1 and counted else several
    if counted and count is not None:
        text = f"{count:,} {members}" if isinstance(count, int) else f"{count} {members}"
    elif "connections_per_s" in one:
        rate = _plain(one["connections_per_s"]) if counted else "a varied number of"
        text = f"{rate} connections/s"
    else:
        text = members if counted else f"a varied number of {members}"
    if counted and count is None and "load" in one:
        text += f" for {_percent(one['load'])} load"
    kind = [app] if several == _USERS[1] else []
    kind += [str(one.get(key)) for key in ("model", "preset") if one.get(key) not in (None, app)]
    if app == "burst" and "bytes" in one:
        kind.append(f"{size(one['bytes'])} each")
    text += f" ({', '.join(kind)})" if kind else ""
    name = one.get("name")
    known = (None, app, one.get("model"), one.get("preset"))
    return text if name in known or _numbered(name, app) else f"{name}: {text}"


def _numbered(name: object, app: str) -> bool:
    """Whether this is the default name of a group without a name, such as unc0 or web1."""
    text = str(name)
    return bool(app) and text.startswith(app) and text[len(app) :].isdigit()


def _percent(load: object) -> str:
    if isinstance(load, int | float):
        return f"{100 * load:g} %"
    return re.sub(r"\s*%", " %", str(load))


def round_trips(value: object) -> str:
    """The propagation times of the machines' own paths, without the links, as text: "" if there are
    none."""
    if isinstance(value, Mapping):
        each = {
            "pair": "one per pair of machines",
            "source": "one per user or flow",
            "connection": "one per connection",
        }
        ends = f"{time(value.get('min'))} to {time(value.get('max'))}"
        return f"{ends}, {each.get(value.get('draw', 'pair'), 'drawn')}"
    text = "" if value is None else time(value)
    return "" if text in ("", "0 ms") else f"{text}, the same for all"


def _sends_datagrams(one: Traffic) -> bool:
    about = engine.application(one.get("app"))
    return about is not None and about.get("datagrams", False)


def end_systems(traffic: Sequence[Traffic]) -> str:
    """The TCP profiles of the traffic; if there are several, each with the names of its groups."""
    profiles: dict[str, list[str]] = {}
    for one in traffic:
        tcp = one.get("tcp")
        profile = tcp.get("profile") if isinstance(tcp, Mapping) else tcp
        if profile is not None and not _sends_datagrams(one):
            profiles.setdefault(str(profile), []).append(str(one.get("name", one.get("app"))))
    if len(profiles) == 1:
        return next(iter(profiles))
    return ", ".join(f"{profile} ({', '.join(names)})" for profile, names in profiles.items())
