"""Candidates: disciplines and settings that are compared by simulation in rounds, after each of
which the worse ones drop out (a race).

The first setting of a discipline is its usual one; among settings that cannot be distinguished the
earlier one wins. The grids are published settings, or these halved and doubled.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from aqmlab import targets
from aqmlab.errors import SpecError
from aqmlab.simulator import engine
from aqmlab.simulator.forms import Queue, Scenario, without
from aqmlab.targets.words import written

from .situation import ROUTER, Situation

SHARES = {"forward": 0.9, "reverse": 0.95}
"""A shaper's rate as a share of the line's rate: smaller for downloads, whose queue is behind the
line (openwrt.org: 85 to 95 %)."""
PRESENT = "as it is"


@dataclass(frozen=True)
class Candidate:
    """A candidate: one queue discipline with its settings, for both directions of the line."""

    name: str
    queue: Queue | None = None
    """The queue's settings; None for today's queue."""
    shares: Mapping[str, float] = field(default_factory=lambda: dict(SHARES))
    rank: int = 0
    """Index among the candidates: usual settings come before unusual ones."""

    @property
    def aqm(self) -> str:
        """Name of the candidate's discipline."""
        return str(self.queue["aqm"]) if self.queue else PRESENT

    def scenario(self, situation: Situation) -> Scenario:
        """The scenario of the situation with this candidate's queue."""
        if self.queue is None:
            return without(situation.scenario)
        ways = {way: self._for(situation, way) for way in situation.directions}
        return situation.with_queue(ways, self.shares)

    def _for(self, situation: Situation, way: str) -> Queue:
        """The queue of one direction. At a router, cake shares by the hosts of the home network and
        its downstream shaper counts dropped packets as well, both as tc-cake(8) advises."""
        queue = dict(self.queue or {})
        if queue["aqm"] == "cake" and situation.place == ROUTER:
            usual = {"forward": "dual-dsthost", "reverse": "dual-srchost"}[way]
            queue = {"isolation": usual, "ingress": way == "forward", **queue}
        return queue

    def scaled(self, name: str, value: float, factor: float) -> Candidate:
        """This candidate with one parameter multiplied by `factor`; `value` is its value in base
        units."""
        changed = written(self.aqm, {name: value * factor})[name]
        if isinstance(changed, float):
            changed = float(f"{changed:.4g}")
        return replace(self, name=f"{name} {changed}", queue={**(self.queue or {}), name: changed})

    def at(self, factor: float) -> Candidate:
        """This candidate, shaped to `factor` times its rate."""
        shares = {way: share * factor for way, share in self.shares.items()}
        return replace(self, name=f"shaped to {factor:.0%}", shares=shares)


_RED_THRESHOLDS = (
    (5, 15), (5, 45), (5, 90), (15, 45), (30, 90), (30, 180), (60, 180), (90, 150), (120, 360),
)  # fmt: skip
"""Christiansen et al. 2000, figures 7 to 14 and table 4."""

SETTINGS: dict[str, list[dict[str, object]]] = {
    "cake": [
        {},
        {"tins": "besteffort"},
        {"tins": "diffserv4"},
        {"ack_filter": "filter"},
    ],
    "fq_codel": [{}, {"target": "10 ms"}, {"quantum": 300}],
    "fq_pie": [{}],
    "codel": [{}, {"target": "10 ms"}],
    "pie": [{}, {"target": "5 ms"}],
    "sfq": [{}],
    "red": [
        {"min_th": low, "max_th": high, "w_q": w_q, "max_p": max_p, "limit": 480}
        for (low, high), w_q, max_p in itertools.product(
            _RED_THRESHOLDS, (1 / 512, 1 / 128), (1 / 10, 1 / 20, 1 / 4)
        )
    ],
    "droptail": [{"limit": 480}, {"limit": 60}, {"limit": 120}],
}
"""Settings that are compared, by discipline. Other disciplines of the catalogue may be named; they
are simulated with their default settings."""
LINUX = {
    name: {"profile": "linux"} for name in ("fq_codel", "fq_pie", "codel", "pie", "sfq", "dualpi2")
}
"""Disciplines that are simulated in the profile `linux` (as Linux implements them), since the
commands are mostly for Linux."""
USUAL = ("cake", "fq_codel", "fq_pie", "codel", "pie", "sfq")
"""Disciplines that are compared unless others are named: Linux has them, and they need no tuning by
hand."""
SCALABLE = "dualpi2"
"""The discipline that is compared in addition if a sender has a scalable congestion control."""
STAY = ("cake", "fq_codel", SCALABLE)
"""Disciplines whose usual setting stays to the end of a race, whatever its score: they are widely
available, so readers want to see their results."""
ROUTER_SHARES = (1.0, 0.9)
"""Factors for `SHARES`: the usual shaper, and a more careful one."""


