"""A picture of a comparison: every ratio with its interval, beside its margin."""

from __future__ import annotations

import io

import polars as pl

from aqmlab.figures.light import lighten

LEFT, RIGHT = 0.6, 1.4
"""Ratios that there is room for."""


def drawn(ratios: pl.DataFrame) -> str:
    """Ratios of aqmlab to the other program, with intervals, a column for each figure: SVG."""
    import matplotlib
    from matplotlib.backends.backend_svg import FigureCanvasSVG
    from matplotlib.figure import Figure

    matplotlib.rcParams |= {"svg.hashsalt": "aqmlab", "svg.fonttype": "none"}
    ratio = pl.col("ratio")
    titles = ratios["figure"].unique(maintain_order=True).to_list()
    cases = ratios["case"].unique(maintain_order=True).to_list()
    # Inches. Margins by the lengths of texts spare a search for them, which draws all twice.
    height, names = 0.9 + 0.16 * len(cases), 0.2 + 0.046 * max(map(len, cases))
    width = names + 1.9 * len(titles)
    figure = Figure(figsize=(width, height))
    axes = figure.subplots(1, len(titles), squeeze=False)
    figure.subplots_adjust(
        left=names / width,
        right=1 - 0.15 / width,
        bottom=0.55 / height,
        top=1 - 0.3 / height,
        wspace=0.15,
    )
    colours = {"equivalent": "#1b7f5c", "inconclusive": "#8a8a8a", "different": "#c0392b"}
    for axis, title in zip(axes[0], titles, strict=True):
        of = ratios.filter(pl.col("figure") == title)
        margin = float(of["margin"][0])
        axis.axvspan(1 - margin, 1 + margin, color="#1b7f5c", alpha=0.12, lw=0)
        axis.axvline(1, color="#555555", lw=0.6)
        for verdict, colour in colours.items():
            some = of.filter(pl.col("verdict") == verdict)
            places = [cases.index(case) for case in some["case"]]
            look = {"fmt": "o", "ms": 2.5, "lw": 0.9, "c": colour}
            axis.errorbar(some["ratio"], places, xerr=some["half"], **look)
            for marker, at, beyond in (
                ("<", LEFT + 0.015, ratio < LEFT),
                (">", RIGHT - 0.015, ratio > RIGHT),
            ):
                far = [cases.index(case) for case in some.filter(beyond)["case"]]
                axis.plot([at] * len(far), far, marker, ms=4, c=colour)
        axis.set_title(title, fontsize=8)
        axis.tick_params(labelsize=6)
        axis.set(xlim=(LEFT, RIGHT), ylim=(len(cases) - 0.5, -0.5), yticks=[])
    # Only the first has ticks: hundreds in each column would take most of the time to draw.
    axes[0][0].set_yticks(range(len(cases)), cases)
    figure.supxlabel(
        "aqmlab over the other program, 95 % interval; shaded: the margin; triangles: farther off",
        fontsize=7,
        y=0.1 / height,
    )
    out = io.StringIO()
    FigureCanvasSVG(figure).print_svg(out, metadata={"Date": None})
    return lighten(out.getvalue())
