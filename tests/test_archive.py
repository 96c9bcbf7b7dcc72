"""A run in one file: as believed, as killed and as small as it must be."""

from __future__ import annotations

import io
import zipfile

import polars as pl
import pyarrow as pa
import pytest

import aqmlab
from aqmlab.experiment import experiment, plan
from aqmlab.io import files
from aqmlab.pipeline import sharing
from aqmlab.pipeline.study import Study
from aqmlab.runs import run_files
from aqmlab.runs.store import Store
from aqmlab.simulator import engine
from aqmlab.simulator.engine import Outcome
from conftest import base_scenario

OUTCOME = Outcome(
    {"fingerprint": "abc", "drops": 3},
    {"queue": pa.table({"x": [1, 2]}), "trace": pa.table({"time_ns": [5, 7]})},
)


def test_it_has_what_a_folder_has(fake, tmp_path):
    box = Store.open(tmp_path)
    whole, packed = box.save("a", {}, 1, OUTCOME), box.save("b", {}, 1, OUTCOME, {"trace"})
    assert [p.name for p in sorted((tmp_path / "runs").iterdir())] == ["a", "b.zip"]
    found = box.find("b")
    assert found is not None and found == packed and found.is_whole() and found.is_there()
    assert (found.key, found.kept(), found.tables()) == ("b", ["trace"], ["queue", "trace"])
    assert found.summary == whole.summary == OUTCOME.summary
    assert found.table("trace").equals(whole.table("trace"))
    assert found.scan("trace").collect().equals(whole.table("trace"))
    same = ("scenario", "seed", "fingerprint", "tables", "version", "build", "format")
    assert {k: found.manifest[k] for k in same} == {k: whole.manifest[k] for k in same}
    assert box.finished() == ["a", "b"]
    with zipfile.ZipFile(found.folder) as archive:
        assert archive.testzip() is None
        assert archive.namelist() == ["manifest.json", "summary.json", "trace.parquet"]


@pytest.mark.parametrize("damage", ["cut", "flipped", "another"])
def test_a_damaged_one_is_not_finished_and_is_replaced(fake, tmp_path, capsys, damage):
    box = Store.open(tmp_path)
    path = box.save("key", {}, 1, OUTCOME, {"trace"}).folder
    content = path.read_bytes()
    if damage == "another":
        path.write_bytes(box.save("other", {}, 1, OUTCOME, {"trace"}).folder.read_bytes())
        assert box.find("key") is None and "is run again" in capsys.readouterr().err
    for place in range(len(content) if damage != "another" else 0):
        flipped = content[:place] + bytes([content[place] ^ 1]) + content[place + 1 :]
        path.write_bytes(content[:place] if damage == "cut" else flipped)
        found = box.find("key")
        if found is not None:  # what is no part of any content may be anything
            assert found.summary == OUTCOME.summary and damage == "flipped"
            assert not found.is_whole() or found.table("trace")["time_ns"].to_list() == [5, 7]
        assert ("is run again" in capsys.readouterr().err) == (found is None)
    box.save("key", {}, 1, OUTCOME, {"trace"})
    found = box.find("key")
    assert found is not None and found.is_whole()


def test_a_table_that_is_not_kept_is_made_again(real_core, tmp_path, capsys):
    box = Store.open(tmp_path)
    scenario = engine.check(base_scenario(link=[{"rate": "1 Mbit/s"}]))
    outcome = engine.simulate(scenario)
    run = box.save("key", scenario, 1, outcome, ())
    assert run.kept() == [] and "seconds" in run.tables()
    table = run.table("seconds")
    assert table.equals(aqmlab.run(scenario, out=tmp_path / "whole").runs[0].table("seconds"))
    assert "does not keep seconds.parquet: it is run again" in capsys.readouterr().err
    found = box.find("key")
    assert found is not None and found.kept() == ["seconds"]
    assert found.table("seconds").equals(table) and capsys.readouterr().err == ""


def test_fresh_removes_it_and_what_names_itself_ours(fake, tmp_path):
    for lost in (False, True):
        box = Store.open(tmp_path)
        path = box.save("key", {}, 1, OUTCOME, ()).folder
        foreign = path.with_name("mine.zip")
        foreign.write_bytes(path.read_bytes())
        if lost:
            (tmp_path / "contents.txt").unlink()
        Store.open(tmp_path, fresh=True)
        assert not path.exists() and foreign.exists()


def test_a_link_is_not_read(fake, tmp_path):
    box = Store.open(tmp_path / "out")
    path = box.save("key", {}, 1, OUTCOME, ()).folder
    path.rename(tmp_path / "away.zip")
    path.symlink_to(tmp_path / "away.zip")
    assert box.find("key") is None
    box.save("key", {}, 1, OUTCOME, ())
    assert not path.is_symlink() and (tmp_path / "away.zip").exists()


def test_what_any_group_wants_of_a_scenario_is_kept():
    cells = [plan.Cell(group, {}, {}, "k") for group in "abc"]
    scenarios: dict[str, dict] = {"k": {}}
    seeds: dict[str, tuple[int, ...]] = dict.fromkeys("abc", (1,))

    def kept(**keep):
        (run,) = plan.Plan(cells, scenarios, seeds, keep).runs()
        return run.keep

    assert kept(a=(), b=("trace",), c=("trace", "queue")) == {"trace", "queue"}
    assert kept(a=(), b=("trace",)) is None
    assert kept(a=(), b=(), c=()) == frozenset()


def test_runs_of_harsh_red_take_a_block_each(real_core, tmp_path):
    """A run of most groups is one file of less than 4 KiB, the block of most file systems."""
    study = experiment.load("harsh-red")
    settings = {"seeds": 1, "looks": (1,)}
    made = Study(study).carry_out(
        quick=True, out=tmp_path, settings=settings, parts=["edge-bulk"], reported=True
    )
    stored_runs = [run.stored for run in made.runs if run.stored is not None]
    assert len(stored_runs) == len(made.runs) > 20
    assert all(run.folder.suffix == ".zip" for run in stored_runs)
    assert max(run.folder.stat().st_size for run in stored_runs) < 4096
    assert max(len(run.compressed) for run in stored_runs) < 3000
    # Whoever reads a results folder finds them.
    assert len(aqmlab.load(tmp_path).runs) == len(made.runs)
    shared = sharing.export(tmp_path, tmp_path / "all.aqm")
    for source in (shared, stored_runs[0].folder):
        assert sharing.reproduce(source, most=1).same


def test_delays_are_stored_as_differences(tmp_path):
    largest = 2**64 - 2
    delays = [largest if k % 7 == 0 else 10**9 + 1000 * (k * k % 91) for k in range(2000)]
    table = pa.table({"delay_ns": pa.array(delays, pa.uint64())})
    content = run_files.parquet(table)
    assert len(content) < 8 * 2000
    assert pl.read_parquet(io.BytesIO(content))["delay_ns"].to_list() == delays
    assert files.digest(content) == files.digest(run_files.parquet(table))
