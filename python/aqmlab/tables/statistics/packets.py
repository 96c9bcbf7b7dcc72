"""Statistics of the packets that met a queue (table `trace`), one recorded queue a run."""

from __future__ import annotations

import math

import numpy as np

from aqmlab import units
from aqmlab.runs.laboratory import FinishedRun

ARRIVED, DROPPED, MARKED = 0, 2, 3
DATA = 3
"""The number of a segment with payload in the column `kind`."""
FULL_BYTES = 1500
"""A full packet, whose time on the line counts for each that waits."""


def signals_in_round(
    run: FinishedRun, *, round: int, rtt_ms: float | None = None, packet_ms: float | None = None
) -> float:
    """Packets dropped or marked in this `round` trip (the first is 1) since the first signal.

    A round trip is that of the path without queues (`rtt_ms`; the scenario's) and the time in which
    the packets leave that the first signal finds waiting (`packet_ms` each; that of 1,500 B). 0 if
    there was no signal.
    """
    trace = run.columns("trace")
    signal = np.isin(trace["event"], (DROPPED, MARKED))
    at = trace["time_ns"][signal].astype(float) / 1e6
    if not len(at):
        return 0.0
    if packet_ms is None:
        packet_ms = FULL_BYTES / capacity_bytes(run, 1.0)
    base = base_round_trip_ms(run) if rtt_ms is None else rtt_ms
    length = base + packet_ms * float(trace["queue_packets"][signal][0])
    since = at - at[0]
    return float(np.sum((since >= (round - 1) * length) & (since < round * length)))


def slow_start_growth(run: FinishedRun, *, rtt_ms: float | None = None) -> float:
    """The factor by which the bytes of data that arrive grow from one base round trip (`rtt_ms`;
    the scenario's) to the next.

    The geometric mean from the first round trip with data up to the first in which they exceed what
    the queue's line can send; from there on the line paces the acknowledgements. Not a number if
    that is the first one, or if the line is never filled.
    """
    trace = run.columns("trace")
    data = (trace["event"] == ARRIVED) & (trace["kind"] == DATA)
    at = trace["time_ns"][data].astype(float) / 1e6
    if not len(at):
        return math.nan
    if rtt_ms is None:
        rtt_ms = base_round_trip_ms(run)
    rounds = ((at - at[0]) // rtt_ms).astype(int)
    load = np.bincount(rounds, weights=trace["bytes"][data].astype(float))
    full = np.flatnonzero(load > capacity_bytes(run, rtt_ms))
    if not len(full) or full[0] == 0:
        return math.nan
    return float((load[full[0]] / load[0]) ** (1 / full[0]))


def base_round_trip_ms(run: FinishedRun) -> float:
    """The round trip without queues of a scenario whose hosts are equally far: the delays of its
    links, both ways, and what its network adds."""
    links = sum(units.seconds(link.get("delay", "0 s")) for link in run.scenario["link"])
    rtt = run.scenario.get("network", {}).get("rtt", "0 s")
    return 1000 * (2 * links + units.seconds(rtt))


def capacity_bytes(run: FinishedRun, milliseconds: float) -> float:
    """What the recorded queue's line sends in this time, bytes of IP packets without framing."""
    return run.summary["capacity_mean_bits_per_s"] / 8 * milliseconds / 1000
