"""Idle and loaded latency as in Ookla's Speedtest."""

from __future__ import annotations

from collections.abc import Sequence

from .form import Score, mean


def interquartile_mean(values: Sequence[float]) -> float:
    """The mean of the middle half of the values; NaN if empty."""
    ranked = sorted(values)
    cut = len(ranked) // 4
    return mean(ranked[cut : len(ranked) - cut])


SCORES = (
    Score(
        "latency-ookla",
        "latency (Ookla)",
        "Mean of the middle half of the pings, of the idle line and while it is downloading or "
        "uploading.",
        "Ookla, Speedtest CLI: `iqm` (recalled)",
        "The middle half leaves out every spike, which is what users notice.",
        interquartile_mean,
        "s",
    ),
)
