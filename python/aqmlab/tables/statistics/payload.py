"""Statistics of application bytes end to end, and of lost datagrams, for groups that cross every
link."""

from __future__ import annotations

import math

from aqmlab.errors import SpecError
from aqmlab.runs.laboratory import FinishedRun
from aqmlab.simulator.forms import Traffic
from aqmlab.simulator.renamed import Numbers


def payload_bytes(run: FinishedRun, of: str = "whole path") -> float:
    """Bytes of the replies answered and of the datagrams received in the measured interval.

    Groups that cross every link count, or with `of = "last link"` all that cross the last one.
    Requests that failed or are not finished count nothing, as in a generator that reports finished
    transactions.
    """
    groups = leaving(run) if of == "last link" else end_to_end(run)
    return float(sum(_bytes(run.summary, group) for group in groups))


def payload_bits_per_s(run: FinishedRun, of: str = "whole path") -> float:
    """`payload_bytes` as a rate (bit/s)."""
    return 8 * payload_bytes(run, of) / run.summary["measured_s"]


def datagrams_lost(run: FinishedRun) -> float:
    """The share of datagrams that were lost, of those received or lost, over all senders.

    Groups that cross every link count; NaN without a datagram.
    """
    streams = run.summary.get("datagrams", {})
    found = [streams[name] for g in end_to_end(run) if (name := g.get("name")) in streams]
    lost, received = (sum(s[name] for s in found) for name in ("lost", "received"))
    return lost / (lost + received) if lost + received else math.nan


def end_to_end(run: FinishedRun) -> list[Traffic]:
    """The traffic groups of a run's scenario that cross every link."""
    scenario = run.scenario
    links = {link.get("name") for link in scenario["link"]}
    return [group for group in scenario["traffic"] if links <= set(group.get("via", ()))]


def leaving(run: FinishedRun) -> list[Traffic]:
    """The traffic groups of a run's scenario that cross its last link."""
    last = run.scenario["link"][-1].get("name")
    return [group for group in run.scenario["traffic"] if last in group.get("via", ())]


def _bytes(summary: Numbers, group: Traffic) -> int:
    name = group.get("name")
    stream = summary.get("datagrams", {}).get(name)
    if stream is None:
        # If only one group sends requests, its numbers are those of the summary itself.
        return summary.get("by_group", {}).get(name, summary)["response_bytes"]
    if "packet" not in group:
        raise SpecError(f'the size of "{name}"\'s datagrams is not in the scenario: give packet')
    return stream["received"] * group["packet"]
