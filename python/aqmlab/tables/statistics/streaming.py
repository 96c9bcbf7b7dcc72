"""Statistics of video players: quality by ITU-T P.1203 (`aqmlab.scores.video`)."""

from __future__ import annotations

import math

import numpy as np

from aqmlab.runs.laboratory import FinishedRun
from aqmlab.scores import video
from aqmlab.scores.form import mean

PIXELS = {
    145: 416 * 234,
    235: 320 * 240,
    300: 426 * 240,
    365: 480 * 270,
    375: 384 * 288,
    560: 512 * 384,
    730: 640 * 360,
    750: 640 * 360,
    1050: 640 * 480,
    1100: 768 * 432,
    1200: 854 * 480,
    1750: 720 * 480,
    1850: 1280 * 720,
    2000: 960 * 540,
    2350: 1280 * 720,
    2850: 1920 * 1080,
    3000: 1280 * 720,
}
"""Pixels of a picture for each bit rate (kbit/s) of the ladders that Apple, Netflix and Pensieve
have published (recalled); other bit rates count as 1080 lines."""
LONGEST_S = 300.0
"""P.1203 is for sessions of 1 to 5 min: a longer session is scaled to this duration, in seconds."""


def streaming_rating(run: FinishedRun) -> float:
    """P.1203's quality (1 to 5), mean over the viewers whose video played. The order of bit rates
    is not recorded: it is assumed to be ascending, with stalls at equal distances."""
    if not run.has("players"):
        return math.nan
    players, rates = run.columns("players"), run.columns("player_rates")
    found = []
    for i, user in enumerate(players["user"]):
        own = (rates["user"] == user) & (rates["share"] > 0)
        played = float(players["played_s"][i])
        startup = float(players["startup_s"][i])
        if played < 1 or math.isnan(startup):
            continue
        lasts = min(played, LONGEST_S)
        order = np.argsort(rates["rate_bits_per_s"][own])
        seen = [
            _segment(float(rates["rate_bits_per_s"][own][k]), lasts * float(rates["share"][own][k]))
            for k in order
        ]
        stalls = round(float(players["stalls"][i]) * lasts / played)
        each = float(players["stalled_s"][i]) * lasts / played / stalls if stalls else 0.0
        still = [video.Stall(lasts * (k + 1) / (stalls + 1), each) for k in range(stalls)]
        found.append(video.streaming(seen, [video.Stall(0.0, startup), *still]))
    return mean(found)


def _segment(bits_per_s: float, lasts: float) -> video.Segment:
    kbit_per_s = bits_per_s / 1e3
    return video.Segment(lasts, kbit_per_s, PIXELS.get(round(kbit_per_s), 1920 * 1080))
