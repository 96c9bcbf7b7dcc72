"""The page of an advice: one file, from the answer alone."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from markupsafe import Markup

from .templates import environment, style

WIDTH = 260
"""Of the strip on which scores are drawn, in pixels."""


def render(answer: Mapping[str, Any]) -> str:
    """The page. Pure."""
    made = environment(strip=strip, described=described, change=change)
    return made.get_template("advice.html.jinja").render(a=answer, style=style())


def strip(place: Mapping[str, Any]) -> Markup:
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


def described(interval: Sequence[float] | None, row: Mapping[str, Any], sign: str = "") -> str:
    """A mean with half its interval, in the unit that people are shown."""
    if interval is None or interval[0] is None:
        return "-"
    mean, _, high = interval
    scale, digits = row["scale"], row["digits"]
    text = f"{mean * scale:{sign},.{digits}f}"
    known = high is not None and high == high
    return f"{text} ± {(high - mean) * scale:,.{digits}f}" if known else text


def change(effect: Mapping[str, Any]) -> str:
    """What a change does to a score."""
    return described(effect["change"], {"scale": 1, "digits": 3}, "+")
