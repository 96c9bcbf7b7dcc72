"""What is told of a shipped experiment is kept beside it, and believed only while it is true."""

from __future__ import annotations

import shutil

from small_study import SMALL

from aqmlab.experiment import compiled, folders

UNTRACKED = shutil.ignore_patterns("__pycache__")


def test_it_is_read_again_only_when_files_have_changed_or_are_damaged(tmp_path, monkeypatch):
    monkeypatch.setattr(compiled, "SHIPPED", tmp_path)
    folder = shutil.copytree(SMALL, tmp_path / "small", ignore=UNTRACKED)
    reads: list[int] = []

    def read() -> int:
        reads.append(1)
        return len(reads)

    assert [compiled.described(folder / folders.FILE, "number", read) for _ in range(3)] == [
        1,
        1,
        1,
    ]
    assert compiled.described(folder, "other", read) == 2
    with (folder / folders.FILE).open("a") as file:
        file.write("\n# another line\n")
    assert compiled.described(folder / folders.FILE, "number", read) == 3
    (folder / "__pycache__" / "number.json").write_text("{")
    assert compiled.described(folder / folders.FILE, "number", read) == 4
    assert compiled.described(folder / folders.FILE, "number", read) == 4


def test_of_an_experiment_of_ones_own_nothing_is_kept(tmp_path):
    folder = shutil.copytree(SMALL, tmp_path / "small", ignore=UNTRACKED)
    assert compiled.described(folder, "number", lambda: 7) == 7
    assert not (folder / "__pycache__").exists()
