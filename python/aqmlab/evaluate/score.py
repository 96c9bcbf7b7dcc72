"""The score of a run: the geometric mean of grades for what people notice.

Each grade is 1 at best and 0 at worst. A queue that is empty because the line is idle scores low,
as does a full line with a long queue: the mean is geometric, so that no grade makes up for another
that is near 0. The form of the grades is our own choice; the reference values are stated with their
sources."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from aqmlab.simulator.renamed import Numbers

DELAY_S = 0.02
"""Queueing delay at which the grade of delay is one half; our own choice, without a source (RFC
8033 aims at 15 ms, RFC 8289 at 5 ms)."""
BEST_R = 93.2
"""The best rating of a call (ITU-T G.107)."""
RESPONSE_S = 1.0
"""Response time at which the grade of responses is one half (Nielsen 1993: 1 s keeps the flow of
thought, recalled)."""
LEAST = 1e-3
"""The smallest grade: above zero, so that runs with a useless grade still differ by their
others."""


def grades(summary: Numbers) -> dict[str, float]:
    """The grades of a run by name; grades of traffic that it does not have are left out."""
    found = {"use": _number(summary, "utilisation", 0.0)}
    delay = summary.get("queue_delay_p95_s")
    found["delay"] = 1 / (1 + (delay if isinstance(delay, float) else math.inf) / DELAY_S)
    if summary.get("long_flows", 0) > 1:
        found["share"] = _number(summary, "jain_index", 0.0)
    if summary.get("voip_listeners"):
        found["calls"] = _number(summary, "voip_r_mean", 0.0) / BEST_R
    if summary.get("responses"):
        found["responses"] = 1 / (1 + _number(summary, "response_p90_s", math.inf) / RESPONSE_S)
    return {name: min(max(grade, LEAST), 1.0) for name, grade in found.items()}


def rivalry(flows: Sequence[tuple[str, float]]) -> float:
    """The rate of the group `rival` as a share of an equal split among all flows, at most 1."""
    rival = sum(rate for group, rate in flows if group == "rival")
    fair = sum(rate for _, rate in flows) / len(flows)
    return min(max(rival / fair if fair > 0 else 0.0, LEAST), 1.0)


def total(found: Mapping[str, float]) -> float:
    """The score: the geometric mean of the grades."""
    return math.exp(math.fsum(math.log(grade) for grade in found.values()) / len(found))


def _number(summary: Numbers, name: str, otherwise: float) -> float:
    value = summary.get(name)
    return float(value) if isinstance(value, int | float) else otherwise
