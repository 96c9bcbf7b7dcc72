"""Studies: the plan, the tables, the findings, and a whole study on a test double."""

from __future__ import annotations

import json
import math
from dataclasses import replace

import numpy as np
import polars as pl
import pytest
from small_study import SHORT, SMALL, Double, summary

from aqmlab.errors import AqmlabError, SpecError
from aqmlab.experiment import plan
from aqmlab.experiment.experiment import Experiment, load
from aqmlab.experiment.folders import shipped
from aqmlab.experiment.grammar import Difference, Metric, Settings, Table
from aqmlab.experiment.shapes import read, written
from aqmlab.figures.kinds.cdf import GRID_MS
from aqmlab.figures.kinds.linearity import through_origin
from aqmlab.pipeline import command, registry
from aqmlab.pipeline.study import Study
from aqmlab.simulator import engine
from aqmlab.tables import published, tables
from aqmlab.tables.statistics import responses


@pytest.fixture
def double(monkeypatch):
    core = Double()
    monkeypatch.setattr(engine, "_core", lambda: core)
    return core


@pytest.fixture
def study() -> Study:
    return Study(load(SMALL))


def users_for(text: str) -> int:
    return 7 * round(30 * float(text.rstrip("%")) / 7)


def loads(_base: str | None, text: str) -> dict[str, object]:
    return {"traffic.0.users": users_for(text)}


def planned(experiment: Experiment, parts: list[str] | None = None, **settings) -> plan.Plan:
    groups = experiment.groups(parts or experiment.parts)
    return plan.make(experiment, read(Settings, SHORT | {"mode": "full"} | settings), loads, groups)


class TestPlan:
    def whole(self) -> plan.Plan:
        return planned(load("tuning-red"), ["calibration", "fifo", "red-load", "red-thresholds"])

    def test_the_experiment_asks_for_the_papers_settings(self):
        made = self.whole()
        fifo = {(c.axes["load"], c.axes["limit"]) for c in made.of("fifo")}
        assert fifo == {
            (load, limit)
            for load in ("80%", "90%", "98%", "110%")
            for limit in (30, 60, 120, 190, 240)
        }
        loads = ["50%", "70%", "80%", "90%", "98%", "110%"]
        assert [c.axes["load"] for c in made.of("fifo-load")] == loads
        assert [c.axes["load"] for c in made.of("red-load")] == loads
        pairs = [c.axes["thresholds"] for c in made.of("red-thresholds", {"load": "98%"})]
        assert all(pair in pairs for pair in ([5, 15], [30, 90], [60, 180]))

    def test_shared_scenarios_are_run_once(self):
        made = self.whole()
        keys = [c.key for c in made.cells]
        # 4 of figure 10 are in table 1, (30, 90) at 90 and 98 % is in figure 11; figure 7 shows a
        # start of its own
        assert len(keys) == 5 + 1 + 1 + 20 + 6 + 6 + 10
        assert len(set(keys)) == len(keys) - 4 - 2 == len(made.scenarios)
        assert len(made.runs()) == 3 * len(made.scenarios)

    def test_scenarios_are_complete(self):
        made = self.whole()
        (cell,) = made.of("red-thresholds", {"load": "98%", "thresholds": [5, 15]})
        scenario = made.scenarios[cell.key]
        assert scenario["link"][0]["forward"] == {
            "aqm": "red",
            "profile": "altq",
            "min_th": 5,
            "max_th": 15,
            "w_q": "1/512",
            "max_p": 0.1,
            "limit": 480,
        }
        assert scenario["traffic"][0]["users"] == users_for("98%")
        assert (scenario["duration"], scenario["warmup"]) == ("240 s", "120 s")
        (best,) = made.of("best-case")
        assert made.scenarios[best.key]["link"][0]["rate"] == "100 Mbit/s"
        assert {run.seed for run in made.runs()} == {1, 2, 3}

    def test_a_part_takes_what_its_differences_need(self):
        made = planned(load("tuning-red"), ["red-load"])
        assert {c.group for c in made.cells} >= {"red-load", "fifo-load"}

    def test_labels(self):
        made = self.whole()
        assert made.of("fifo")[0].labels == {"load": "80 %", "limit": "30 packets"}
        marks = {c.labels["thresholds"] for c in made.of("red-thresholds", {"load": "90%"})}
        assert marks == {"(5, 15)", "(15, 45) *", "(30, 90)", "(60, 180)", "(90, 270) *"}

    def test_full_and_quick(self):
        full, quick = (load("tuning-red").setting(q) for q in (False, True))
        assert (full.duration, full.warmup, full.seeds) == ("90 min", "20 min", 10)
        assert quick.seeds < full.seeds

    def test_an_unknown_part_is_one_sentence(self):
        with pytest.raises(SpecError, match='no part "fifi": its parts are calibration, fifo'):
            load("tuning-red").check_parts(["fifi"])


