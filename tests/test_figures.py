"""Figures: the same bytes every time, and what has to be in them."""

from __future__ import annotations

import math
import re
import xml.etree.ElementTree as ET
from typing import Any

import matplotlib
import numpy as np
import pytest

from aqmlab import figures
from aqmlab.figures.colours import DISCIPLINES, PENS, SOFT
from aqmlab.figures.kinds.series import rolling_mean
from aqmlab.figures.queue_lines import thinned

X = np.arange(0.0, 2001.0, 5.0)


def curve(label: str, scale: float, **more) -> dict:
    percent = 100 * (1 - np.exp(-X / scale))
    return {
        "label": label,
        "x_ms": X,
        "percent": percent,
        "low": percent - 2,
        "high": percent + 2,
        **more,
    }


PORTRAIT = {
    "time_s": [0.0, 1.0, 2.0],
    "packets": [0, 20, 10],
    "upper_ms": [100.0, 500.0, 2000.0],
    "count": [5, 10, 5],
}

EXAMPLES = {
    "portrait": (
        {"this": PORTRAIT, "reference": PORTRAIT},
        {"title": "codel", "reference": "droptail"},
    ),
    "cdf": (
        {"curves": [curve("30 packets", 300), curve("60 packets", 400)]},
        {"title": "FIFO at 98 % load", "legend": "queue limit"},
    ),
    "overview": (
        {
            "cells": [
                {"label": name, "ms": np.linspace(0, ms, 9), **of}
                for name, ms, of in (
                    (
                        "FIFO",
                        90.0,
                        {"delay_ms": [70.0, 60.0, 80.0], "used_percent": [99.0, 98.5, 99.5]},
                    ),
                    (
                        "CoDel",
                        6.0,
                        {"delay_ms": [5.0, 4.5, 5.5], "used_percent": [96.0, 95.0, 97.0]},
                    ),
                )
            ]
        },
        {"title": "What each queue costs"},
    ),
    "linearity": (
        {
            "users": [700, 1400],
            "kilobytes_per_s": [287.0, 576.0],
            "slope": 411.2,
            "r_squared": 0.99987,
            "marks": [("100 % of 10 Mbit/s", 1250.0), ("half", 400.0)],
        },
        {"title": "Offered load"},
    ),
    "series": (
        {
            "time_s": np.arange(600.0),
            "value": 100 + 20 * np.sin(np.arange(600.0)),
            "warmup_s": 120.0,
        },
        {"title": "Mean response time", "axis": "mean (ms)"},
    ),
    "ellipses": (
        {
            "curves": [
                {
                    "label": name,
                    "centre": [delay, 9.0],
                    "median": [delay - 1, 9.1],
                    "axes": [[delay / 3, 0.1], [-0.1, 0.3]],
                }
                for name, delay in (("droptail", 80.0), ("codel", 6.0), ("pie", 15.0))
            ]
        },
        {"title": "Heavy congestion"},
    ),
    "distributions": (
        {
            "variables": [
                {"name": "size", "unit": "bytes", "curve": [[10, 0.0], [200, 0.5], [9000, 1.0]]},
                {"name": "files", "unit": "count", "curve": [[1, 0.0], [1, 0.5], [3, 1.0]]},
            ]
        },
        {"title": "a model"},
    ),
    "panels": (
        {
            "columns": ["80 % load", "90 % load"],
            "rows": [
                {
                    "title": "Dropped",
                    "unit": "%",
                    "cells": [
                        {
                            "x": [30, 60],
                            "ours": [1, 2],
                            "low": [0.5, 1.5],
                            "high": [1.5, 2.5],
                            "paper": [1.1, 2.1],
                        },
                        {
                            "x": [30, 60],
                            "ours": [1, 2],
                            "low": [np.nan] * 2,
                            "high": [np.nan] * 2,
                            "paper": None,
                        },
                    ],
                }
            ],
        },
        {"title": "Table 1, drawn", "axis": "queue limit (packets)"},
    ),
    "ccdf": (
        {
            "curves": [
                {
                    "label": label,
                    "x_ms": [10.0, 100.0, 1000.0],
                    "share": [1.0, share, 0.002],
                    "low": [1.0, share / 2, 0.0],
                    "high": [1.0, share * 1.5, 0.004],
                }
                for label, share in (("PI", 0.3), ("REM", 0.5))
            ]
        },
        {"title": "Tail", "legend": "98 % load"},
    ),
    "sizes": (
        {
            "curves": [
                {"label": "DCN", "x_bytes": [16, 64, 256], "percent": [10, 60, 100]},
                {"label": "AFD", "x_bytes": [16, 64, 256], "percent": [20, 70, 100]},
            ]
        },
        {"title": "Bytes by size", "weight": "bytes"},
    ),
    "effects": (
        {
            "places": ["nothing", "wait off", "never run"],
            "panels": [
                {
                    "title": "Median",
                    "unit": "ms",
                    "value": [1.0, -2.0, float("nan")],
                    "low": [0.5, float("nan"), float("nan")],
                    "high": [1.5, float("nan"), float("nan")],
                }
            ],
        },
        {"title": "Raising min_th"},
    ),
    "boxes": (
        {
            "panels": [
                {
                    "title": name,
                    "places": ["1", "6"],
                    "series": [
                        {"label": "FIFO", "values": [[1.0, 2.0, 3.0, 4.0, 9.0], [2.0]]},
                        {"label": "HRED", "values": [[], [3.0, 4.0]]},
                    ],
                }
                for name in ("first burst", "later burst")
            ]
        },
        {"title": "Bursts", "axis": "flows", "value": "elapsed (s)"},
    ),
    "trace": (
        {
            "time_s": [0.0, 1.0, 2.0],
            "packets": [0, 20, 10],
            "average": [0.0, 4.0, 7.0],
            "drops_s": [1.0, 1.5],
            "levels": [("max_th", 15.0)],
        },
        {"title": "HRED, EDGE"},
    ),
    "delays": (
        {
            "curves": [
                {"label": "FIFO", "x_ms": [100.0, 200.0, 900.0], "percent": [30.0, 60.0, 80.0]},
                {"label": "HRED", "x_ms": [80.0, 90.0], "percent": [50.0, 100.0]},
            ]
        },
        {"title": "Voice", "deadline_ms": 200.0},
    ),
    "loss-distances": (
        {
            "series": [
                {"label": "FIFO", "count": [400, 3, 2], "beyond": 7},
                {"label": "HRED", "count": [5, 0, 1], "beyond": 0},
            ]
        },
        {"title": "Distances", "top": 50.0},
    ),
    "bars": (
        {
            "panels": [
                {"title": "RED", "values": [1.0, 3.0, 2.0], "mean": 2.0},
                {"title": "tail drop", "values": [2.0, 2.0, 2.0], "mean": 2.0},
            ]
        },
        {"title": "Goodput", "axis": "connection", "value": "goodput (kbit/s)"},
    ),
    "lines": (
        {
            "curves": [
                {
                    "label": "RED",
                    "x": [1, 2, 4],
                    "y": [1, 2, 3],
                    "low": [0, 1, 2],
                    "high": [2, 3, 4],
                },
                {
                    "label": "PI",
                    "x": [1, 4],
                    "y": [2, 1],
                    "low": [np.nan] * 2,
                    "high": [np.nan] * 2,
                },
            ],
            "places": None,
        },
        {"title": "Drops", "axis": "flows", "value": "dropped (%)", "log": True},
    ),
    "curve": (
        {
            "curves": [
                {
                    "label": "RED",
                    "x": [0.0, 5.0, 15.0, 15.0, 20.0],
                    "p": [0.0, 0.0, 0.1, 1.0, 1.0],
                    "low": None,
                    "high": None,
                },
            ],
            "marks": [("min_th", 5.0), ("max_th", 15.0)],
        },
        {"title": "The law of RED"},
    ),
    "course": (
        {
            "curves": [
                {
                    "label": label,
                    "width_s": 1.0,
                    "time_s": np.arange(30) + 0.5,
                    "delay_ms": level + 10 * np.sin(np.arange(30)),
                    "packets": level * np.ones(30),
                    "drops": np.arange(30) % 7,
                    "marks": np.zeros(30),
                }
                for label, level in (("droptail", 80.0), ("codel", 20.0))
            ],
            "shown": ["delay_ms", "packets", "drops"],
            "warmup_s": 5.0,
        },
        {"title": "The queue over time"},
    ),
    "heatmap": (
        {
            "x": ["0.02", "0.1"],
            "y": ["20 ms", "80 ms"],
            "means": [[0.9, 1.0], [np.nan, 3.2]],
            "value": "Loss (%)",
            "digits": 1,
        },
        {"title": "Losses", "axis": "max_p", "axis_y": "rtt"},
    ),
    "load": (
        {"step_s": 0.5, "tcp": [100_000, 0, 250_000], "other": [0, 20_000, 10_000]},
        {"title": "Traffic over time"},
    ),
    "flow-chart": (
        {
            "boxes": [
                {"name": "a", "text": "A packet arrives", "at": [0, 0]},
                {"name": "b", "text": "More than 5 wait?", "at": [0, 1], "test": True},
                {"name": "c", "text": "Drop it", "at": [1, 1]},
            ],
            "arrows": [{"pair": ["a", "b"]}, {"pair": ["b", "c"], "label": "yes"}],
        },
        {"title": "A discipline"},
    ),
    "slow-start": (
        {
            "time_s": [0.0, 1.0, 2.0],
            "packets": [0.0, 4.0, 16.0],
            "average": [0.0, 0.1, 3.0],
            "levels": [("max_th", 3.0)],
        },
        {"title": "Slow start"},
    ),
}


