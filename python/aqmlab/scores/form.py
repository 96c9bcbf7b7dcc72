"""The form of a score, and functions that several scores use."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Score:
    """A number or letter that rates a line, with the function that computes it."""

    name: str
    title: str
    meaning: str
    """What the score measures, in a sentence."""
    source: str
    """The source of the definition, with its revision."""
    weakness: str
    """A known weakness of the score."""
    compute: Callable[..., Any]
    unit: str = ""


def quantile(values: Sequence[float], share: float) -> float:
    """The smallest value with at least this share of the values at or below it; NaN if empty."""
    ranked = sorted(values)
    if not ranked:
        return math.nan
    return ranked[min(len(ranked), max(1, math.ceil(share * len(ranked) - 1e-9))) - 1]


def mean(values: Sequence[float]) -> float:
    """The arithmetic mean; NaN if empty."""
    return math.fsum(values) / len(values) if values else math.nan


def grade(value: float, steps: Sequence[tuple[float, str]], last: str) -> str:
    """The letter of the first bound that is above the value, `last` if there is none; "-" for
    NaN."""
    if math.isnan(value):
        return "-"
    return next((letter for bound, letter in steps if value < bound), last)
