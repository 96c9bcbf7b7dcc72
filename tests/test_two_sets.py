"""Studies with two sets: as printed and reconstructed, reported once."""

from __future__ import annotations

import json
import math
from pathlib import Path

import pytest

from aqmlab.errors import SpecError
from aqmlab.experiment import experiment as experiments
from aqmlab.experiment import plan
from aqmlab.experiment.folders import SHIPPED
from aqmlab.experiment.grammar import Metric
from aqmlab.infer import compared, deviations, reconstruction, recorded, spec, two_sets
from aqmlab.infer.spec import Noise
from aqmlab.pipeline import calibrating
from aqmlab.report import report
from aqmlab.report import two_sets as described

STUDIES = sorted(path.parent.name for path in SHIPPED.glob(f"*/{reconstruction.FILE}"))
PING = SHIPPED / "examples" / "ping"
SET = """
about = "Found by trying."
[set]
rate = "2 Mbit/s"
buffer = 60
[evidence]
rate = "Trained."
buffer = "Read: the label of the modem."
[[rows]]
table = "ping"
known = "seen"
[[rows]]
table = "ping"
known = "foretold"
where = { uploads = 4 }
on = "2026-01-02"
commit = "abc123"
"""


TODAY = "twenty-five-years"


def scenarios_of(experiment, part: str, only: str = "", quick: bool = True) -> list[dict]:
    """The scenarios of a part, or of one of its groups."""
    groups = [g for g in experiment.group if g.part == part and only in ("", g.name)]
    loads = calibrating.placeholders(experiment)
    made = plan.make(experiment, experiment.setting(quick), loads, groups)
    return [made.scenarios[cell.key] for cell in made.cells]


def senders(experiment) -> list[list[dict]]:
    """The end systems of every scenario of the part about today's, one of each kind."""
    scenarios = scenarios_of(experiment, TODAY)
    ends = [[g["tcp"] for g in scenario["traffic"] if "tcp" in g] for scenario in scenarios]
    return [[tcp for i, tcp in enumerate(each) if tcp not in each[:i]] for each in ends]


@pytest.mark.parametrize("name", STUDIES)
def test_hosts_of_today_are_those_of_today_under_either_set(name):
    experiment = experiments.load(name)
    printed = senders(experiment)
    reconstructed = senders(reconstruction.front(experiment))
    assert len(printed) == len(reconstructed)
    today = 0
    for plain, other in zip(printed, reconstructed, strict=True):
        if all("linux" in str(tcp) for tcp in plain):
            assert other == plain
            today += 1
    assert today > 10


def test_what_is_not_known_of_the_testbed_does_not_reach_the_work_of_others():
    """*Tuning RED* quotes it, and its scenarios are ours: no line of 10 Mbit/s, no ring there."""
    experiment = experiments.load("tuning-red")
    printed = scenarios_of(experiment, "prior-work")
    assert len(printed) > 10
    assert scenarios_of(reconstruction.front(experiment), "prior-work") == printed


def test_what_a_group_varies_is_left_to_it():
    """The set has a threshold of 50 packets and ages by 10: a sweep of thresholds keeps its own."""
    of_web = reconstruction.front(experiments.load("web-aqm"))
    swept = scenarios_of(of_web, "dcn", "dcn-threshold", quick=False)
    queues = [one["link"][0]["forward"] for one in swept]
    assert [queue["threshold"] for queue in queues] == [25, 50, 100, 200]
    assert {queue["decrement"] for queue in queues} == {10}
    why = reconstruction.load(of_web).why  # not what is known of our printed DCN's queue
    assert {claim.id: claim.known for claim in of_web.claim if claim.known} == why
    of_may = reconstruction.front(experiments.load("not-deploy-red"))
    trips = {json.dumps(one["network"]["rtt"]) for one in scenarios_of(of_may, "mixes", "mixes")}
    assert trips == {'"7.7 ms"', '{"min": "10 ms", "max": "200 ms"}'}


