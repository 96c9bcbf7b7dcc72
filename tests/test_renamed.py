"""Former names of measures work for a version, wherever a measure is named."""

import json

import pytest

from aqmlab.errors import Renamed
from aqmlab.experiment import shapes
from aqmlab.experiment.grammar import Metric
from aqmlab.simulator import engine, measures, renamed
from aqmlab.tables import measure, statistics


def test_every_former_name_leads_to_a_measure(real_core):
    known = {about["name"] for about in json.loads(real_core.catalogue())["measures"]}
    for former, now in renamed.FORMER.items():
        assert now in known
        assert former not in known
        with pytest.warns(Renamed, match=now):
            assert measures.find(f"ports.a.forward.{former}")["name"] == now


def test_a_summary_has_the_former_key_but_does_not_list_it():
    numbers = '{"queue_delay_mean_s": 0.5, "ports": {"a.forward": {"queue_delay_mean_s": 0.25}}}'
    raw = {"summary": numbers, "tables": {}, "groups": []}
    summary = engine.outcome(raw).summary  # pyright: ignore[reportArgumentType]
    with pytest.warns(Renamed, match="wait_mean_s is called queue_delay_mean_s now"):
        assert summary["wait_mean_s"] == 0.5
    with pytest.warns(Renamed):
        assert summary["ports"]["a.forward"].get("wait_mean_s") == 0.25
    assert "wait_mean_s" in summary
    assert list(summary) == ["queue_delay_mean_s", "ports"]
    assert "waits" not in summary
    assert summary.get("waits") is None
    with pytest.raises(KeyError):
        summary["waits"]
    with pytest.warns(Renamed):
        assert measure.merged([summary, summary])["wait_mean_s"] == 0.5


def test_a_metric_may_have_the_former_name(real_core):
    class Run:
        summary = renamed.Summary(ports={"a.forward": {"queue_delay_mean_s": 0.25}})

    path = "ports.a.forward.wait_mean_s"
    with pytest.warns(Renamed):
        metric = shapes.read(
            Metric, {"name": "x", "summary": path, "title": "x", "digits": 1, "unit": "ms"}
        )
    with pytest.warns(Renamed):
        assert statistics.of_run(Run(), metric) == 0.25  # pyright: ignore[reportArgumentType]


def test_readers_of_json_find_both_names():
    listed = renamed.with_former({"a.queue_delay_mean_s": 1, "b": {"queue_delay_mean_s": 2}})
    assert listed["a.wait_mean_s"] == 1
    assert listed["b"]["wait_mean_s"] == 2


def test_the_command_says_it_in_a_line(command, toml_file):
    answer = command("describe", "wait_mean_s")
    assert answer.returncode == 0, answer.stderr
    assert "queue_delay_mean_s" in answer.stdout
    (line,) = answer.stderr.splitlines()
    assert line.startswith("aqmlab: wait_mean_s is called queue_delay_mean_s now")
