"""Statistics of connections: what they retransmitted, what a flow and a datagram sender got."""

from __future__ import annotations

import math

from aqmlab.runs.laboratory import FinishedRun


def connections_in_class(run: FinishedRun, *, kind: str) -> float:
    """Percent of the connections that had to send only this kind again.

    `kind` is none, syn, fin, data or combined, as in *Tuning RED*, table 5.
    """
    classes = run.summary["retransmission_classes"]
    total = run.summary["connections"]
    return 100 * classes[kind] / total if total else math.nan


def flow_goodput(run: FinishedRun, *, group: int) -> float:
    """Mean goodput in bit/s of the long flows of a traffic group, by its number."""
    flows = run.columns("flows")
    own = flows["goodput_bits_per_s"][flows["group"] == group]
    return float(own.mean()) if len(own) else math.nan


def datagram_share(run: FinishedRun, *, group: str, packet_bytes: float) -> float:
    """Share of the IP bytes through the studied queue that are datagrams of this traffic group.

    Counts those that arrived at their receivers, of `packet_bytes` with headers each.
    """
    received = run.summary["datagrams"][group]["received"]
    return received * packet_bytes / run.summary["departure_bytes"]
