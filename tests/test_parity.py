"""Live runs held against simulated ones, where both are simulated."""

from __future__ import annotations

import itertools
import json
import math
from dataclasses import replace
from pathlib import Path

import pytest

from aqmlab.errors import SpecError
from aqmlab.experiment import plan
from aqmlab.experiment.experiment import load
from aqmlab.experiment.spec import set_path
from aqmlab.live.kernel import settings, with_kernel
from aqmlab.pipeline import live_study, parity
from aqmlab.simulator import engine
from aqmlab.simulator.engine import Outcome
from aqmlab.tables.equivalence import Margin, judge, judge_paired

SCENARIO = {
    "name": "two flows",
    "duration": "3 s",
    "warmup": "1 s",
    "network": {"rtt": "20 ms"},
    "link": [{"rate": "5 Mbit/s", "forward": {"aqm": "droptail", "limit": 30}}],
    "traffic": [{"app": "bulk", "flows": 2, "tcp": "linux"}],
}


def doubled_queue(scenario, progress=None, capture=None, **_) -> Outcome:
    """A run that is no simulation: its queue is twice as long, and it says something of itself."""
    outcome = engine.simulate(scenario)
    outcome.summary["queue_mean_packets"] *= 2
    outcome.summary["live"] = {"missing": ["no rto_initial"], "flags": []}
    return outcome


def test_two_one_sided_tests_by_hand():
    # Means 10 and 10.5; half widths 2.4841 (t = 4.303 of 3 runs, s = 1) and the same: 3.513.
    found = judge([9.0, 10.0, 11.0], [9.5, 10.5, 11.5], Margin(0.5))
    assert found.half == pytest.approx(math.sqrt(2) * 4.302653 / math.sqrt(3), rel=1e-6)
    assert (found.margin, found.verdict) == (5.25, "equivalent")
    assert judge([9.0, 10.0, 11.0], [9.5, 10.5, 11.5], Margin(0.3)).verdict == "inconclusive"
    assert judge([29.0, 30.0, 31.0], [9.5, 10.5, 11.5], Margin(0.3)).verdict == "different"
    assert judge([0.0, 0.0], [0.0, 0.0], Margin(0.1)).verdict == "equivalent"
    assert math.isnan(judge([0.0, 0.0], [0.0, 0.0], Margin(0.1)).ratio)


def test_pairs_have_the_interval_of_their_differences_by_hand():
    # Differences 1, 2, 3: mean 2, s = 1, half width 4.302653/sqrt(3) = 2.484; unpaired it is 35.
    ours, theirs = [11.0, 22.0, 33.0], [10.0, 20.0, 30.0]
    found = judge_paired(ours, theirs, Margin(0.25))
    assert (found.ours, found.theirs) == (22.0, 20.0)
    assert found.half == pytest.approx(4.302653 / math.sqrt(3), rel=1e-6)
    assert (found.margin, found.verdict) == (5.0, "equivalent")
    assert judge_paired(ours, theirs, Margin(0.2)).verdict == "inconclusive"
    assert judge(ours, theirs, Margin(0.25)).half > 30
    assert judge_paired([30.0, 40.5], [10.0, 20.0], Margin(0.1)).verdict == "different"


def test_what_is_equal_is_told_the_same_and_what_is_not_is_not(tmp_path: Path):
    found = parity.run(load(SCENARIO, seeds=3), out=tmp_path, how=doubled_queue)
    rows = {row.number: row for row in found.rows}
    assert rows["queue_mean_packets"].verdict == "different"
    assert rows["queue_mean_packets"].live == pytest.approx(
        2 * rows["queue_mean_packets"].simulated
    )
    assert rows["utilisation"].verdict == "equivalent"
    assert "events" not in rows
    assert found.notes[0].endswith("no rto_initial")
    kept = json.loads((tmp_path / "parity.json").read_text())
    assert kept["verdicts"] == found.counts()
    assert "different" in (tmp_path / "parity.md").read_text()


def test_one_run_of_each_has_no_interval():
    with pytest.raises(SpecError, match="at least two seeds"):
        parity.run(load(SCENARIO))


def test_margins_are_found_by_the_end_of_a_name():
    assert parity.margin_of("ports.bottleneck.forward.utilisation") == Margin(0.02, 0.01)
    assert parity.margin_of("response_p90_s") == Margin(0.10, 0.010)
    assert parity.margin_of("timeouts") == parity.OTHERS