def cell(**axes) -> plan.Cell:
    return plan.Cell("g", axes, {k: str(v) for k, v in axes.items()}, "k")


METRIC = Metric(name="share", summary="s", scale=100.0, title="S", unit="%", digits=1)
SPEC = Table(id="t", part="p", group="g", title="T", keys={"load": "load_pct", "limit": "limit"})
DIFFERENCE = Difference(id="d", part="p", group="g", minus="h", on=("load",), title="D")


class TestTables:
    def test_by_hand(self):
        # 90, 92, 94: mean 92, s = 2, t(0.975, 2) = 4.30265: half 4.96827, one run twice that
        reference = [{"load_pct": "80", "limit": "30", "share": "95.0"}]
        (row,) = tables.table(
            SPEC, [METRIC], [cell(load="80%", limit=30)], lambda *_: [90, 92, 94], reference
        )
        assert row["load_pct"] == 80 and row["limit"] == 30 and row["n"] == 3
        assert row["ours"] == pytest.approx(92)
        assert row["low"] == pytest.approx(92 - 4.96827, abs=1e-4)
        assert row["high"] == pytest.approx(92 + 4.96827, abs=1e-4)
        assert row["one_run_high"] == pytest.approx(92 + 2 * 4.96827, abs=1e-4)
        assert row["paper"] == 95 and row["difference"] == pytest.approx(-3)
        assert row["difference_low"] == pytest.approx(-3 - 4.96827, abs=1e-4)
        assert row["verdict"] == tables.INSIDE

    @pytest.mark.parametrize(
        ("paper", "verdict"),
        [
            ("96.9", "inside"),
            ("97.0", "inside"),
            ("97.1", "within one run"),
            ("101.9", "within one run"),
            ("102.0", "outside"),
            ("82.0", "outside"),
        ],
    )
    def test_where_the_papers_number_lies(self, paper, verdict):
        # ends at 96.968 and 101.937, and the printed number may be 0.05 off by rounding
        row = tables.estimate([90, 92, 94])
        assert tables.compare(row, float(paper), 1)["verdict"] == verdict

    def test_a_number_undefined_under_one_seed_has_no_mean(self):
        assert set(tables.estimate([90.0, math.nan, 92.0]).values()) == {None}

    def test_one_seed_has_no_interval_and_no_verdict(self):
        row = tables.estimate([90.0])
        assert row["low"] is None
        found = tables.compare(row, 91.0, 1)
        assert found["difference"] == -1 and found["verdict"] is None

    def test_missing_reference_leaves_ours_alone(self, tmp_path):
        assert published.read([tmp_path], replace(SPEC, reference="nowhere.csv")) is None
        (row,) = tables.table(
            SPEC, [METRIC], [cell(load="80%", limit=30)], lambda *_: [90, 80], None
        )
        assert row["ours"] == pytest.approx(85)
        assert row["paper"] is None and row["difference"] is None and row["verdict"] is None

    def test_the_shipped_reference_is_the_papers_table_with_its_provenance(self):
        experiment = load("tuning-red")
        (spec,) = [t for t in experiment.of("table") if t.id == "table-1"]
        rows = published.read([experiment.folder], spec)
        assert rows is not None and len(rows) == 20
        assert {row["provenance"] for row in rows} == {"from the document"}
        made = planned(experiment, ["fifo"])
        metrics = [m for m in experiment.of("metric") if not m.hidden]
        found = tables.table(spec, metrics, made.of("fifo"), lambda *_: [0.5], rows)
        assert len(found) == 160 and all(row["paper"] is not None for row in found)

    def test_differences_are_paired(self):
        samples = {"red": [50, 70, 90], "fifo": [40, 60, 80]}
        pair = (cell(load="80%"), cell(load="80%"))
        values = iter([samples["red"], samples["fifo"]])
        (row,) = tables.differences(DIFFERENCE, [METRIC], [pair], lambda *_: next(values))
        assert row["load"] == 80 and row["ours"] == pytest.approx(10)
        assert row["high"] - row["low"] == pytest.approx(0, abs=1e-9)


