"""Responsiveness under working conditions: round trips a minute (RPM)."""

from __future__ import annotations

import math
from collections.abc import Sequence

from .form import Score, mean, quantile

TMP = 0.95
"""The share of the samples that the single-sided trimmed mean keeps (draft: 95 %)."""


def trimmed_mean(values: Sequence[float], keep: float = TMP) -> float:
    """The mean of the smallest values, as many as the share `keep` is whole; NaN if empty."""
    return mean(sorted(values)[: int(len(values) * keep)])


def draft(
    tcp: Sequence[float],
    http: Sequence[float],
    loaded: Sequence[float],
    tls: Sequence[float] | None = None,
    keep: float = TMP,
) -> float:
    """RPM of draft-ietf-ippm-responsiveness-09 from probes in seconds: a foreign probe's handshake
    `tcp` (and `tls`, each round trip of it) and request `http`, and the self probes `loaded`.

    The mean of foreign and loaded responsiveness, each 60 s over its mean round trip.
    """
    trips = [trimmed_mean(part, keep) for part in (tcp, tls, http) if part is not None]
    foreign, own = 60.0 / mean(trips), 60.0 / trimmed_mean(loaded, keep)
    return (foreign + own) / 2


def of_means(foreign_s: float, loaded_s: float) -> float:
    """RPM of the draft where the trimmed means of one round trip are known."""
    return (60.0 / foreign_s + 60.0 / loaded_s) / 2


def goresponsiveness(
    foreign: Sequence[float], loaded: Sequence[float], trips: int = 3, keep: float = TMP
) -> float:
    """RPM as goresponsiveness computes it: 60 s over the mean of both trimmed means. A foreign
    probe
    is the whole time of `trips` round trips (TCP, TLS, HTTP), each taken as an equal part of it."""
    parts = [probe / trips for probe in foreign for _ in range(trips)]
    return 60.0 / ((trimmed_mean(parts, keep) + trimmed_mean(loaded, keep)) / 2)


def goresponsiveness_percentile(
    foreign: Sequence[float], loaded: Sequence[float], trips: int = 3, percent: int = 90
) -> float:
    """As `goresponsiveness`, with a percentile in place of the trimmed means (its "P90")."""
    parts = [probe / trips for probe in foreign for _ in range(trips)]
    return 60.0 / ((_percentile(parts, percent) + _percentile(loaded, percent)) / 2)


def _percentile(values: Sequence[float], percent: int) -> float:
    """goresponsiveness' rule: the value at the place percent/100 · n, from 0."""
    ranked = sorted(values)
    place = int(percent / 100 * len(ranked))
    return ranked[place] if place < len(ranked) else math.nan


def is_stable(values: Sequence[float], intervals: int = 4, tolerance: float = 0.05) -> bool:
    """Whether the standard deviation of the last moving averages (MAD) is within the tolerance
    (SDT)
    of their last one; `values` are those of the intervals, in order."""
    averages = [mean(values[max(0, i + 1 - intervals) : i + 1]) for i in range(len(values))][
        -intervals:
    ]
    if len(values) < intervals:
        return False
    middle = mean(averages)
    deviation = math.sqrt(mean([(one - middle) ** 2 for one in averages]))
    return deviation < tolerance * averages[-1]


SCORES = (
    Score(
        "rpm",
        "responsiveness (RPM)",
        "How many round trips a minute an application makes in a row while the line is full: the "
        "mean of "
        "that on new connections and on the busy ones.",
        "draft-ietf-ippm-responsiveness-09, 6 July 2026, section 4.3.1",
        "It mixes the line with end systems and their buffers, and two implementations on one "
        "line have "
        "given 850 and 3,415 RPM (goresponsiveness issue 13); the mean of two rates hides a bad "
        "one.",
        draft,
        "round trips/min",
    ),
    Score(
        "rpm-goresponsiveness",
        "responsiveness (goresponsiveness)",
        "As rpm, but 60 s over the mean of the two trimmed mean round trips, as earlier drafts "
        "had it.",
        "goresponsiveness, rpm/calculations.go (29 January 2024)",
        "A foreign probe's three round trips are taken as equal.",
        goresponsiveness,
        "round trips/min",
    ),
    Score(
        "rpm-goresponsiveness-p90",
        "responsiveness (goresponsiveness, P90)",
        "As rpm-goresponsiveness, with the 90 % quantiles in place of the trimmed means.",
        "goresponsiveness, rpm/calculations.go (29 January 2024)",
        "One quantile of few probes scatters more than a mean.",
        goresponsiveness_percentile,
        "round trips/min",
    ),
)
__all__ = ["SCORES", "quantile"]
