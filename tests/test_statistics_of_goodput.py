"""Goodput and waiting times second by second, on a run made up by hand."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any, cast

import numpy as np
import pytest

from aqmlab.experiment.rules import Number
from aqmlab.runs.laboratory import FinishedRun
from aqmlab.tables import statistics

SECONDS = {
    "time_s": np.arange(6.0),
    "link.forward.queue_delay_mean_s": np.array([9.0, 9.0, 0.01, 0.02, 0.03, 0.04]),
    "web.goodput_bytes": np.array([10**9, 0, 100, 100, 300, 300]),
    "voice.goodput_bytes": np.array([10**9, 0, 50, 50, 50, 50]),
}


def of(statistic: str, **args: Any) -> float:
    run = SimpleNamespace(
        columns=lambda name: {"seconds": SECONDS}[name],
        summary={"studied_port": "link.forward"},
        scenario={"warmup": "2 s"},
    )
    return statistics.of_run(
        cast(FinishedRun, run), Number(group="g", statistic=statistic, args=args)
    )


def test_only_measured_seconds_count():
    assert of("goodput_bits_per_s", groups=["web"]) == 8 * 200
    assert of("goodput_bits_per_s") == 8 * 250


def test_shares_and_ratios():
    assert of("goodput_share", groups=["voice"]) == pytest.approx(0.2)
    assert of("goodput_ratio", of="web", to="voice") == pytest.approx(4.0)
    assert of("goodput_ratio", of="web", to="voice", members=2) == pytest.approx(2.0)


def test_waits_of_the_studied_port_unless_another_is_named():
    assert of("queue_delay_quantile_s", quantile=0.5) == pytest.approx(0.025)
    assert of("queue_delay_quantile_s", quantile=1.0, port="link.forward") == pytest.approx(0.04)