class TestDrawing:
    def test_share_below(self):
        histogram = {"upper_ms": np.array([1.0, 2.0, 4.0, np.inf]), "count": np.array([1, 2, 3, 4])}
        share = responses.share_below(histogram, np.array([0.0, 1.0, 2.0, 3.0, 4.0, 9.0]))
        assert share.tolist() == [0, 10, 30, 30, 60, 60]

    def test_failed_responses_keep_the_curve_below_all(self):
        histogram = {"upper_ms": np.array([1.0, np.inf]), "count": np.array([1, 1])}
        assert responses.share_below(histogram, GRID_MS)[-1] == 50

    def test_line_through_the_origin(self):
        slope, r_squared = through_origin(np.array([1.0, 2.0]), np.array([1.0, 3.0]))
        assert slope == pytest.approx(7 / 5)
        assert r_squared == pytest.approx(1 - (0.16 + 0.04) / 10)


class TestStudy:
    def test_the_whole_line(self, double, study, tmp_path):
        result = study.run(quick=True, out=tmp_path, settings=SHORT)
        made = 3 * len(planned(study.experiment).scenarios)
        assert len(double.runs) == made + 4 * 2  # and four populations of the calibration
        for table in (
            "table-1",
            "fifo-load",
            "red-load",
            "red-thresholds",
            "red-minus-fifo",
            "runs",
        ):
            frame = pl.read_parquet(tmp_path / "tables" / f"{table}.parquet")
            assert frame.height == pl.read_csv(tmp_path / "tables" / f"{table}.csv").height > 0
        shown = {f["id"] for f in result["figures"]}
        assert shown == {"3", "4", "5", "7", "8", "9a", "9b", "10", "11", "12a", "table-1"}
        for figure in result["figures"]:
            assert (tmp_path / figure["file"]).is_file()
            assert (tmp_path / figure["file"]).with_suffix(".png").is_file()
        strict = json.dumps(result, allow_nan=False)
        assert json.loads((tmp_path / "result.json").read_text()) == json.loads(strict)
        assert (tmp_path / "report.html").is_file()

    @pytest.mark.usefixtures("double")
    def test_loads_come_from_the_calibration(self, study, tmp_path):
        result = study.run(quick=True, out=tmp_path, settings=SHORT, parts=["red-thresholds"])
        (line,) = result["calibrations"]
        users = line["users"]
        exact = 0.98 * 1_250_000 / line["bytes_per_user_s"]
        assert users["98%"] % 7 == 0 and abs(users["98%"] - exact) <= 3.5
        runs = pl.read_csv(tmp_path / "tables" / "runs.csv")
        assert set(runs["users"]) == {users["90%"], users["98%"]}

    def test_a_load_that_users_did_not_ask_for_is_said_once(
        self, double, study, tmp_path, monkeypatch, capsys
    ):
        plain = summary

        def asking(scenario: dict) -> dict:
            """Users who do not ask for as much behind a tenth of the calibration's line."""
            described = plain(scenario)
            off = 1.0 if scenario["link"][0]["rate"].startswith("1000") else 0.8
            measured_s = float(scenario["duration"].split()[0])
            measured_s -= float(scenario.get("warmup", "0 s").split()[0])
            described["requested_bytes"] = off * described["throughput_bytes_per_s"] * measured_s
            return described

        run = {"quick": True, "out": tmp_path, "settings": SHORT, "parts": ["red-thresholds"]}
        monkeypatch.setitem(Double.run.__globals__, "summary", asking)
        result = study.run(**run)
        lines = json.loads((tmp_path / "manifest.json").read_text())["remarks"]
        assert len(lines) == len({cell["key"] for cell in result["runs"]}) > 1
        assert lines[0].startswith("red-thresholds") and "was set" in lines[0]
        said = [line for line in capsys.readouterr().err.splitlines() if "than was set" in line]
        assert len(said) == 1 and f"{len(lines)} scenarios had another load" in said[0]

    def test_finished_runs_are_not_done_again(self, double, study, tmp_path):
        first = study.run(quick=True, out=tmp_path, settings=SHORT, parts=["red-load"])
        before = len(double.runs)
        again = study.run(quick=True, out=tmp_path, settings=SHORT, parts=["red-load"])
        assert len(double.runs) == before and again == first
        fewer = study.run(quick=True, out=tmp_path, settings=SHORT | {"seeds": 2})
        assert fewer["seeds"] == 2
        red = [r for r in double.runs[before:] if r["link"][0]["forward"]["aqm"] == "red"]
        # (30, 90) at every load is there already, from the first part
        assert {r["link"][0]["forward"]["min_th"] for r in red} == {5, 15, 60, 90}

    @pytest.mark.usefixtures("double")
    def test_a_part_joins_those_already_there(self, study, tmp_path):
        study.run(quick=True, out=tmp_path, settings=SHORT, parts=["red-load"])
        result = study.run(quick=True, out=tmp_path, settings=SHORT, parts=["fifo"])
        assert result["parts"] == ["fifo", "red-load"]
        assert {t["part"] for t in result["tables"]} == {"fifo", "red-load"}

    def test_after_an_interruption_it_goes_on(self, double, study, tmp_path):
        double.stop_after = 20
        with pytest.raises(AqmlabError, match="same command again"):
            study.run(quick=True, out=tmp_path, settings=SHORT, parts=["fifo"], jobs=1)
        assert not (tmp_path / "report.html").exists()
        kept = len(list((tmp_path / "runs").glob("*/manifest.json")))
        assert kept == 20 - 8
        double.stop_after = math.inf
        study.run(quick=True, out=tmp_path, settings=SHORT, parts=["fifo"], jobs=1)
        seen = [json.dumps(r, sort_keys=True) for r in double.runs]
        assert len(seen) == len(set(seen))

    def test_one_figure_runs_what_it_needs_and_leaves_the_rest_alone(self, double, study, tmp_path):
        study.run(quick=True, out=tmp_path, settings=SHORT, parts=["red-load"])
        before = (tmp_path / "tables" / "distributions.csv").read_bytes()
        double.runs.clear()
        path = study.draw("8", quick=True, out=tmp_path)
        assert path == tmp_path / "figures" / "figure-8.svg" and path.is_file()
        assert {run["link"][0]["rate"] for run in double.runs} == {"100 Mbit/s"}
        assert (tmp_path / "tables" / "distributions.csv").read_bytes() == before
        assert "response_ms" in (tmp_path / "tables" / "figure-8.csv").read_text()
        assert study.draw("4", quick=True, out=tmp_path).is_file()

    @pytest.mark.usefixtures("double")
    def test_one_seed(self, study, tmp_path):
        result = study.run(quick=True, out=tmp_path, settings=SHORT | {"seeds": 1}, parts=["fifo"])
        assert {c["verdict"] for c in result["claims"]} == {"inconclusive"}
        assert all(row["low"] is None for t in result["tables"] for row in t["rows"])

    @pytest.mark.usefixtures("double")
    def test_a_missing_reference_file(self, study, tmp_path):
        for file in SMALL.glob("*.toml"):
            (tmp_path / file.name).write_text(file.read_text())
        bare = Study(replace(study.experiment, folder=tmp_path))
        result = bare.run(quick=True, out=tmp_path / "out", settings=SHORT, parts=["fifo"])
        (table,) = [t for t in result["tables"] if t["id"] == "table-1"]
        assert not table["has_reference"]
        assert all(row["paper"] is None and row["ours"] is not None for row in table["rows"])
        page = (tmp_path / "out" / "report.html").read_text()
        assert "not at hand" in page and "1,164" not in page


