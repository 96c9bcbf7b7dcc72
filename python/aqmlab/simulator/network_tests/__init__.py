"""Network tests, such as speed tests, as traffic: each is written as one traffic group.

`app = "rrul"` and the others stand for several groups of the simulator's own applications (`bulk`,
`ping`, `requests`); `expand` writes them out before the simulator reads a scenario. `flent` has
Flent's tests, `speed_tests` and `responsiveness` those that use a server on the Internet.
"""

from __future__ import annotations

import copy
from collections.abc import Mapping
from typing import Any

from aqmlab.errors import SpecError, nearest

from ..forms import Draft, Entry, Schema
from . import flent, responsiveness, speed_tests
from .form import KEPT, OWN, NetworkTest, Settings, Written, settings

TESTS: dict[str, NetworkTest] = {
    test.name: test for test in (*flent.TESTS, *speed_tests.TESTS, *responsiveness.TESTS)
}
"""Every test by its name."""


def find(app: object) -> NetworkTest | None:
    """The network test called `app`; None if there is none."""
    return TESTS.get(app) if isinstance(app, str) else None


def tests_in(scenario: Draft) -> list[NetworkTest]:
    """The tests among a scenario's traffic groups."""
    return [test for group in _groups(scenario) if (test := find(group.get("app")))]


def expand(scenario: Draft) -> Draft:
    """The scenario with every test expanded into groups; unchanged if it has none."""
    if not tests_in(scenario):
        return scenario
    groups: list[Draft] = []
    for place, group in enumerate(_groups(scenario)):
        test = find(group.get("app"))
        groups += [group] if test is None else _written_out(test, group, place, scenario)
    record: Any = scenario.get("record", {})
    shown = {"goodput": True, "responses": True} | dict(record)
    return {**scenario, "traffic": groups, "record": shown}


def _groups(scenario: Draft) -> list[Draft]:
    traffic = scenario.get("traffic", [])
    if not isinstance(traffic, list):
        return []
    return [group if isinstance(group, Mapping) else {} for group in traffic]


def _written_out(test: NetworkTest, group: Draft, place: int, scenario: Draft) -> list[Written]:
    known = {*(field.name for field in test.fields), *KEPT, *OWN}
    for name in group:
        if name not in known:
            raise SpecError(
                f'traffic.{place}: {test.name} has no field "{name}"{nearest(name, list(known))}'
            )
    found: Settings = settings(test, group, f"traffic.{place}")
    kept = {name: copy.deepcopy(group[name]) for name in KEPT if name in group}
    prefix = f"{group['name']} " if "name" in group else ""
    made = test.groups(found, scenario)
    return [_with(kept, one) | {"name": f"{prefix}{one['name']}"} for one in made]


def _with(kept: Draft, one: Written) -> Written:
    """A group with the fields that are common to the test's groups; pings get no `tcp`."""
    common = {k: v for k, v in kept.items() if k != "tcp" or one["app"] != "ping"}
    own = one.get("tcp")
    control = own.get("congestion") if isinstance(own, dict) else None
    if control is None or "tcp" not in kept:
        return {**common, **one}
    tcp: Any = kept["tcp"]
    profile = {"profile": tcp} if isinstance(tcp, str) else tcp
    return {**common, **one, "tcp": {**profile, "congestion": control}}


def entries() -> list[Entry]:
    """The tests as entries of the catalogue of traffic."""
    return [test.entry() for test in TESTS.values()]


def schema(traffic: Schema) -> list[Schema]:
    """The tests as alternatives of the JSON schema of a traffic group; `traffic` has the others."""
    (bulk,) = (of for of in traffic["oneOf"] if of["properties"]["app"].get("const") == "bulk")
    kept = {name: bulk["properties"][name] for name in (*KEPT, "name")}
    return [test.schema(kept) for test in TESTS.values()]
