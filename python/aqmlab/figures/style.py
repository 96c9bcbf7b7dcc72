"""The style of all figures: fonts and axes; and SVG output that is equal byte for byte."""

from __future__ import annotations

import io
import re
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from aqmlab.errors import shortened
from aqmlab.io.terminal import printable

from .colours import GRID, INK, SOFT
from .light import lighten

if TYPE_CHECKING:
    import numpy as np
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes
    from matplotlib.axis import Axis
    from matplotlib.figure import Figure

#: Fonts that a browser uses for the text of an SVG; all are narrower than DejaVu Sans, which is
#: used for the layout.
FONTS = "system-ui, 'Segoe UI', Roboto, 'DejaVu Sans', Helvetica, Arial, sans-serif"

_RC: Any = {
    "font.family": ["DejaVu Sans"],
    "font.size": 9.0,
    "axes.titlesize": 10.0,
    "axes.titleweight": "bold",
    "axes.titlelocation": "left",
    "axes.titlepad": 10.0,
    "axes.labelsize": 9.0,
    "axes.edgecolor": SOFT,
    "axes.labelcolor": INK,
    "axes.linewidth": 0.8,
    "axes.grid": True,
    "axes.axisbelow": True,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "grid.color": GRID,
    "grid.linewidth": 0.7,
    "text.color": INK,
    "xtick.color": SOFT,
    "ytick.color": SOFT,
    "xtick.labelcolor": INK,
    "ytick.labelcolor": INK,
    "legend.frameon": False,
    "legend.fontsize": 8.5,
    "legend.title_fontsize": 8.5,
    "lines.linewidth": 1.6,
    "lines.solid_capstyle": "round",
    "hatch.linewidth": 0.6,
    "figure.facecolor": "white",
    "svg.hashsalt": "aqmlab",
    "svg.fonttype": "none",
    "path.simplify": True,
    "path.simplify_threshold": 0.1,
}

LEVEL: Any = {"color": SOFT, "linewidth": 0.9, "linestyle": (0, (1.5, 1.5)), "zorder": 2}
"""The style of a line that shows no data, such as a threshold or a deadline."""
SMALL: Any = {"color": SOFT, "fontsize": 8}
"""The style of small text in a drawing."""

LONGEST_TEXT = 160
"""Longest label or title, in characters."""


def plain(value: Any) -> Any:
    """A copy in which every text is shown literally: a dollar sign starts no formula, and an
    unprintable character is shown by its code point. The middle of a very long text is left out, so
    that there is room for the drawing."""
    if isinstance(value, str):
        return shortened(printable(value, keep="\n"), LONGEST_TEXT).replace("$", r"\$")
    if isinstance(value, dict):
        return {plain(key): plain(each) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return type(value)(map(plain, value))
    return value


@contextmanager
def styled() -> Iterator[None]:
    """Sets aqmlab's style, independently of the user's settings of matplotlib."""
    import matplotlib

    with matplotlib.rc_context(), warnings.catch_warnings():
        # A character that DejaVu Sans lacks is laid out as a box; the reader's own fonts draw it.
        warnings.filterwarnings("ignore", message="Glyph .* missing from")
        # Labels that are too large for the layout are drawn nevertheless.
        warnings.filterwarnings("ignore", message="constrained_layout not applied")
        matplotlib.rcdefaults()
        matplotlib.rcParams.update(_RC)
        yield


def new(width: float = 5.4, height: float = 3.5, title: str = "") -> tuple[Figure, Axes]:
    """An empty figure with one pair of axes; sizes in inches."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(width, height), layout="constrained")
    axes = figure.add_subplot()
    axes.set_title(title)
    return figure, axes


def grid(
    width: float, height: float, rows: int, columns: int, title: str = "", **shared: Any
) -> tuple[Figure, np.ndarray]:
    """An empty figure with rows of axes under a common title; sizes in inches."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(width, height), layout="constrained")
    if title:
        figure.suptitle(title, x=0.01, ha="left", fontsize=10, fontweight="bold")
    return figure, figure.subplots(rows, columns, squeeze=False, **shared)


def few(axis: Axis, most: int, *, whole: bool = False) -> None:
    """Sets at most `most` intervals between ticks, in steps of 1, 2 or 5, optionally at whole
    numbers only."""
    from matplotlib.ticker import MaxNLocator

    axis.set_major_locator(MaxNLocator(most, integer=whole, steps=[1, 2, 5, 10]))
    axis.set_major_formatter("{x:,g}")


def decades(axis: Axis, *, unit: float = 1.0, subs: tuple[int, ...] = (1, 2, 5)) -> None:
    """Makes an axis logarithmic, with plain numbers, in multiples of `unit`, and with ticks at the
    multiples `subs` of every power of ten."""
    from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

    axis.axes.set(**{f"{name_of(axis)}scale": "log"})
    axis.set_major_locator(LogLocator(subs=subs))
    axis.set_major_formatter(FuncFormatter(lambda value, _: f"{value / unit:,g}"))
    axis.set_minor_formatter(NullFormatter())


def name_of(axis: Axis) -> str:
    """The name of an axis: `x` or `y`."""
    return "x" if axis is axis.axes.xaxis else "y"


def hover(artist: Artist, words: str) -> None:
    """Sets the text that a browser shows when the reader points at this artist."""
    artist.set_gid(_HOVER + words)


_HOVER = "hover:"


def to_svg(figure: Figure) -> str:
    """The figure as SVG text. Equal figures give equal bytes: it has no date and nothing of the
    machine."""
    from matplotlib.backends.backend_svg import FigureCanvasSVG

    out = io.StringIO()
    with styled():
        FigureCanvasSVG(figure).print_svg(out, metadata={"Date": None, "Creator": None})
    return _tidy(out.getvalue())


def to_png(figure: Figure, dots_per_inch: int = 144) -> bytes:
    """The figure as PNG."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg

    out = io.BytesIO()
    with styled():
        figure.set_dpi(dots_per_inch)
        FigureCanvasAgg(figure).print_png(out, metadata={"Software": None})
    return out.getvalue()


def to_both(figure: Figure) -> tuple[str, bytes]:
    """The figure as SVG and PNG. It is laid out only once, since the layout is half of the work."""
    svg = to_svg(figure)
    figure.set_layout_engine("none")
    return svg, to_png(figure)


def _tidy(svg: str) -> str:
    """The SVG with tooltips, without needless bytes, and with the reader's own fonts in place of
    DejaVu Sans."""
    svg = re.sub(rf'<g id="{_HOVER}([^"]*)">', r"<g><title>\1</title>", svg)
    return lighten(svg).replace("'DejaVu Sans'", FONTS)
