"""ITU-T P.1203: the quality that a viewer perceives of a video that is streamed in segments (mode
0).

Mode 0 uses bit rate, resolution and frame rate of each segment. Equations are those of P.1203.1
(video) and P.1203.3 (integration over time, stalls); the constants are those of its authors'
published software.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass

from .form import Score, mean

EXCELLENT = 5.0
"""Audio quality if none is given: P.1203.3 takes it as constant and good."""


@dataclass(frozen=True)
class Segment:
    """A segment of the video as it was coded."""

    seconds: float
    kbit_per_s: float
    pixels: float
    """Width times height of the picture."""
    frames_per_s: float = 25.0


@dataclass(frozen=True)
class Stall:
    """A stall: the picture freezes at media time `at` (s) for `seconds`; `at` is 0 for the initial
    delay."""

    at: float
    seconds: float


def _clamped(value: float, least: float, most: float) -> float:
    return max(least, min(value, most))


def _mos(r: float) -> float:
    """A quality of 0 to 100 as a mean opinion score of 1.05 to 4.9."""
    r = _clamped(r, 0.0, 100.0)
    return 1.05 + 3.85 * r / 100 + r * (r - 60) * (100 - r) * 7e-6


def _rating(mos: float) -> float:
    """The inverse of `_mos`, by bisection."""
    least, most = 0.0, 100.0
    for _ in range(60):
        middle = (least + most) / 2
        least, most = (middle, most) if _mos(middle) < mos else (least, middle)
    return (least + most) / 2


def segment_quality(segment: Segment, screen: float = 1920 * 1080) -> float:
    """P.1203.1's quality of H.264 video in mode 0 on a screen with that many pixels."""
    rate, frames = segment.kbit_per_s, segment.frames_per_s
    per_pixel = rate * rate / (segment.pixels * frames)
    steps = 41.2475074001 + math.log(rate) + math.log(per_pixel + 0.13183165961)
    quant = 11.9983519 - 2.99991847 * math.log(steps)
    coded = _clamped(100 - _rating(_clamped(4.66 - 0.07 * math.exp(4.06 * quant), 1, 5)), 0, 100)
    larger = max(screen / segment.pixels, 1.0)
    scaled = _clamped(72.61 * math.log10(0.32 * (larger - 1) + 1), 0, 100)
    jerky = 0.0
    if frames < 24:
        jerky = (100 - coded - scaled) * (30.98 - 1.29 * frames) / (64.65 + frames)
    return _mos(100 - _clamped(coded + scaled + _clamped(jerky, 0, 100), 0, 100))


def qualities(segments: Sequence[Segment], screen: float = 1920 * 1080) -> list[float]:
    """The quality of each whole second of media: that of the segment in which it begins."""
    found: list[float] = []
    until = 0.0
    for segment in segments:
        until += segment.seconds
        quality = segment_quality(segment, screen)
        found += [quality] * (math.floor(until + 1e-9) - len(found))
    return found


def session(
    video: Sequence[float], stalls: Sequence[Stall] = (), sound: float = EXCELLENT
) -> float:
    """P.1203.3's quality of a session (1 to 5) with this quality in each second, without its forest
    of random trees: the weighted mean, minus the penalties for quality changes and for the worst
    moments, reduced by a factor for stalls."""
    if not video:
        return math.nan
    count = len(video)
    both = [
        _clamped(-0.00069084 + 0.15374283 * sound + 0.97153861 * v + 0.02461776 * sound * v, 1, 5)
        for v in video
    ]
    weights = [
        (0.00666620027943848 + 0.0000404018840273729 * math.exp(t / count / 0.156497800436237))
        * (0.143179744942738 - 0.0238641564518876 * quality)
        for t, quality in enumerate(both)
    ]
    middle = math.fsum(w * q for w, q in zip(weights, both, strict=True)) / math.fsum(weights)
    steady = middle - _worst_moments(both, middle) - _swings(video)
    impact = _impact([stall for stall in stalls if stall.seconds > 0 and stall.at <= count], count)
    mos = _clamped(1 + (steady - 1) * impact, 1, 5)
    return 0.02833052 + 0.98117059 * mos


