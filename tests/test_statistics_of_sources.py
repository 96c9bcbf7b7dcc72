"""Payload, lost datagrams and what sources got, on runs made up by hand."""

from __future__ import annotations

import math
from types import SimpleNamespace
from typing import Any, cast

import numpy as np
import pytest

from aqmlab.errors import SpecError
from aqmlab.experiment.rules import Number
from aqmlab.runs.laboratory import FinishedRun
from aqmlab.tables import statistics

LINKS = [{"name": "first"}, {"name": "second"}]
BOTH = ["first", "second"]
TRAFFIC = [
    {"name": "ftp", "via": BOTH},
    {"name": "audio", "via": BOTH, "packet": 200},
    {"name": "video", "via": BOTH, "packet": 1000},
    {"name": "cross", "via": ["second"]},
    {"name": "cross-video", "via": ["second"], "packet": 1000},
]
SUMMARY = {
    "measured_s": 10.0,
    "response_bytes": 9000,
    "by_group": {"ftp": {"response_bytes": 5000}, "cross": {"response_bytes": 4000}},
    "datagrams": {
        "audio": {"received": 90, "lost": 10},
        "video": {"received": 5, "lost": 15},
        "cross-video": {"received": 1000, "lost": 1000},
    },
}
GOODPUTS = [10.0, 30.0, 20.0, 20.0, 70.0, 1000.0]


def run(
    links: list[dict] = LINKS, traffic: list[dict] = TRAFFIC, summary: dict | None = None
) -> FinishedRun:
    """A run of this scenario; of its sources five are of group 0 and one of group 3."""
    table = {"group": np.array([0, 0, 0, 0, 0, 3]), "goodput_bits_per_s": np.array(GOODPUTS)}
    scenario = {"link": links, "traffic": traffic}
    made = SimpleNamespace(
        summary=SUMMARY if summary is None else summary,
        scenario=scenario,
        columns=lambda name: {"sources": table}[name],
    )
    return cast(FinishedRun, made)


def number(name: str, measured: FinishedRun, **arguments: Any) -> float:
    return statistics.of_run(measured, Number(group="g", statistic=name, args=arguments))


class TestPayload:
    def test_of_what_crosses_every_link(self):
        # 5,000 B of replies, 90 x 200 B of audio, 5 x 1,000 B of video
        assert number("payload_bytes", run()) == 28_000
        assert number("payload_bits_per_s", run()) == 22_400

    def test_a_group_that_alone_asks_for_replies_has_them_all(self):
        alone = {name: SUMMARY[name] for name in ("measured_s", "response_bytes")}
        assert number("payload_bytes", run(traffic=TRAFFIC[:1], summary=alone)) == 9000

    def test_lost_datagrams_of_all_senders_together(self):
        assert number("datagrams_lost", run()) == 25 / 120
        assert math.isnan(number("datagrams_lost", run(traffic=TRAFFIC[:1])))

    def test_a_datagram_without_a_size_is_an_error(self):
        with pytest.raises(SpecError, match=r'size of "audio".*give packet'):
            number("payload_bytes", run(traffic=[{"name": "audio", "via": BOTH}]))


class TestSources:
    def test_shares_of_the_mean_by_hand(self):
        # mean 30: shares 1/3, 1, 2/3, 2/3, 7/3
        assert number("sources_smallest", run(), groups=["ftp"]) == pytest.approx(1 / 3)
        assert number("sources_largest", run(), groups=["ftp"]) == pytest.approx(7 / 3)
        assert number("sources_outside", run(), low=0.5, high=2.0, groups=["ftp"]) == 2
        assert number("sources_outside", run(), low=1 / 3, high=7 / 3, groups=["ftp"]) == 0

    def test_jain(self):
        # (sum 150)² / (5 · 6,700)
        assert number("sources_jain", run(), groups=["ftp"]) == pytest.approx(22_500 / 33_500)

    def test_all_sources_without_groups(self):
        assert number("sources_largest", run()) == pytest.approx(1000 / (1150 / 6))

    def test_an_unknown_group_is_an_error(self):
        with pytest.raises(SpecError, match='no traffic group "ftq"; did you mean "ftp"'):
            number("sources_jain", run(), groups=["ftq"])

    def test_nothing_is_undefined(self):
        empty = run()
        cast(Any, empty).columns = lambda _: {
            "group": np.array([0, 0]),
            "goodput_bits_per_s": np.zeros(2),
        }
        assert math.isnan(number("sources_jain", empty))
        assert math.isnan(number("sources_outside", empty, low=0.5, high=2.0))