class TestRegistry:
    def test_names_and_what_they_ask(self):
        entries = registry.names()
        assert [entry["name"] for entry in entries] == shipped()
        for entry in entries:
            assert entry["summary"] and entry["parts"] and entry["figures"] and entry["claims"]

    def test_an_unknown_name(self):
        with pytest.raises(SpecError, match='no study "tuning-rad"; did you mean "tuning-red"'):
            command.carry_out("tuning-rad", quick=True)

    @pytest.mark.usefixtures("double")
    def test_run_tells_where_it_wrote(self, study, tmp_path, monkeypatch):
        short = read(Settings, SHORT | {"mode": "quick"})
        monkeypatch.setattr(Experiment, "setting", lambda *_: short)
        monkeypatch.setattr("aqmlab.experiment.experiment.load", lambda _: study.experiment)
        done = command.carry_out("tuning-red", quick=True, out=tmp_path, part=["red-load"])
        answer = done.document()
        assert answer["report"] == str(tmp_path / "report.html")
        assert answer["lines"] == answer["headlines"]


def test_differences_of_opposite_sign_do_not_cancel_in_the_headline():
    from aqmlab.report.headlines import _gaps

    def row(metric, difference):
        return {"load_pct": "98", "metric": metric, "difference": difference}

    share = written(METRIC) | {"name": "pct_le_1s"}
    median = {"name": "median_response_ms", "title": "Median", "unit": "ms", "digits": 0}
    rows = [row("pct_le_1s", d) for d in (-6.0, 6.0)]
    rows += [row("median_response_ms", d) for d in (-40.0, 86.0)]
    table = {"has_reference": True, "paper": "Table 1", "rows": rows, "keys": ["load_pct"]}
    table["headline"] = ["pct_le_1s", "median_response_ms"]
    (sentence,) = _gaps({"tables": [table], "metrics": [share, median]})
    assert "98 %: −6.0 to +6.0 points, −40 to +86 ms" in sentence


def test_rows_that_stand_alone_make_one_range_in_the_headline():
    from aqmlab.report.headlines import _gaps

    share = written(METRIC) | {"name": "pct_le_1s"}
    rows = [
        {"setting": name, "metric": "pct_le_1s", "difference": gap}
        for name, gap in (("a", -6.0), ("b", 2.0), ("c", None))
    ]
    table = {"has_reference": True, "paper": "Table 2", "rows": rows, "keys": ["setting"]}
    (sentence,) = _gaps({"tables": [table | {"headline": ["pct_le_1s"]}], "metrics": [share]})
    assert sentence.endswith(": −6.0 to +2.0 points.")


def test_a_constructed_variant_is_marked_in_its_table():
    def place(value: object, label: str) -> object:
        return tables._place(plan.Cell("g", {"row": value}, {"row": label}, "k"), "row")

    assert place("tail drop", "tail drop *") == "tail drop *"
    assert place("tail drop", "tail drop") == "tail drop"
    assert place(15, "15 *") == 15
