"""Panels: labels of places along an axis do not run into each other."""

from __future__ import annotations

import numpy as np
import pytest

from aqmlab.figures.kinds.panels import tick_labels


@pytest.mark.parametrize(
    ("places", "labels"),
    [
        ([30.0, 60.0, 120.0, 190.0, 240.0], ["30", "60", "120", "190", "240"]),
        ([480.0, 160.0, 120.0], ["480", "", "120"]),
        ([0.0, 1.0, 2.0, 3.0, 50.0], ["0", "", "", "", "50"]),
        ([7.0], ["7"]),
    ],
)
def test_labels_keep_their_distance(places, labels):
    assert tick_labels(np.array(places)) == labels
