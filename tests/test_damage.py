"""What is damaged is as good as none; what is not ours is left alone."""

from __future__ import annotations

import json
import shutil

import pyarrow as pa
import pytest

import aqmlab
from aqmlab.errors import StoreError
from aqmlab.io import files
from aqmlab.runs.contents import NAME as CONTENTS
from aqmlab.runs.store import Store
from aqmlab.simulator.engine import Outcome
from conftest import base_scenario

OUTCOME = Outcome(
    {"fingerprint": "abc", "drops": 3, "arrivals": 1000}, {"queue": pa.table({"x": [1, 2]})}
)


@pytest.mark.parametrize("name", ["summary.json", "manifest.json", "queue.parquet"])
@pytest.mark.parametrize("damage", ["missing", "cut", "flipped"])
def test_a_damaged_run_is_not_finished_and_is_replaced(fake, tmp_path, capsys, name, damage):
    box = Store.open(tmp_path)
    path = box.save("key", {}, 1, OUTCOME).folder / name
    content = path.read_bytes()
    if damage == "missing":
        path.unlink()
    elif damage == "cut":
        path.write_bytes(content[:-5])
    else:
        path.write_bytes(content[:40] + bytes([content[40] ^ 1]) + content[41:])
    # A table of the right length is not read to see whether a run is there.
    unread = damage == "flipped" and name == "queue.parquet"
    found = box.find("key")
    assert (found is not None) == unread
    assert ("run again" in capsys.readouterr().err) != unread
    box.save("key", {}, 1, OUTCOME)
    found = box.find("key")
    assert found is not None
    assert found.table("queue").height == 2
    assert found.is_whole()


def test_a_damaged_table_is_made_again_when_it_is_read(fake, tmp_path, capsys):
    (run,) = aqmlab.run(base_scenario(), out=tmp_path).runs
    assert run.folder is not None
    path = run.folder / "queue.parquet"
    content = path.read_bytes()
    path.write_bytes(content[:30] + bytes([content[30] ^ 4]) + content[31:])
    (again,) = aqmlab.run(base_scenario(), out=tmp_path).runs
    assert again.cached and capsys.readouterr().err == ""
    assert again.table("queue")["bottleneck.forward"].to_list() == [1, 2, 3, 4, 5]
    said = capsys.readouterr().err
    assert "queue.parquet is not what was written: it is run again" in said
    assert path.read_bytes() == content
    path.write_bytes(b"")
    manifest = json.loads((run.folder / "manifest.json").read_text())
    files.write_json(run.folder / "manifest.json", files.sealed(manifest | {"fingerprint": "no"}))
    with pytest.raises(StoreError, match="came out differently"):
        again.table("queue")


def test_a_run_of_the_simulator_is_done_again_as_it_was(real_core, tmp_path, capsys):
    scenario = {
        "duration": "2 s",
        "network": {"clients": 1, "servers": 1, "rtt": "20 ms"},
        "link": [{"rate": "1 Mbit/s", "forward": {"aqm": "red", "limit": 9}}],
        "traffic": [{"app": "bulk", "flows": 1}],
    }
    (run,) = aqmlab.run(scenario, out=tmp_path, seed=3).runs
    assert run.folder is not None
    for name in run.tables():
        before = run.table(name)
        (run.folder / f"{name}.parquet").write_bytes(b"PAR1PAR1")
        assert run.table(name).equals(before)
        assert f"{name}.parquet is not what was written: it is run again" in capsys.readouterr().err


def test_a_run_under_the_key_of_another_is_not_taken_for_it(fake, tmp_path):
    box = Store.open(tmp_path)
    box.save("one", {}, 1, OUTCOME).folder.rename(tmp_path / "runs" / "two")
    assert box.find("two") is None


def test_cached_numbers_carry_their_hash_and_name(fake, tmp_path, capsys):
    box = Store.open(tmp_path).cache
    assert box.get("a") is None
    box.put("a", {"rate": 1.5})
    box.put("b", {"rate": 2.5})
    assert box.get("a") == {"rate": 1.5}
    place = box.folder / "a.json"
    text = place.read_text()
    assert capsys.readouterr().err == ""
    other = (box.folder / "b.json").read_text()
    for damage in ("{}", "null", "", text[:9], text.replace("1.5", "1.6"), other):
        place.write_text(damage)
        assert box.get("a") is None
        assert "is damaged" in capsys.readouterr().err
    box.put("a", {"rate": 1.5})
    assert place.read_text() == text


