"""Which mutants the tests notice: the tests that reach one, the quickest first, until one fails."""

from __future__ import annotations

import hashlib
import json
import os
import resource
import subprocess
import tempfile
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

QUICK_S = 0.05
"""Tests of less processor time are run together."""
MEMORY = 4 << 30
"""Bytes of address space: a change may make a loop that never ends of something that grows."""
WALL_S, LIST_S = 600, 10


@dataclass(frozen=True)
class Test:
    """One test of one program."""

    program: str
    name: str
    cpu_s: float
    reaches: frozenset[int]
    """Numbers of the mutants whose place it comes by."""


@dataclass(frozen=True)
class Answer:
    """What became of a mutant: `caught`, `timeout`, `missed` or `unreached`; by which test."""

    word: str
    by: str = ""


def _run(
    program: Path, folder: Path, names: Sequence[str], environment: dict[str, str], cpu_s: float
):
    """A program's answer to some of its tests: its status and the processor time of it."""
    limit = int(cpu_s) + 1

    def limits() -> None:
        resource.setrlimit(resource.RLIMIT_CPU, (limit, limit + 1))
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))

    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    try:
        done = subprocess.run(
            [program, "--exact", "--test-threads=1", "--quiet", *names],
            cwd=folder, env={**os.environ, "RUST_BACKTRACE": "0", **environment}, check=False,
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, stdin=subprocess.DEVNULL,
            preexec_fn=limits, timeout=WALL_S,
        )  # fmt: skip
        status = done.returncode
    except subprocess.TimeoutExpired:
        status = -9
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return status, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


class Trials:
    """The test programs of a copy; every one is told which mutant is active."""

    def __init__(self, copy: Path, programs: dict[str, Path], slowest_s: float) -> None:
        self.copy, self.programs = copy, programs
        self.slowest_s = slowest_s
        self.tests: list[Test] = []

    def stamp(self) -> str:
        """Which tests are asked: another one changes it, and so does another program."""
        of = [f"{t.program} {t.name}" for t in self.tests]
        return hashlib.sha256("\n".join(sorted(of)).encode()).hexdigest()[:12]

    def _folder(self, program: str) -> Path:
        """Tests read files relative to their crate."""
        return self.copy / "crates" / program.rsplit("-", 1)[-1]

    def look(self, keep: Path) -> None:
        """Runs every test alone, unchanged: which pass, how long they take, what they reach."""
        stamp = [f"{p.name}:{p.stat().st_mtime_ns}" for p in self.programs.values()]
        if keep.exists() and (kept := json.loads(keep.read_text()))["stamp"] == stamp:
            rows = kept["tests"]
        else:
            rows = [row for name in self.programs for row in self._look_at(name)]
            keep.write_text(json.dumps({"stamp": stamp, "tests": rows}))
        tests = [Test(p, n, s, frozenset(r)) for p, n, s, r in rows]
        self.tests = sorted((t for t in tests if t.cpu_s <= self.slowest_s), key=lambda t: t.cpu_s)

    def _look_at(self, name: str) -> Iterable[tuple[str, str, float, list[int]]]:
        program, folder = self.programs[name], self._folder(name)
        left_out = _listed(program, folder, "--ignored")
        tests = _listed(program, folder)
        for test in tests:
            if test in left_out:
                continue
            with tempfile.TemporaryDirectory() as work:
                seen = Path(work, "seen")
                told = {"AQMLAB_MUTANT": "cover", "AQMLAB_MUTANT_SEEN": str(seen)}
                # Noting what is reached takes up to four times as long.
                limit = min(4 * self.slowest_s + 1, WALL_S)
                status, _ = _run(program, folder, [test], told, limit)
                reached = sorted(map(int, seen.read_text().split())) if seen.exists() else []
            if status == 0 and reached:
                status, cpu_s = _run(program, folder, [test], {"AQMLAB_MUTANT": "0"}, WALL_S)
                if status == 0:
                    yield name, test, round(cpu_s, 3), reached

    def of(self, number: int) -> Answer:
        """What becomes of a mutant."""
        reaching = [test for test in self.tests if number in test.reaches]
        if not reaching:
            return Answer("unreached")
        for batch in _batches(reaching):
            expected = sum(test.cpu_s for test in batch)
            status, spent = _run(
                self.programs[batch[0].program],
                self._folder(batch[0].program),
                [test.name for test in batch],
                {"AQMLAB_MUTANT": str(number)},
                4 * expected + 2,
            )
            if status:
                late = spent > 4 * expected + 1.5
                by = (
                    batch[0].name
                    if len(batch) == 1
                    else f"{len(batch)} tests of {batch[0].program}"
                )
                return Answer("timeout" if late else "caught", by)
        return Answer("missed")


def _listed(program: Path, folder: Path, *words: str) -> list[str]:
    """A program's tests; none where it does not list them: it has no harness, and would run."""
    try:
        told = subprocess.run(
            [program, "--list", "--format", "terse", *words],
            capture_output=True, text=True, check=False, cwd=folder, timeout=LIST_S,
        )  # fmt: skip
    except subprocess.TimeoutExpired:
        return []
    lines = told.stdout.splitlines()
    return [line.removesuffix(": test") for line in lines if line.endswith(": test")]


def _batches(tests: Sequence[Test]) -> Iterable[list[Test]]:
    """Quick tests of a program together, the others one by one."""
    quick: dict[str, list[Test]] = {}
    for test in tests:
        if test.cpu_s <= QUICK_S:
            quick.setdefault(test.program, []).append(test)
    yield from quick.values()
    for test in tests:
        if test.cpu_s > QUICK_S:
            yield [test]


class Kept:
    """Answers of earlier runs: a line each, written as it is known."""

    def __init__(self, file: Path) -> None:
        self.file = file
        self.answers: dict[str, dict[str, str]] = {}
        if file.exists():
            for line in file.read_text().splitlines():
                row = json.loads(line)
                self.answers[row["key"]] = row

    def settled(self, key: str, tests: str) -> bool:
        """Whether nothing new can be learnt: caught, or asked of these very tests."""
        known = self.answers.get(key, {})
        return known.get("word") in ("caught", "timeout") or known.get("tests") == tests

    def word(self, key: str) -> str:
        """The answer, or that there is none."""
        return self.answers.get(key, {}).get("word", "not asked")

    def note(self, key: str, word: str) -> None:
        """What is known without a test."""
        if self.word(key) != word:
            self.add(key, Answer(word), "")

    def add(self, key: str, answer: Answer, tests: str) -> None:
        """Appends one."""
        row = {"key": key, "word": answer.word, "by": answer.by, "tests": tests}
        self.answers[key] = row
        with self.file.open("a") as file:
            file.write(json.dumps(row) + "\n")
