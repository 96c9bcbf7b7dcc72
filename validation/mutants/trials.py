"""Which mutants the tests notice: each is asked about those that it reaches, the quickest first.

A test program is started once for many mutants: before `main` it makes a child for each
(`switch.rs`), so that one costs what the test costs and a millisecond.
"""

from __future__ import annotations

import json
import math
import os
import resource
import signal
import subprocess
import tempfile
from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

MEMORY = 2 << 30
"""Bytes of address space: a change may make a loop that never ends of something that grows."""
LIST_S, CHUNK_S = 10, 20.0
FOREVER = 1e8
"""Seconds that are no limit."""
LATE = (signal.SIGPROF, signal.SIGALRM, signal.SIGXCPU)


@dataclass(frozen=True)
class Test:
    """One test of one program; a program without a harness is one test without a name."""

    program: str
    name: str
    cpu_s: float
    reaches: frozenset[int]
    """Numbers of the mutants whose place it comes by."""

    @property
    def words(self) -> list[str]:
        """What its program is told."""
        if not self.name:
            return []
        return ["--exact", "--test-threads=1", "--quiet", self.name]

    @property
    def limit_millis(self) -> int:
        """Processor time after which a mutant is taken to never end."""
        return int(1000 * (5 * self.cpu_s + 0.3))


def _run(
    program: Path,
    folder: Path,
    words: Sequence[str],
    described: dict[str, str],
    most_s: float = FOREVER,
) -> tuple[int, float]:
    """A program's status and the processor time of it and its children."""
    quiet = subprocess.DEVNULL

    def limit() -> None:
        if most_s < FOREVER:
            resource.setrlimit(resource.RLIMIT_CPU, (math.ceil(most_s), math.ceil(most_s) + 1))

    begun = subprocess.Popen(
        [program, *words],
        cwd=folder, env={**os.environ, "RUST_BACKTRACE": "0", **described},
        stdout=quiet, stderr=quiet, stdin=quiet, preexec_fn=limit,
    )  # fmt: skip
    _, status, used = os.wait4(begun.pid, 0)
    begun.returncode = os.waitstatus_to_exitcode(status)
    return begun.returncode, used.ru_utime + used.ru_stime


def folder_of(program: str) -> Path:
    """Tests read files relative to their crate."""
    return Path("crates") / program.rsplit("-", 1)[-1]


class Trials:
    """The test programs of a copy."""

    def __init__(self, copy: Path, programs: dict[str, Path], slowest_s: float, jobs: int) -> None:
        self.copy, self.programs = copy, programs
        self.slowest_s, self.jobs = slowest_s, jobs
        self.tests: list[Test] = []

    def _folder(self, program: str) -> Path:
        return self.copy / folder_of(program)

    def look(self, keep: Path) -> None:
        """Runs every test alone, unchanged: which pass, how long they take, what they reach."""
        stamp = [f"{p.name}:{p.stat().st_mtime_ns}" for p in self.programs.values()]
        stamp.append(f"{self.slowest_s} s")
        if keep.exists() and (kept := json.loads(keep.read_text()))["stamp"] == stamp:
            rows = kept["tests"]
        else:
            named = [(name, test) for name in self.programs for test in self._names(name)]
            with ThreadPoolExecutor(self.jobs) as pool:
                rows = [row for row in pool.map(lambda of: self._look_at(*of), named) if row]
            keep.write_text(json.dumps({"stamp": stamp, "tests": rows}))
        tests = [Test(p, n, s, frozenset(r)) for p, n, s, r in rows]
        self.tests = sorted(tests, key=lambda test: test.cpu_s)

    def _names(self, name: str) -> list[str]:
        program, folder = self.programs[name], self._folder(name)
        tests = _listed(program, folder)
        left_out = _listed(program, folder, "--ignored") if tests else []
        return [test for test in tests or [""] if test not in left_out]

    def _look_at(self, name: str, test: str) -> tuple[str, str, float, list[int]] | None:
        """A row of what is known of a test; none if it fails or is too slow. One that comes by no
        switch may look at constants, which are tried alone."""
        program, folder = self.programs[name], self._folder(name)
        words = Test(name, test, 0, frozenset()).words
        status, cpu_s = _run(program, folder, words, {}, self.slowest_s)
        if status or cpu_s > self.slowest_s:
            return None
        with tempfile.TemporaryDirectory() as work:
            seen = Path(work, "seen")
            described = {"AQMLAB_MUTANTS": "cover", "AQMLAB_MUTANT_FILE": str(seen)}
            status, _ = _run(program, folder, words, described)
            reached = sorted(map(int, seen.read_text().split())) if seen.exists() else []
        return None if status else (name, test, round(cpu_s, 4), reached)

    def ask(self, test: Test, mutants: Sequence[int]) -> Iterable[tuple[int, str]]:
        """Which of the mutants a test notices, and how: `caught` or `timeout`."""
        most = max(1, int(CHUNK_S / (test.cpu_s + 0.01)))
        size = max(1, min(most, -(-len(mutants) // self.jobs)))
        chunks = [mutants[at : at + size] for at in range(0, len(mutants), size)]
        with ThreadPoolExecutor(self.jobs) as pool:
            for answers in pool.map(lambda chunk: self._ask(test, chunk), chunks):
                yield from answers

    def _ask(self, test: Test, mutants: Sequence[int]) -> list[tuple[int, str]]:
        """Who is late is asked once more, alone: another program may have held him up."""
        words = self._words(test, mutants)
        late = [number for number, word in words.items() if word == "timeout"]
        for number in late:
            words |= self._words(test, [number])
        return [(number, word) for number, word in words.items() if word]

    def _words(self, test: Test, mutants: Sequence[int]) -> dict[int, str]:
        program = self.programs[test.program]
        with tempfile.TemporaryDirectory() as work:
            file = Path(work, "answers")
            described = {
                "AQMLAB_MUTANTS": ",".join(map(str, mutants)),
                "AQMLAB_MUTANT_FILE": str(file),
                "AQMLAB_MUTANT_MILLIS": str(test.limit_millis),
                "AQMLAB_MUTANT_MEMORY": str(MEMORY),
            }
            _run(program, self._folder(test.program), test.words, described)
            lines = file.read_text().splitlines()
        assert len(lines) == len(mutants), f"{test.name}: every mutant has an answer"
        rows = (tuple(map(int, line.split())) for line in lines)
        return {number: _word(status) for number, status in rows}


def _word(status: int) -> str:
    """What a child's wait status says of its mutant; nothing if its test passed."""
    if not status:
        return ""
    return "timeout" if status & 127 in LATE else "caught"


def _listed(program: Path, folder: Path, *words: str) -> list[str]:
    """A program's tests; none where it does not list them: it has no harness, and runs."""
    try:
        described = subprocess.run(
            [program, "--list", "--format", "terse", *words],
            capture_output=True, text=True, check=False, cwd=folder, timeout=LIST_S,
        )  # fmt: skip
    except subprocess.TimeoutExpired:
        return []
    lines = described.stdout.splitlines()
    return [line.removesuffix(": test") for line in lines if line.endswith(": test")]
