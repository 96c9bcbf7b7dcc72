"""Bufferbloat grades: letters for the increase of the round-trip time on a full line."""

from __future__ import annotations

from .form import Score, grade

STEPS = ((0.005, "A+"), (0.030, "A"), (0.060, "B"), (0.200, "C"), (0.400, "D"))
"""For each of DSLReports' letters, the increase of the round-trip time (s) below which it is given;
a larger increase gets F, and there is no E."""


def dslreports(down_s: float, up_s: float) -> str:
    """The letter for the mean of two increases of the mean round-trip time, both in seconds: that
    by a download and that by an upload."""
    return grade((down_s + up_s) / 2, STEPS, "F")


def waveform(down_s: float, up_s: float) -> str:
    """The letter for the larger of two increases of the round-trip time, both in seconds: that by a
    download and that by an upload."""
    return grade(max(down_s, up_s), STEPS, "F")


SCORES = (
    Score(
        "grade-dslreports",
        "bufferbloat grade (DSLReports)",
        "A letter for the milliseconds that a full line adds to the round trip, the mean of both "
        "directions.",
        "DSLReports FAQ 17930, Bufferbloat Grades",
        "The mean of both directions hides one that is unusable, and a mean over time hides "
        "spikes.",
        dslreports,
    ),
    Score(
        "grade-waveform",
        "bufferbloat grade (Waveform)",
        "A letter for the milliseconds that a full line adds to the round trip, in the worse "
        "direction.",
        "Waveform, Bufferbloat and Internet Speed Test: DSLReports' letters (recalled); the "
        "worse direction: "
        "assumed",
        "Its method is not published; six connections for ten seconds need not fill a fast line.",
        waveform,
    ),
)
