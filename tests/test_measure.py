import math
from dataclasses import dataclass, field

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from aqmlab.intervals import interval
from aqmlab.tables import measure

NUMBER = st.floats(-1e6, 1e6)


@dataclass
class Fake:
    seed: int
    summary: dict
    variant: int = 0
    label: str = ""
    extra: dict = field(default_factory=dict)


def test_an_interval_by_hand():
    # 1, 2, 3, 4: mean 2.5, deviation 1.2910, t(0.975, 3) = 3.1824, half width 2.0543
    mean, low, high = interval([1, 2, 3, 4])
    assert mean == 2.5
    assert high - mean == pytest.approx(2.0543, abs=1e-4)
    assert mean - low == pytest.approx(high - mean)


@given(st.lists(NUMBER, min_size=2, max_size=20))
def test_intervals_are_scipys(values):
    mean, low, high = interval(values)
    error = stats.sem(values)
    if error > 1e-9:
        expected = stats.t.interval(0.95, len(values) - 1, loc=np.mean(values), scale=error)
        assert (low, high) == pytest.approx(expected, rel=1e-6, abs=1e-6)
    assert low <= mean <= high


def test_too_few_for_an_interval():
    assert all(map(math.isnan, interval([])))
    mean, low, high = interval([3.0])
    assert mean == 3
    assert math.isnan(low)
    assert math.isnan(high)


def test_texts_are_left_out_and_what_is_undefined_is_none():
    summary = {"a": 1, "b": None, "c": "x", "d": True, "e": math.nan, "f": {"g": 2, "h": {"i": 3}}}
    assert measure.numbers(summary) == {
        "a": 1,
        "b": None,
        "e": None,
        "f.g": 2,
        "f.h.i": 3,
    }


def test_statistics_of_two_variants():
    runs = [
        Fake(seed, {"x": base + seed, "y": None if seed == 1 else 2.0}, variant, label)
        for variant, label, base in ((0, "a", 0), (1, "b", 100))
        for seed in (1, 2, 3)
    ]
    frame = measure.statistics(runs)
    rows = {(r["label"], r["field"]): r for r in frame.iter_rows(named=True)}
    assert rows["a", "x"]["mean"] == 2
    assert rows["b", "x"]["mean"] == 102
    assert rows["a", "x"]["n"] == 3
    # Undefined under seed 1: the mean of the others would be that of the lucky ones.
    y = rows["a", "y"]
    assert (y["n"], y["mean"], y["low"], y["high"]) == (2, None, None, None)
    assert rows["a", "x"]["high"] == pytest.approx(2 + 4.302653 / math.sqrt(3), abs=1e-5)


def test_one_run_has_a_mean_and_no_interval():
    row = measure.statistics([Fake(1, {"x": 5})]).row(0, named=True)
    assert (row["mean"], row["low"], row["high"], row["n"]) == (5, None, None, 1)


def test_pairs_are_matched_by_seed():
    a = [Fake(1, {"x": 10, "only": 1}), Fake(2, {"x": 20}), Fake(9, {"x": 0})]
    b = [Fake(2, {"x": 23}), Fake(1, {"x": 11}), Fake(3, {"x": 999})]
    row = measure.paired(a, b).row(0, named=True)
    assert row["field"] == "x"
    assert (row["n"], row["difference"], row["mean_a"], row["mean_b"]) == (2, 2, 15, 17)
    # differences 1 and 3: t(0.975, 1) = 12.706, half width 12.706 * sqrt(2) / sqrt(2)
    assert row["high"] - 2 == pytest.approx(12.7062, abs=1e-3)


def test_a_difference_with_an_undefined_side_is_undefined():
    a = [Fake(1, {"x": 1.0}), Fake(2, {"x": 3.0})]
    b = [Fake(1, {"x": 5.0}), Fake(2, {"x": None})]
    row = measure.paired(a, b).row(0, named=True)
    assert (row["n"], row["mean_a"], row["mean_b"]) == (1, 2, None)
    assert (row["difference"], row["low"], row["high"]) == (None, None, None)


def test_summaries_are_merged_name_by_name():
    first = {"x": 1, "c": {"syn": 2}, "port": "b", "print": "aa", "p99": None}
    second = {"x": 2, "c": {"syn": 4}, "port": "b", "print": "bb", "p99": 3.0}
    assert measure.merged([first, second]) == {
        "x": 1.5,
        "c": {"syn": 3},
        "port": "b",
        "print": None,
        "p99": None,
    }


@given(st.lists(st.tuples(NUMBER, NUMBER), min_size=2, max_size=10))
def test_paired_is_the_one_sample_test(pairs):
    a = [Fake(seed, {"x": x}) for seed, (x, _) in enumerate(pairs)]
    b = [Fake(seed, {"x": y}) for seed, (_, y) in enumerate(pairs)]
    row = measure.paired(a, b).row(0, named=True)
    differences = [y - x for x, y in pairs]
    if np.std(differences) > 1e-6:
        expected = stats.ttest_rel(
            [y for _, y in pairs], [x for x, _ in pairs]
        ).confidence_interval()
        assert (row["low"], row["high"]) == pytest.approx(
            (expected.low, expected.high), rel=1e-6, abs=1e-6
        )


def test_the_interval_covers_as_often_as_it_says():
    # 4,000 samples of five: coverage 0.95, standard error 0.0034; false alarm below 1e-5.
    draws = np.random.default_rng(1).normal(size=(4000, 5))
    hits = sum(low <= 0 <= high for _, low, high in map(interval, draws.tolist()))
    assert abs(hits / 4000 - 0.95) < 0.0153


def test_the_speed_of_the_machine_is_no_measure():
    summary = {"drops": 1, "wall_s": 2.0, "data_packets_per_wall_s": 3.0, "x": {"wall_s": 1}}
    assert measure.numbers(summary) == {"drops": 1.0, "x.wall_s": 1.0}
