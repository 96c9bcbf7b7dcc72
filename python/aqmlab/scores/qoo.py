"""Quality of Outcome (QoO): a line's position between useless and perfect for an application."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from .form import Score


@dataclass(frozen=True)
class Requirement:
    """The requirements of an application: quantiles of the round-trip time (seconds by the
    quantile's share), loss (a share) and throughput (bit/s), for `optimal` performance (ROP) and
    for the point at which it is `unacceptable` (CPUP).
    """

    optimal: Mapping[float, float]
    unacceptable: Mapping[float, float]
    optimal_loss: float
    unacceptable_loss: float
    throughput: float = 0.0


def _between(value: float, best: float, worst: float) -> float:
    return min(1.0, max(0.0, 1 - (value - best) / (worst - best)))


def qoo(
    latency: Mapping[float, float], loss: float, throughput: float, needs: Requirement
) -> float:
    """0 (unacceptable) to 100 (optimal): the least over all latency quantiles and loss; 0 without
    the throughput. `latency` has the measured quantiles (s) by their shares."""
    if throughput < needs.throughput:
        return 0.0
    parts = [
        _between(latency[share], needs.optimal[share], needs.unacceptable[share])
        for share in needs.optimal
    ]
    parts.append(_between(loss, needs.optimal_loss, needs.unacceptable_loss))
    return 100.0 * min(parts)


APPLICATIONS = {
    "call": Requirement({0.9: 0.15, 0.99: 0.2}, {0.9: 0.4, 0.99: 0.5}, 0.01, 0.05, 100e3),
    "game": Requirement({0.99: 0.05}, {0.99: 0.15}, 0.001, 0.02, 500e3),
    "video-call": Requirement({0.9: 0.1, 0.99: 0.2}, {0.9: 0.3, 0.99: 0.5}, 0.005, 0.05, 2e6),
}
"""Requirements of common applications. The draft gives none: all numbers are assumed."""

SCORES = (
    Score(
        "qoo",
        "Quality of Outcome",
        "Per cent of the way from unacceptable to optimal for one application, by its worst "
        "quantile of "
        "latency or its loss.",
        "draft-ietf-ippm-qoo, text of 19 May 2026 (after revision 10), section Calculating QoO",
        "It is as good as the application's two thresholds, which nobody has standardised; high "
        "quantiles of "
        "few samples scatter.",
        qoo,
        "%",
    ),
)
