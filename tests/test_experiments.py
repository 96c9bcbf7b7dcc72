"""Every study that comes with the package: what it must have, and that the simulator takes it."""

from __future__ import annotations

import math

import pytest

from aqmlab import calibrate, engine, units
from aqmlab.studies import calibrating, plan, registry
from aqmlab.studies.claims import rule
from aqmlab.studies.claims.evidence import Evidence
from aqmlab.studies.drawing import KINDS
from aqmlab.studies.experiment import Experiment, load
from aqmlab.studies.plan import Plan

CLAIMS = {
    "tuning-red": "C01 C02 C03 C04 C05 C06 C07 C08 C09 C10 C11 C12 C13 C14 C15 C16 C17 C18 C19 C20 "
    "C21 C32 C33 C34 C39 C40 C41 C42 C43 C44 C45 C46 C47 C49 C50",
}
"""Ids of the published claims about each study."""

FIGURES = {
    "tuning-red": "3 4 5 6 7 8 9a 9b 9c 9d 10 11 12a 12b 13 14 15a 15b 16a 16b 22a 22b 22c",
}
"""Numbers of the published figures that show results; figure 2 is the set-up drawing."""

TABLES = {"tuning-red": ["Table 1", "Table 3", "Table 5"]}

studies = pytest.mark.parametrize("name", CLAIMS)
modes = pytest.mark.parametrize("quick", [True, False], ids=["quick", "full"])


def planned(experiment: Experiment, quick: bool) -> Plan:
    """The plan of a whole study, with users by a rule of thumb in place of a calibration."""
    groups = experiment.groups(experiment.parts)
    known = {
        base: {
            "open_loop": calibrate.is_open_loop(experiment.base(base)),
            "users": {
                load: math.ceil(70 * units.share(load))
                for load in calibrating.loads_of(groups, base)
            },
        }
        for base in plan.uses_load(groups)
    }
    loads = calibrating.lookup(experiment, known)
    return plan.make(experiment, experiment.settings(quick), loads, groups)


@studies
def test_every_published_claim_is_there_once(name):
    found = [claim["id"] for claim in load(name).of("claim")]
    assert sorted(found) == sorted(CLAIMS[name].split())


@studies
def test_every_claim_is_well_formed(name):
    for claim in load(name).of("claim"):
        assert rule.problems(claim) == [], claim["id"]
        assert claim["part"] in load(name).parts, claim["id"]


@studies
def test_every_published_figure_and_table_is_there(name):
    experiment = load(name)
    figures = [figure["id"] for figure in experiment.of("figure")]
    assert len(figures) == len(set(figures)) and set(FIGURES[name].split()) <= set(figures)
    assert {figure["kind"] for figure in experiment.of("figure")} <= set(KINDS)
    assert set(TABLES[name]) <= {table.get("paper") for table in experiment.of("table")}


@studies
def test_every_table_and_figure_shows_cells_of_the_full_study(name):
    experiment = load(name)
    made = planned(experiment, quick=False)
    metrics = {metric["name"] for metric in experiment.of("metric")}
    for entry in experiment.of("table") + experiment.of("figure"):
        if "group" in entry:
            assert made.of(entry["group"], entry.get("where")), entry["id"]
        assert set(entry.get("metrics", [])) <= metrics, entry["id"]


@studies
def test_every_rule_asks_for_cells_of_the_full_study(name):
    experiment = load(name)
    metrics = {metric["name"]: metric for metric in experiment.of("metric")}
    calibrations = {e.get("base"): {"r_squared": 1.0} for e in experiment.of("calibration")}
    evidence = Evidence(planned(experiment, quick=False), metrics, {}, calibrations)
    for claim in experiment.of("claim"):
        for judged in rule.judge(claim, evidence).judged:
            assert "not a part" not in judged.why, f"{claim['id']}: {judged.why}"


@studies
@modes
def test_the_simulator_takes_every_scenario(name, quick, real_core):
    for scenario in planned(load(name), quick).scenarios.values():
        engine.check({**scenario, "seed": 1})


@studies
def test_the_quick_study_is_a_part_of_the_full_one(name):
    experiment = load(name)
    quick, full = planned(experiment, quick=True), planned(experiment, quick=False)
    here = {(cell.group, str(cell.axes)) for cell in quick.cells}
    assert here <= {(cell.group, str(cell.axes)) for cell in full.cells}


def test_every_study_is_looked_at():
    assert set(CLAIMS) == set(FIGURES) == set(TABLES) == set(registry.STUDIES)
