"""Figures: the same bytes every time, and what has to be in them."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET

import matplotlib
import numpy as np
import pytest

from aqmlab import figures
from aqmlab.figures.series import rolling_mean
from aqmlab.figures.style import PENS

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
        {"time_s": np.arange(600.0), "value": 100 + 20 * np.sin(np.arange(600.0))},
        {"title": "Mean response time", "axis": "mean (ms)", "warmup_s": 120.0},
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
    many = {"curves": [curve(str(i), 200 + 50 * i) for i in range(7)]}
    (axes,) = figures.draw("cdf", many).axes
    for style in ("get_color", "get_marker"):
        assert len({getattr(line, style)() for line in axes.get_lines()}) == 7
    assert len({str(p.dash) for p in PENS}) == len(PENS) == 7


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


def test_discarded_part_is_marked():
    assert "discarded" in texts(svg("series"))
    data, options = EXAMPLES["series"]
    plain = figures.to_svg(figures.draw("series", data, **{**options, "warmup_s": 0.0}))
    assert "discarded" not in texts(plain)


def test_a_giant_second_is_told_instead_of_flattening_the_rest():
    value = np.full(1000, 10.0)
    value[500] = 900.0
    figure = figures.draw("series", {"time_s": np.arange(1000.0), "value": value})
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
    with pytest.raises(ValueError, match='unknown kind of figure "pie", expected one of cdf'):
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