def kernel(folder: Path, **values: int) -> Path:
    for name, value in values.items():
        (folder / name).write_text(f"{value}\n")
    return folder


def test_the_profile_is_read_from_the_kernel(tmp_path: Path):
    old = kernel(tmp_path, tcp_sack=1, tcp_recovery=0, tcp_syn_retries=6, tcp_timestamps=0)
    found = settings(old)
    assert found["recovery"] == "sack"
    assert (found["syn_linear"], found["syn_retries"]) == (0, 6)
    assert found["timestamps"] is False
    new = kernel(old, tcp_recovery=1, tcp_syn_linear_timeouts=4, tcp_no_metrics_save=1)
    found = settings(new)
    assert (found["recovery"], found["syn_retries"], found["host_cache"]) == ("rack", 10, False)
    assert found["comp_sack_rtt_percent"] == 5  # Linux 6.12 and 6.18, which have no setting for it
    found = settings(kernel(new, tcp_comp_sack_rtt_percent=33, tcp_comp_sack_slack_ns=10_000))
    assert (found["comp_sack_rtt_percent"], found["comp_sack_slack"]) == (33, "10000 ns")
    engine.check({**SCENARIO, "traffic": [{"app": "bulk", "flows": 1, "tcp": found}]})


def test_groups_keep_their_congestion_control(tmp_path: Path):
    groups = [
        {"app": "bulk", "flows": 1, "tcp": {"profile": "plain", "congestion": "reno", "ecn": True}},
        {"app": "bulk", "flows": 1, "tcp": {"profile": "linux", "rto_min": "300 ms"}},
        {"app": "web", "users": 1},
        {"app": "bulk", "flows": 1, "tcp": {"profile": "linux-6.12", "rto_min": "100 ms"}},
        {"app": "bulk", "flows": 1, "tcp": {"profile": "ns3", "rto_min": "100 ms"}},
        {"app": "bulk", "flows": 1, "tcp": "linux-6.1"},
    ]
    described = with_kernel({**SCENARIO, "traffic": groups}, kernel(tmp_path, tcp_sack=0))[
        "traffic"
    ]
    assert described[0]["tcp"]["congestion"] == "reno"
    assert described[0]["tcp"]["ecn"] is True
    assert described[1]["tcp"]["rto_min"] == "300 ms"
    assert described[3]["tcp"]["profile"] == "linux-6.12"
    assert described[3]["tcp"]["rto_min"] == "100 ms"
    # A profile that lacks one of the kernel's settings is replaced.
    assert described[4]["tcp"]["profile"] == "linux" and "rto_min" not in described[4]["tcp"]
    assert described[5]["tcp"]["profile"] == "linux-6.1"
    assert {group["tcp"]["recovery"] for group in described} == {"newreno"}


@pytest.mark.parametrize("file", sorted(Path("validation/live").glob("*.toml")), ids=str)
def test_the_grids_are_scenarios(file: Path):
    experiment = load(Path(__file__).parent.parent / file)
    assert len(experiment.setting(quick=False).seeds) in (3, [1, 2, 3], (1, 2, 3))
    (group,) = experiment.group
    for variants in itertools.product(*(axis.variants for axis in group.axes)):
        scenario = with_kernel(experiment.scenario)
        for variant in variants:
            for path, value in variant.set.items():
                scenario = set_path(scenario, path, value)
        engine.check(scenario)


@pytest.mark.parametrize(("study", "cells"), [("tuning-red", 4), ("not-deploy-red", 2)])
def test_a_study_says_which_of_its_cells_are_run_live(study: str, cells: int):
    experiment = load(study)
    short = live_study.shortened(experiment, live_study._requested(study)["table"])
    settings = replace(experiment.setting(quick=True), seeds=1)
    made = plan.make(short, settings, lambda *_: {}, short.group)
    assert len(made.cells) == cells
    # Every row of its tables finds its cells, and with them the paper's numbers.
    assert all(made.of(table.group, table.where) for table in short.table)
    assert not short.claim and not short.figure


def test_a_study_without_live_cells_says_so():
    with pytest.raises(SpecError, match="those that have are tuning-red, not-deploy-red"):
        live_study._requested("harsh-red")
