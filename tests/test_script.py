"""Packets dropped by their numbers: a case that anybody can replay, from a file and from Python."""

from __future__ import annotations

import pytest

import aqmlab
from aqmlab.errors import SpecError

SCENARIO = """
name = "replay"
duration = "4 s"
[network]
rtt = "100 ms"
[[link]]
rate = "100 Mbit/s"
[[traffic]]
app = "bulk"
flows = 1
bytes = 86880
start_within = "0 s"
tcp = { profile = "linux" }
script = [{ drop = [15, 17] }, { drop = 15, sent = 2 }]
"""


@pytest.fixture
def replay(tmp_path):
    path = tmp_path / "replay.toml"
    path.write_text(SCENARIO)
    return path


def test_a_script_of_losses_is_a_field_as_any_other(real_core, replay, tmp_path):
    run = aqmlab.run(replay, out=tmp_path / "runs")
    assert run.summary["drops_scripted"] == 3
    assert run.summary["retransmissions_lost"] == 1


def test_it_is_set_and_checked_like_any_other(real_core, replay, tmp_path):
    rule = {"drop": 1, "count": "packets", "from": "clients"}
    run = aqmlab.run(replay, out=tmp_path / "runs", set={"traffic.0.script": [rule]})
    assert (run.summary["drops_scripted"], run.summary["segments_lost"]) == (1, 0)
    with pytest.raises(SpecError, match="not a whole number from 1") as error:
        aqmlab.run(replay, out=tmp_path / "none", set={"traffic.0.script": [{"drop": [0]}]})
    assert "\n" not in str(error.value)