def svg(kind: str) -> str:
    data, options = EXAMPLES[kind]
    return figures.to_svg(figures.draw(kind, data, **options))


def texts(picture: str) -> list[str]:
    return [e.text or "" for e in ET.fromstring(picture).iter("{http://www.w3.org/2000/svg}text")]


def test_every_kind_has_an_example():
    assert set(EXAMPLES) == set(figures.KINDS)


@pytest.mark.parametrize("kind", EXAMPLES)
def test_the_same_bytes_twice_whatever_the_users_style(kind):
    data, options = EXAMPLES[kind]
    first = figures.draw(kind, data, **options)
    picture, png = figures.to_svg(first), figures.to_png(first)
    with matplotlib.rc_context({"axes.facecolor": "black", "font.size": 20, "svg.hashsalt": None}):
        again = figures.draw(kind, data, **options)
        assert figures.to_svg(again) == picture
        assert figures.to_png(again) == png
        assert matplotlib.rcParams["font.size"] == 20


@pytest.mark.parametrize("kind", EXAMPLES)
def test_no_date_and_text_as_text(kind):
    picture = svg(kind)
    assert "dc:date" not in picture and "Matplotlib v" not in picture
    assert EXAMPLES[kind][1]["title"] in texts(picture)


def test_cdf_has_the_papers_axes():
    data, options = EXAMPLES["cdf"]
    (axes,) = figures.draw("cdf", data, **options).axes
    assert axes.get_xlim() == (0, 2000) and axes.get_ylim() == (0, 100)
    assert axes.get_xlabel() == "response time (ms)"
    assert axes.get_ylabel() == "cumulative share of responses (%)"
    assert [line.get_label() for line in axes.get_lines()] == ["30 packets", "60 packets"]
    assert np.allclose(axes.get_lines()[0].get_ydata(), data["curves"][0]["percent"])
    assert len(axes.collections) == 2  # the bands
    assert axes.get_legend().get_title().get_text() == "queue limit"


