"""Who uses the line: a few words for the usual cases. Numbers of people are constructed."""

from __future__ import annotations

import copy

from aqmlab.errors import SpecError, nearest
from aqmlab.simulator.forms import Traffic

_TODAY = {"profile": "linux"}

USERS: dict[str, list[Traffic]] = {
    "household": [
        {"name": "web", "app": "web-2024", "users": 6, "tcp": _TODAY},
        {"name": "film", "app": "video", "users": 2, "tcp": _TODAY},
        {
            # What fills a home's upload now and then: photos on their way to a cloud.
            "name": "photos",
            "app": "loop",
            "model": "ftp",
            "reply": "1 kB",
            "request": {"dist": "constant", "value": "4 MB"},
            "think": {"dist": "exponential", "mean": "10 s"},
            "flows": 1,
            "tcp": _TODAY,
        },
        {
            # And its download: an update.
            "name": "update",
            "app": "loop",
            "model": "ftp",
            "reply": {"dist": "constant", "value": "40 MB"},
            "think": {"dist": "exponential", "mean": "10 s"},
            "flows": 1,
            "tcp": _TODAY,
        },
        {"name": "talk", "app": "voip", "users": 2},
    ],
    "office": [
        {"name": "web", "app": "web-2024", "users": 20, "tcp": _TODAY},
        {"name": "talk", "app": "voip", "users": 4},
    ],
    "phone": [
        {"name": "web", "app": "web-2024", "users": 1, "tcp": _TODAY},
        {"name": "film", "app": "video", "users": 1, "tcp": _TODAY},
        {"name": "talk", "app": "voip", "users": 1},
    ],
}
"""By the word after --users."""
RTT = {"household": "30 ms", "office": "30 ms", "phone": "40 ms"}
"""Besides the access; constructed."""


def named(word: str) -> list[Traffic]:
    """A copy of the traffic of that name."""
    if word not in USERS:
        hint = nearest(word, list(USERS))
        raise SpecError(f'no users "{word}"{hint} (known: {", ".join(USERS)}; or give --scenario)')
    return copy.deepcopy(USERS[word])


def scaled(traffic: list[Traffic], factor: float) -> list[Traffic]:
    """`factor` times the people: every group's number, at least one, of flows as well."""
    made = copy.deepcopy(traffic)
    for group in made:
        for key in ("users", "flows"):
            if isinstance(number := group.get(key), int):
                group[key] = max(1, round(number * factor))
        if isinstance(rate := group.get("connections_per_s"), int | float):
            group["connections_per_s"] = rate * factor
    return made
