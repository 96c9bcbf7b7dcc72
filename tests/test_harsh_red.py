"""The study harsh-red: the paper's parameters, rules that find their numbers, shared axes."""

from __future__ import annotations

import csv
import random
from pathlib import Path
from types import ModuleType
from typing import cast

import pytest

from aqmlab.claims import rule
from aqmlab.claims.evidence import Evidence
from aqmlab.errors import SpecError
from aqmlab.experiment import experiment, plan, shared_forms
from aqmlab.experiment.experiment import Experiment
from aqmlab.experiment.grammar import Metric
from aqmlab.experiment.rules import Number
from aqmlab.io import documents
from aqmlab.runs.laboratory import FinishedRun
from aqmlab.tables import statistics


def every_plan(study: Experiment) -> list[plan.Plan]:
    """The plans of the quick and the full study; no load is calibrated."""
    return [
        plan.make(study, study.setting(quick), lambda *_: {}, study.groups(study.parts))
        for quick in (True, False)
    ]


def test_every_rule_finds_what_it_asks_for(real_core: ModuleType, monkeypatch):
    """Every run has some number for everything that the study defines: no rule lacks one."""
    some = random.Random(1)

    def number(_run: FinishedRun, how: Metric | Number) -> float:
        assert how.summary is not None or how.statistic in statistics.OF_RUN
        return some.uniform(1.0, 2.0)

    monkeypatch.setattr(statistics, "of_run", number)
    study = experiment.load("harsh-red")
    metrics = study.metrics
    for made in every_plan(study):
        results = {
            (key, seed): cast(FinishedRun, None) for key in made.scenarios for seed in (1, 2)
        }
        for claim in study.of("claim"):
            assert claim.rule.endswith("."), claim.id
            found = rule.judge(claim, Evidence(made, metrics, results))
            assert found.judged and not any(judged.why for judged in found.judged), claim.id


def test_harsh_red_has_the_parameters_of_table_1():
    study = experiment.load("harsh-red")
    path = study.folder / "reference" / "jarvinen2012_table1_parameters.csv"
    with path.open(newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == 4
    for row in rows:
        axis = study.axes[f"{row['link'].lower()}-disciplines"]
        queues = {v["name"]: v["set"]["link.1.forward"] for v in axis["variant"]}
        names = [n for n in queues if n.split("+")[0] == row["discipline"]]
        assert len(names) == 2
        for name in names:
            published = [float(row[c]) for c in ("th_min_pkts", "th_max_pkts", "w_q", "max_p")]
            assert [queues[name][f] for f in ("min_th", "max_th", "w_q", "max_p")] == published


def expanded(folder: Path) -> dict:
    """What the folder's file stands for."""
    path = folder / "experiment.toml"
    return shared_forms.expand({path: documents.read_toml(path)}).data


def test_groups_share_axes(tmp_path):
    text = """
        [axis.n]
        name = "n"
        paths = ["traffic.0.users"]
        values = [1, 2, 3]
        [axis.queue]
        name = "queue"
        variant = [{ name = "a", set = {} }, { name = "b", set = {} }]
        [[group]]
        name = "g"
        axis = [{ like = "n", keep = [1, 3] }, { like = "queue", keep = ["b"], label = "q {0}" }]
        [[group]]
        name = "h"
        axis = [{ like = "n" }]
    """
    (tmp_path / "experiment.toml").write_text(text)
    groups = expanded(tmp_path)["group"]
    assert groups[0]["axis"] == [
        {"name": "n", "paths": ["traffic.0.users"], "values": [1, 3]},
        {"name": "queue", "variant": [{"name": "b", "set": {}}], "label": "q {0}"},
    ]
    assert groups[1]["axis"][0]["values"] == [1, 2, 3]
    (tmp_path / "experiment.toml").write_text('group = [{ name = "g", axis = [{ like = "m" }] }]')
    with pytest.raises(SpecError, match='no axis "m"'):
        expanded(tmp_path)
