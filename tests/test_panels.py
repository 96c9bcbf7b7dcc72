"""Panels: every place along an axis has its label, and none runs into the next."""

from __future__ import annotations

import numpy as np
import pytest

from aqmlab import figures
from aqmlab.figures.kinds.panels import along


@pytest.mark.parametrize(
    ("places", "at"),
    [
        ([30.0, 60.0, 120.0, 190.0, 240.0], [30.0, 60.0, 120.0, 190.0, 240.0]),
        ([480.0, 160.0, 120.0], [2.0, 1.0, 0.0]),
        ([0.0, 1.0, 2.0, 3.0, 50.0], [0.0, 1.0, 2.0, 3.0, 4.0]),
        ([7.0], [7.0]),
    ],
)
def test_places_that_are_close_stand_at_equal_distances(places, at):
    assert along(np.array(places)).tolist() == at


def cell(*ours: float, high: float = 0.0) -> dict:
    count = len(ours)
    return {"x": [120, 160, 480][:count], "ours": ours, "low": [0] * count, "high": [high] * count}


def test_the_panels_of_a_measure_have_one_scale_and_all_labels():
    rows = [{"title": "Dropped", "unit": "%", "cells": [cell(1, 2, 3), cell(40, 60, 90, high=300)]}]
    first, second = figures.draw("panels", {"columns": ["a", "b"], "rows": rows}, axis="n").axes
    assert first.get_ylim() == second.get_ylim() == pytest.approx((0, 112))
    assert [label.get_text() for label in first.get_xticklabels()] == ["120", "160", "480"]