@pytest.fixture
def ping(tmp_path) -> Path:
    """The example about a ping with shorter runs and two sets."""
    folder = tmp_path / "ping"
    (folder / "reference").mkdir(parents=True)
    for name in ("experiment.toml", spec.FILE, "reference/ping.csv"):
        text = (PING / name).read_text("utf-8")
        (folder / name).write_text(text.replace('"130 s"', '"20 s"'), "utf-8")
    (folder / reconstruction.FILE).write_text(SET, "utf-8")
    return folder


@pytest.mark.parametrize("name", STUDIES)
def test_a_shipped_reconstruction_has_evidence_for_every_value(name):
    experiment = experiments.load(name)
    for value in reconstruction.values(experiment):
        assert len(value["evidence"]) > 10, value["name"]
    assert reconstruction.front(experiment).name == name
    assert reconstruction.printed(experiment).change is None


def test_why_a_claim_does_not_hold_is_said_of_known_claims(ping):
    text = f'{SET}[why]\nP01 = "One change at a time."\n'
    (ping / reconstruction.FILE).write_text(text, "utf-8")
    with pytest.raises(SpecError, match='why: no claim "P01"'):
        reconstruction.load(experiments.load(str(ping)))


def test_both_sets_stand_in_one_report(ping, tmp_path):
    done = two_sets.carry_out(str(ping), quick=True, report=True, out=tmp_path / "out", jobs=1)
    result = json.loads((tmp_path / "out" / "result.json").read_text("utf-8"))
    printed = json.loads((tmp_path / "out-printed" / "result.json").read_text("utf-8"))
    assert (result["name"], result["set"]) == ("ping", "reconstructed")
    assert (printed["name"], printed["set"]) == ("ping-printed", "printed")
    rows, others = (found["tables"][0]["rows"] for found in (result, printed))
    assert [row["printed"] for row in rows] == [row["ours"] for row in others]
    assert [row["ours"] for row in rows] != [row["ours"] for row in others]
    assert {row["known"] for row in rows if row["uploads"] == 4} == {"foretold"}
    assert {row["known"] for row in rows if row["uploads"] != 4} == {"seen"}
    foretold, seen = result["sets"]["tables"]
    assert (foretold["known"], foretold["commit"]) == ("foretold", "abc123")
    assert foretold["reconstructed"]["numbers"] == foretold["printed"]["numbers"] == 3
    assert seen["reconstructed"]["numbers"] == 6
    # The table was simulated with the reconstructed set but for its delay.
    assert foretold["reconstructed"]["rms"] < foretold["printed"]["rms"]
    page = (tmp_path / "out" / "report.html").read_text("utf-8")
    assert "Read: the label of the modem." in page and "As printed, and reconstructed" in page
    assert "aqmlab study ping --quick --part" in page and "--assume recon" not in page
    last = described.closing(done.document())
    assert last.startswith("A ping trace: Of 9 published numbers of ") and "2026-01-02" in last


def test_what_full_runs_of_the_printed_set_gave_may_stand_beside_the_other(ping, tmp_path):
    """`make run` has three minutes: it runs one set of the two."""
    how = {"quick": True, "report": True, "jobs": 1}
    both = two_sets.carry_out(str(ping), out=tmp_path / "both", **how).document()
    result = json.loads((tmp_path / "both-printed" / "result.json").read_text("utf-8"))
    recorded.write(ping, result | {"quick": False, "seeds": 7}, "2026-01-03")
    done = two_sets.assumed(str(ping), "reconstructed", out=tmp_path / "one", **how)
    one = done.document()
    assert not (tmp_path / "one-printed").exists()
    assert one["sets"]["recorded"]["made"] == "2026-01-03" and both["sets"]["recorded"] is None
    rows, others = (found["tables"][0]["rows"] for found in (one, both))
    assert [row["printed"] for row in rows] == [row["printed"] for row in others]
    assert "full runs of 2026-01-03" in described.closing(one)
    assert "full runs" not in described.closing(both)
    page = (tmp_path / "one" / "report.html").read_text("utf-8")
    assert "aqmlab study ping --quick --assume reconstructed" in page
    assert "<code>aqmlab study ping --full --assume reconstructed</code> runs the whole" in page
    assert "7 seeds), which were not repeated here" in page


