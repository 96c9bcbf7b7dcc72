"""Damaged results: flipped bits, cut, lost, swapped, replaced and linked files of every kind, and
writes that fail half-way. The numbers that come out are the same, or a sentence says why not."""

from __future__ import annotations

import contextlib
import errno
import os
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from random import Random
from types import ModuleType
from unittest import mock

import pyarrow.parquet as pq

import aqmlab
import fake_core
from aqmlab.cli import as_json
from aqmlab.errors import AqmlabError
from aqmlab.simulator import engine
from conftest import base_scenario

from .oracle import Answer, Failure, check, contents, streams

EXPERIMENT = {
    "scenario": base_scenario(),
    "sweep": {"link.0.forward.limit": [60, 120], "traffic.0.load": ["50%"], "seeds": 2},
    "calibration": {"duration": "30 s", "warmup": "10 s", "seeds": 1},
}
OTHERS = {"notes.txt": b"n", "runs/diary.txt": b"d", "tables/mine.csv": b"a,b\n1,2\n"}
RUNS = 4 + 4


def flip(path: Path, random: Random) -> None:
    content = bytearray(path.read_bytes())
    if content:
        content[random.randrange(len(content))] ^= 1 << random.randrange(8)
    path.write_bytes(content)


def digit(path: Path, random: Random) -> None:
    """Another digit, which every parser takes."""
    content = bytearray(path.read_bytes())
    places = [i for i, byte in enumerate(content) if 48 <= byte <= 57]
    if places:
        content[random.choice(places)] = random.choice(b"0123456789")
    path.write_bytes(content)


def cut(path: Path, random: Random) -> None:
    content = path.read_bytes()
    path.write_bytes(content[: random.randrange(len(content) + 1)])


def longer(path: Path, random: Random) -> None:
    path.write_bytes(path.read_bytes() + random.randbytes(random.randrange(1, 9)))


def remove(path: Path, random: Random) -> None:
    path.unlink()


def replace(path: Path, random: Random) -> None:
    known = [b"", b"{}", b"null", b"[]", b"[" * 9999, b"PAR1PAR1", b"<svg", b"\xff\xfe\0", b"1e999"]
    path.write_bytes(random.choice([*known, random.randbytes(40)]))


def folder(path: Path, random: Random) -> None:
    path.unlink()
    path.mkdir()


def link(path: Path, random: Random) -> None:
    path.unlink()
    path.symlink_to(random.choice(["nowhere", "/dev/full", "/dev/null", path.name]))


HARMS = (flip, flip, digit, digit, cut, longer, remove, replace, folder, link)


def swap(paths: list[Path], random: Random) -> None:
    one, other = random.sample(paths, 2)
    a, b = one.read_bytes(), other.read_bytes()
    one.write_bytes(b)
    other.write_bytes(a)


def harm(place: Path, ours: list[str], random: Random) -> None:
    """One to three damages to files of ours."""
    for _ in range(random.choice([1, 1, 1, 2, 3])):
        paths = [place / name for name in ours]
        paths = [path for path in paths if path.is_file() and not path.is_symlink()]
        if len(paths) < 2:
            return
        if random.random() < 0.15:
            swap(paths, random)
        elif random.random() < 0.2:
            runs = sorted(path for path in (place / "runs").glob("*") if path.is_dir())
            _harm_folder(random.choice(runs) if runs else place / "runs", random)
        else:
            random.choice(HARMS)(_one_of(paths, random), random)


def _one_of(paths: list[Path], random: Random) -> Path:
    """A file of any kind, then any of its kind: of some there are many."""
    kinds: dict[str, list[Path]] = {}
    for path in paths:
        kind = "cache" if path.parent.name == "cache" else path.name
        kinds.setdefault(kind, []).append(path)
    return random.choice(random.choice(list(kinds.values())))


def _harm_folder(path: Path, random: Random) -> None:
    away = path.parent / f"{path.name}-away"
    if not path.is_dir() or path.is_symlink() or away.exists():
        return
    how = random.choice(["removed", "renamed", "linked", "file"])
    if how == "removed":
        shutil.rmtree(path)
    elif how == "renamed":
        others = [p for p in path.parent.iterdir() if p.is_dir() and p != path]
        if others:
            other = random.choice(others)
            other.rename(away)
            path.rename(other)
            away.rename(path)
    elif how == "linked":
        path.rename(away)
        path.symlink_to(away, target_is_directory=True)
    else:
        shutil.rmtree(path)
        path.write_bytes(b"x")


class Counted(ModuleType):
    """The double, with a count of its runs and something that happens during one of them."""

    def __init__(self) -> None:
        super().__init__("counted")
        self.runs = 0
        self.during: Callable[[int], None] = lambda run: None

    def __getattr__(self, name: str) -> object:
        return getattr(fake_core, name)

    def run(self, text: str, progress: object = None) -> dict:
        self.runs += 1
        self.during(self.runs)
        with mock.patch.object(fake_core, "time"):
            return fake_core.run(text, progress)


def numbers(out: Path, core: Counted, *, fresh: bool = False) -> tuple[dict | None, str, int]:
    """All that is published of the experiment, what was said, and how many runs it took; nothing
    if a sentence was all. No other folder knows its calibrations."""
    core.runs = 0
    published = None
    cache = out.parent / "cache"
    shutil.rmtree(cache, ignore_errors=True)
    with (
        mock.patch.dict(os.environ, XDG_CACHE_HOME=str(cache)),
        mock.patch.object(engine, "_core", lambda: core),
        streams() as (_, err),
    ):
        try:
            result = aqmlab.run(EXPERIMENT, out=out, fresh=fresh, jobs=1)
            published = _published(result)
            sentence = ""
        except AqmlabError as error:
            sentence = f"aqmlab: {error}\n"
    said = err.getvalue().decode() + sentence
    check(Answer(0 if published else 2, "", said))
    return published, said, core.runs


