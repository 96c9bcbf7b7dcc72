"""Cloud gaming: ITU-T G.1072's planning model, its network part."""

from __future__ import annotations

import math

from .form import Score

CLASSES = ("low", "medium", "high")
"""Classes of a game's sensitivity to delay and to lost frames."""
_FRAMES = {
    "low": (23.43, 0.008574, -0.9253, 5.855),
    "medium": (54.71, 0.02589, -2.485, 9.306),
    "high": (54.71, 0.02589, -2.485, 9.306),
}
_TEMPORAL = {
    "low": (29.13, 0.01344, -1.283, 6.724),
    "medium": (47.03, 0.01747, -1.823, 10.7),
    "high": (47.03, 0.01747, -1.823, 10.7),
}
_INPUT = {
    "low": (47.97, 2.097, 0.01073, -4.567),
    "medium": (90.0, 1.191, 0.009775, -18.73),
    "high": (90.0, 1.191, 0.009775, -18.73),
}


def _clip(value: float, most: float) -> float:
    return min(max(value, 0.0), most)


def _frame_loss(bitrate_mbit: float, rate: float, delay_ms: float, loss: float) -> float:
    """The percentage of lost video frames. `loss` is that of packets, in per cent."""
    if delay_ms < 16:
        return 0.0
    exponent = (0.08526 + 0.00073 * rate + 1.425e-4 * bitrate_mbit * rate) * (
        0.09656 * delay_ms - 1.5
    )
    return 100 * (1 - math.exp(-exponent * loss))


def network_rating(
    delay_s: float,
    loss: float = 0.0,
    sensitivity: str = "high",
    frames_per_s: float = 60.0,
    bitrate: float = 20e6,
) -> float:
    """R of the network alone (0 to 100): delay (round trip, s) and loss of packets (a share, to
    0.005) at a video without any impairment by coding; frames a second 10 to 60, bit rate 0.3 to 50
    Mbit/s."""
    lost = _frame_loss(bitrate / 1e6, frames_per_s, 1e3 * delay_s, 100 * loss)
    a, b, c, d = _FRAMES[sensitivity]
    frames = _clip(a + b * frames_per_s**2 + c * frames_per_s + d * math.log(lost + 1), 68.98)
    a, b, c, d = _TEMPORAL[sensitivity]
    temporal = _clip(a + b * frames_per_s**2 + c * frames_per_s + d * math.log(lost + 1), 61.29)
    a, b, c, d = _INPUT[sensitivity]
    control = _clip(a / (1 + math.exp(b - c * 1e3 * delay_s)) + d, 68.98)
    return _clip(100 - 0.227 * temporal - 0.625 * frames - 0.848 * control, 100.0)


def mos(rating: float) -> float:
    """Mean opinion score, 1.3 to 4.64, of a rating R."""
    low, high = 1.3, 4.64
    score = low + (high - low) / 100 * rating + rating * (rating - 60) * (100 - rating) * 7.0e-6
    return min(max(score, low), high)


SCORES = (
    Score(
        "game",
        "cloud gaming, rating R",
        "0 to 100 for what delay and lost packets do to a game that is computed elsewhere, by "
        "how sensitive the "
        "game is.",
        "ITU-T G.1072 (01/2020), coefficients as its authors' published implementation has them",
        "Only for delays up to 400 ms and loss up to 0.5 %; a constant delay is meant, not its "
        "variation.",
        network_rating,
    ),
)
