"""Every study that comes with the package: complete, its rules without mistakes, its scenarios
accepted by the simulator.
"""

from __future__ import annotations

import csv
import math
import os
from pathlib import Path

import pytest

from aqmlab import figures, units
from aqmlab.claims import rule
from aqmlab.claims.evidence import Evidence
from aqmlab.experiment import plan
from aqmlab.experiment.experiment import Experiment, claims, load
from aqmlab.experiment.folders import find, shipped
from aqmlab.experiment.grammar import named
from aqmlab.experiment.plan import Plan
from aqmlab.pipeline import calibrating, checks
from aqmlab.runs import calibrate
from aqmlab.simulator import engine
from aqmlab.tables import statistics

#: Ids of the published claims about each study; of the guidelines, which claim nothing, of ours.
CLAIMS = {
    "tuning-red": "C01 C02 C03 C04 C05 C06 C07 C08 C09 C10 C11 C12 C13 C14 C15 C16 C17 C18 C19 C20 "
    "C21 C32 C33 C34 C39 C40 C41 C42 C43 C44 C45 C46 C47 C49 C50",
    "web-aqm": "L01 L02 L03 L04 L05 L06 L07 L08 L09 L10 L11 L12 L13 L14 L15 L16 L17 L18 L19 L20 "
    "L21 L22 L23 L24 L25 L26 L27 L28",
    "not-deploy-red": "M01 M02 M03 M06 M08 M09 M10 M11 M12 M13 M14 M18 M19",
    "ece6110": "E01 E02 E03 E04 E05 E06 E07 E08 E09 E10 E11",
    "harsh-red": "H01 H02 H03 H04 H05 H06 H09 H13 H14 H18 H19 H20 H21 H31 H32 H33 H34 H35 H36 H37 "
    "H38 H39 H40",
    "rfc7928": "R1 R2 R3 R4",
    "l4s-bursts": "B1 B2 B3 B4 B5 B6 B7 B8 B9 B10 B11 B12 B13 B14",
    "kernels": "K1 K2 K3 K4 K5 K6",
    "rfc9743": "C1 C2 C3 C4 C5 C6 C7 C8 C9",
    "speed-tests": "S1 S2 S3 S4 S5 S6 S7",
}

#: Numbers of the published figures that show results; set-ups are drawn from the scenario.
FIGURES = {
    "tuning-red": "3 4 5 6 7 8 9a 9b 9c 9d 10 11 12a 12b 13 14 15a 15b 16a 16b 22a 22b 22c",
    "web-aqm": "S6 S18 S27 S29 S30 S31 S32 S33 S34 S35 S36 S37 S38 S39 S40 S41 S42 S43 S50 S51 "
    "S59 S60 S62 S63 S65 S66 S67",
    "not-deploy-red": "2",
    "ece6110": "R1 R2a R2b R2c R3 R4a R5 R6a R6b R6c",
    "harsh-red": "1 3 4 5 6 7 8 9 10 11 12 13",
    "rfc7928": "mild medium heavy capacity shares rtt calls ecn",
    "l4s-bursts": "slots thresholds",
    "kernels": "hosts",
    "rfc9743": "alone beside",
    "speed-tests": "map",
}

#: Their tables of results.
TABLES = {
    "tuning-red": ["Table 1", "Table 3", "Table 5"],
    "web-aqm": [],
    "not-deploy-red": [f"Table {number}" for number in range(1, 9)],
    "ece6110": [],
    "harsh-red": ["Table II"],
    "rfc7928": [],
    "l4s-bursts": [],
    "kernels": [],
    "rfc9743": [],
    "speed-tests": [],
}

#: Version and hash of every rule: a rule that changes without a new version is noticed.
RULES = Path(__file__).parent / "golden" / "rules.csv"

MODES = ("quick", "full")


@pytest.fixture(params=CLAIMS)
def experiment(request) -> Experiment:
    return load(request.param)


def planned(experiment: Experiment, mode: str) -> Plan:
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
        for base in {group.base for group in groups if group.uses_load}
    }
    loads = calibrating.lookup(experiment, known)
    return plan.make(experiment, experiment.setting(mode == "quick"), loads, groups)


def test_every_study_is_looked_at():
    assert sorted(CLAIMS) == sorted(FIGURES) == sorted(TABLES) == shipped()


def test_all_that_was_published_is_there(experiment):
    assert set(CLAIMS[experiment.name].split()) <= {c.id for c in experiment.of("claim")}
    assert set(FIGURES[experiment.name].split()) <= {f.id for f in experiment.of("figure")}
    assert set(TABLES[experiment.name]) <= {t.paper for t in experiment.of("table")}


