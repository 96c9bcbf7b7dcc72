"""Names of measures that have changed: the former ones still work for a version.

A change of a name is one line of `FORMER` here and an entry under *Numbers and names that move* in
CHANGELOG.md. A former name then works as a key of every summary, as the last part of a path in TOML
(`summary = "…"`), in an objective, in a plot and in `aqmlab describe`.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from typing import Any

from aqmlab.errors import Renamed

FORMER: Mapping[str, str] = {
    # Renamed in 0.1; to be removed in the next version but one.
    "wait_mean_s": "queue_delay_mean_s",
    "drops_again": "retransmissions_dropped",  # renamed in 0.1
}
"""Former names and the names in force."""


def current(path: str, stacklevel: int = 2) -> str:
    """The path of a number in a summary, with the name in force for a measure. If the path has a
    former name of the measure, the user is warned."""
    place, dot, name = path.rpartition(".")
    if name not in FORMER:
        return path
    note(name, FORMER[name], stacklevel + 1)
    return f"{place}{dot}{FORMER[name]}"


def note(former: str, now: str, stacklevel: int = 2) -> None:
    """Warns the user of a former name."""
    sentence = f"{former} is called {now} now; the former name works for one more version"
    warnings.warn(sentence, Renamed, stacklevel + 1)


Numbers = Mapping[str, Any]
"""A summary, or a table inside one, for reading only: numbers and texts by the names of the
registry of measures (docs/results.md), tables by the names of ports and groups."""


class Summary(dict[str, Any]):
    """A summary, or a table inside one. Former names work as keys, but are not listed."""

    __slots__ = ()

    def __missing__(self, key: str) -> Any:
        name = FORMER.get(key)
        if name is None or name not in self.keys():
            raise KeyError(key)
        note(key, name, 3)
        return self[name]

    def get(self, key: str, default: Any = None) -> Any:
        """The value of a key, else `default`, as `dict.get`; a former name of a measure gives the
        value under the name in force."""
        try:
            return self[key]
        except KeyError:
            return default

    def __contains__(self, key: object) -> bool:
        return dict.__contains__(self, key) or dict.__contains__(self, FORMER.get(key))  # pyright: ignore[reportArgumentType]


def with_former(numbers: Numbers) -> dict[str, Any]:
    """A copy for readers of JSON, with former names added after the names in force, also within
    dotted paths."""
    listed = {
        name: with_former(value) if isinstance(value, Mapping) else value
        for name, value in numbers.items()
    }
    former = {}
    for name, value in listed.items():
        place, dot, last = name.rpartition(".")
        former |= {f"{place}{dot}{old}": value for old, now in FORMER.items() if now == last}
    return listed | former
