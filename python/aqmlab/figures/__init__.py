"""Figures: from the runs of a study, or from any tables, to pictures.

A kind of figure is one file in `kinds/` (see `kind`) and one line here. `draw` makes a matplotlib
figure from data, `to_svg` and `to_png` write it: equal data always give equal bytes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from .kind import Kind, load
from .sources import Dataset, Drawing
from .style import to_both, to_png, to_svg

if TYPE_CHECKING:
    from matplotlib.figure import Figure

KINDS = (
    "bars",
    "boxes",
    "ccdf",
    "cdf",
    "course",
    "curve",
    "delays",
    "distributions",
    "effects",
    "ellipses",
    "flow-chart",
    "heatmap",
    "linearity",
    "lines",
    "load",
    "loss-distances",
    "overview",
    "panels",
    "portrait",
    "series",
    "sizes",
    "slow-start",
    "trace",
)


def kind(name: str) -> Kind:
    """The kind of figure called `name`."""
    if name not in KINDS:
        raise ValueError(f'unknown kind of figure "{name}", expected one of {", ".join(KINDS)}')
    return load(name)


def of_studies() -> list[str]:
    """The kinds that an experiment may use."""
    return [name for name in KINDS if kind(name).collect is not None]


def draw(name: str, data: dict, **options: object) -> Figure:
    """Draws `data` as a figure of this kind; the kind's `draw` describes the data that it needs."""
    return kind(name).picture(options, data)


__all__ = [
    "KINDS",
    "Dataset",
    "Drawing",
    "Kind",
    "draw",
    "kind",
    "of_studies",
    "to_both",
    "to_png",
    "to_svg",
]