def _fading(half_life: float, floor: float, age: float) -> float:
    return floor + (1 - floor) * 0.5 ** (age / half_life)


def _worst_moments(both: Sequence[float], middle: float) -> float:
    """Penalty for the worst tenth of the seconds; later seconds weigh more."""
    count = len(both)
    lags = sorted(
        (q - middle) * _fading(7.85416481, 1.87403625, count - i - 1) for i, q in enumerate(both)
    )
    place = 0.1 * (count - 1)
    low = math.floor(place)
    high = min(low + 1, count - 1)
    tenth = lags[low] + (lags[high] - lags[low]) * (place - low)
    return max(0.0, -tenth) * 0.01853820


def _swings(video: Sequence[float]) -> float:
    """The penalty for changes of the video's quality."""
    count, spread = len(video), max(video) - min(video)
    longest, turns = _turns(video)
    if longest / count >= 0.25:
        return 0.0
    jumps = sum(abs(b - a) > 0.2 for a, b in itertools.pairwise(video)) / count
    adapting = _clamped(0.17332553 * spread * jumps - 0.01035647, 0.0, 0.5)
    if longest >= 30:
        return adapting
    size = max(0.0, 1 + math.log10(spread + 0.001))
    return adapting + _clamped(size * math.exp(0.67756080 * turns - 8.05533303), 0.0, 1.5)


def _turns(video: Sequence[float]) -> tuple[int, int]:
    """The longest time without a change of direction, s, and how often the quality changes
    direction."""
    padded = [video[0]] * 4 + list(video) + [video[-1]] * 4
    smooth = [mean(padded[i : i + 5]) for i in range(len(padded) - 4)][::3]
    ways = [
        0 if abs(b - a) < 0.2 else 1 if b - a > 0.2 else -1 for a, b in itertools.pairwise(smooth)
    ]
    moving = [(i, way) for i, way in enumerate(ways) if way]
    starts = [one for k, one in enumerate(moving) if k == 0 or moving[k - 1][1] != one[1]]
    if not starts:
        return 3 * len(ways), 0
    edges = [0, *(i for i, _ in starts), len(ways)]
    return 3 * max(b - a for a, b in itertools.pairwise(edges)), len(starts)


def _impact(stalls: Sequence[Stall], count: int) -> float:
    """The factor, at most 1, by which stalls reduce the quality."""
    total = sum(s.seconds * _fading(10.0, 0.48412879, count - s.at) for s in stalls)
    apart = (stalls[-1].at - stalls[0].at) / (len(stalls) - 1) if len(stalls) > 1 else 0.0
    return math.exp(
        -len(stalls) / 9.35158684 - total / count / 0.91890815 - apart / count / 11.0567558
    )


def streaming(
    segments: Sequence[Segment], stalls: Sequence[Stall] = (), screen: float = 1920 * 1080
) -> float:
    """The quality of a session from its segments and stalls, with constant and good audio."""
    return session(qualities(segments, screen), stalls)


SCORES = (
    Score(
        "video",
        "streamed video (P.1203, mode 0)",
        "1 to 5 for a streamed video: how finely each second is coded and on how large a screen, "
        "what changes of it, the wait for its begin and stalls take off.",
        "ITU-T P.1203.1 (01/2019), mode 0, and P.1203.3 (10/2017) without its random forest, which "
        "has a quarter of the weight there; constants as its authors' published software has them",
        "For H.264 up to 1080 lines and 1 to 5 min; without the forest it differs from the full "
        "model by up to 0.5 in eight random sessions; a bit rate stands for the picture.",
        streaming,
        "MOS",
    ),
)
