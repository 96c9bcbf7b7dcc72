"""Statistics of the packets that met a queue (table `trace`), one recorded queue a run."""

from __future__ import annotations

import math

import numpy as np

from aqmlab.runs.laboratory import FinishedRun

ARRIVED, DROPPED, MARKED = 0, 2, 3
DATA = 3
"""The number of a segment with payload in the column `kind`."""


def signals_in_round(run: FinishedRun, *, round: int, rtt_ms: float, packet_ms: float) -> float:
    """Packets dropped or marked in the so-maniest round trip (from 1) since the first signal.

    A round trip is that of the path without queues and the time in which the packets leave that
    the first signal finds waiting. 0 if there was no signal.
    """
    trace = run.columns("trace")
    signal = np.isin(trace["event"], (DROPPED, MARKED))
    at = trace["time_ns"][signal].astype(float) / 1e6
    if not len(at):
        return 0.0
    length = rtt_ms + packet_ms * float(trace["queue_packets"][signal][0])
    since = at - at[0]
    return float(np.sum((since >= (round - 1) * length) & (since < round * length)))


def slow_start_growth(run: FinishedRun, *, rtt_ms: float) -> float:
    """By what factor the bytes of data that arrive grow from one base round trip to the next.

    The geometric mean from the first round trip with data up to the first in which they exceed
    what the queue's line can send; from there on the line paces the acknowledgements. Not a
    number if that is the first one, or if the line is never filled.
    """
    trace = run.columns("trace")
    data = (trace["event"] == ARRIVED) & (trace["kind"] == DATA)
    at = trace["time_ns"][data].astype(float) / 1e6
    if not len(at):
        return math.nan
    rounds = ((at - at[0]) // rtt_ms).astype(int)
    load = np.bincount(rounds, weights=trace["bytes"][data].astype(float))
    full = np.flatnonzero(load > capacity_bytes(run, rtt_ms))
    if not len(full) or full[0] == 0:
        return math.nan
    return float((load[full[0]] / load[0]) ** (1 / full[0]))


def capacity_bytes(run: FinishedRun, milliseconds: float) -> float:
    """What the recorded queue's line sends in this time, bytes of IP packets without framing."""
    return run.summary["capacity_mean_bits_per_s"] / 8 * milliseconds / 1000
