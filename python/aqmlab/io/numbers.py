"""Formats numbers for people: thousands separated, a typographic minus, no negative zero."""

from __future__ import annotations

import math

MINUS = "\u2212"


def fixed(value: float | None, digits: int) -> str:
    """A number with `digits` decimals; a dash if there is none."""
    if value is None or not math.isfinite(value):
        return "–"
    text = f"{abs(value):,.{digits}f}"
    return MINUS + text if value < 0 and text.strip("0.,") else text


def signed(value: float | None, digits: int) -> str:
    """A number with `digits` decimals and its sign; zero has no sign."""
    text = fixed(value, digits)
    bare = text.strip("0.,")
    return f"+{text}" if bare and bare[0] not in (MINUS, "–") else text


def ranged(
    mean: float, low: float | None, high: float | None, digits: int = 1, *, sign: bool = False
) -> str:
    """A mean with its interval: "3.1 [2.0, 4.2]"; without an interval the mean alone."""
    write = signed if sign else fixed
    if low is None or high is None or not (math.isfinite(low) and math.isfinite(high)):
        return write(mean, digits)
    return f"{write(mean, digits)} [{write(low, digits)}, {write(high, digits)}]"


def significant(value: float | None) -> str:
    """A number with three significant digits, at most four after the point."""
    if value is None or not math.isfinite(value):
        return "–"
    return fixed(value, digits_of(value))


def digits_of(value: float) -> int:
    """Decimals that show three significant digits: none from 100 on, at most four."""
    if not math.isfinite(value) or value == 0:
        return 1
    return max(0, min(4, 2 - math.floor(math.log10(abs(value)))))


def counted(number: int, noun: str) -> str:
    """A number with a noun: `1 seed`, `2 seeds`."""
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def with_verb(number: int, verb: str) -> str:
    """A number with a verb: `1 holds`, `2 hold`; `1 does`, `2 do`."""
    one = {"do": "does"}.get(verb, f"{verb}s")
    return f"{number} {one if number == 1 else verb}"
