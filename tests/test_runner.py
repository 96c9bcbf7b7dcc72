import json
import threading
import time

import numpy as np
import pytest

import aqmlab
from aqmlab.errors import AqmlabError, CalibrationError, Interrupted, SpecError
from aqmlab.experiment.experiment import load
from aqmlab.pipeline import registry
from aqmlab.pipeline.study import Study
from aqmlab.runs import pool
from aqmlab.runs.progress import Progress
from aqmlab.simulator import engine
from conftest import base_scenario

SWEEP = {"scenario": base_scenario(), "sweep": {"link.0.forward.limit": [60, 120], "seeds": 3}}


def runs_begun(path) -> int:
    return len(path.read_text().split()) if path.exists() else 0


def test_one_run_in_memory(fake, scenario):
    result = aqmlab.run(scenario, seed=4)
    assert result.summary["drops"] == 4
    assert result.folder is None
    assert result.table("queue")["bottleneck.forward"].to_list() == [4, 5, 6, 7, 8]
    with pytest.raises(AqmlabError, match='"queues"; did you mean "queue"'):
        result.table("queues")


def test_a_sweep(fake):
    result = aqmlab.run(SWEEP)
    assert result.labels == ["limit=60", "limit=120"]
    assert [run.seed for run in result.variant("limit=120")] == [1, 2, 3]
    rows = {(r["label"], r["field"]): r for r in result.statistics().iter_rows(named=True)}
    assert rows["limit=60", "queue_mean_packets"]["mean"] == 36
    assert result.select(limit=60).summary["queue_mean_packets"] == 36
    difference = result.paired(0, 1).rows_by_key("field", named=True, unique=True)
    queue = difference["queue_mean_packets"]
    # The same seeds on both sides: the noise of 3 packets a seed cancels altogether.
    assert (queue["difference"], queue["low"], queue["high"], queue["n"]) == (30, 30, 30, 3)
    table = result.table("queue")
    assert table.columns == ["variant", "limit", "seed", "time_s", "bottleneck.forward"]
    assert table.height == 30
    with pytest.raises(AqmlabError, match="did you mean"):
        result.variant("limit=121")
    with pytest.raises(AqmlabError, match="there are 2"):
        result.variant(2)


def test_the_summary_of_several_seeds_has_the_names_of_one(fake, scenario):
    one, several = aqmlab.run(scenario).summary, aqmlab.run(scenario, seeds=3).summary
    assert several.keys() == one.keys()
    assert several["retransmission_classes"] == {"none": 10, "syn": 2}
    assert several["fingerprint"] is None


@pytest.mark.parametrize("seeds", [[1, 2], [1, 2**40], [2**40, 2**53]])
def test_the_seed_column_is_always_of_one_type(fake, scenario, seeds):
    import polars as pl

    table = aqmlab.run(scenario, seeds=seeds).table("responses")
    assert table.schema["seed"] == table.schema["variant"] == pl.Int64
    assert table["seed"].unique(maintain_order=True).to_list() == seeds


def test_columns_of_different_width_are_put_together(fake, scenario, monkeypatch):
    real = fake._tables

    def tables(scenario):
        width = "<u2" if scenario["seed"] == 1 else "<u4"
        column = ("bottleneck.forward", width, np.arange(5, dtype=width).tobytes())
        return real(scenario) | {"queue": {"columns": [column], "every_s": None}}

    monkeypatch.setattr(fake, "_tables", tables)
    assert aqmlab.run(scenario, seeds=2).table("queue").height == 10


def test_a_damaged_run_is_run_again(fake, scenario, tmp_path):
    (run,) = aqmlab.run(scenario, out=tmp_path).runs
    (run.folder / "queue.parquet").unlink()
    (again,) = aqmlab.run(scenario, out=tmp_path).runs
    assert not again.cached
    assert again.table("queue").height == 5


def test_tables_go_to_pandas(fake, scenario):
    pytest.importorskip("pandas")
    frame = aqmlab.run(scenario).table("responses").to_pandas()
    assert list(frame["end_ns"]) == [10, 20]


def test_threads_change_nothing(fake):
    one = aqmlab.run(SWEEP, jobs=1)
    many = aqmlab.run(SWEEP, jobs=4)
    prints = [[run.summary["fingerprint"] for run in result.runs] for result in (one, many)]
    assert prints[0] == prints[1]
    assert len(set(prints[0])) == 6


