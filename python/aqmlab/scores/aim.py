"""Cloudflare's Aggregated Internet Measurement (AIM): points for streaming, gaming and calls."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from .form import Score

_POINTS: dict[str, tuple[tuple[float, ...], tuple[int, ...]]] = {
    "packet_loss": ((0.01, 0.05, 0.25, 0.5), (10, 5, 0, -10, -20)),
    "latency": ((10, 20, 50, 100, 500), (20, 10, 5, 0, -10, -20)),
    "loaded_latency_increase": ((10, 20, 50, 100, 500), (20, 10, 5, 0, -10, -20)),
    "jitter": ((10, 20, 100, 500), (10, 5, 0, -10, -20)),
    "download": ((1e6, 10e6, 50e6, 100e6), (0, 5, 10, 20, 30)),
}
"""For each measurement: bounds (in ms, bit/s or as a share), and the points below each and above
the last bound."""
_USES: dict[str, tuple[tuple[str, ...], tuple[int, ...]]] = {
    "streaming": (
        ("latency", "packet_loss", "download", "loaded_latency_increase"),
        (15, 20, 40, 60),
    ),
    "gaming": (("latency", "packet_loss", "loaded_latency_increase"), (5, 15, 25, 30)),
    "rtc": (("latency", "jitter", "packet_loss", "loaded_latency_increase"), (5, 15, 25, 40)),
}
WORDS = ("bad", "poor", "average", "good", "great")


def _step(value: float, bounds: Sequence[float]) -> int:
    return sum(value >= bound for bound in bounds)


def points(measured: Mapping[str, float]) -> dict[str, int]:
    """Points for every use whose measurements are available: latencies and jitter in ms, packet
    loss as a share (0 where it was not measured), the download in bit/s."""
    had = {"packet_loss": 0.0, **measured}
    given = {
        name: table[_step(had[name], bounds)]
        for name, (bounds, table) in _POINTS.items()
        if name in had
    }
    if "packet_loss" not in measured:
        given["packet_loss"] = 0
    return {
        use: max(0, sum(given[name] for name in needed))
        for use, (needed, _) in _USES.items()
        if all(name in given for name in needed)
    }


def words(measured: Mapping[str, float]) -> dict[str, str]:
    """The word for every use, from bad to great."""
    return {use: WORDS[_step(sum_, _USES[use][1])] for use, sum_ in points(measured).items()}


SCORES = (
    Score(
        "aim",
        "Cloudflare AIM",
        "Points for latency, what load adds to it, jitter, loss and speed, summed for streaming, "
        "gaming and "
        "calls, and a word for each sum.",
        "@cloudflare/speedtest, src/config/internalConfig.ts and Results/ScoresCalculations.ts "
        "(read 2026-11)",
        "Medians of few requests: a queue that is full half of the time passes; bounds are steps.",
        points,
        "points",
    ),
)
