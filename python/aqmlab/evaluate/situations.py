"""The scenarios for the score card of a queue or congestion control, drawn at random once and for
all.

A set is a version, a name and a seed: the same three give the same scenarios on every machine. The
sets `train` and `public` are known to everybody, so a search for a queue discipline or congestion
control may train on the first and select by the second. The scenarios of `held-out` follow from a
seed that is given at the call and that the author of the discipline or control does not know.

What is drawn, and within which bounds, is our own choice, without a source: lines of homes and
small sites, with the traffic that makes queues visible there.
"""

from __future__ import annotations

import math
import random
import tomllib
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from aqmlab.simulator.forms import Link, ProgramTable, Scenario, Traffic

DATA: dict[str, Any] = tomllib.loads(
    (Path(__file__).parent / "sets.toml").read_text(encoding="utf-8")
)
"""The contents of `sets.toml`: names of the queue disciplines and congestion controls in the
scenarios, and the version of the sets.
"""
VERSION: int = DATA["version"]
"""Version of the sets, which changes when any scenario changes."""
SIZES = {"train": 600, "public": 400, "held-out": 400}
"""Number of scenarios of each set."""
PACKETS = 2_500
"""Approximate number of packets that the line carries in a scenario; the scenario's duration
follows from it."""
LENGTH_S = (4.0, 16.0)
"""Shortest and longest duration of a scenario, in seconds."""
CONTROLS: list[str] = DATA["flows"]["congestion"]
"""Congestion controls of the flows in scenarios whose subject is a queue; one is drawn for each
group of flows."""
PLAIN: str = DATA["queues"]["plain"]
"""The queue whose buffer is given in bandwidth-delay products."""


@dataclass(frozen=True)
class Situation:
    """A scenario in which the subject, the queue discipline or congestion control that is
    evaluated, is put in place of one of the scenario's own."""

    name: str
    family: str
    scenario: Scenario


def drawn(name: str, seed: int = 0) -> random.Random:
    """The random number generator from which a set is drawn."""
    return random.Random(f"aqmlab evaluate {VERSION} {name} {seed}")


def of_queues(name: str, seed: int = 0, size: int | None = None) -> list[Situation]:
    """The scenarios of a set, in which the queue of the line is the subject."""
    rng = drawn(f"queues {name}", seed)
    return [_queue(f"{name}-{n}", rng) for n in range(size or SIZES[name])]


def of_controls(name: str, seed: int = 0, size: int | None = None) -> list[Situation]:
    """The scenarios of a set, in which the flows of the group `own` have the subject's control."""
    rng = drawn(f"controls {name}", seed)
    return [_control(f"{name}-{n}", rng) for n in range(size or SIZES[name])]


def _between(rng: random.Random, low: float, high: float) -> float:
    """A random number between `low` and `high`, uniform in its logarithm, rounded to three
    digits."""
    return float(f"{math.exp(rng.uniform(math.log(low), math.log(high))):.3g}")


def _line(rng: random.Random, name: str) -> Scenario:
    """A scenario with one line and without traffic."""
    rate = _between(rng, 1e6, 50e6)
    length = min(max(PACKETS * 12_000 / rate, LENGTH_S[0]), LENGTH_S[1])
    return {
        "name": name,
        "duration": f"{length:.1f} s",
        "warmup": f"{length / 4:.1f} s",
        "seed": rng.randrange(1 << 30),
        "network": {"rtt": f"{_between(rng, 8, 150):.3g} ms"},
        "link": [{"name": "line", "rate": rate_of(rate)}],
        "traffic": [],
        "record": {"queues": ["line.forward"]},
    }


def rate_of(bits_per_s: float) -> str:
    """A rate as scenarios write it."""
    return f"{bits_per_s:.0f} bit/s"


def _bulk(name: str, flows: int, control: str | None, ecn: bool) -> Traffic:
    tcp = {"profile": "linux", "congestion": control, "ecn": ecn}
    return {"name": name, "app": "bulk", "flows": flows, "start_within": "0.5 s", "tcp": tcp}


def _calls(flows: int) -> Traffic:
    return {"name": "calls", "app": "voip", "flows": flows, "start_within": "1 s"}


def _bits(scenario: Scenario) -> float:
    return float(scenario["link"][0]["rate"].split()[0])


Change = Callable[[random.Random, Scenario], None]


def _steady(_rng: random.Random, _scenario: Scenario) -> None:
    """Adds nothing to the bulk flows."""


def _voices(rng: random.Random, scenario: Scenario) -> None:
    scenario["traffic"].append(_calls(rng.randint(1, 3)))


