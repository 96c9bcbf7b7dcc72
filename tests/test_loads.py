"""A load that is not what was asked for is said in a line."""

import json

import pytest

import aqmlab
from aqmlab.tables import loads
from aqmlab.tables.loads import Target

SCENARIO = {
    "duration": "60 s",
    "warmup": "5 s",
    "link": [{"rate": "10 Mbit/s"}],
    "traffic": [{"app": "web", "load": "80%", "tcp": "freebsd-2.2.8"}],
}
CALIBRATION = {"duration": "8 min", "warmup": "3 min", "seeds": 1}


LINK = 10e6 / 8 * 55
"""Bytes that the link carries in the 55 s measured."""


def remarks(*offered, target=0.8, port=None, rate=None, **changes):
    """Of runs in which so much was offered, a byte on the link for each byte asked for."""
    scenario = {**SCENARIO, **changes}
    ports = {"bottleneck.forward": port or {"utilisation": 0.8, "drop_rate": 0.0}}
    summaries = [{"requested_bytes": share * LINK, "ports": ports} for share in offered]
    line = loads.remark(scenario, Target(0, target, 1.0, rate), summaries)
    return [] if line is None else [line]


def traffic(**changes):
    return [{**SCENARIO["traffic"][0], **changes}]


def test_a_load_that_is_off_is_said_with_the_remedy():
    (line,) = remarks(0.97, traffic=traffic(start="spread"))
    assert "80% was set and 97.0% was offered" in line and "warmup" in line
    for offered in (0.70, 0.97):
        (line,) = remarks(offered)
        assert f"and {offered:.1%} was offered" in line
        assert "warmup" not in line and "long replies" in line, "nothing has to settle"


def test_a_load_is_a_share_of_the_rate_that_it_was_resolved_for():
    link = [{**SCENARIO["link"][0], "rate": "100 Mbit/s"}]
    assert remarks(0.8, 0.8, link=link, rate=10e6) == []
    (line,) = remarks(0.8, 0.8, link=link)
    assert "80% was set and 8.0% was offered" in line


def test_congestion_is_not_taken_for_a_want_of_warm_up():
    for port in ({"utilisation": 0.99, "drop_rate": 0.0}, {"utilisation": 0.9, "drop_rate": 0.03}):
        (line,) = remarks(0.70, port=port, traffic=traffic(start="spread"))
        assert f"{port['utilisation']:.1%} busy" in line and "users who wait" in line
        assert "warmup" not in line


@pytest.mark.parametrize("offered", [(0.80,), (0.83,), (0.87,), (0.85, 0.82, 0.83), (0.7, 0.99)])
def test_a_small_difference_or_one_of_chance_is_not(offered):
    assert remarks(*offered) == []


def test_several_seeds_show_a_difference_that_one_does_not():
    assert remarks(0.86) == []
    assert len(remarks(0.86, 0.861, 0.859)) == 1


def test_more_than_the_link_can_carry_is_offered_nevertheless():
    busy = {"utilisation": 1.0, "drop_rate": 0.05}
    assert remarks(1.1, target=1.1, port=busy) == []
    (line,) = remarks(0.95, target=1.1, port=busy)
    assert "110% was set and 95.0% was offered" in line


def test_each_group_with_a_load_is_looked_at_by_itself(real_core):
    groups = [{"app": "bulk", "flows": 1}] + [{"app": "web", "users": 9, "name": n} for n in "ab"]
    scenario = {**SCENARIO, "traffic": groups}
    own = {"a": {"requested_bytes": 0.5 * LINK}, "b": {"requested_bytes": 0.2 * LINK}}
    summary = {"requested_bytes": 0.7 * LINK, "by_group": own}
    line = loads.remark(scenario, Target(1, 0.25, 1.0), [summary])
    assert loads.remark(scenario, Target(2, 0.4, 2.0), [summary]) is None
    assert line is not None and line.startswith(
        "traffic.1: a load of 25% was set and 50.0% was offered"
    )


def test_an_open_loop_asks_for_what_its_model_says():
    scenario = {**SCENARIO, "traffic": [{"app": "packmime", "connections_per_s": 9}]}
    # 100 replies of 14,600 B a second: ten full segments, half a one more on average, and 84 B.
    summary = {"requested_bytes": 55 * 1_460_000, "requests": 55 * 100}
    offered = loads.offered_load(scenario, Target(0, 0.8), summary, 10e6)
    assert offered == pytest.approx(100 * (14_600 + 10.5 * 40 + 84) * 8 / 10e6)


def test_the_default_start_has_the_load_from_the_first_second_on(real_core, tmp_path):
    def run(start):
        document = {
            "scenario": {**SCENARIO, "traffic": traffic(**start)},
            "calibration": CALIBRATION,
        }
        return aqmlab.run(document, out=tmp_path / "out", fresh=True)

    assert run({}).remarks == []
    spread = run({"start": "spread"})
    assert len(spread.remarks) == 1 and "80% was set" in spread.remarks[0]
    manifest = json.loads((tmp_path / "out" / "manifest.json").read_text())
    assert manifest["remarks"] == spread.remarks
