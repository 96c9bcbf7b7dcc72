import json
import os
import threading

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from aqmlab.errors import StoreError
from aqmlab.io import files
from aqmlab.io.files import whole
from aqmlab.runs import run_files, store
from aqmlab.runs.store import Store, content_key
from aqmlab.simulator.engine import Outcome, Version

OUTCOME = Outcome(
    {"fingerprint": "abc", "drops": 3},
    {
        "queue": pa.table(
            {"time_s": [0.0, 0.003], "bottleneck.forward": pa.array([1, 2], pa.uint32())}
        )
    },
)
VERSION = Version("1.0", "aaa", "abc", "release")


def test_what_is_written_is_read(fake, tmp_path):
    box = Store.open(tmp_path / "out")
    saved = box.save("key", {"name": "x"}, 7, OUTCOME)
    assert box.find("other") is None
    found = box.find("key")
    assert found == saved
    assert found.summary == OUTCOME.summary
    assert found.tables() == ["queue"]
    assert found.table("queue")["bottleneck.forward"].to_list() == [1, 2]
    assert found.table("queue")["time_s"].to_list() == [0.0, 0.003]


def test_a_run_says_what_it_is(fake, tmp_path):
    run = Store.open(tmp_path).save("key", {"name": "x"}, 7, OUTCOME)
    manifest = run.manifest
    for name, known in manifest.pop("files").items():
        content = (run.folder / name).read_bytes()
        assert known == {"bytes": len(content), "blake2b": files.digest(content)}
    assert manifest.pop("created").endswith("+00:00")
    assert manifest == {
        "format": store.FORMAT,
        "version": "9.9.9",
        "build": "fake",
        "commit": "fake",
        "scenario": {"name": "x"},
        "seed": 7,
        "fingerprint": "abc",
        "tables": ["queue"],
        "key": "key",
    }


