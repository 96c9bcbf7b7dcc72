"""A study of one's own: a folder anywhere, by the same command as those that come along."""

from __future__ import annotations

import json
import shutil

import pytest
from test_studies import SMALL

from aqmlab.cli import answering
from aqmlab.errors import SpecError
from aqmlab.experiment.folders import find, shipped
from aqmlab.pipeline import command
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
    told = json.loads(answer.stdout)
    assert (told["name"], told["folder"]) == ("own", "results/own-quick")
    assert (small.folder / "results" / "own-quick" / "report.html").is_file()
    card = json.loads(small("claims", "--study", where, "--json").stdout)
    verdicts = {row["id"]: (row["study"], row["why"]) for row in card}
    assert verdicts["T-C05"][0] == "own" and verdicts["T-C05"][1] != "not run"
    assert verdicts["C08"] == ("own", "not run")


@pytest.mark.parametrize("where", ["", "experiment.toml"])
def test_run_is_the_full_study_of_an_experiment_with_groups(small, where, monkeypatch, capsys):
    asked = []

    def carried(*how):
        asked.append(how)
        return {"lines": ["Found."], "report": "report.html"}

    monkeypatch.setattr(command, "carry_out", carried)
    monkeypatch.chdir(small.folder)
    path = small.folder / "mine" / where
    assert answering._code(["run", str(path)]) == 0
    ((name, quick, part, figure, folder, *_),) = asked
    assert (name, quick, part, figure) == (str(path), False, None, None)
    assert str(folder) == "results/own" and capsys.readouterr().out == "Found.\nreport.html\n"
    assert answering._code(["run", str(path), "--seeds", "2"]) == 2
    assert "has groups" in capsys.readouterr().err


def test_a_folder_without_an_experiment_is_one_sentence(tmp_path):
    with pytest.raises(SpecError, match=r"holds no experiment\.toml"):
        find(str(tmp_path))
    with pytest.raises(SpecError, match='no study "tuning-rad"; did you mean "tuning-red"'):
        find("tuning-rad")


def test_every_folder_with_an_experiment_is_shipped():
    assert "tuning-red" in shipped() and "examples" not in shipped()
