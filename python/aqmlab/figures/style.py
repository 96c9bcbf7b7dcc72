"""How every figure looks: colours, lines, type, and a byte-for-byte repeatable SVG.

Colours are Okabe and Ito's, told apart by colour-blind readers; each comes with its own dash and
marker, so that the curves stay apart on a black-and-white print.
"""

from __future__ import annotations

import io
import re
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import matplotlib
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.backends.backend_svg import FigureCanvasSVG
from matplotlib.figure import Figure

from aqmlab.errors import shortened
from aqmlab.io.terminal import printable

INK = "#1a1a1a"
SOFT = "#6b6b6b"
GRID = "#e4e4e4"

#: What a browser uses for the text of an SVG; all are narrower than the font we measure with.
FONTS = "system-ui, 'Segoe UI', Roboto, 'DejaVu Sans', Helvetica, Arial, sans-serif"


@dataclass(frozen=True)
class Pen:
    """One way of drawing a curve."""

    colour: str
    dash: object
    marker: str
    hollow: bool = False
    """Whether its markers are white inside."""


PENS = (
    Pen("#0072B2", "-", "o"),
    Pen("#D55E00", (0, (5, 1.6)), "s"),
    Pen("#009E73", (0, (6, 1.4, 1.2, 1.4)), "^"),
    Pen("#CC79A7", (0, (2.4, 1.2)), "D"),
    Pen("#1a1a1a", (0, (8, 1.6)), "v"),
    Pen("#B8860B", (0, (1.2, 1.2)), "P"),
    Pen("#56B4E9", (0, (4, 1.2, 1.2, 1.2, 1.2, 1.2)), "X"),
    # colours again, with other dashes and with markers that are white inside
    Pen("#D55E00", (0, (12, 1.6)), "<", hollow=True),
    Pen("#0072B2", (0, (1, 1.8)), ">", hollow=True),
    Pen("#CC79A7", (0, (9, 1.4, 3, 1.4)), "h", hollow=True),
    Pen("#009E73", (0, (5, 1.4, 1.2, 1.4, 1.2, 1.4)), "p", hollow=True),
    Pen("#1a1a1a", (0, (3, 1.2, 1.2, 1.2)), "d", hollow=True),
)

#: Fillings of areas, which stay apart where colours do not.
# Lines only: matplotlib writes every dot of a dotted filling as four curves, 180 kB for one.
HATCHES = ("", "////", "++++", "\\\\\\\\", "xxxx", "----", "||||")

_RC: Any = {
    "font.family": ["DejaVu Sans"],
    "font.size": 9.0,
    "axes.titlesize": 10.0,
    "axes.titleweight": "bold",
    "axes.titlelocation": "left",
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


def pen(index: int) -> Pen:
    """The pen of the curve with this index; they repeat after the last."""
    return PENS[index % len(PENS)]


def hatch(index: int) -> str:
    """The filling of the area with this index."""
    return HATCHES[index % len(HATCHES)]


LONGEST_TEXT = 160
"""Characters of a label or title."""


def plain(value: Any) -> Any:
    """A copy in which every text stands for itself: a dollar sign begins no formula, and what has
    no picture is shown by its number. Of a very long one the middle is left out: it would leave no
    room for the drawing."""
    if isinstance(value, str):
        return shortened(printable(value, keep="\n"), LONGEST_TEXT).replace("$", r"\$")
    if isinstance(value, dict):
        return {plain(key): plain(each) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return type(value)(map(plain, value))
    return value


@contextmanager
def styled() -> Iterator[None]:
    """Our style, whatever the user's matplotlib is set to."""
    with matplotlib.rc_context(), warnings.catch_warnings():
        # Of a character that our font lacks a box is measured; the reader's own fonts draw it.
        warnings.filterwarnings("ignore", message="Glyph .* missing from")
        # Labels that leave no room are drawn nevertheless.
        warnings.filterwarnings("ignore", message="constrained_layout not applied")
        matplotlib.rcdefaults()
        matplotlib.rcParams.update(_RC)
        yield


def new(width: float = 5.4, height: float = 3.5) -> tuple[Figure, Axes]:
    """An empty figure with one pair of axes; sizes in inches."""
    figure = Figure(figsize=(width, height), layout="constrained")
    return figure, figure.add_subplot()


def to_svg(figure: Figure) -> str:
    """The figure as SVG text: same figure, same bytes; no date, no machine."""
    out = io.StringIO()
    with styled():
        FigureCanvasSVG(figure).print_svg(out, metadata={"Date": None, "Creator": None})
    return _tidy(out.getvalue())


def to_png(figure: Figure, dots_per_inch: int = 144) -> bytes:
    """The figure as PNG."""
    out = io.BytesIO()
    with styled():
        figure.set_dpi(dots_per_inch)
        FigureCanvasAgg(figure).print_png(out, metadata={"Software": None})
    return out.getvalue()


_DECIMALS = re.compile(r"-?\d+\.\d{3,}")


def _short(number: re.Match[str]) -> str:
    text = f"{float(number[0]):.2f}".rstrip("0").rstrip(".")
    return "0" if text == "-0" else text


def _tidy(svg: str) -> str:
    """Two decimals are enough for coordinates; the reader's own fonts are better than ours."""
    svg = re.sub(r"<[^>]*>", lambda tag: _DECIMALS.sub(_short, tag[0]), svg)
    svg = svg.replace("'DejaVu Sans'", FONTS)
    return "\n".join(line.rstrip() for line in svg.splitlines()) + "\n"
