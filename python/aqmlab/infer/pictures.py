"""The figures of an inference: a corner plot of the posterior, sensitivities, and distances from
the targets."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from aqmlab.figures.colours import INK, PENS, SOFT
from aqmlab.figures.style import SMALL, grid, new, plain, styled, to_svg

from .unknowns import Unknown

if TYPE_CHECKING:
    from matplotlib.axes import Axes

BINS = 16
MOST = 7
"""Largest number of unknowns in a corner plot, those with the largest effects; more cannot be
read."""


def corner(unknowns: Sequence[Unknown], points: np.ndarray, best: np.ndarray) -> str:
    """The posterior of every unknown and of every pair, on the scales of their priors; the
    inferred set is a diamond, the prior a dotted line."""
    count = len(unknowns)
    # The mark of a choice is drawn at the midpoint of the choice's interval of coordinates.
    places = [
        unknown.place(unknown.at(float(p))) for unknown, p in zip(unknowns, best, strict=True)
    ]
    best = np.array(places)
    with styled():
        figure, axes = grid(1.35 * count + 0.8, 1.35 * count + 0.6, count, count)
        for row in range(count):
            for column in range(count):
                place: Axes = axes[row, column]
                if column > row:
                    place.axis("off")
                    continue
                _panel(place, unknowns, points, best, row, column)
        return to_svg(figure)


def _panel(
    place: Axes,
    unknowns: Sequence[Unknown],
    points: np.ndarray,
    best: np.ndarray,
    row: int,
    column: int,
) -> None:
    across, up = unknowns[column], unknowns[row]
    edges = _edges(across)
    place.grid(False)
    if row == column:
        height, _ = np.histogram(points[:, column], edges, density=True)
        place.stairs(height, edges, fill=True, color=PENS[0].colour, alpha=0.75)
        place.axhline(1.0, color=SOFT, linestyle=(0, (1.5, 1.5)), linewidth=0.9)
        place.plot(best[column], 0, marker="D", color=INK, markersize=4, clip_on=False)
        place.set_yticks([])
    else:
        height, _, _ = np.histogram2d(points[:, column], points[:, row], [edges, _edges(up)])
        place.pcolormesh(edges, _edges(up), height.T, cmap="Blues", rasterized=False)
        place.plot(best[column], best[row], marker="D", color=INK, markersize=4)
        place.set_ylim(0, 1)
    place.set_xlim(0, 1)
    _ticks(place, across, "x", row == len(unknowns) - 1)
    if row != column:
        _ticks(place, up, "y", column == 0)
    if row == column:
        place.set_title(plain(_short(across.title, 19)), fontsize=7, loc="left", pad=3)


def _edges(unknown: Unknown) -> np.ndarray:
    return np.linspace(0, 1, (len(unknown.choices) or BINS) + 1)


def _ticks(place: Axes, unknown: Unknown, which: str, shown: bool) -> None:
    count = len(unknown.choices)
    at = [(i + 0.5) / count for i in range(count)] if count else [0.0, 0.5, 1.0]
    words = [plain(_short(str(unknown.at(p)), 12)) for p in at] if shown else [""] * len(at)
    if which == "x":
        place.set_xticks(at, words, fontsize=6, rotation=35, ha="right")
    else:
        place.set_yticks(at, words, fontsize=6)


def _short(text: str, most: int = 24) -> str:
    return text if len(text) <= most else text[: most - 1] + "…"


def matters(by_unknown: dict[str, dict[str, float]], titles: dict[str, str]) -> str:
    """Sobol' total indices as a heat map: unknowns by metrics."""
    metrics = list(next(iter(by_unknown.values())))
    values = np.array([[by_unknown[name][metric] for metric in metrics] for name in by_unknown])
    order = np.argsort(values.mean(axis=1))[::-1]
    with styled():
        figure, axes = new(0.75 * len(metrics) + 3.4, 0.3 * len(order) + 1.3)
        axes.imshow(values[order], cmap="Blues", vmin=0, vmax=1, aspect="auto")
        axes.grid(False)
        axes.set_xticks(range(len(metrics)), plain(metrics), rotation=30, ha="right", fontsize=7)
        names = list(by_unknown)
        axes.set_yticks(range(len(order)), plain([titles[names[i]] for i in order]), fontsize=7)
        for row, i in enumerate(order):
            for column, value in enumerate(values[i]):
                dark = value > 0.6
                words: Any = SMALL | {"color": "white" if dark else INK, "fontsize": 6.5}
                axes.text(column, row, f"{100 * value:.0f}", ha="center", va="center", **words)
        return to_svg(figure)


FAR = 30.0
"""Distance from a target, in standard deviations, at which larger ones and failed runs are
drawn."""


def in_order(rows: Sequence[Mapping[str, Any]], column: str) -> list[float]:
    """The absolute values in a column of the rows, which are deviations from the targets, in
    ascending order; missing ones count as `FAR`."""
    return sorted(min(abs(FAR if r[column] is None else r[column]), FAR) for r in rows)


def distances(rows: Sequence[Mapping[str, Any]]) -> str:
    """An SVG plot of the distances between targets and simulation, with the study's values and with
    the inferred ones, in standard deviations of all uncertainties and in ascending order."""
    shown = [r for r in rows if r["inferred_implausibility"] is not None]
    with styled():
        figure, axes = new(6.4, 3.2)
        for name, pen, word in (("plain", PENS[1], "the study"), ("inferred", PENS[0], "inferred")):
            values = in_order(shown, f"{name}_implausibility")
            axes.plot(np.arange(1, len(values) + 1), values, color=pen.colour, label=word)
        axes.axhline(3.0, color=SOFT, linestyle=(0, (1.5, 1.5)), linewidth=0.9)
        axes.set(xlabel="numbers, in order", ylabel="implausibility", yscale="symlog")
        axes.legend()
        return to_svg(figure)
