"""What `aqmlab run --watch` draws."""

from __future__ import annotations

import io
import json

import pytest

from aqmlab.experiment.experiment import load
from aqmlab.pipeline.study import Study
from aqmlab.runs.screen import LEVELS, WIDTH, Screen, Series, bars


def test_the_largest_value_fills_its_column_and_nothing_is_empty():
    assert bars([0, 1, 2, 4]) == " ▂▄█"
    assert bars([0, 0]) == "  "
    assert set(bars([v / 7 for v in range(60)])) <= set(LEVELS)


def test_a_series_keeps_the_largest_of_each_part():
    series = Series(2.0 * WIDTH)
    for at, value in [(0.0, 1.0), (1.9, 3.0), (2.0, 2.0), (2.0 * WIDTH, 5.0)]:
        series.add(at, value)
    assert series.values[:2] == [3.0, 2.0]
    assert series.values[-1] == 5.0
    assert len(series.values) == WIDTH


@pytest.fixture
def small() -> dict:
    return {
        "name": "small",
        "duration": "4 s",
        "link": [{"rate": "1 Mbit/s", "forward": {"aqm": "red"}}],
        "traffic": [{"app": "bulk", "users": 3}],
    }


def test_a_watched_run_is_drawn_and_gives_the_same_results(real_core, small):
    plain = Study(load({"scenario": small})).carry_out()
    stream = io.TextIOWrapper(io.BytesIO(), encoding="utf-8", newline="")
    watched = Study(load({"scenario": small})).carry_out(progress=Screen(stream))
    stream.seek(0)
    drawn = stream.read()
    for word in ("queue |", "sent |", "lost |", "packets"):
        assert word in drawn
    fingerprints = [result.runs[0].summary["fingerprint"] for result in (plain, watched)]
    assert fingerprints[0] == fingerprints[1]


def test_what_a_look_raises_ends_the_run(real_core, small):
    def look(text: str) -> None:
        assert json.loads(text)["now_s"] > 0
        raise KeyError("enough")

    with pytest.raises(KeyError, match="enough"):
        real_core.run(json.dumps(small), None, None, (look, 0.1))
