"""What was put into a run comes out of its capture: run, capture, learn, replay, learn again."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from scipy import stats

import aqmlab
from aqmlab import learn
from aqmlab.errors import SpecError
from aqmlab.experiment import recording
from aqmlab.experiment.experiment import load
from aqmlab.simulator import engine
from conftest import planned

pytestmark = pytest.mark.usefixtures("real_core")

FALSE_ALARMS = 1e-4
THINK_S, SERVICE_S, RTT_S = 1.5, 0.2, 0.08
TCP = {"profile": "plain"}


def users(**changes) -> dict:
    """A link on which nothing is lost; users who keep their connections."""
    of = {
        "app": "http",
        "users": 150,
        "http": "http11",
        "persistent": 1,
        "parallel": 1,
        "idle_timeout": "0 s",
        "request": {"dist": "uniform", "min": 200, "max": 4000},
        "reply": {"dist": "lognormal", "median": 8000, "sigma": 1.5, "at_most": "1 MB"},
        "files": 1,
        "pages": 1000,
        "think": {"dist": "exponential", "mean": f"{THINK_S} s"},
        "service": {"dist": "exponential", "mean": f"{SERVICE_S} s"},
        "tcp": TCP,
    }
    return link([{**of, **changes}])


def link(traffic: list[dict], **changes) -> dict:
    fast = {"rate": "2 Gbit/s", "forward": {"aqm": "droptail", "limit": 100_000}}
    return {
        "duration": "150 s",
        "network": {"rtt": f"{RTT_S} s"},
        "link": [{**fast, "reverse": {"aqm": "droptail", "limit": 100_000}}],
        "traffic": traffic,
        **changes,
    }


def learned(scenario: dict, folder: Path, name: str):
    """The result of a run, and the model learned from its capture."""
    capture = folder / f"{name}.pcap"
    result = aqmlab.run(scenario, pcap=capture)
    model = learn.learn(capture).model
    connections = [json.loads(line) for line in model.read_text().splitlines()[1:]]
    return result, connections, model


def epochs(connections: list[dict]) -> np.ndarray:
    return np.array([epoch for of in connections for epoch in of["epochs"]])


def sizes(result) -> Counter:
    responses = result.table("responses")
    return Counter(zip(responses["request_bytes"], responses["reply_bytes"], strict=True))


@pytest.fixture(scope="module")
def first(tmp_path_factory):
    return learned(users(), tmp_path_factory.mktemp("loop"), "first")


def test_every_size_comes_back(first):
    result, connections, _ = first
    assert not any(of.get("partial") or of.get("resent") for of in connections)
    found = Counter((int(a), int(b)) for _, a, _, b in epochs(connections))
    assert not sizes(result) - found
    # What is left was under way at the end, perhaps not yet whole.
    assert (found - sizes(result)).total() <= result.summary["requests_open_at_end"]
    assert sizes(result).total() > 10_000


@pytest.mark.parametrize(("column", "mean_s"), [(0, THINK_S), (2, SERVICE_S)])
def test_times_are_of_the_distribution_they_were_drawn_from(first, column, mean_s):
    # Waits that the end of the run cuts off are missing, 1 % of the longest: too few to be seen.
    _, connections, _ = first
    later = epochs([{"epochs": of["epochs"][1:-1]} for of in connections if of["epochs"][2:]])
    drawn = later[:, column] / 1e6
    test = stats.kstest(drawn, stats.expon(scale=mean_s).cdf)
    assert test.pvalue > FALSE_ALARMS, test
    wrong = stats.kstest(drawn, stats.expon(scale=1.1 * mean_s).cdf)
    assert wrong.pvalue < FALSE_ALARMS, "a mean 10 % larger would be noticed"


def test_round_trips_come_back(first):
    _, connections, _ = first
    round_trips = np.array([sum(of["rtt_us"]) for of in connections]) / 1e6
    assert round_trips == pytest.approx(RTT_S, rel=0.01)


def test_a_replay_is_learned_as_what_was_replayed(first, tmp_path):
    result, connections, model = first
    replayed = link([{"app": "replay", "model": str(model), "tcp": TCP}])
    second, again, _ = learned(replayed, tmp_path, "second")
    assert not sizes(result) - sizes(second)
    assert len(again) == len(connections)
    for one, other in zip(connections, again, strict=True):
        # The last epoch may not be over.
        before, after = np.array(one["epochs"][:-1]), np.array(other["epochs"][:-1])
        assert len(before) - 1 <= len(after)
        both = min(len(before), len(after))
        assert (before[:both, [1, 3]] == after[:both, [1, 3]]).all()
        assert np.abs(before[:both, [0, 2]] - after[:both, [0, 2]]).max(initial=0) < 2_000
        assert one["end"] == other["end"]
        assert abs(sum(one["rtt_us"]) - sum(other["rtt_us"])) < 1_000
    starts = [np.array([of["at_us"] for of in each]) for each in (connections, again)]
    assert np.abs(starts[0] - starts[1]).max() < 1_000


def test_a_load_becomes_a_rate_of_connections(tmp_path):
    # Connections of one request, so that the load is soon there.
    short = {"app": "loop", "users": 100, "reply": 20_000, "request": 300, "think": "1 s"}
    _, _, model = learned(link([{**short, "tcp": TCP}], duration="30 s"), tmp_path, "short")
    group = {"app": "replay", "model": str(model), "mode": "resample", "load": "60%", "tcp": TCP}
    slow = link([group], duration="60 s", warmup="10 s")
    slow["link"][0]["rate"] = "10 Mbit/s"
    summary = aqmlab.run(slow).summary
    # 1,700 connections: the share's standard deviation is 2.4 % of it.
    assert summary["utilisation"] == pytest.approx(0.6, rel=5 * 0.024)
    assert summary["requests"] > 1_000


def test_a_model_is_part_of_the_scenario_wherever_it_is_named(first, tmp_path):
    _, _, model = first
    file = tmp_path / "replay.toml"
    file.write_text(
        '[scenario]\nduration = "5 s"\n[[scenario.link]]\nrate = "1 Gbit/s"\n'
        '[[scenario.traffic]]\napp = "replay"\nmodel = "copy.jsonl"\n'
        '[sweep]\n"traffic.0.model" = ["copy.jsonl", "other.jsonl"]\n'
    )
    text = model.read_text()
    (tmp_path / "copy.jsonl").write_text(text)
    (tmp_path / "other.jsonl").write_text(text)
    plan = planned(file)
    assert [cell.label for cell in plan.cells] == ["copy.jsonl", "other.jsonl"]
    for planned_one in plan.scenarios.values():
        assert planned_one["traffic"][0]["model"]["text"] == recording.read(model)
    one = load(link([]) | {"traffic": [{"app": "replay", "model": str(model)}]})
    changed = load(dict(one.scenario), overrides=[f"traffic.0.model={file.parent}/copy.jsonl"])
    assert changed.scenario["traffic"][0]["model"]["file"].endswith("copy.jsonl")
    assert engine.check(one.scenario) != engine.check(changed.scenario)


@pytest.mark.parametrize(
    ("damage", "why"),
    [
        (lambda text: None, "no such file"),
        (lambda text: "", "line 1 is not JSON"),
        (lambda text: text.replace('"version":2', '"version":7', 1), "has version 7, not 2"),
        (lambda text: text.replace("traffic model", "something", 1), "is no traffic model"),
        (lambda text: text[:-30], "line [0-9]+ is not JSON"),
        (lambda text: text + "{}\n", "is no connection"),
        (lambda text: text + "[]\n", "is no JSON object"),
        (lambda text: text.replace('"epochs":[[', '"epochs":[[-1,', 1), "line 2 is damaged"),
        (lambda text: text.rpartition('{"at_us"')[0], "149 of 150 connections are there"),
    ],
)
def test_a_damaged_model_is_one_sentence(first, tmp_path, damage, why):
    path = tmp_path / "model.jsonl"
    text = damage(first[2].read_text())
    if text is not None:
        path.write_text(text)
    with pytest.raises(SpecError, match=rf"model\.jsonl.*{why}.*aqmlab learn"):
        aqmlab.run(link([{"app": "replay", "model": str(path)}]))