def _browsing(_rng: random.Random, scenario: Scenario) -> None:
    users = max(2, round(_bits(scenario) / 1e6))
    scenario["traffic"].append({"name": "web", "app": "web", "users": users})


def _steps(rng: random.Random, scenario: Scenario) -> None:
    """Lets the line's rate fall to between 20 and 60 % at 40 % of the run, and recover at 70 % of
    it."""
    length = float(scenario.get("duration", "").split()[0])
    rate, low = _bits(scenario), rng.uniform(0.2, 0.6)
    steps = [(0, 1), (0.4 * length, low), (0.7 * length, 1)]
    scenario["link"][0]["rate_steps"] = [[f"{at:.2f} s", rate_of(rate * of)] for at, of in steps]


def _pulses(rng: random.Random, scenario: Scenario) -> None:
    rate = rate_of(_bits(scenario) * rng.uniform(1, 2))
    period = rng.uniform(0.3, 1.5)
    burst = rng.uniform(0.05, 0.2) * period
    pulse: Traffic = {"name": "pulses", "app": "pulse", "flows": 1, "rate": rate}
    scenario["traffic"].append({**pulse, "period": f"{period:.3f} s", "burst": f"{burst:.3f} s"})


def _slots(rng: random.Random, scenario: Scenario) -> None:
    period = rng.uniform(1, 8)
    share = rng.uniform(0.25, 0.75)
    slots = {"kind": "slots", "period": f"{period:.2f} ms", "share": round(share, 2)}
    scenario["link"][0]["effects"] = [{**slots, "rate_is": "mean"}]


def _losses(rng: random.Random, scenario: Scenario) -> None:
    scenario["link"][0]["effects"] = [{"kind": "loss", "share": _between(rng, 0.0005, 0.01)}]


FAMILIES: dict[str, Change] = {
    "steady": _steady,
    "calls": _voices,
    "web": _browsing,
    "steps": _steps,
    "pulses": _pulses,
    "slots": _slots,
    "losses": _losses,
}
"""The function for each family of scenarios that adds to the bulk flows or changes the line."""


def _queue(name: str, rng: random.Random) -> Situation:
    scenario = _line(rng, name)
    family = rng.choice(list(FAMILIES))
    for n in range(rng.choice((1, 1, 2))):
        flows = bulk_flows(rng)
        scenario["traffic"].append(
            _bulk(f"bulk{n}", flows, rng.choice(CONTROLS), rng.random() < 0.3)
        )
    FAMILIES[family](rng, scenario)
    return Situation(name, family, scenario)


def bulk_flows(rng: random.Random) -> int:
    """A random number of bulk flows, mostly small."""
    return min(12, 1 + int(rng.expovariate(0.4)))


def _control(name: str, rng: random.Random) -> Situation:
    scenario = _line(rng, name)
    pipe = _bits(scenario) * float(scenario.get("network", {})["rtt"].split()[0]) / 1e3 / 12_000
    aqm = rng.choice(DATA["queues"]["drawn"])
    ecn = aqm != PLAIN and rng.random() < 0.5
    queue: dict[str, object] = {"aqm": aqm}
    if aqm == PLAIN:
        queue["limit"] = max(8, round(pipe * _between(rng, 0.5, 4)))
    elif ecn:
        queue["ecn"] = True
    scenario["link"][0]["forward"] = queue
    scenario["traffic"].append(_bulk("own", rng.choice((1, 1, 2, 4)), None, ecn))
    family = rng.choice([*FAMILIES, "rival"])
    if family == "rival":
        scenario["traffic"].append(_bulk("rival", 1, DATA["flows"]["rival"], ecn))
    else:
        FAMILIES[family](rng, scenario)
    return Situation(name, family, scenario)


def with_queue(situation: Situation, queue: str | ProgramTable) -> Scenario:
    """The scenario with this queue discipline (a name, or the table of the user's own)."""
    link: Link = {**situation.scenario["link"][0], "forward": {"aqm": queue}}
    return {**situation.scenario, "link": [link]}


def with_control(situation: Situation, control: str | ProgramTable) -> Scenario:
    """The scenario with this congestion control (a name, or the table of the user's own)."""
    named = control if isinstance(control, str) else {"name": control}
    traffic: list[Traffic] = [
        {**group, "tcp": {**group.get("tcp", {}), "congestion": named}}
        if group.get("name") == "own"
        else group
        for group in situation.scenario["traffic"]
    ]
    return {**situation.scenario, "traffic": traffic}