def test_finished_runs_are_not_run_again(fake, tmp_path, monkeypatch):
    log = tmp_path / "log"
    monkeypatch.setenv("FAKE_LOG", str(log))
    first = aqmlab.run(SWEEP, out=tmp_path / "out")
    assert runs_begun(log) == 6
    again = aqmlab.run(SWEEP, out=tmp_path / "out")
    assert runs_begun(log) == 6
    assert all(run.cached for run in again.runs)
    assert again.statistics().equals(first.statistics())
    assert again.table("queue").equals(first.table("queue"))
    aqmlab.run(SWEEP, out=tmp_path / "out", seeds=4)
    assert runs_begun(log) == 8
    aqmlab.run(SWEEP, out=tmp_path / "out", fresh=True)
    assert runs_begun(log) == 14


def test_the_manifest(fake, tmp_path):
    result = aqmlab.run(SWEEP, out=tmp_path)
    manifest = json.loads((tmp_path / "manifest.json").read_text())
    assert manifest["version"] == "9.9.9"
    assert manifest["commit"] == "fake"
    assert manifest["seeds"] == [1, 2, 3]
    assert manifest["sweep"] == {"link.0.forward.limit": [60, 120]}
    assert [run["fingerprint"] for run in manifest["runs"]] == [
        run.summary["fingerprint"] for run in result.runs
    ]
    for run, entry in zip(result.runs, manifest["runs"], strict=True):
        assert (tmp_path / entry["folder"] / "queue.parquet").exists()
        own = json.loads((tmp_path / entry["folder"] / "manifest.json").read_text())
        assert own["seed"] == run.seed == own["scenario"]["seed"]
        assert own["scenario"]["link"][0]["forward"]["limit"] in (60, 120)


def test_mistakes_are_found_before_anything_is_written(fake, tmp_path):
    out = tmp_path / "out"
    with pytest.raises(SpecError, match="unknown field"):
        aqmlab.run({**base_scenario(), "durration": "1 s"}, out=out)
    sweep = {
        "scenario": base_scenario(),
        "sweep": {
            "link.0.forward": [
                {"aqm": "red", "min_th": 1, "max_th": 2},
                {"label": "bad", "aqm": "red", "min_th": 2, "max_th": 2},
            ]
        },
    }
    with pytest.raises(SpecError, match=r"scenario \(bad\): link\.0\.forward: min_th"):
        aqmlab.run(sweep, out=out)
    assert not out.exists()


def test_a_load_is_calibrated_once_for_all_variants(fake, tmp_path, monkeypatch):
    monkeypatch.setenv("FAKE_LOG", str(tmp_path / "log"))
    document = {
        "scenario": base_scenario(),
        "sweep": {"traffic.0.load": ["50%", "98%"], "link.0.forward.limit": [60, 120]},
        "calibration": {"duration": "30 s", "warmup": "10 s", "seeds": 2},
    }
    result = aqmlab.run(document, out=tmp_path / "out")
    assert runs_begun(tmp_path / "log") == 8 + 4
    (line,) = result.calibrations
    assert line.bytes_per_user_s == pytest.approx(399.8)
    assert [run.scenario["traffic"][0]["users"] for run in result.runs] == [1561, 1561, 3066, 3066]
    manifest = json.loads((tmp_path / "out" / "manifest.json").read_text())
    assert manifest["calibrations"][0]["r_squared"] == line.r_squared


def test_a_failed_calibration_names_the_file(fake, toml_file):
    with pytest.raises(CalibrationError, match=r"small\.toml: traffic\.0\.load: bulk has no users"):
        aqmlab.run(toml_file, set={"traffic": [{"app": "bulk", "load": "5%"}]})


def test_ctrl_c_keeps_what_is_finished(fake, tmp_path, monkeypatch):
    real = engine.simulate
    begun = []

    def simulate(scenario, progress=None, capture=None):
        begun.append(scenario["seed"])
        if len(begun) == 3:
            raise KeyboardInterrupt
        return real(scenario, progress)

    monkeypatch.setattr(engine, "simulate", simulate)
    with pytest.raises(Interrupted, match=r"2 finished runs are kept in .*same command") as error:
        aqmlab.run(SWEEP, out=tmp_path, jobs=1)
    assert error.value.exit_code == 130
    monkeypatch.setattr(engine, "simulate", real)
    assert sum(run.cached for run in aqmlab.run(SWEEP, out=tmp_path).runs) == 2