def test_tables_are_small(tmp_path):
    times = [0.003 * k for k in range(100_000)]
    path = tmp_path / "queue.parquet"
    run_files.write_parquet(
        pa.table({"time_s": times, "q": [k // 9 % 120 for k in range(100_000)]}), path
    )
    column = pq.ParquetFile(path).metadata.row_group(0).column(0)
    assert column.compression == "ZSTD"
    assert "BYTE_STREAM_SPLIT" in column.encodings
    assert path.stat().st_size < 100_000 * 4


def test_another_version_is_refused_and_replaced_on_demand(fake, tmp_path):
    folder = tmp_path / "out"
    Store.open(folder).save("key", {}, 1, OUTCOME)
    Store.open(folder).cache.put("line", {"rate": 1.0})
    fake.VERSION["build"] = "newer"
    with pytest.raises(
        StoreError, match=r"9\.9\.9 \(build fake\).*9\.9\.9 \(build newer\).*--fresh.*--out"
    ):
        Store.open(folder)
    assert (folder / "runs" / "key").exists()
    assert Store.is_stale(folder)
    assert not Store.is_stale(tmp_path / "nothing")
    box = Store.open(folder, fresh=True)
    assert box.find("key") is None
    assert not box.cache.folder.exists()
    assert box.manifest["build"] == "newer"
    assert not Store.is_stale(folder)


def test_foreign_folders_are_left_alone(fake, tmp_path):
    (tmp_path / "runs").mkdir()
    (tmp_path / "runs" / "diary.txt").write_text("x")
    for fresh in (False, True):
        with pytest.raises(StoreError, match="no results of aqmlab"):
            Store.open(tmp_path, fresh=fresh)
    (tmp_path / "manifest.json").write_text('{"name": "a web page"}')
    with pytest.raises(StoreError, match="no results of aqmlab"):
        Store.open(tmp_path, fresh=True)
    # What was the mark once is now a stranger's as well.
    stamp = {"format": 1, "version": "9.9.9", "build": "fake"}
    for content in ("{", json.dumps(stamp), json.dumps(stamp | {"format": 2, "folder": "0" * 32})):
        (tmp_path / "manifest.json").write_text(content)
        for fresh in (False, True):
            with pytest.raises(StoreError, match="no results of aqmlab"):
                Store.open(tmp_path, fresh=fresh)
    assert (tmp_path / "runs" / "diary.txt").exists()
    with pytest.raises(StoreError, match="is a file"):
        Store.open(tmp_path / "manifest.json")
    with pytest.raises(StoreError, match="cannot be written"):
        Store.open(tmp_path / "manifest.json" / "below")


def test_leftovers_of_dead_processes_are_removed(fake, tmp_path):
    box = Store.open(tmp_path)
    dead = tmp_path / "runs" / ".tmp-4194305-1-key"  # above the largest process number of Linux
    alive = tmp_path / "runs" / f".tmp-{os.getpid()}-1-key"
    dead.mkdir()
    alive.mkdir()
    away = tmp_path / "runs" / "away"
    away.mkdir()
    (away / "queue.parquet").write_text("of others")
    link = tmp_path / "runs" / ".tmp-4194305-2-key"
    link.symlink_to(away)
    Store.open(tmp_path)
    assert not dead.exists()
    assert alive.exists()
    assert link.is_symlink() and (away / "queue.parquet").exists()
    assert box.find("key") is None


def test_drafts_of_dead_processes_are_removed_and_nothing_else(fake, tmp_path):
    Store.open(tmp_path)
    folder = tmp_path / "figures"
    folder.mkdir()
    dead = [tmp_path / ".report.html.4194305.7", folder / ".figure-9a.svg.4194305.7"]
    kept = [folder / f".figure-9a.svg.{os.getpid()}.7", folder / ".notes", folder / "a.4194305.7"]
    for path in dead + kept:
        path.write_text("half")
    Store.open(tmp_path)
    assert not any(path.exists() for path in dead)
    assert all(path.exists() for path in kept)


def test_two_writers_of_one_file_do_not_share_a_draft(tmp_path):
    path = tmp_path / "report.html"
    with whole(path) as first:
        first.write_text("one")
        assert first.name.split(".")[-2:] == [str(os.getpid()), str(threading.get_ident())]
        assert not path.exists()
    assert path.read_text() == "one"
    with pytest.raises(RuntimeError), whole(path) as second:
        second.write_text("half")
        raise RuntimeError
    assert path.read_text() == "one" and list(tmp_path.iterdir()) == [path]


def test_a_failed_write_leaves_nothing(fake, tmp_path, monkeypatch):
    box = Store.open(tmp_path)

    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(store, "write_tables", full)
    with pytest.raises(StoreError, match="no space left"):
        box.save("key", {}, 1, OUTCOME)
    assert list((tmp_path / "runs").iterdir()) == []


def test_a_broken_file_is_one_sentence(tmp_path):
    with pytest.raises(StoreError, match="is missing"):
        files.read_json(tmp_path / "x.json")
    (tmp_path / "x.json").write_text("[]")
    with pytest.raises(StoreError, match="not a JSON object"):
        files.read_json(tmp_path / "x.json")


def test_json_is_replaced_whole(tmp_path):
    path = tmp_path / "x.json"
    files.write_json(path, {"a": 1})
    with pytest.raises(TypeError):
        files.write_json(path, {"a": object()})
    assert json.loads(path.read_text()) == {"a": 1}
    assert [p.name for p in tmp_path.iterdir()] == ["x.json"]


@given(st.dictionaries(st.text(), st.integers()))
def test_the_key_is_the_content(document):
    key = content_key(document, VERSION)
    reordered = dict(reversed(document.items()))
    assert content_key(reordered, VERSION) == key
    assert content_key({**document, "name": "another"}, VERSION) == content_key(
        {**document, "name": "one"}, VERSION
    )
    assert content_key({**document, "seed": -1}, VERSION) != content_key(
        {**document, "seed": -2}, VERSION
    )
    assert content_key(document, Version("1.0", "bbb", "abc", "release")) != key
    assert content_key(document, Version("1.1", "aaa", "abc", "release")) != key
    assert content_key(document, Version("1.0", "aaa", "other", "release")) == key


def test_one_file_is_looked_up_as_the_whole_list_says(tmp_path):
    from aqmlab.runs.contents import Contents

    made = Contents.create(tmp_path)
    made.record({"result.json": "1" * 32, "runs/a": "2" * 32})
    made.record({"result.json": "3" * 32})
    with (tmp_path / "contents.txt").open("a", encoding="utf-8") as file:
        file.write(f'0000 {"4" * 32} "result.json"\n')  # nobody's check
    for path in ("result.json", "runs/a", "report.html"):
        alone, whole = Contents.load(tmp_path), Contents.load(tmp_path)
        assert alone._digest(path) == whole._digests.get(path)
    assert Contents.load(tmp_path)._digest("result.json") == "3" * 32
