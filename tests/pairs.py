"""Scenarios that cover what the registries offer: every two choices that go together meet."""

from __future__ import annotations

import itertools
import json
import random
from collections.abc import Iterator
from typing import Any

from aqmlab.errors import AqmlabError
from aqmlab.simulator import engine

FACTORS: tuple[str, ...] = ("profile", "recovery", "congestion", "app")
Case = dict[str, str | None]


def scenario(group: dict[str, Any]) -> dict[str, Any]:
    return {
        "duration": "0.4 s",
        "warmup": "0.1 s",
        "network": {"rtt": "20 ms"},
        "link": [{"name": "line", "rate": "2 Mbit/s", "forward": {"aqm": "droptail", "limit": 8}}],
        "traffic": [group],
    }


def accepted(group: dict[str, Any]) -> bool:
    try:
        engine.check(scenario(group))
    except AqmlabError:
        return False
    return True


def applications() -> Iterator[dict[str, Any]]:
    """The smallest group of each application that needs no file and stands for no others."""
    sizes = ({"flows": 2}, {"users": 2}, {"connections_per_s": 20.0}, {"session_rate": 5.0}, {})
    for entry in engine.catalogue()["traffic"]:
        if "stands_for" in entry:
            continue
        tries = ({"app": entry["name"], **size} for size in sizes)
        yield from itertools.islice(filter(accepted, tries), 1)


def named(entry: dict[str, Any], field: str) -> list[str | None]:
    """What a field of a sender may say; nothing at all is a choice, too."""
    found = [one["choices"] or [] for one in entry["fields"] if one["name"] == field]
    return [None, *(choice for choices in found for choice in choices)]


def group(case: Case, apps: dict[str, dict[str, Any]]) -> dict[str, Any]:
    tcp = {name: case[name] for name in FACTORS[:-1] if case[name] is not None}
    return {**apps[str(case["app"])], "tcp": tcp}


def covering() -> list[dict[str, Any]]:
    """Groups in which every two choices that are accepted together occur together."""
    apps = {entry["app"]: entry for entry in applications()}
    with_tcp = {name for name in apps if accepted({**apps[name], "tcp": {"profile": "plain"}})}
    senders = [
        (entry["name"], recovery, congestion)
        for entry in engine.catalogue()["tcp"]
        for recovery in named(entry, "recovery")
        for congestion in named(entry, "congestion")
    ]
    cases: list[Case] = [dict(zip(FACTORS, (*sender, "bulk"), strict=True)) for sender in senders]
    senders = [case for case in cases if accepted(group(case, apps))]
    every: list[Case] = [{**sender, "app": app} for sender in senders for app in sorted(with_tcp)]
    random.Random(45).shuffle(every)
    seen: set[tuple[Any, ...]] = set()
    taken = []
    for new in range(len(FACTORS) * (len(FACTORS) - 1) // 2, 0, -1):
        for case in every:
            pairs = set(itertools.combinations(case.items(), 2))
            if len(pairs - seen) >= new:
                seen |= pairs
                taken.append(group(case, apps))
    groups = [*taken, *(apps[name] for name in apps if name not in with_tcp)]
    # Two that say one sender in two ways are one.
    return list({json.dumps(engine.check(scenario(one))): one for one in groups}.values())
