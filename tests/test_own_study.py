"""A study of one's own: a folder anywhere, by the same command as those that come along."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
from small_study import SMALL

from aqmlab.cli import answering
from aqmlab.errors import SpecError
from aqmlab.experiment.folders import find, shipped
from aqmlab.pipeline.study import Study
from aqmlab.tables.result import Result
from conftest import HERE, Command


@pytest.fixture
def small(tmp_path) -> Command:
    """`aqmlab` with a double behind it, and a study of one's own in the folder `mine`."""
    shutil.copytree(SMALL, tmp_path / "mine")
    text = (tmp_path / "mine" / "experiment.toml").read_text()
    text = text.replace('name = "small"', 'name = "own"', 1)
    (tmp_path / "mine" / "experiment.toml").write_text(text)
    return Command(tmp_path, [str(HERE / "small_command.py")])


@pytest.mark.parametrize("where", ["mine", "./mine/", "mine/experiment.toml"])
def test_a_folder_is_a_study(small, where):
    answer = small("study", where, "--quick", "--part", "red-load", "--json")
    assert answer.returncode == 0, answer.stderr
    described = json.loads(answer.stdout)
    assert (described["name"], described["folder"]) == ("own", "results/own-quick")
    assert (small.folder / "results" / "own-quick" / "report.html").is_file()
    card = json.loads(small("claims", "--study", where, "--json").stdout)
    verdicts = {row["id"]: (row["study"], row["why"]) for row in card}
    assert verdicts["T-C05"][0] == "own" and verdicts["T-C05"][1] != "not run"
    assert verdicts["C08"] == ("own", "not run")


@pytest.mark.parametrize("where", ["", "experiment.toml"])
def test_run_is_the_full_study_of_an_experiment_with_groups(small, where, monkeypatch, capsys):
    requested = []

    def carried(study, **how):
        requested.append((study.experiment.name, how))
        report = {"headlines": ["Found."]}
        return Result(study.experiment.name, [], report=report)

    monkeypatch.setattr(Study, "carry_out", carried)
    monkeypatch.chdir(small.folder)
    path = small.folder / "mine" / where
    assert answering._code(["run", str(path)]) == 0
    ((name, how),) = requested
    assert (name, how["quick"], how["parts"], how["reported"]) == ("own", False, None, True)
    assert str(how["out"]) == "results/own"
    assert capsys.readouterr().out == "Found.\nresults/own/report.html\n"
    assert answering._code(["run", str(path), "--seeds", "2"]) == 2
    assert "has groups" in capsys.readouterr().err


def test_a_folder_without_an_experiment_is_one_sentence(tmp_path):
    with pytest.raises(SpecError, match=r"holds no experiment\.toml"):
        find(str(tmp_path))
    with pytest.raises(SpecError, match='no study "tuning-rad"; did you mean "tuning-red"'):
        find("tuning-rad")


def test_every_folder_with_an_experiment_is_shipped():
    assert "tuning-red" in shipped() and "examples" not in shipped()


SWEPT = """
[scenario]
duration = "20 s"
warmup = "5 s"
[[scenario.link]]
rate = "5 Mbit/s"
forward = { aqm = "droptail" }
[[scenario.traffic]]
app = "web"
users = 400
[sweep]
seeds = [5, 2]
"link.0.forward.limit" = [10, 50]
[metric]
queue = { summary = "queue_mean_packets" }
[table.queues]
group = "sweep"
title = "Queues"
keys = { "link.0.forward.limit" = "limit" }
[claim.longer]
claim = "With room the queue is longer."
rule = "The mean queue of 50 packets is above that of 10."
version = 1
[[claim.longer.condition]]
value = "long - short"
above = 0.0
let.long = { metric = "queue", group = "sweep", where = { "link.0.forward.limit" = 50 } }
let.short = { metric = "queue", group = "sweep", where = { "link.0.forward.limit" = 10 } }
"""


def test_a_sweep_has_tables_and_claims_as_any_experiment(aqmlab_command):
    (aqmlab_command.folder / "own.toml").write_text(SWEPT)
    answer = aqmlab_command("run", "own.toml", "--json")
    assert answer.returncode == 0, answer.stderr
    described = json.loads(answer.stdout)
    assert [run["seed"] for run in described["runs"]] == [5, 2, 5, 2]
    folder = aqmlab_command.folder / "results" / "own"
    assert Path(described["report"]) == Path("results/own/report.html")
    means = [variant["summary"]["queue_mean_packets"] for variant in described["variants"]]
    rows = json.loads((folder / "result.json").read_text())["tables"][0]["rows"]
    assert [(row["limit"], row["n"]) for row in rows] == [(10, 2), (50, 2)]
    assert [row["ours"] for row in rows] == pytest.approx(means)
    (row,) = json.loads(aqmlab_command("claims", "--study", "own.toml", "--json").stdout)
    assert (row["study"], row["id"], row["replications"]) == ("own", "longer", 2)
    assert row["estimate"] == pytest.approx(means[1] - means[0])


def test_a_scenario_is_not_written_over_a_study(small):
    assert small("study", "mine", "--part", "fifo", "--out", "out").returncode == 0
    (small.folder / "other.toml").write_text(SWEPT.partition("[metric]")[0])
    answer = small("run", "other.toml", "--out", "out")
    assert answer.returncode != 0 and "holds the study own" in answer.stderr