def test_cdf_curves_differ_in_colour_dash_and_marker():
    many = {"curves": [curve(str(i), 200 + 50 * i) for i in range(12)]}
    (axes,) = figures.draw("cdf", many).axes
    assert len({line.get_marker() for line in axes.get_lines()}) == 12
    assert len({line.get_color() for line in axes.get_lines()}) == 7
    assert len({str(p.dash) for p in PENS}) == len(PENS) == 12


def test_a_legend_stands_aside_where_curves_leave_room_and_below_where_not():
    few = figures.draw("cdf", {"curves": [curve(str(i), 300) for i in range(3)]})
    slow = figures.draw("cdf", {"curves": [curve(str(i), 9000) for i in range(3)]})
    many = figures.draw("cdf", {"curves": [curve(str(i), 300) for i in range(9)]})
    assert few.axes[0].get_legend() and not few.legends
    for figure in (slow, many):
        assert figure.axes[0].get_legend() is None and len(figure.legends) == 1
        assert figure.get_figheight() > few.get_figheight()
    assert len(many.legends[0].get_texts()) == 9


def test_a_single_curve_without_interval_needs_no_legend():
    (axes,) = figures.draw("cdf", {"curves": [curve("", 300, low=None, high=None)]}).axes
    assert axes.get_legend() is None and not axes.collections


def test_numbers_in_the_text_are_not_rounded():
    shown = " ".join(texts(svg("linearity")))
    assert "0.99987" in shown and "411 bytes/s per user" in shown


