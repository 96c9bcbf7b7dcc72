"""The page of an advice: one HTML file, made from the answer alone."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Required, TypedDict

from markupsafe import Markup

from .templates import environment, style

WIDTH = 260
"""Width in pixels of the strip on which scores are drawn."""


class Shown(TypedDict):
    """How a measure is shown to people: the factor of its unit, and the digits after the point."""

    scale: float
    digits: int


class Measured(Shown):
    """A measure with today's queue and with the advised one, each as (mean, low, high)."""

    measure: str
    title: str
    unit: str
    today: list[float] | None
    advised: list[float] | None
    difference: list[float] | None


class Effect(TypedDict):
    """The change of a candidate's score when one thing changes."""

    what: str
    candidate: str
    score: float
    change: list[float] | None


class Surroundings(TypedDict):
    """The scores of candidates when one property of the line or its users differs."""

    what: str
    effects: list[Effect]


class RacedPlace(TypedDict):
    """A candidate of the race: its queue, its score as (mean, low, high), how far it is behind the
    best, and other settings that are equivalent."""

    name: str
    queue: dict[str, object] | None
    seeds: int
    score: list[float]
    behind: list[float]
    equal: bool
    final: bool
    standing: str
    also: list[str]


class Answer(TypedDict, total=False):
    """The document of `aqmlab advise --json`; `commands` are the commands for each system."""

    question: Required[dict[str, object]]
    terms: Required[list[dict[str, object]]]
    advised: Required[str]
    discipline: Required[str]
    sentence: Required[str]
    places: Required[list[RacedPlace]]
    present: Required[list[Measured]]
    parameters: Required[list[Effect]]
    surroundings: Required[list[Surroundings]]
    commands: Required[list[dict[str, object]]]
    folder: str


def render(answer: Answer) -> str:
    """The page as HTML. No side effects."""
    made = environment(strip=strip, described=described, change=change)
    return made.get_template("advice.html.jinja").render(a=answer, style=style())


def strip(place: RacedPlace) -> Markup:
    """A score from 0 to 1 as a dot with its interval."""
    mean, low, high = place["score"]
    ends = [WIDTH * min(1.0, max(0.0, end)) for end in (low, high)] if low == low else None
    line = (
        Markup('<line x1="{:.1f}" x2="{:.1f}" y1="7" y2="7" stroke="currentColor"/>').format(*ends)
        if ends
        else Markup("")
    )
    dot = Markup('<circle cx="{:.1f}" cy="7" r="3.5" fill="currentColor"/>').format(WIDTH * mean)
    head = Markup('<svg role="img" aria-label="score {:.3f}" viewBox="-5 0 {} 14" width="{}">')
    return head.format(mean, WIDTH + 10, WIDTH) + line + dot + Markup("</svg>")


def described(interval: Sequence[float] | None, row: Shown, sign: str = "") -> str:
    """A mean with half the width of its interval, in the unit for people."""
    if interval is None or interval[0] is None:
        return "-"
    mean, _, high = interval
    scale, digits = row["scale"], row["digits"]
    text = f"{mean * scale:{sign}z,.{digits}f}"  # the format option z avoids a negative zero
    known = high is not None and high == high
    return f"{text} ± {(high - mean) * scale:,.{digits}f}" if known else text


def change(effect: Effect) -> str:
    """The change of a score, in words."""
    return described(effect["change"], {"scale": 1, "digits": 3}, "+")
