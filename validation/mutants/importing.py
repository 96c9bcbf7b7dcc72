"""Changed sources that are only read, never written: each is imported in a child, and tests run.

Usage: python -P importing.py JOBS < JSON
A line is a job: a file's path, its changed text (null: as it is), the tests and the seconds that
they may take. What other people's packages the tests import is imported once, before the children
are forked. A line of the answer is the child's wait status.
"""

from __future__ import annotations

import json
import os
import signal
import sys
from collections.abc import Callable, Iterable, Iterator
from importlib import import_module
from importlib.machinery import SourceFileLoader
from pathlib import Path
from types import CodeType
from typing import Any

QUIET = ("-p", "no:cacheprovider", "--assert=plain", "-x", "-q")


def main(jobs: int, lines: Iterable[str]) -> None:
    """Answers all jobs in their order, so many at a time."""
    requested = [json.loads(line) for line in lines]
    preload(requested[0][2])
    statuses: dict[int, int] = {}
    running: dict[int, int] = {}
    described = 0
    for number, (path, text, tests, seconds) in enumerate(requested):
        if len(running) >= jobs:
            pid, status = os.wait()
            statuses[running.pop(pid)] = status
        while described in statuses:
            print(statuses[described], flush=True)
            described += 1
        running[forked(lambda p=path, t=text, of=tests: attempt(p, t, of), seconds)] = number
    while running:
        pid, status = os.wait()
        statuses[running.pop(pid)] = status
    for number in range(described, len(requested)):
        print(statuses[number], flush=True)


def forked(what: Callable[[], int], seconds: float) -> int:
    """A child that does it, and says nothing."""
    pid = os.fork()
    if pid:
        return pid
    signal.alarm(int(seconds) + 1)
    nowhere = os.open(os.devnull, os.O_RDWR)
    for descriptor in (1, 2):
        os.dup2(nowhere, descriptor)
    os._exit(what())


def attempt(path: str, text: str | None, tests: list[str]) -> int:
    """Runs the tests with this text in place of a file's."""
    import pytest

    if text is not None:
        get_code = SourceFileLoader.get_code

        def changed(self: SourceFileLoader, name: str) -> CodeType | None:
            if Path(self.path).resolve() == Path(path).resolve():
                return compile(text, self.path, "exec", dont_inherit=True)
            return get_code(self, name)

        SourceFileLoader.get_code = changed  # type: ignore[method-assign]
    return int(pytest.main([*QUIET, *tests], plugins=[Silent()]))


class Silent:
    """A plugin that spares tracebacks, which nobody reads."""

    def pytest_itemcollected(self, item: Any) -> None:
        """A test was found."""
        item.repr_failure = lambda *_: ""


def preload(tests: list[str]) -> None:
    """Imports what a child imports for these tests from anywhere but this folder."""
    read, write = os.pipe()

    def notify() -> int:
        attempt("", None, ["--collect-only", *tests])
        with os.fdopen(write, "w") as file:
            file.write("\n".join(foreign()))
        return 0

    pid = forked(notify, 600)
    os.close(write)
    with os.fdopen(read) as file:
        names = file.read().splitlines()
    os.waitpid(pid, 0)
    for name in names:
        try:
            import_module(name)
        except Exception as error:  # one that only another's import makes possible
            print(f"{name}: {error}", file=sys.stderr)


def foreign() -> Iterator[str]:
    """Names of the modules that lie outside this folder, but for pytest's own."""
    here = str(Path.cwd().resolve())
    for name, module in list(sys.modules.items()):
        file = getattr(module, "__file__", None)
        if file and not str(Path(file).resolve()).startswith(here) and "conftest" not in name:
            yield name


if __name__ == "__main__":
    os.environ["PYTEST_DISABLE_PLUGIN_AUTOLOAD"] = "1"
    main(int(sys.argv[1]), sys.stdin)
