"""From runs to what the figures are drawn of.

One file per kind of figure. A kind is a function of the figure's entry in `experiment.toml` and of
the study's material; it gives what `figures.draw` takes, or None where no run has anything to
draw. What an entry may say is in the function's own words; `group`, `where`, `curve` and `curves`
mean the same everywhere (`material.samples`).
"""

from __future__ import annotations

from collections.abc import Callable

from .bars import bars
from .boxes import boxes
from .ccdf import ccdf
from .cdf import GRID_MS, cdf
from .curve import curve
from .datagrams import delays, loss_distances
from .effects import effects
from .ellipses import ellipses
from .linearity import linearity, through_origin
from .lines import lines
from .material import Drawing, Material
from .panels import panels
from .series import series
from .sizes import sizes
from .slow_start import slow_start
from .trace import trace

KINDS: dict[str, Callable[[dict, Material], Drawing | None]] = {
    "bars": bars,
    "boxes": boxes,
    "ccdf": ccdf,
    "cdf": cdf,
    "curve": curve,
    "delays": delays,
    "effects": effects,
    "ellipses": ellipses,
    "linearity": linearity,
    "lines": lines,
    "loss-distances": loss_distances,
    "panels": panels,
    "series": series,
    "sizes": sizes,
    "slow-start": slow_start,
    "trace": trace,
}

__all__ = [
    "GRID_MS",
    "KINDS",
    "Drawing",
    "Material",
    "through_origin",
]
