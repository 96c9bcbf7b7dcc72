"""Statistics of bursts: transfers of a group that begin together."""

from __future__ import annotations

import math

from aqmlab.runs.laboratory import FinishedRun
from aqmlab.simulator.forms import Traffic


def burst_elapsed_s(run: FinishedRun, *, burst: str) -> float:
    """The time from the first SYN of a traffic group to its last acknowledgement, s.

    NaN unless every flow of the group finished: the time of finished flows only would favour a
    queue that starved the others, or a run that was cut short.
    """
    group = next((g for g in _groups(run) if g.get("name") == burst), None)
    ended = run.summary.get("transfers", {}).get(burst)
    if group is None or ended is None or ended["finished"] != group.get("users"):
        return math.nan
    return float(ended["elapsed_s"])


def burst_ratio(run: FinishedRun, *, burst: str, to: str) -> float:
    """Elapsed time of a burst over that of another: 1 if both were served alike."""
    return burst_elapsed_s(run, burst=burst) / burst_elapsed_s(run, burst=to)


def burst_bias(run: FinishedRun, *, burst: str, to: str) -> float:
    """Natural logarithm of `burst_ratio`: above 0 if the other burst was favoured."""
    return math.log(burst_ratio(run, burst=burst, to=to))


def burst_unfairness(run: FinishedRun, *, burst: str, to: str) -> float:
    """Absolute value of `burst_bias`: how far the ratio is from 1, in either direction."""
    return abs(burst_bias(run, burst=burst, to=to))


def _groups(run: FinishedRun) -> list[Traffic]:
    return run.scenario["traffic"]