def test_an_interrupted_sweep_has_something_of_every_variant(fake, monkeypatch):
    order = []
    real = engine.simulate

    def simulate(scenario, progress=None, capture=None):
        order.append((scenario["seed"], scenario["link"][0]["forward"]["limit"]))
        return real(scenario, progress)

    monkeypatch.setattr(engine, "simulate", simulate)
    aqmlab.run(SWEEP, jobs=1)
    assert order == [(1, 60), (1, 120), (2, 60), (2, 120), (3, 60), (3, 120)]


def test_one_failure_stops_the_others(fake, scenario, monkeypatch):
    real, began, stopped = engine.simulate, threading.Event(), []

    def simulate(scenario, progress=None, capture=None):
        if "nonsense" in scenario:
            began.wait(60)
            return real(scenario, progress)
        for _ in range(6000):  # a run without end, were it not for its progress
            if not progress(1.0):
                stopped.append(scenario)
                raise engine.Cancelled
            began.set()
            time.sleep(0.01)
        return real(scenario, progress)

    monkeypatch.setattr(engine, "simulate", simulate)
    with pytest.raises(SpecError, match="nonsense"):
        pool.simulate_all([scenario, {**scenario, "nonsense": 1}], lambda i, o: o, jobs=2)
    assert stopped == [scenario]


def test_runs_at_a_time_need_memory_together(fake, scenario, monkeypatch):
    needs = {1: 3_000_000_000, 2: 4_000_000_000, 3: 1_000_000_000}
    monkeypatch.setattr(engine, "memory", lambda scenario: (needs[scenario["seed"]], 7_500_000_000))
    runs = [{**scenario, "seed": seed} for seed in needs]

    def simulate(jobs):
        return pool.simulate_all(runs, lambda i, _: i, jobs=jobs)

    assert simulate(1) == simulate(2) == [0, 1, 2]
    with pytest.raises(SpecError, match=r"3 runs .* 8\.0 GB .* 7\.5 GB are free: .*--jobs 2"):
        simulate(3)
    # A run that does not fit alone says so itself; where nobody says what is free, nothing is said.
    needs[2] = 8_000_000_000
    assert simulate(3) == [0, 1, 2]
    monkeypatch.setattr(engine, "memory", lambda scenario: (10**15, None))
    assert simulate(3) == [0, 1, 2]


def test_progress_is_reported(fake):
    calls = []

    class Log(Progress):
        def begin(self, title, lengths_s, already=0, **more):
            super().begin(title, lengths_s, already, **more)
            calls.append((title, list(lengths_s)))

        def finish(self, run):
            super().finish(run)
            calls.append(run)

    log = Log()
    Study(load(SWEEP)).carry_out(progress=log, jobs=1)
    assert calls[1:] == [("runs", [20.0] * 6), 0, 1, 2, 3, 4, 5]
    assert log.fraction == 1


def test_default_folders():
    assert str(registry.default_folder("a b/../c")) == "results/a-b-..-c-e951c943"
    assert str(registry.default_folder("..")) == "results/scenario-c577bd8f"
    names = ["a/b/c", "a-b-c", "a b-c", ".a-b-c", "x" * 300, "x" * 301, "\u202e", "\ud800"]
    folders = [registry.default_folder(name) for name in names]
    assert len(set(folders)) == len(names)
    assert all(len(folder.name.encode()) < 255 for folder in folders)
    assert str(folders[1]) == "results/a-b-c"


def test_runs_of_another_kind_are_kept_apart(fake, tmp_path):
    """A live run of a scenario is no simulated one, and the other way round."""

    class Elsewhere:
        begun = 0

        def __repr__(self) -> str:
            return "elsewhere"

        def __call__(self, scenario, progress=None, capture=None):
            self.begun += 1
            return engine.simulate(scenario, progress)

    other = Elsewhere()
    study = Study(load(SWEEP))
    for simulate, begun in ((None, 0), (other, 6), (None, 6), (other, 6)):
        study.carry_out(out=tmp_path / "kept", simulate=simulate)
        assert other.begun == begun


def test_a_scanned_table_is_the_same_and_a_damaged_one_is_run_again(fake, scenario, tmp_path):
    import polars as pl

    result = aqmlab.run(scenario, seeds=3, out=tmp_path / "a[1]")
    scanned = result.scan("responses")
    assert isinstance(scanned, pl.LazyFrame)
    assert scanned.collect().equals(result.table("responses"))
    only = result.runs[1]
    (only.folder / "queue.parquet").write_bytes(b"PAR1")
    assert result.scan("queue").collect().height == 15
    assert aqmlab.run(scenario, seeds=2).scan("queue").select(pl.len()).collect().item() == 10
    with pytest.raises(AqmlabError, match='no table "respones"; did you mean "responses"'):
        result.scan("respones")