def test_a_figure_and_a_study_without_a_reconstruction_are_as_ever(ping, tmp_path):
    (ping / reconstruction.FILE).unlink()
    done = two_sets.carry_out(str(ping), quick=True, report=True, out=tmp_path / "out", jobs=1)
    assert "sets" not in done.document()
    assert not (tmp_path / "out-printed").exists()
    assert described.closing(done.document()) == ""


@pytest.mark.parametrize(
    ("change", "by", "says"),
    [
        ('rate = "Trained."', "", "rate has a value and no evidence"),
        ("buffer = 60", "", "buffer has evidence and no value"),
        ('commit = "abc123"', "", "foretold rows need the day"),
        ('table = "ping"', 'table = "pong"', 'no table "pong"'),
    ],
)
def test_a_wrong_reconstruction_is_one_sentence(ping, change, by, says):
    path = ping / reconstruction.FILE
    path.write_text(path.read_text("utf-8").replace(change, by, 1), "utf-8")
    with pytest.raises(SpecError, match=says):
        reconstruction.load(experiments.load(str(ping)))


def known(**keys) -> Noise:
    return Noise(metrics=("m",), reason="?", **keys)


METRIC = Metric(name="m", title="M", unit="", digits=9)


def test_a_deviation_is_of_all_that_stands_between_the_numbers():
    far = deviations.deviation
    assert far(16.0, 10.0, known(sd=3.0), METRIC) == pytest.approx(2.0)
    assert far(16.0, 10.0, known(sd=3.0, discrepancy=4.0), METRIC) == pytest.approx(6 / 5)
    assert far(16.0, 10.0, known(share=0.3), METRIC, seeds=16.0) == pytest.approx(6 / 5)
    by_logarithm = far(20.0, 10.0, known(share=0.1, log=True), METRIC)
    assert by_logarithm == pytest.approx(math.log(2) / 0.1)


def test_seeds_add_what_they_do_to_both_runs():
    # Two seeds at 9 and 11: a variance of 2, of our mean 1, of a run four times as long 1/2.
    row = {"n": 2, "low": 10 - 12.7062, "high": 10 + 12.7062}
    assert deviations.spread(row, 0.25) == pytest.approx(2 * (1 / 2 + 1 / 4), rel=1e-4)
    assert deviations.spread({"n": 1, "low": None, "high": None}, 1.0) == 0.0


def test_a_summary_counts_what_is_near():
    found = deviations.summary([1.0, -2.0, 3.0, math.nan])
    assert found == {"numbers": 3, "near": 2, "rms": pytest.approx(math.sqrt(14 / 3))}
    assert deviations.summary([])["rms"] is None


def test_dated_predictions_are_compared_with_the_tables_that_were_opened():
    found = compared.foretold(experiments.load("tuning-red"))
    (last,) = [f for f in found if f["id"] == "table-3" and f["on"] == "2026-11-23"]
    assert (last["numbers"], last["inside"]) == (72, 72)
    assert last["rms"] < last["plain_rms"]
    assert compared.foretold(experiments.load("rfc7928")) == []


def test_a_study_with_two_sets_is_asked_for_again_without_naming_one():
    result = {"name": "x", "set": "reconstructed", "quick": True, "files": {}}
    assert report.command(result | {"sets": {"tables": []}}) == "aqmlab study x --quick"
    assert report.command(result) == "aqmlab study x --quick --assume reconstructed"
