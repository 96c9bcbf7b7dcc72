"""Probes: numbers about a queue discipline alone before a line, without end systems."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from aqmlab.simulator import engine
from aqmlab.simulator.forms import Call

LINE_BITS_PER_S = 200_000
FLOOD = 2000
"""Number of packets that arrive at one instant: enough to fill any queue and to raise any
average."""


def largest_queue_beyond_limit_bytes(
    *, discipline: str, limit_bytes: int, packet_bytes: int, parameters: Mapping[str, object]
) -> float:
    """Bytes by which the longest queue exceeds the limit when a flood of packets arrives."""
    arrivals = [_packet(0, i, packet_bytes) for i in range(FLOOD)]
    given = {**parameters, "limit_bytes": limit_bytes}
    waiting = most = 0
    for call, _ in _calls(discipline, given, arrivals):
        waiting += sum(event[0] == "queued" for event in call.get("events", []))
        waiting -= call.get("sent") is not None
        most = max(most, waiting)
    return float(most * packet_bytes - limit_bytes)


def accepted_above_max_th(
    *, discipline: str, max_th: float, packet_bytes: int, parameters: Mapping[str, object]
) -> float:
    """The number of packets that a discipline with RED's average accepts although the average,
    updated by the arrival, is at least max_th.

    A flood raises the average above max_th; then a packet arrives in every packet time while the
    queue drains and stands empty.
    """
    packet_ns = 8 * packet_bytes * 1_000_000_000 // LINE_BITS_PER_S
    flood = [_packet(0, i, packet_bytes) for i in range(FLOOD)]
    after = [_packet(n * packet_ns + 1, FLOOD + n, packet_bytes) for n in range(1, 200)]
    given = {**parameters, "max_th": max_th}
    return float(
        sum(
            call["call"] == "enqueue"
            and state["avg"] >= max_th
            and any(event[0] == "queued" for event in call.get("events", []))
            for call, state in _calls(discipline, given, flood + after)
        )
    )


def _packet(at_ns: int, number: int, size: int) -> dict[str, object]:
    return {"at_ns": at_ns, "packet": {"id": number, "flow": 0, "bytes": size}}


def _calls(
    discipline: str, parameters: Mapping[str, object], arrivals: list[dict]
) -> Iterator[tuple[Call, dict]]:
    """Every call of a trial, with the discipline's state after it."""
    request = {
        "discipline": discipline,
        "parameters": dict(parameters),
        "line_bits_per_s": LINE_BITS_PER_S,
        "arrivals": arrivals,
    }
    (case,) = engine.trial(request)["cases"]
    state = dict(case.get("state", {}))
    for call in case["calls"]:
        state |= call.get("state", {})
        yield call, state