def studied(folder) -> Store:
    """A folder with something of everything, of ours and of others."""
    box = Store.open(folder)
    box.save("key", {}, 1, OUTCOME)
    box.cache.put("a", {"rate": 1.5})
    for name in ("result.json", "report.html", "tables/x.csv", "figures/x.svg"):
        with box.writing(name) as draft:
            draft.write_text("x")
    for name in OTHERS:
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text("of others")
    return box


OTHERS = ["notes.txt", "runs/diary/x.parquet", "runs/key/mine.txt", "tables/y.csv"]


def regular(folder) -> list[str]:
    return sorted(p.relative_to(folder).as_posix() for p in folder.rglob("*") if p.is_file())


@pytest.mark.parametrize("damaged", ["manifest.json", CONTENTS, "runs/key/manifest.json", None])
@pytest.mark.parametrize("how", ["cut", "missing"])
def test_fresh_removes_all_that_we_wrote_and_nothing_else(fake, tmp_path, damaged, how):
    studied(tmp_path)
    if damaged:
        path = tmp_path / damaged
        path.write_bytes(path.read_bytes()[:50]) if how == "cut" else path.unlink()
    box = Store.open(tmp_path, fresh=True)
    assert box.find("key") is None and box.cache.get("a") is None
    left = [name for name in regular(tmp_path) if name not in (CONTENTS, "manifest.json")]
    if damaged == CONTENTS:  # the list is lost: what does not name itself ours stays
        lost = ("figures/x.svg", "tables/x.csv", "result.json", "report.html")
        left = [name for name in left if name not in lost]
    assert left == OTHERS
    box.save("key", {}, 1, OUTCOME)
    assert box.find("key") is not None and (tmp_path / "runs/key/mine.txt").exists()


def test_no_link_is_followed(fake, tmp_path):
    out, away = tmp_path / "out", tmp_path / "away"
    studied(out)
    (out / "runs").rename(away)
    (out / "runs").symlink_to(away)
    before = regular(away)
    for fresh in (False, True):
        with pytest.raises(StoreError, match=r"runs is a link.*remove the link"):
            Store.open(out, fresh=fresh)
    (out / "runs").unlink()
    (out / "runs").mkdir()
    (out / "runs" / "key").symlink_to(away / "key")
    (out / "result.json").unlink()
    (out / "result.json").symlink_to(away / "key" / "mine.txt")
    box = Store.open(out, fresh=True)
    assert regular(away) == before and (out / "result.json").is_symlink()
    with pytest.raises(StoreError, match="key is a link where a run's folder belongs: move it"):
        box.find("key")
    with pytest.raises(StoreError, match="cannot be written"):
        box.save("key", {}, 1, OUTCOME)
    assert regular(away) == before
    # A link to the whole folder is fine.
    (tmp_path / "link").symlink_to(out)
    Store.open(tmp_path / "link", fresh=True)


OURS = [
    *(f"runs/key/{name}" for name in ("manifest.json", "summary.json", "queue.parquet")),
    *("manifest.json", "result.json", "cache/a.json", "tables/x.csv"),
]