def test_a_published_table_finds_its_numbers_when_they_come(experiment):
    for table in experiment.of("table"):
        if table.paper:
            assert table.reference.startswith("reference/"), table.id
            assert table.reference.endswith(".csv"), table.id


def test_entries_belong_to_parts_and_are_named_once(experiment):
    for kind in ("group", "table", "difference", "figure", "claim"):
        entries = experiment.of(kind)
        names = [named(entry) for entry in entries]
        assert len(set(names)) == len(names), kind
        assert {entry.part for entry in entries} <= set(experiment.parts), kind


def test_nothing_is_wrong_with_the_file(experiment):
    checks.check(experiment)


def test_a_changed_rule_has_a_new_version(experiment):
    with RULES.open(newline="", encoding="utf-8") as file:
        known = {(r["study"], r["id"]): (r["version"], r["digest"]) for r in csv.DictReader(file)}
    found = {
        (experiment.name, claim.id): (str(claim.version), rule.digest(claim))
        for claim in experiment.of("claim")
    }
    if "AQMLAB_BLESS" in os.environ:
        rows = sorted((known | found).items())
        with RULES.open("w", newline="", encoding="utf-8") as file:
            writer = csv.writer(file, lineterminator="\n")
            writer.writerow(["study", "id", "version", "digest"])
            writer.writerows([*key, *value] for key, value in rows)
        return
    for key, (version, digest) in found.items():
        before = known.get(key)
        assert before is not None, f"{key}: new, bless it (AQMLAB_BLESS=1)"
        assert before[1] == digest or before[0] != version, f"{key}: changed, raise its version"
        assert before == (version, digest), f"{key}: bless version {version} (AQMLAB_BLESS=1)"


def test_figures_tables_and_metrics_are_known(experiment):
    metrics = experiment.metrics
    for metric in metrics.values():
        assert metric.summary or metric.statistic in statistics.OF_RUN, metric.name
    for table in experiment.of("table"):
        assert set(table.metrics or ()) <= set(metrics), table.id
    for figure in experiment.of("figure"):
        assert figure.kind in figures.of_studies(), figure.id
        assert figure.of.get("metric", next(iter(metrics))) in metrics, figure.id


def test_tables_and_figures_show_cells_of_the_full_study(experiment):
    made = planned(experiment, "full")
    shown = [(table.id, table.group, table.where) for table in experiment.table]
    shown += [
        (figure.id, figure.of["group"], figure.of.get("where"))
        for figure in experiment.figure
        if "group" in figure.of
    ]
    for name, group, where in shown:
        assert made.of(group, where), name


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.usefixtures("real_core")
def test_the_simulator_accepts_every_scenario(experiment, mode):
    for scenario in planned(experiment, mode).scenarios.values():
        engine.check(scenario | {"seed": 1})


def test_rules_find_the_cells_they_name(experiment, monkeypatch):
    """Without a run every rule is inconclusive; one that names an unknown cell says so."""

    def every(pairs, evidence, levels):
        # Of alternatives a verdict keeps one; here all of them are looked at.
        judged = [j for c, names in pairs for j in rule._all([c], evidence, levels, names).judged]
        return rule.Verdict(rule.INCONCLUSIVE, judged)

    monkeypatch.setattr(rule, "_any", every)
    metrics = experiment.metrics
    calibrations = {e.base: {"r_squared": 1.0} for e in experiment.calibration}
    evidence = Evidence(planned(experiment, "full"), metrics, {}, calibrations)
    for claim in experiment.of("claim"):
        for judged in rule.judge(claim, evidence).judged:
            assert "not a part" not in judged.why, (claim.id, judged.text, judged.why)


def test_the_quick_study_is_a_part_of_the_full_one(experiment):
    quick, full = (planned(experiment, mode) for mode in MODES)
    here = {(cell.group, str(cell.axes)) for cell in quick.cells}
    there = {(cell.group, str(cell.axes)) for cell in full.cells}
    only = {g.name for g in experiment.group if g.only == "quick"}
    assert {place for place in here if place[0] not in only} <= there


@pytest.mark.parametrize("name", shipped())
def test_claims_alone_are_those_of_the_whole(name):
    assert claims(find(name)) == load(name).of("claim")


@pytest.mark.parametrize("name", shipped())
def test_no_curve_is_labelled_with_a_name_that_stands_for_a_value(name):
    """`$host` is replaced where it is all of a text; in a label it would join several curves."""
    labels = [
        str(curve.get("label", ""))
        for figure in load(name).figure
        for curve in figure.of.get("curves", ())
    ]
    assert not [label for label in labels if "$" in label]
