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
    "tuning-red": {
        "claim": "C01 C02 C03 C04 C05 C06 C07 C08 C09 C10 C11 C12 C13 C14 C15 C16 C17 C18 C19 C20 "
        "C21 C32 C33 C34 C39 C40 C41 C42 C43 C44 C45 C46 C47 C49 C50",
        "figure": "3 4 5 6 7 8 9a 9b 9c 9d 10 11 12a 12b 13 14 15a 15b 16a 16b 22a 22b 22c",
        "table": "table-1 table-3 table-5",
    },
    "not-deploy-red": {
        "claim": "M01 M02 M03 M06 M08 M09 M10 M11 M12 M13 M14 M18 M19",
        "figure": "2",
        "table": "table-1 table-2 table-3 table-4 table-5 table-6 table-7 table-8",
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


def test_the_quick_study_is_a_part_of_the_full_one(experiment):
    def cells(mode: str) -> set[tuple[str, str]]:
        return {(cell.group, str(cell.axes)) for cell in planned(experiment, mode).cells}

    only_quick = {g["name"] for g in experiment.of("group") if g.get("only") == "quick"}
    assert {cell for cell in cells("quick") if cell[0] not in only_quick} <= cells("full")


@pytest.mark.parametrize("mode", ["quick", "full"])
def test_tables_and_figures_show_cells_that_are_run(experiment, mode):
    made = planned(experiment, mode)
    for entry in experiment.of("table") + experiment.of("figure"):
        group = next((g for g in experiment.of("group") if g["name"] == entry.get("group")), None)
        if group is not None and plan.runs_in(group, mode):
            assert made.of(group["name"], entry.get("where")), entry["id"]


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
