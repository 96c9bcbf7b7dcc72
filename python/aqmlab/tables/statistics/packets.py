"""Statistics of packets at a queue (table `trace`), for runs with one recorded queue."""

from __future__ import annotations

import math

import numpy as np

from aqmlab import units
from aqmlab.runs.laboratory import FinishedRun

ARRIVED, DROPPED, MARKED = 0, 2, 3
DATA = 3
"""The code of a segment with payload in the column `kind`."""
FULL_BYTES = 1500
"""Size of a full packet in bytes, whose transmission time is assumed for each queued packet."""


def signals_in_round(
    run: FinishedRun, *, round: int, rtt_ms: float | None = None, packet_ms: float | None = None
) -> float:
    """Number of packets dropped or marked in this `round` trip (the first is 1) since the first
    signal.

    A round trip is that of the path without queues (`rtt_ms`, by default the scenario's) plus the
    time to send the packets queued at the first signal (`packet_ms` each, by default that of 1,500
    B). 0 if there was no signal.
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
    """The factor by which the bytes of data that arrive grow from one base round trip (`rtt_ms`, by
    default the scenario's) to the next.

    It is the geometric mean from the first round trip with data up to the first one in which the
    bytes exceed what the line can send; from there on the line paces the acknowledgements. NaN if
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
    """The round-trip time without queues, in ms, of a scenario with one round-trip time for all:
    the delays of its links, both ways, plus the network's round-trip time."""
    links = sum(units.seconds(link.get("delay", "0 s")) for link in run.scenario["link"])
    rtt = run.scenario.get("network", {}).get("rtt", "0 s")
    return 1000 * (2 * links + units.seconds(rtt))


def capacity_bytes(run: FinishedRun, milliseconds: float) -> float:
    """Bytes of IP packets, without framing, that the recorded queue's line can send in this
    time."""
    return run.summary["capacity_mean_bits_per_s"] / 8 * milliseconds / 1000
