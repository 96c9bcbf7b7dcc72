"""Figures: tables in, pictures out.

Every kind is a pure function in a file of its own; this list is all that the rest of the house
knows of them. `draw` makes a matplotlib figure, `to_svg` and `to_png` write it down, the same bytes
for the same figure.
"""

from __future__ import annotations

from collections.abc import Callable

from matplotlib.figure import Figure

from .bars import bars
from .boxes import boxes
from .ccdf import ccdf
from .cdf import cdf
from .curve import curve
from .delays import delays
from .distributions import distributions
from .effects import effects
from .ellipses import ellipses
from .linearity import linearity
from .lines import lines
from .load import load
from .loss_distances import loss_distances
from .panels import panels
from .portrait import portrait
from .series import series
from .sizes import sizes
from .slow_start import slow_start
from .style import plain, styled, to_png, to_svg
from .trace import trace

KINDS: dict[str, Callable[..., Figure]] = {
    "bars": bars,
    "boxes": boxes,
    "ccdf": ccdf,
    "cdf": cdf,
    "curve": curve,
    "delays": delays,
    "distributions": distributions,
    "effects": effects,
    "ellipses": ellipses,
    "linearity": linearity,
    "lines": lines,
    "load": load,
    "loss-distances": loss_distances,
    "panels": panels,
    "portrait": portrait,
    "series": series,
    "sizes": sizes,
    "slow-start": slow_start,
    "trace": trace,
}

WIDE = frozenset({"bars", "boxes", "effects", "load", "loss-distances", "panels", "trace"})
"""Kinds that need the whole width of a page."""


def draw(kind: str, data: dict, **options: object) -> Figure:
    """Draw `data` as a figure of this kind; the kind's own docstring says what it wants."""
    if kind not in KINDS:
        raise ValueError(f'unknown kind of figure "{kind}", expected one of {", ".join(KINDS)}')
    with styled():
        return KINDS[kind](plain(data), **{name: plain(value) for name, value in options.items()})


__all__ = ["KINDS", "WIDE", "draw", "to_png", "to_svg"]
