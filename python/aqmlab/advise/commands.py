"""The commands that configure an advised queue in both directions of the line on a target
system."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from aqmlab import targets
from aqmlab.simulator import engine
from aqmlab.targets.framing import FRAMINGS

from .candidates import Candidate
from .situation import ROUTER, Situation


def plan(situation: Situation, chosen: Candidate) -> targets.Plan:
    """The settings of the chosen queue for both directions of the line, with the shaper rates under
    which it was simulated."""
    scenario = chosen.scenario(situation)
    complete = engine.check({**scenario, "seed": 1})["link"]
    place = -1 if situation.place == ROUTER else 0
    wrote, full = scenario["link"][place], complete[place]
    made = {
        way: _direction(situation, chosen, way, wrote[way], full) for way in situation.directions
    }
    return targets.Plan(made.get("forward"), made.get("reverse"))


def direction(situation: Situation, chosen: Candidate) -> targets.Queue:
    """The settings of the queue in the first direction that has one; a queue in the other direction
    has equal settings."""
    return next(one.queue for _, one in plan(situation, chosen).directions())


def _direction(
    situation: Situation,
    chosen: Candidate,
    way: str,
    wrote: Mapping[str, Any],
    full: Mapping[str, Any],
) -> targets.Direction:
    key = "rate" if way == "forward" else "reverse_rate"
    rate = full.get(key) or full["rate"]
    shaped = situation.place == ROUTER
    framing = FRAMINGS[full.get("framing", "none")]
    queue = {name: value for name, value in full[way].items() if name != "aqm"}
    if chosen.aqm == "cake" and shaped:
        # On a real router cake is the shaper itself, and counts the line's frames.
        queue |= {"rate": rate, **framing.for_cake()}
    one = targets.queue(chosen.aqm, queue, {*wrote, "rate"} - {"aqm"}, rate)
    return targets.Direction(one, shaped, framing)


def to_type(situation: Situation, chosen: Candidate, target: str, dev: str) -> dict[str, object]:
    """The commands for a target system that has the candidate's discipline; none for today's
    queue."""
    about: dict[str, object] = {"advised": chosen.name, "system": target}
    if chosen.queue is None:
        name = targets.TARGETS[target][0]
        bare: dict[str, object] = {
            "target": name,
            "blocks": [],
            "lost": [],
            "pitfalls": [],
            "release": "",
        }
        return about | bare
    return about | targets.for_line(target, plan(situation, chosen), dev).document()
