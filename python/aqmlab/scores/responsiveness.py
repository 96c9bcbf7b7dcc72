"""Responsiveness under working conditions: round trips per minute (RPM)."""

from __future__ import annotations

import math
from collections.abc import Sequence

from .form import Score, mean, quantile

TMP = 0.95
"""The share of the samples that the single-sided trimmed mean keeps (draft: 95 %)."""


GO_TMP = 0.05
"""The share of samples that goresponsiveness keeps by default (constants.go; utilities/math.go,
TrimBy)."""
RATINGS = ((6000.0, "excellent"), (1000.0, "good"), (300.0, "fair"))
"""The terms of draft-ietf-ippm-responsiveness-09, section 1.2, and the least RPM for each."""


def trimmed_mean(values: Sequence[float], keep: float = TMP) -> float:
    """The mean of the smallest values: a share `keep` of all, rounded down to a whole number. NaN
    if there is none."""
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
    """RPM of the draft, from the trimmed mean round-trip times of foreign and of self probes."""
    return (60.0 / foreign_s + 60.0 / loaded_s) / 2


def goresponsiveness(
    foreign: Sequence[float], loaded: Sequence[float], trips: int = 3, keep: float = GO_TMP
) -> float:
    """RPM as goresponsiveness computes it: 60 s over the mean of both trimmed means. The time of a
    foreign probe covers `trips` round trips (TCP, TLS, HTTP), each of which counts as an equal
    part. The option rpm.tmp is 5, "percent to trim", but the code keeps that share: the fastest 5
    %."""
    parts = [probe / trips for probe in foreign for _ in range(trips)]
    return 60.0 / ((trimmed_mean(parts, keep) + trimmed_mean(loaded, keep)) / 2)


def goresponsiveness_percentile(
    foreign: Sequence[float], loaded: Sequence[float], trips: int = 3, percent: int = 90
) -> float:
    """As `goresponsiveness`, with a percentile in place of the trimmed means (its "P90")."""
    parts = [probe / trips for probe in foreign for _ in range(trips)]
    return 60.0 / ((_percentile(parts, percent) + _percentile(loaded, percent)) / 2)


def _percentile(values: Sequence[float], percent: int) -> float:
    """goresponsiveness' percentile: the sorted value at index percent/100 · n, from 0."""
    ranked = sorted(values)
    place = int(percent / 100 * len(ranked))
    return ranked[place] if place < len(ranked) else math.nan


def rating(rpm: float) -> str:
    """The draft's term for a responsiveness; empty for NaN."""
    if math.isnan(rpm):
        return ""
    return next((word for least, word in RATINGS if rpm >= least), "poor")


SCORES = (
    Score(
        "rpm",
        "responsiveness (RPM)",
        "How many round trips a minute an application makes in a row while the line is full: the "
        "mean of that on new connections and on the busy ones.",
        "draft-ietf-ippm-responsiveness-09, 6 July 2026, section 4.3.1",
        "It mixes the line with end systems and their buffers, and two implementations on one line "
        "have given 850 and 3,415 RPM (goresponsiveness issue 13); the mean of two rates hides a "
        "bad one.",
        draft,
        "round trips/min",
    ),
    Score(
        "rpm-networkquality",
        "responsiveness (networkQuality)",
        "As rpm, with the probes of both directions together while both are loaded: how Apple's "
        "tool tests unless it is given -s.",
        "networkQuality(8) of macOS, which names revision 8 of the draft in its output (macOS "
        "27.2): intervals of 1 s, and the formula of revision 9",
        "Which direction is bad cannot be seen, and acknowledgements of each wait in the other's "
        "queue.",
        draft,
        "round trips/min",
    ),
    Score(
        "rpm-goresponsiveness",
        "responsiveness (goresponsiveness)",
        "As rpm, but 60 s over the mean of the two trimmed mean round trips, as earlier drafts had "
        "it, and of the fastest 5 % of the probes.",
        "goresponsiveness, rpm/calculations.go and constants.go (29 January 2024): rpm.tmp = 5 is "
        "described as the percentage to trim, and kept",
        "It is nearly the best round trip of a busy line and not a typical one; a foreign probe's "
        "three round trips are taken as equal.",
        goresponsiveness,
        "round trips/min",
    ),
    Score(
        "rpm-goresponsiveness-p90",
        "responsiveness (goresponsiveness, P90)",
        "As rpm-goresponsiveness, with the 90 % quantiles of all probes in place of the trimmed "
        "means.",
        "goresponsiveness, rpm/calculations.go (29 January 2024)",
        "One quantile of few probes scatters more than a mean.",
        goresponsiveness_percentile,
        "round trips/min",
    ),
)
__all__ = ["SCORES", "quantile"]
