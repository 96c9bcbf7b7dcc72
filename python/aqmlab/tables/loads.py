"""Checks whether a run's users offered the load that was set.

The offered load is the share of the link that the replies requested by a group's users in the
measured interval need, each sent once: the load as a calibration defines it. The carried load
differs, since congestion delays replies, drops packets and causes retransmissions.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from aqmlab.intervals import interval
from aqmlab.runs import calibrate
from aqmlab.simulator import engine
from aqmlab.simulator.forms import Scenario, Traffic
from aqmlab.simulator.renamed import Numbers

THRESHOLD = 0.05
"""A remark is made if the offered load differs from the target by more than this share of it;
our own choice, without a source."""
ALONE = 0.10
"""The larger share for a single run, which has no interval that shows the effect of chance;
our own choice, without a source."""
BUSY, LOSSY = 0.95, 0.01
"""A link counts as congested if it has this utilisation or drops this share of its packets;
our own choice, without a source."""
SEGMENT, HEADERS, CONNECTION = 1_460, 40, 84
"""Bytes: payload of a full segment, its IP and TCP headers, and a connection's SYN-ACK and last
ACK, as in the exact mean from which an open loop's rate follows."""


@dataclass(frozen=True)
class Target:
    """A load that a traffic group should offer."""

    group: int
    """Index of the group in the scenario."""
    load: float
    """The share of the first link that the group crosses, or of `rate_bits_per_s`."""
    ip_per_requested: float | None = None
    """IP bytes on the link for each byte of payload requested, as calibrated; None for an open
    loop, whose load follows from its model."""
    rate_bits_per_s: float | None = None
    """The rate of which the load is a share, if that is not the rate of the scenario's own link."""


def remark(scenario: Scenario, target: Target, summaries: Sequence[Numbers]) -> str | None:
    """A remark on one load in the runs of one scenario; None if it was offered as set."""
    port = calibrate.load_port(engine.resolve(scenario), target.group)
    rate = target.rate_bits_per_s or port["mean_bits_per_s"]
    offered = [offered_load(scenario, target, summary, rate) for summary in summaries]
    mean, low, high = sum(offered) / len(offered), None, None
    if len(offered) > 1:
        mean, low, high = interval(offered)
    off = mean / target.load - 1
    chance = abs(off) <= ALONE if low is None or high is None else low <= target.load <= high
    if mean == 0 or abs(off) <= THRESHOLD or chance:
        return None
    named = f"traffic.{target.group}: " if len(scenario["traffic"]) > 1 else ""
    ports = [summary.get("ports", {}).get(port["port"], {}) for summary in summaries]
    return (
        f"{named}a load of {target.load:.0%} was set and {mean:.1%} was offered; "
        f"{_why(scenario['traffic'][target.group], off, ports)}"
    )


def _why(group: Traffic, off: float, ports: Sequence[Numbers]) -> str:
    def mean(name: str) -> float:
        return sum(port.get(name) or 0.0 for port in ports) / len(ports)

    busy, lost = mean("utilisation"), mean("drop_rate")
    if off < 0 and (busy >= BUSY or lost >= LOSSY):
        return (
            f"the link was {busy:.1%} busy and dropped {lost:.1%} of its packets, and users who "
            "wait for their replies ask for less"
        )
    if off > 0 and group.get("start", "stationary") != "stationary":
        return 'the load had not settled: give a longer warmup, or start = "stationary"'
    return "a few long replies weigh much: measure longer or with more seeds"


def offered_load(
    scenario: Scenario,
    target: Target,
    summary: Numbers,
    rate_bits_per_s: float,
) -> float:
    """The load that a group's users requested in the measured interval, as a share of the link's
    rate."""
    requested, requests = calibrate.requested_load(scenario, target.group, summary)
    if target.ip_per_requested is not None:
        ip_bytes = requested * target.ip_per_requested
    else:
        # On average the last segment of a reply is half full.
        ip_bytes = (
            requested + HEADERS * (requested / SEGMENT + requests / 2) + CONNECTION * requests
        )
    return ip_bytes * 8 / rate_bits_per_s
