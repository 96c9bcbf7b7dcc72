"""The report of any run: every queue and traffic group, from a command or from a folder."""

from __future__ import annotations

import json
import math
import shutil

import pytest

from aqmlab.figures.kinds import course
from aqmlab.runs.laboratory import FinishedRun
from aqmlab.simulator.engine import Outcome
from aqmlab.tables import subjects
from conftest import base_scenario

HOME = """
name = "home"
[scenario]
duration = "12 s"
warmup = "2 s"
record = { by_group = true, queues = ["line.forward", "line.reverse"] }
[[scenario.link]]
name = "line"
rate = "4 Mbit/s"
forward = { aqm = "droptail", limit = 100 }
[[scenario.traffic]]
name = "pages"
app = "web"
users = 100
[[scenario.traffic]]
name = "talk"
app = "voip"
users = 1
[[scenario.traffic]]
name = "upload"
app = "bulk"
flows = 2
[sweep]
seeds = 2
"link.0.forward" = [{ label = "FIFO", aqm = "droptail" }, { label = "CoDel", aqm = "fq_codel" }]
"""


@pytest.fixture
def home(aqmlab_command):
    (aqmlab_command.folder / "home.toml").write_text(HOME)
    return aqmlab_command


def tables(folder) -> dict[str, list[dict]]:
    result = json.loads((folder / "result.json").read_text())
    return {table["id"]: table["rows"] for table in result["tables"]}


def test_a_sweep_is_reported_by_queue_and_group(home):
    answer = home("run", "home.toml", "--report", "--json")
    assert answer.returncode == 0, answer.stderr
    described = json.loads(answer.stdout)
    folder = home.folder / "results" / "home"
    assert described["report"] == "results/home/report.html"
    found = tables(folder)
    summaries = {v["label"]: v["summary"] for v in described["variants"]}
    calls = {r["variant"]: r for r in found["datagrams"] if r["metric"] == "delay_p99_s"}
    for label, summary in summaries.items():
        # In milliseconds.
        assert calls[label]["ours"] == pytest.approx(
            1e3 * summary["datagrams"]["talk"]["delay_p99_s"]
        )
    (gap,) = [r for r in found["datagrams-differences"] if r["metric"] == "delay_p99_s"]
    assert gap["ours"] == pytest.approx(calls["CoDel"]["ours"] - calls["FIFO"]["ours"])
    answered = [r for r in found["requests"] if r["metric"] == "responses"]
    assert {r["group"] for r in answered} == {"pages"}, "the only group that asks has all"
    assert any(r["metric"] == "requests_open_at_end" for r in found["requests"])
    assert {r["queue"] for r in found["queues"]} == {"line.forward", "line.reverse"}
    drawn = {path.stem for path in (folder / "figures").glob("*.svg")}
    assert {"figure-course", "figure-responses", "figure-tail"} <= drawn
    page = (folder / "report.html").read_text()
    assert "the paper" not in page.lower()


def test_a_folder_of_runs_has_the_same_report(home):
    assert home("run", "home.toml", "--report", "--out", "with").returncode == 0
    assert home("run", "home.toml", "--out", "without").returncode == 0
    assert not (home.folder / "without" / "result.json").exists()
    answer = home("report", "without")
    assert answer.stdout.strip() == "without/report.html", answer.stderr
    assert tables(home.folder / "without") == tables(home.folder / "with")
    shutil.rmtree(home.folder / "with" / "runs")
    (home.folder / "with" / "result.json").unlink()
    answer = home("report", "with")
    assert answer.returncode != 0 and "give the same `aqmlab run` again" in answer.stderr


def test_the_console_tells_every_group(home):
    said = home("run", "home.toml", COLUMNS="160").stdout
    assert "Datagrams and calls" in said and "delay p99 ms" in said
    assert "CoDel: talk" in said and "FIFO: pages" in said and "FIFO: upload" in said


def run_of(summary: dict, *apps: str) -> FinishedRun:
    many = {"bulk": "flows"}
    traffic = [
        {"app": app, "name": f"{app}-{i}", many.get(app, "users"): 1} for i, app in enumerate(apps)
    ]
    scenario = base_scenario(traffic=traffic)
    return FinishedRun(0, "", {}, 1, scenario, outcome=Outcome(summary, {}))


def test_a_total_is_that_of_the_only_group_of_its_kind(real_core):
    summary = {"requests": 7, "responses": 5, "response_p50_s": None, "voip_r_mean": 90.0}
    found = subjects.groups(run_of(summary, "web", "voip", "bulk"))
    assert found["web-0"]["responses"] == 5 and math.isnan(found["web-0"]["response_p50_s"])
    assert found["voip-1"] == {"r_mean": 90.0}
    assert "bulk-2" not in found
    several = subjects.groups(run_of(summary, "web", "web"))
    # Of calls nothing is told where nobody calls.
    of_requests = {k: v for k, v in found[subjects.ALL].items() if k != "r_mean"}
    assert several == {subjects.ALL: pytest.approx(of_requests, nan_ok=True)}


def test_a_course_is_the_mean_of_parts_of_the_run():
    assert course._sums(course.np.arange(7), 3).tolist() == [3, 12]