def test_levels_above_the_data_are_left_out():
    shown = texts(svg("linearity"))
    assert "half" in shown and "100 % of 10 Mbit/s" not in shown


def test_coordinates_have_two_decimals_at_most():
    for path in re.findall(r' d="([^"]*)"', svg("cdf")):
        assert not re.search(r"\.\d{3}", path)


def test_marked_disciplines_have_colour_and_all_are_named():
    data, options = EXAMPLES["ellipses"]
    (axes,) = figures.draw("ellipses", data, **options, mark=["codel"]).axes
    colours = {text.get_text(): text.get_color() for text in axes.texts}
    assert colours["codel"] == DISCIPLINES["codel"].colour
    assert colours["pie"] == colours["droptail"] == SOFT
    outlines = [line for line in axes.get_lines() if len(line.get_xdata()) > 2]
    assert len(outlines) == 3
    delays = [np.ptp(line.get_xdata()) for line in outlines]
    assert delays[0] == pytest.approx(2 * np.hypot(80 / 3, 0.1), rel=1e-3)


def test_an_ellipse_ends_at_what_the_line_carries_and_at_no_delay():
    data, options = EXAMPLES["ellipses"]
    data = data | {"rate": 9.15}
    picture = figures.draw("ellipses", data, **options)
    (axes,) = picture.axes
    outlines = [line for line in axes.get_lines() if len(line.get_xdata()) > 2]
    assert max(line.get_ydata().max() for line in outlines) == 9.15
    assert min(line.get_xdata().min() for line in outlines) >= 0
    assert "the line: 9.15 Mbit/s" in texts(figures.to_svg(picture))


@pytest.mark.parametrize("names", [["codel"], ["a_very_long_name_of_a_discipline"]])
def test_an_ellipses_axes_are_as_wide_whatever_the_name(names):
    def axes(name: str) -> Any:
        data, options = EXAMPLES["ellipses"]
        curves = [data["curves"][0] | {"label": name}]
        figure = figures.draw("ellipses", {"curves": curves}, **options)
        figures.to_svg(figure)
        return figure.axes[0].get_position().bounds

    assert axes(names[0]) == axes("x")


def test_discarded_part_is_marked():
    assert "discarded" in texts(svg("series"))
    data, options = EXAMPLES["series"]
    plain = figures.to_svg(figures.draw("series", data | {"warmup_s": 0.0}, **options))
    assert "discarded" not in texts(plain)


def test_a_giant_second_is_told_instead_of_flattening_the_rest():
    value = np.full(1000, 10.0)
    value[500] = 900.0
    figure = figures.draw("series", {"time_s": np.arange(1000.0), "value": value}, axis="ms")
    assert figure.axes[0].get_ylim()[1] < 20
    assert "1 second above the axis, at most 900" in texts(figures.to_svg(figure))


def test_rolling_mean_leaves_out_seconds_without_a_value():
    assert rolling_mean(np.array([1.0, 2.0, 3.0, 4.0]), 2).tolist() == [1, 1.5, 2.5, 3.5]
    assert rolling_mean(np.array([1.0, np.nan, 3.0]), 3).tolist() == [1, 2, 3]
    assert np.isnan(rolling_mean(np.array([np.nan]), 3)).all()


def test_papers_points_only_where_there_are_any():
    data, options = EXAMPLES["panels"]
    with_paper, without = figures.draw("panels", data, **options).axes
    assert len(with_paper.get_lines()) == 2 and len(without.get_lines()) == 1
    assert with_paper.get_lines()[1].get_ydata().tolist() == [1.1, 2.1]


def test_an_unknown_kind_is_named():
    with pytest.raises(ValueError, match='unknown kind of figure "pie", expected one of bars'):
        figures.draw("pie", {})


def test_a_distribution_has_one_pen_in_both_its_panels():
    data, options = EXAMPLES["distributions"]
    curve = [[20, 0.0], [400, 0.5], [900, 1.0]]
    more = [*data["variables"], {"name": "reply", "unit": "bytes", "curve": curve}]
    below, above, *_ = figures.draw("distributions", {"variables": more}, **options).axes
    pens = [[(line.get_color(), line.get_linestyle()) for line in a.lines] for a in (below, above)]
    assert len(pens[0]) == 2
    assert pens[0] == pens[1]
    assert pens[0][0] != pens[0][1]


def axes_of(kind: str, **options) -> list:
    data, given = EXAMPLES[kind]
    return figures.draw(kind, data, **(given | options)).axes


