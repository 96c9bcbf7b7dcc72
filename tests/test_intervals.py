"""Student's t against SciPy and the printed tables, and the intervals by it."""

from __future__ import annotations

import math

import pytest
from scipy.special import stdtrit

from aqmlab.intervals import interval, student

PRINTED = {
    (0.975, 1): 12.706,
    (0.975, 2): 4.303,
    (0.975, 9): 2.262,
    (0.995, 29): 2.756,
    (0.95, 120): 1.658,
    (0.9995, 23): 3.768,
}
"""Quantiles to three places (Abramowitz and Stegun 1964, table 26.10)."""


@pytest.mark.parametrize(("share", "freedom"), PRINTED)
def test_quantiles_are_those_that_are_printed(share, freedom):
    assert student(share, freedom) == pytest.approx(PRINTED[share, freedom], abs=5e-4)


@pytest.mark.parametrize("freedom", [*range(1, 41), 99, 100, 1_001, 20_000])
def test_quantiles_are_scipys(freedom):
    for share in (0.001, 0.025, 0.4, 0.5, 0.501, 0.8, 0.95, 0.975, 0.995, 0.9995, 0.99999):
        assert student(share, freedom) == pytest.approx(stdtrit(freedom, share), rel=1e-7)


def test_an_interval_needs_two_values():
    assert all(map(math.isnan, interval([])))
    assert interval([3.0])[0] == 3.0
    assert all(map(math.isnan, interval([3.0])[1:]))
    # Two values: t = 12.706 with one degree of freedom, the deviation is the square root of 2.
    assert interval([1.0, 3.0]) == pytest.approx((2.0, -10.706, 14.706), abs=1e-3)
