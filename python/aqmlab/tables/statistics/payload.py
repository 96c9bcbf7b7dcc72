"""Application bytes end to end, and lost datagrams, of the flows that cross every link."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from aqmlab.errors import SpecError
from aqmlab.runs.laboratory import FinishedRun


def payload_bytes(run: FinishedRun) -> float:
    """Bytes of the replies answered and of the datagrams received in the measured interval.

    Of groups that cross every link. Of requests that failed or are under way nothing counts, as in
    a generator that reports finished transactions.
    """
    return float(sum(_bytes(run.summary, group) for group in end_to_end(run)))


def payload_bits_per_s(run: FinishedRun) -> float:
    """The same as a rate (bit/s)."""
    return 8 * payload_bytes(run) / run.summary["measured_s"]


def datagrams_lost(run: FinishedRun) -> float:
    """Share of the datagrams that were lost, of those received or lost: all senders together.

    Of groups that cross every link; not a number without a datagram.
    """
    streams = run.summary.get("datagrams", {})
    found = [streams[g["name"]] for g in end_to_end(run) if g["name"] in streams]
    lost, received = (sum(s[name] for s in found) for name in ("lost", "received"))
    return lost / (lost + received) if lost + received else math.nan


def end_to_end(run: FinishedRun) -> list[dict[str, Any]]:
    """The traffic groups of a run's scenario that cross every link."""
    scenario = run.scenario
    links = {link["name"] for link in scenario["link"]}
    return [group for group in scenario["traffic"] if links <= set(group["via"])]


def _bytes(summary: Mapping[str, Any], group: Mapping[str, Any]) -> int:
    name = group["name"]
    stream = summary.get("datagrams", {}).get(name)
    if stream is None:
        # A group that alone asks for replies has no entry of its own.
        return summary.get("by_group", {}).get(name, summary)["response_bytes"]
    if "packet" not in group:
        raise SpecError(f'the size of "{name}"\'s datagrams is not in the scenario: give packet')
    return stream["received"] * group["packet"]