def test_a_tail_is_drawn_on_logarithmic_axes_down_to_the_smallest_share():
    (axes,) = axes_of("ccdf")
    assert axes.get_xscale() == axes.get_yscale() == "log"
    assert axes.get_ylim() == (0.001, 1.0) and axes.get_xlim() == (10, 1000)


def test_sizes_say_what_they_count():
    for weight in ("responses", "bytes"):
        (axes,) = axes_of("sizes", weight=weight)
        assert axes.get_ylabel() == f"cumulative share of {weight} (%)"
        assert axes.get_xscale() == "log" and axes.get_xlabel() == "response size (bytes)"


def test_sizes_begin_where_the_first_curve_leaves_the_axis():
    curve = {"label": "", "x_bytes": [1, 2, 4, 8, 16], "percent": [0, 0, 0.05, 30, 100]}
    (axes,) = figures.draw("sizes", {"curves": [curve]}).axes
    assert axes.get_xlim() == (4, 16)


def test_boxes_on_a_logarithmic_axis():
    first, later = axes_of("boxes", log=True)
    assert first.get_yscale() == later.get_yscale() == "log" and first.get_ylim()[0] > 0
    assert first.yaxis.get_major_formatter()(2.0) == "2"


def test_effects_are_points_with_intervals_beside_zero():
    data, options = EXAMPLES["effects"]
    (axes,) = figures.draw("effects", data, **options).axes
    zero, *points = axes.lines
    assert np.array(zero.get_xydata())[:, 0].tolist() == [0, 0]
    assert [np.array(p.get_xydata())[0].tolist() for p in points[:2]] == [[1, 0], [-2, 1]]
    bars: Any = axes.collections[0]
    assert bars.get_segments()[0].tolist() == [[0.5, 0], [1.5, 0]]
    assert axes.get_ylim() == (2.5, -0.5)  # the first on top


def test_boxes_are_quartiles_and_extremes():
    first, later = axes_of("boxes")
    assert first.get_ylim() == later.get_ylim() and first.get_ylim()[0] == 0
    box = first.patches[0].get_path().vertices
    assert (box[:, 1].min(), box[:, 1].max()) == (2, 4)
    heights = {y for line in first.get_lines() for y in line.get_ydata()}
    assert {1, 9, 3} <= heights  # ends of the whiskers, and the median
    assert len(first.patches) == 3  # an empty sample has no box
    fills = {(p.get_edgecolor(), p.get_hatch()) for p in first.patches}
    assert len(fills) == 2


def test_a_trace_has_the_papers_lines():
    (axes,) = axes_of("trace")
    queue, average, level, drops = axes.get_lines()
    assert queue.get_linestyle() == "-" and average.get_linestyle() == "--"
    assert list(level.get_ydata()) == [15, 15]
    assert list(drops.get_xdata()) == [1, 1.5] and min(drops.get_ydata()) > 1  # above the axes
    assert "max_th" in texts(svg("trace"))
    bare = EXAMPLES["trace"][0] | {"average": None, "drops_s": [], "levels": []}
    assert len(figures.draw("trace", bare).axes[0].get_lines()) == 1


def test_a_thinned_queue_keeps_its_extremes():
    time = np.arange(100_000.0)
    value = np.sin(time)
    value[54_321], value[777] = 40.0, -40.0
    kept_time, kept = thinned(time, value)
    assert len(kept) < 4000 and (kept.max(), kept.min()) == (40, -40)
    assert (kept_time[0], kept_time[-1]) == (0, 99_999)
    assert thinned(time[:10], value[:10])[1] is not None


def test_a_curve_of_delays_ends_and_what_was_lost_is_told_beside_it():
    (axes,) = axes_of("delays")
    curves = [line for line in axes.get_lines() if line.get_label() in ("FIFO", "HRED")]
    assert np.array(curves[0].get_xydata())[-1].tolist() == [900, 80]
    assert all(line.get_ydata().max() <= 100 for line in curves)
    shown = texts(svg("delays"))
    lost = {text for text in shown if "lost" in text}
    assert lost == {"FIFO, 20 % lost", "HRED, none lost"}
    assert axes.get_ylabel() == "cumulative share of datagrams (%)"
    assert [200, 200] in [list(line.get_xdata()) for line in axes.get_lines()]


