"""Traffic of common kinds of users, by one word. The numbers of people are our own
choice, without a source."""

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
            # Uploads that fill a home's line now and then: photos sent to a cloud.
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
            # Downloads that fill it: an update.
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
"""The traffic groups by the word after `--users`."""
RTT = {"household": "30 ms", "office": "30 ms", "phone": "40 ms"}
"""The round-trip time of the network without the access line, by the word after `--users`;
our own choice, without a source."""


def named(word: str) -> list[Traffic]:
    """A copy of the traffic groups that this word names."""
    if word not in USERS:
        hint = nearest(word, list(USERS))
        raise SpecError(f'no users "{word}"{hint} (known: {", ".join(USERS)}; or give --scenario)')
    return copy.deepcopy(USERS[word])


def scaled(traffic: list[Traffic], factor: float) -> list[Traffic]:
    """The traffic with each group's users, flows and rate of connections multiplied by `factor`; at
    least one user or flow is left."""
    made = copy.deepcopy(traffic)
    for group in made:
        for key in ("users", "flows"):
            if isinstance(number := group.get(key), int):
                group[key] = max(1, round(number * factor))
        if isinstance(rate := group.get("connections_per_s"), int | float):
            group["connections_per_s"] = rate * factor
    return made
