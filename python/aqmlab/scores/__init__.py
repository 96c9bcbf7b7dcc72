"""Scores: numbers and letters that are used to rate access lines, each with its source and
weakness.

Each file has the functions of one kind and lists them in `SCORES`; all work on plain numbers in
seconds, bit/s and shares, from measurements or simulations.
"""

from __future__ import annotations

from aqmlab.errors import SpecError, nearest

from . import aim, bufferbloat, fairness, games, ookla, qoo, responsiveness, video
from .form import Score

SCORES: dict[str, Score] = {
    score.name: score
    for file in (responsiveness, bufferbloat, aim, qoo, ookla, fairness, games, video)
    for score in file.SCORES
}
"""Every score by its name."""


def find(name: str) -> Score:
    """The score called `name`."""
    if name not in SCORES:
        raise SpecError(f'no score "{name}"{nearest(name, list(SCORES))} (`aqmlab list scores`)')
    return SCORES[name]