def test_bars_that_are_cut_say_how_high_they_are():
    first, second = axes_of("loss-distances")
    assert first.get_ylim() == second.get_ylim() == (0, 50)
    assert " 400" in texts(svg("loss-distances"))
    assert [bar.get_height() for bar in second.patches] == [5, 0, 1]


def test_bars_have_a_line_at_their_mean():
    red, _ = axes_of("bars")
    assert list(red.get_lines()[0].get_ydata()) == [2, 2]
    assert [bar.get_height() for bar in red.patches] == [1, 3, 2]


def test_lines_with_intervals():
    (axes,) = axes_of("lines")
    assert axes.get_xscale() == "log" and axes.get_ylim()[0] == 0
    assert [t.get_text() for t in axes.get_xticklabels()] == ["1", "2", "4"]
    named = EXAMPLES["lines"][0] | {"places": ["a", "b", "c", "d", "e"]}
    (axes,) = figures.draw("lines", named).axes
    assert [t.get_text() for t in axes.get_xticklabels()] == ["a", "b", "c", "d", "e"]


def test_a_heat_map_of_a_ratio_goes_apart_by_the_factor():
    data = {"x": ["a", "a long label"], "y": ["c", "d"], "value": "ratio", "digits": 2}
    data["means"] = [[0.5, 1.0], [2.0, 16.0]]
    (axes,) = figures.draw("heatmap", data, center=1.0).axes  # no bar of colours beside it
    shown = axes.images[0].get_array()
    assert shown is not None
    assert list(shown[:, 0]) == pytest.approx([-math.log(2), math.log(2)])
    assert shown[1, 1] == pytest.approx(math.log(4))  # the end
    assert axes.get_ylim()[0] > axes.get_ylim()[1]  # the first row is on top
    other = figures.draw("heatmap", data, center=2.0).axes[0].images[0].get_array()
    assert other is not None
    assert list(other[:, 0]) == pytest.approx([-math.log(4), 0.0])
    assert {t.get_text() for t in axes.texts} == {"0.50", "1.00", "2.00", "16.00"}


@pytest.mark.parametrize("center", [None, 1.0])
def test_a_heat_map_as_svg_has_its_colours(center):
    data = {"x": ["a", "b"], "y": ["c"], "means": [[0.5, 2.0]], "value": "ratio"}
    svg = figures.to_svg(figures.draw("heatmap", data, center=center))
    images = re.findall(r'<image[^>]* xlink:href="([^"]*)"', svg)
    assert images
    assert all(link.startswith("data:image/png;base64,") for link in images)


def test_lines_of_a_ratio_stand_on_a_logarithmic_axis():
    row = {"x": [1, 2], "y": [2.0, 0.02], "low": [1.9, -0.01], "high": [2.1, 0.05]}
    data = {"curves": [{"label": "a"} | row], "places": None, "value": "ratio"}
    (axes,) = figures.draw("lines", data, log_value=True).axes
    assert axes.get_yscale() == "log"
    assert axes.get_ylim()[0] < 0.02 < 2.0 < axes.get_ylim()[1]
    assert {"0.02", "0.1", "1", "2"} <= {t.get_text() for t in axes.get_yticklabels()}
    flat = {"curves": [{"label": "a"} | row | {"y": [0.0, 0.0]}], "places": None, "value": "ratio"}
    assert figures.draw("lines", flat, log_value=True).axes[0].get_yscale() == "linear"


def test_fillings_do_not_make_a_figure_heavy():
    series = [{"label": str(i), "values": [[i, i + 1, i + 2]]} for i in range(8)]
    figure = figures.draw(
        "boxes", {"panels": [{"title": "", "places": ["a"], "series": series}]}, title="", value="v"
    )
    assert len(figures.to_svg(figure)) < 50_000


def test_many_names_of_boxes_stand_below_each_other_and_none_is_turned():
    def axes(places: int) -> Any:
        names = [f"discipline {i}" for i in range(places)]
        panel = {"places": names, "series": [{"label": "", "values": [[81, 82]] * places}]}
        return figures.draw("boxes", {"panels": [panel]}).axes[0]

    few, many = axes(4), axes(31)
    assert [label.get_text() for label in few.get_xticklabels()][:1] == ["discipline 0"]
    assert [label.get_text() for label in many.get_yticklabels()][30:] == ["discipline 30"]
    assert {label.get_rotation() for label in many.get_yticklabels()} == {0.0}
    # All lie between 81 and 82: an axis from 0 would press them into its end.
    assert many.get_xlim()[0] > 60 and few.get_ylim()[0] > 60