def of(
    situation: Situation, disciplines: Sequence[str], systems: Sequence[str] = ("tc",)
) -> list[Candidate]:
    """All candidates: today's queue first, then the usual setting of each discipline, then others.

    Within these groups, disciplines that the first system has natively come first. A discipline
    that none of the systems has is left out: SpecError if it was named, or if there is no other.
    """
    known = {entry["name"] for entry in engine.catalogue()["aqm"]}
    for name in disciplines:
        if name not in known:
            raise SpecError(f'no discipline "{name}" (`aqmlab list aqm` shows all)')
    names = _raced(situation, disciplines, systems)
    usual = [_of(name, _settings(name, situation)[0]) for name in names]
    others = [_of(name, settings) for name in names for settings in _settings(name, situation)[1:]]
    if situation.place == ROUTER:
        others += [
            replace(one.at(factor), name=f"{one.aqm}, shaped to {factor:.0%} of the usual")
            for one in usual
            for factor in ROUTER_SHARES[1:]
        ]
    found = [Candidate(PRESENT), *usual, *others]
    return [replace(one, rank=rank) for rank, one in enumerate(found)]


def _raced(situation: Situation, disciplines: Sequence[str], systems: Sequence[str]) -> list[str]:
    """The disciplines that are compared; those that the first system has natively come first."""
    usual = (*USUAL, SCALABLE) if situation.scalable else USUAL
    named = list(disciplines or usual)
    had = [name for name in named if any(targets.has(system, name) for system in systems)]
    if lacking := [name for name in disciplines if name not in had]:
        titles = " and ".join(targets.TARGETS[system][0] for system in systems)
        raise SpecError(
            f"{titles} has no {lacking[0]}: it has {', '.join(_all(systems))}; name another "
            "--target or another --discipline"
        )
    # If a system has none of the usual disciplines, all that it has are raced.
    had = had or _all(systems)
    return sorted(dict.fromkeys(had), key=lambda name: not targets.native(systems[0], name))


def _all(systems: Sequence[str]) -> list[str]:
    """Every discipline that one of the systems has."""
    tables = [targets.TARGETS[system][1].ENTRIES for system in systems]
    return list(dict.fromkeys(entry.aqm for entries in tables for entry in entries))


def _settings(name: str, situation: Situation) -> list[dict[str, object]]:
    """The settings of a discipline that can differ in this situation."""
    found = SETTINGS.get(name, [{}])
    if situation.classes:
        return found
    # Tins sort packets by DSCP: if no packet has one, all settings of tins are equal.
    return [settings for settings in found if "tins" not in settings]


def _of(name: str, settings: Queue) -> Candidate:
    return Candidate(label(name, settings), {"aqm": name, **LINUX.get(name, {}), **settings})


def label(name: str, settings: Mapping[str, Any]) -> str:
    """A candidate's name for people: `red 30-90, 1/512, 1/10` or `cake tins=besteffort`."""
    if "min_th" in settings and "max_th" in settings:
        w_q, max_p = settings.get("w_q"), settings.get("max_p")
        more = [f"1/{round(1 / value)}" for value in (w_q, max_p) if value]
        return ", ".join([f"{name} {settings['min_th']:g}-{settings['max_th']:g}", *more])
    return " ".join([name, *(f"{key}={value}" for key, value in settings.items())])