@pytest.mark.parametrize("name", OURS)
def test_a_folder_or_a_link_in_a_file_s_place_makes_way(fake, tmp_path, name):
    def again() -> None:
        """What a command does that finds its results damaged."""
        box = Store.open(out)
        if box.find("key") is None:
            box.save("key", {}, 1, OUTCOME)
        if box.cache.get("a") is None:
            box.cache.put("a", {"rate": 1.5})
        for each in ("result.json", "tables/x.csv"):
            with box.writing(each) as draft:
                draft.write_text("{}")
        box.write_manifest({})

    def is_ours() -> bool:
        found = Store.open(out).find("key")
        return path.is_file() and not path.is_symlink() and found is not None and found.is_whole()

    out, away = tmp_path / "out", tmp_path / "away"
    again()
    path = out / name
    path.rename(away)
    content = away.read_bytes()
    path.mkdir()
    again()
    assert is_ours()
    (tmp_path / "folder").mkdir()
    for target in (tmp_path / "folder", away):
        path.unlink()
        path.symlink_to(target)
        again()
    assert (tmp_path / "folder").is_dir()
    # A table's link is found when the table is read.
    assert (is_ours() or name.endswith(".parquet")) and away.read_bytes() == content
    path.unlink()
    path.mkdir()
    (path / "notes.txt").write_text("of others")
    for _ in range(2):
        with pytest.raises(StoreError, match=r"is a folder where a file belongs: move it away"):
            again()
    assert (path / "notes.txt").read_text() == "of others"


@pytest.mark.parametrize("name", ["runs", "cache", "tables", "runs/key"])
def test_a_file_in_a_folder_s_place_is_one_sentence(fake, tmp_path, name):
    studied(tmp_path / "out")
    path = tmp_path / "out" / name
    path.rename(tmp_path / "away")
    path.write_text("of others")
    with pytest.raises(StoreError, match=rf"{name} is a file where a .*folder belongs: move it"):
        Store.open(tmp_path / "out").find("key")
    assert path.read_text() == "of others"


def test_a_line_of_the_list_counts_only_with_its_check(fake, tmp_path):
    box = studied(tmp_path / "out")
    path = tmp_path / "out" / CONTENTS
    path.write_text(path.read_text().replace('"tables/x.csv"', '"tables/y.csv"') + "nonsense")
    Store.open(tmp_path / "out", fresh=True)
    assert (tmp_path / "out" / "tables" / "y.csv").exists()
    # Not even with it does a path lead outside.
    (tmp_path / "outside.txt").write_text("x")
    box.contents.record({"../outside.txt": "-", "runs/../notes.txt": "-", "notes.txt": "-"})
    Store.open(tmp_path / "out", fresh=True)
    assert (tmp_path / "outside.txt").exists() and (tmp_path / "out" / "notes.txt").exists()


def test_a_damaged_manifest_or_list_is_written_anew(fake, tmp_path, capsys):
    box = Store.open(tmp_path)
    box.save("key", {}, 1, OUTCOME)
    with box.writing("result.json") as draft:
        draft.write_text("{}")
    for name in ("manifest.json", CONTENTS):
        path = tmp_path / name
        path.write_bytes(b"x" + path.read_bytes()[1:])
        assert Store.open(tmp_path).find("key") is not None
        assert Store.existing(tmp_path).read_json("result.json") == {}
    assert capsys.readouterr().err.count("is damaged: it is written anew") == 1
    (tmp_path / CONTENTS).unlink()
    (tmp_path / CONTENTS / "of others").mkdir(parents=True)  # which cannot be written anew
    assert Store.existing(tmp_path).contents.identity == box.contents.identity
    shutil.rmtree(tmp_path / CONTENTS)
    with Store.open(tmp_path).writing("result.json") as draft:
        draft.write_text("{}")
    (tmp_path / "result.json").write_text("[]")
    with pytest.raises(StoreError, match="not what was written: run the study again"):
        Store.existing(tmp_path).read_json("result.json")


def test_a_folder_that_goes_away_is_a_mistake(fake, tmp_path):
    box = Store.open(tmp_path / "out")
    run = box.save("key", {}, 1, OUTCOME)
    shutil.rmtree(run.folder)
    with pytest.raises(StoreError, match=r"1 run was removed.*same command again"):
        box.check_kept([run, None])
    for replaced in (False, True):
        shutil.rmtree(tmp_path / "out", ignore_errors=True)
        if replaced:
            Store.open(tmp_path / "out")
        before = regular(tmp_path)
        for write in (
            lambda: box.save("key", {}, 1, OUTCOME),
            lambda: box.write_manifest({}),
            lambda: box.write_json("result.json", {}),
            lambda: box.cache.put("a", {}),
            lambda: box.check_kept([]),
        ):
            with pytest.raises(StoreError, match=r"removed or replaced.*same command again"):
                write()
        assert regular(tmp_path) == before
