"""Mutants that no switch can hold, in constants above all: each is built and tried alone.

As cargo-mutants does it, but cheaper: without optimisation, incrementally; the crate's own unit
tests first, those of the changed module before the others; and only quick tests. What survives
them is asked the tests from outside, first those that come by the changed file, then those that
come by its neighbours. A source that does not compile is `unviable`.
"""

from __future__ import annotations

import resource
import subprocess
import sys
import time
from collections.abc import Collection, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

from validation.mutants.listing import Mutant
from validation.mutants.trials import LATE, MEMORY, Test, folder_of
from validation.mutants.workspace import Copy, write

PROFILE = {
    "CARGO_PROFILE_TEST_OPT_LEVEL": "0",
    "CARGO_PROFILE_TEST_DEBUG": "0",
    "CARGO_PROFILE_DEV_OPT_LEVEL": "0",
    "CARGO_INCREMENTAL": "1",
    "CARGO_TERM_COLOR": "never",
    # Warnings are no matter. A constant that never ends is an error, and stays one.
    "RUSTFLAGS": "-Awarnings",
}
NEVER_ENDS = "long_running_const_eval"
SLOWEST_S = 0.1
"""Tests of more processor time, with optimisation, are left out."""
SLOWER = 20
"""Times that, at most, a test may take without."""
LEAST_S = 10
TOGETHER_S = 0.3
"""Processor time, with optimisation, of the tests that are asked together: the first of them that
notices the mutant spares those behind."""


class Alone:
    """A copy of the repository without switches, in which one file at a time is changed."""

    def __init__(
        self,
        root: Path,
        folder: Path,
        packages: Sequence[str],
        tests: Sequence[Test],
        mutants: Sequence[Mutant],
    ) -> None:
        self.copy = Copy(root, folder / "tree", profile=PROFILE)
        self.copy.refresh()
        self.packages = packages
        crate = packages[0]
        own = f"{crate.replace('-', '_')}-{crate.split('-', 1)[1]}"
        quick = [test for test in tests if test.name and test.cpu_s <= SLOWEST_S]
        self.own = [test for test in quick if test.program == own]
        self.others = [test for test in quick if test.program != own]
        files = {mutant.number: mutant.file for mutant in mutants}
        self.files = {test: {files[number] for number in test.reaches} for test in self.others}

    def try_all(self, mutants: Iterable[Mutant], stop: float) -> Iterator[tuple[int, str]]:
        """What is found of each, until the time is up."""
        self._leave_out_what_fails()
        for mutant in mutants:
            if time.monotonic() > stop:
                return
            file = self.copy.folder / mutant.file
            original = (self.copy.root / mutant.file).read_bytes()
            write(file, changed(original, mutant))
            try:
                yield mutant.number, self._try(mutant.file)
            finally:
                write(file, original)

    def _leave_out_what_fails(self) -> None:
        """Leaves out tests that fail without a mutant when built without optimisation."""
        errors, programs = self.copy.cargo(["test", "--no-run", "--lib", "--tests"], self.packages)
        if errors:
            raise RuntimeError(errors[0]["rendered"])
        for tests in (self.own, self.others):
            failing = [
                test
                for group in _groups(tests)
                if self._ask(programs, group)
                for test in group
                if self._ask(programs, [test])
            ]
            tests[:] = [test for test in tests if test not in failing]
            for test in failing:
                print(f"left out, it fails without optimisation: {test.name}", file=sys.stderr)

    def _try(self, name: str) -> str:
        """The unit tests of the changed module, the crate's others, then those from outside."""
        errors, programs = self.copy.cargo(["test", "--no-run", "--lib"], self.packages[:1])
        if errors:
            return of_errors(errors)
        near = module(name)
        first = [test for test in self.own if near and test.name.startswith(near)]
        rest = [test for test in self.own if test not in first]
        for requested in (first, rest):
            if word := self._ask(programs, requested):
                return word
        if self.others:
            errors, programs = self.copy.cargo(["test", "--no-run", "--tests"], self.packages)
            if errors:
                return of_errors(errors)
        others = sorted(self.others, key=lambda test: distance(name, self.files[test]))
        words = (self._ask(programs, group) for group in _groups(others))
        return next((word for word in words if word), "missed")

    def _ask(self, programs: dict[str, Path], tests: Sequence[Test]) -> str:
        """`caught`, `timeout`, or nothing if all tests pass."""
        for program in sorted({test.program for test in tests}):
            of = [test for test in tests if test.program == program]
            seconds = int(LEAST_S + SLOWER * sum(test.cpu_s for test in of))
            status = _run(programs[program], self.copy.folder / folder_of(program), of, seconds)
            if status:
                return "timeout" if -status in LATE else "caught"
        return ""


def distance(name: str, files: Collection[str]) -> int:
    """How many names must be cut off a file's path until one of the files lies below it."""
    path = name
    for cut in range(name.count("/") + 1):
        if path in files or any(file.startswith(path + "/") for file in files):
            return cut
        path = path.rpartition("/")[0]
    return name.count("/") + 1


def _groups(tests: Sequence[Test]) -> Iterator[list[Test]]:
    """Tests that are asked together."""
    group: list[Test] = []
    for test in tests:
        group.append(test)
        if sum(test.cpu_s for test in group) > TOGETHER_S:
            yield group
            group = []
    if group:
        yield group


def _run(program: Path, folder: Path, tests: Sequence[Test], seconds: int) -> int:
    def limits() -> None:
        resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds + 1))
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))

    words = ["--exact", "--test-threads=1", "--quiet", *(test.name for test in tests)]
    return subprocess.run(
        [program, *words],
        cwd=folder, check=False, preexec_fn=limits,
        stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    ).returncode  # fmt: skip


def changed(source: bytes, mutant: Mutant) -> bytes:
    """The source with the mutant in it, as cargo-mutants writes it."""
    text = source.decode()
    lines = text.splitlines(keepends=True)

    def at(spot: tuple[int, int]) -> int:
        return sum(map(len, lines[: spot[0] - 1])) + spot[1] - 1

    return (text[: at(mutant.start)] + mutant.replacement + text[at(mutant.end) :]).encode()


def module(file: str) -> str:
    """A file's module as the names of its tests begin; nothing for the crate's first."""
    path = file.partition("/src/")[2].removesuffix(".rs").removesuffix("/mod")
    return "" if path == "lib" else path.replace("/", "::") + "::"


def of_errors(errors: Sequence[dict[str, Any]]) -> str:
    """What it means that a source does not compile."""
    codes = {(error.get("code") or {}).get("code") for error in errors}
    return "timeout" if NEVER_ENDS in codes else "unviable"
