"""The steps of a queue discipline as a flow chart, with the values that it runs with.

The boxes are the study's; what stands in braces in their texts is a parameter of the discipline, as
the simulator completed the scenario that is drawn.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypedDict

from aqmlab.errors import SpecError

from ..colours import INK, SOFT
from ..sources import Cells, Drawing
from ..style import new

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

WIDE = True
HEIGHT = 0.72
"""Height of a row in inches."""


class _Placed(TypedDict):
    name: str
    text: str
    at: list[float]


class Box(_Placed, total=False):
    """A step, or a test, at a column and a row; the first row is the highest."""

    test: bool


class _Joined(TypedDict):
    pair: list[str]


class Arrow(_Joined, total=False):
    """An arrow from one box to another; `pair` has the names of both."""

    label: str


def collect(
    source: Cells, *, boxes: list[Box], arrows: list[Arrow], port: str = "forward"
) -> Drawing | None:
    """`boxes` (`name`, `text`, `at` = column and row, `test`) joined by `arrows` (`pair` of names,
    `label`); the discipline is that of the first cell's first link, in the direction `port`.
    """
    samples = source.samples()
    if not samples:
        return None
    scenario = source.dataset.scenario(samples[0].cell)
    values = scenario["link"][0][port]
    known = {box["name"] for box in boxes}
    for arrow in arrows:
        if missing := [name for name in arrow["pair"] if name not in known]:
            raise SpecError(f"a flow chart has an arrow to {missing[0]}, which is no box of it")
    filled = [{**box, "text": _filled(box["text"], values)} for box in boxes]
    return Drawing({"boxes": filled, "arrows": list(arrows)})


def _filled(text: str, values: Any) -> str:
    try:
        return text.format_map(values)
    except (KeyError, TypeError) as error:
        raise SpecError(f"a flow chart names {error}, which the discipline has not") from error


def draw(data: dict, *, title: str = "") -> Figure:
    """`data` has `boxes` and `arrows` as in an entry, with values in place of the parameters'
    names."""
    columns = [box["at"][0] for box in data["boxes"]]
    rows = [box["at"][1] for box in data["boxes"]]
    figure, axes = new(2.6 * (max(columns) + 1), HEIGHT * (max(rows) + 1) + 0.4, title)
    axes.set_axis_off()
    axes.set_xlim(-0.5, max(columns) + 0.5)
    axes.set_ylim(max(rows) + 0.5, -0.5)
    drawn = {box["name"]: _box(axes, box) for box in data["boxes"]}
    for arrow in data["arrows"]:
        start, end = arrow["pair"]
        _arrow(axes, drawn[start], drawn[end], arrow.get("label", ""))
    return figure


def _box(axes: Axes, box: Any) -> Any:
    """Draws a box; a test has a dashed outline."""
    outline = {"boxstyle": "round,pad=0.35", "facecolor": "white", "edgecolor": INK}
    dashes = {"linestyle": (0, (3, 2))} if box.get("test") else {}
    x, y = box["at"]
    return axes.text(x, y, box["text"], ha="center", va="center", fontsize=8, bbox=outline | dashes)


def _arrow(axes: Axes, start: Any, end: Any, label: str) -> None:
    """Draws an arrow from the edge of a box to the edge of another, with its label half way."""
    (x, y), (to_x, to_y) = start.get_position(), end.get_position()
    axes.annotate(
        "",
        (to_x, to_y),
        (x, y),
        arrowprops={
            "arrowstyle": "-|>",
            "color": SOFT,
            "linewidth": 0.9,
            "patchA": start.get_bbox_patch(),
            "patchB": end.get_bbox_patch(),
            "shrinkA": 0,
            "shrinkB": 1,
        },
    )
    axes.text(
        (x + to_x) / 2,
        (y + to_y) / 2,
        label,
        ha="center",
        va="center",
        fontsize=7.5,
        color=SOFT,
        backgroundcolor="white",
    )
