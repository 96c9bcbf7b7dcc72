"""Statistics of connections: kinds of retransmissions, and goodput of flows and datagram
senders."""

from __future__ import annotations

import math

from aqmlab.runs.laboratory import FinishedRun


def connections_in_class(run: FinishedRun, *, kind: str) -> float:
    """Percentage of the connections that retransmitted only segments of this kind.

    `kind` is none, syn, fin, data or combined, as in *Tuning RED*, table 5.
    """
    classes = run.summary["retransmission_classes"]
    total = run.summary["connections"]
    return 100 * classes[kind] / total if total else math.nan


def flow_goodput(run: FinishedRun, *, group: int) -> float:
    """Mean goodput in bit/s of the long flows of a traffic group, by its index in the scenario."""
    flows = run.columns("flows")
    own = flows["goodput_bits_per_s"][flows["group"] == group]
    return float(own.mean()) if len(own) else math.nan


def datagram_share(run: FinishedRun, *, group: str, packet_bytes: float) -> float:
    """Share of the IP bytes through the studied queue that are datagrams of this traffic group.

    Only datagrams that arrived at their receivers count, each with `packet_bytes` including
    headers.
    """
    received = run.summary["datagrams"][group]["received"]
    return received * packet_bytes / run.summary["departure_bytes"]
