"""The studies that are shipped: complete, rules without mistakes, scenarios that are accepted."""

from __future__ import annotations

import pytest

from aqmlab import engine
from aqmlab.studies import calibrating, drawing, plan, registry, statistics
from aqmlab.studies.claims import rule
from aqmlab.studies.claims.evidence import Evidence
from aqmlab.studies.experiment import Experiment, load

#: The published claims and figures of each study.
PUBLISHED = {
    "not-deploy-red": {
        "claim": "M01 M02 M03 M06 M08 M09 M10 M11 M12 M13 M14 M18 M19",
        "figure": "2",
        "table": "table-1 table-2 table-3 table-4 table-5 table-6 table-7 table-8",
    },
    "harsh-red": {
        "claim": "H01 H02 H03 H04 H05 H06 H09 H13 H14 H18 H19 H20 H21 H31 H32 H33 H34 H35 H36 H37 "
        "H38 H39 H40",
        "figure": "1 3 4 5 6 7 8 9 10 11 12 13",
        "table": "table-2",
    },
}


@pytest.fixture(params=PUBLISHED)
def experiment(request) -> Experiment:
    return load(request.param)


def planned(experiment: Experiment, mode: str) -> plan.Plan:
    """Its runs; a load stands for as many users whatever it is."""

    def loads(base: str | None, _load: str) -> dict[str, object]:
        entry = calibrating.how(experiment, base)
        return {f"traffic.{index}.users": 70 for index in entry.get("traffic", [0])}

    settings = experiment.settings(mode == "quick")
    return plan.make(experiment, settings, loads, experiment.groups(experiment.parts))


def test_all_that_was_published_is_there(experiment):
    for kind, identities in PUBLISHED[experiment.name].items():
        missing = set(identities.split()) - {entry["id"] for entry in experiment.of(kind)}
        assert not missing, f"{kind}: {missing}"


def test_it_is_in_the_list(experiment):
    assert experiment.name in registry.STUDIES


def test_rules_are_complete(experiment):
    assert {c["id"]: rule.problems(c) for c in experiment.of("claim") if rule.problems(c)} == {}


def test_entries_belong_to_parts_and_are_named_once(experiment):
    for kind in ("group", "table", "difference", "figure", "claim"):
        entries = experiment.of(kind)
        names = [entry["name" if kind == "group" else "id"] for entry in entries]
        assert len(set(names)) == len(names), kind
        assert {entry["part"] for entry in entries} <= set(experiment.parts), kind


def test_figures_tables_and_metrics_are_known(experiment):
    metrics = {metric["name"]: metric for metric in experiment.of("metric")}
    for metric in metrics.values():
        assert "summary" in metric or metric["statistic"] in statistics.OF_RUN, metric["name"]
    for table in experiment.of("table"):
        assert set(table.get("metrics", [])) <= set(metrics), table["id"]
    for figure in experiment.of("figure"):
        assert figure["kind"] in drawing.KINDS, figure["id"]
        assert figure.get("metric", next(iter(metrics))) in metrics, figure["id"]


@pytest.mark.parametrize("mode", ["quick", "full"])
def test_the_simulator_accepts_every_scenario(experiment, mode, real_core):
    del real_core
    made = planned(experiment, mode)
    for scenario in made.scenarios.values():
        engine.check(scenario | {"seed": 1})


@pytest.mark.parametrize("mode", ["quick", "full"])
def test_rules_find_the_cells_they_name(experiment, mode, monkeypatch):
    """Without a run every rule is undecided; one that names an unknown cell says so."""

    def every(pairs, evidence, levels):
        # Of alternatives a verdict keeps one; here all of them are looked at.
        judged = [j for c, names in pairs for j in rule._one(c, evidence, levels, names).judged]
        return rule.Verdict(rule.UNDECIDED, judged)

    monkeypatch.setattr(rule, "_any", every)
    metrics = {metric["name"]: metric for metric in experiment.of("metric")}
    evidence = Evidence(planned(experiment, mode), metrics, {})
    for claim in experiment.of("claim"):
        for judged in rule.judge(claim, evidence).judged:
            assert "not a part" not in judged.why, (claim["id"], judged.text, judged.why)