def _published(result: aqmlab.result.Result) -> dict:
    document = as_json.document(result)
    summaries = [_bare(run["summary"]) for run in document["runs"]]
    tables = {
        (run.variant, run.seed, name): run.table(name).to_dict(as_series=False)
        for run in result.runs
        for name in run.tables()
    }
    variants = [one | {"summary": _bare(one["summary"])} for one in document["variants"]]
    kept = {name: document[name] for name in ("statistics", "paired", "calibrations")}
    return kept | {"variants": variants, "runs": summaries, "tables": tables}


def _bare(summary: dict) -> dict:
    return {
        k: v for k, v in summary.items() if k not in ("wall_s", "cpu_s", "data_packets_per_wall_s")
    }


class Trials:
    """Damaged folders of `aqmlab run`."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.core = Counted()
        self.pristine = folder / "pristine"
        self.expected, said, runs = numbers(self.pristine, self.core)
        if self.expected is None or said or runs != RUNS:
            raise Failure(f"the undamaged run: {said}")
        self.ours = sorted(contents(self.pristine))
        for name, content in OTHERS.items():
            (self.pristine / name).parent.mkdir(exist_ok=True)
            (self.pristine / name).write_bytes(content)

    def one(self, random: Random) -> str:
        """Damages a copy, and runs the experiment there again."""
        out = self.folder / "out"
        shutil.rmtree(out, ignore_errors=True)
        shutil.copytree(self.pristine, out)
        what = random.choice(["harm"] * 6 + ["full", "full", "gone"])
        if what == "harm":
            harm(out, self.ours, random)
            return self._again(out, fresh=random.random() < 0.3)
        if what == "gone":
            return self._gone(out, random)
        if random.random() < 0.5:
            shutil.rmtree(out)
        else:
            harm(out, self.ours, random)
        with failing(random):
            published, _, _ = numbers(out, self.core, fresh=random.random() < 0.3)
        if published is not None and published != self.expected:
            raise Failure("another number after a write that failed")
        return "full, " + self._again(out, fresh=False)

    def _again(self, out: Path, *, fresh: bool) -> str:
        links = {p: contents(p) for p in out.rglob("*-away") if p.is_dir()}
        was_there = {name for name in OTHERS if (out / name).is_file()}
        before = sum((out / "runs" / name).exists() for name in self._runs())
        published, said, runs = numbers(out, self.core, fresh=fresh)
        for name in was_there:
            if (out / name).read_bytes() != OTHERS[name]:
                raise Failure(f"{name} of others was changed")
        if any(contents(path) != content for path, content in links.items()):
            raise Failure("what lies behind a link was changed")
        if published is None:
            return "sentence"
        if published != self.expected:
            raise Failure(f"another number: {said}")
        if fresh and runs < RUNS:
            raise Failure(f"{runs} runs after --fresh: {said}")
        if runs and not fresh and not said and before == len(self._runs()) and not self._lost(out):
            raise Failure(f"{runs} runs, and not a word")
        return "run again" if runs else "unharmed"

    def _runs(self) -> set[str]:
        return {name.split("/")[1] for name in self.ours if name.startswith("runs/")}

    def _lost(self, out: Path) -> bool:
        """Calibrations that were simply not there are measured again without a word."""
        return self.core.runs <= 4

    def _gone(self, out: Path, random: Random) -> str:
        """The folder, or a part of it, goes away while the command runs."""
        shutil.rmtree(out)
        when = random.randrange(1, RUNS + 1)
        part = random.choice(["", "", "runs", "cache", "contents.txt"])

        def away(run: int) -> None:
            if run == when:
                path = out / part
                shutil.rmtree(path) if path.is_dir() else path.unlink(missing_ok=True)

        self.core.during = away
        try:
            published, said, _ = numbers(out, self.core)
        finally:
            self.core.during = lambda run: None
        if published is not None and (part != "cache" or published != self.expected):
            raise Failure(f"{part or 'the folder'} went away, and not a word: {said}")
        return "gone, " + self._again(out, fresh=False)


@contextlib.contextmanager
def failing(random: Random) -> Iterator[None]:
    """A disk that is full from some write on; what it wrote before may be cut."""
    left = random.randrange(60)
    code = random.choice([errno.ENOSPC, errno.EIO, errno.EROFS, errno.EDQUOT])

    def counted(real: Callable) -> Callable:
        def call(*words: object, **options: object) -> object:
            nonlocal left
            left -= 1
            if left < 0:
                if real is write_text and random.random() < 0.5:
                    real(words[0], str(words[1])[: random.randrange(50)], encoding="utf-8")
                raise OSError(code, os.strerror(code))
            return real(*words, **options)

        return call

    write_text = Path.write_text
    with contextlib.ExitStack() as stack:
        for owner, name in (
            (Path, "write_text"),
            (Path, "write_bytes"),
            (Path, "replace"),
            (Path, "rename"),
            (Path, "mkdir"),
            (os, "write"),
            (os, "fsync"),
            (pq, "write_table"),
        ):
            stack.enter_context(mock.patch.object(owner, name, counted(getattr(owner, name))))
        yield
