"""mutmut with the quickest tests first, the slowest left out, and all of them collected once.

Usage: python -P quickest.py SECONDS ...
mutmut asks the tests that come by a function in no order, all of them, and starts pytest anew for
every mutant, which takes longer than most tests. Its own words follow the number of seconds that a
test may take; where all take longer, the quickest one is asked.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable
from math import ceil
from typing import Any

from mutmut.__main__ import cli
from mutmut.configuration import config
from mutmut.runners.harness import PytestRunner
from mutmut.state import state
from mutmut.utils.file_utils import change_cwd
from mutmut.workers import isolation

CONSTANT_S, TIMES = 60, 40
"""Seconds that any mutant has, and how many times as long as its tests it may take besides."""


class Collected:
    """Tests that are collected in the process from which those of the mutants are forked."""

    session: Any = None

    def collect(self, *_: object) -> None:
        """Collects them, as `pytest.main` does, and stays there."""
        import pytest
        from _pytest.config import _prepareconfig

        with change_cwd("mutants"):
            described = config()
            words = [*described.pytest_add_cli_args_test_selection, *described.pytest_add_cli_args]
            prepared = _prepareconfig(["--rootdir=.", "--capture=no", "-qqq", *words])
            prepared._do_configure()
            self.session = pytest.Session.from_config(prepared)
            prepared.hook.pytest_sessionstart(session=self.session)
            prepared.hook.pytest_collection(session=self.session)
            self.items = {item.nodeid: item for item in self.session.items}
            for item in self.items.values():
                # A traceback, which nobody reads, takes longer than most tests.
                item.repr_failure = lambda *_: ""

    def run(self, tests: Iterable[str]) -> int:
        """Whether one fails; in a process of its own."""
        with change_cwd("mutants"):
            for test in tests:
                item = self.items[test]
                item.config.hook.pytest_runtest_protocol(item=item, nextitem=None)
                if self.session.testsfailed:
                    return 1
        return 0


def main(slowest_s: float) -> None:
    """Runs mutmut's command line."""
    collected = Collected()
    run_tests, submit = PytestRunner.run_tests, isolation.ForkServerRunner.submit

    def run(self: PytestRunner, *, mutant_name: str | None, tests: Iterable[str]) -> int:
        if collected.session is None:
            return run_tests(self, mutant_name=mutant_name, tests=tests)
        return collected.run(tests)

    def quickest_first(
        self: isolation.ForkServerRunner,
        name: str,
        tests: list[str],
        _limit_s: int,
        estimate_s: float,
    ) -> None:
        times = state().duration_by_test
        ordered = sorted(tests, key=lambda test: (times[test], test))
        chosen = [test for test in ordered if times[test] <= slowest_s] or ordered[:1]
        estimate_s = sum(times[test] for test in chosen)
        # Half of it is the limit by the clock.
        submit(self, name, chosen, ceil(2 * (CONSTANT_S + TIMES * estimate_s)), estimate_s)

    PytestRunner.warm_up = lambda _self: collected.collect()
    PytestRunner.run_tests = run
    isolation.ForkServerRunner.submit = quickest_first
    # They have just been run without a mutant, to see which functions they come by.
    isolation.ForkServerRunner.run_clean_tests = lambda _self, tests: 0  # noqa: ARG005
    cli()


if __name__ == "__main__":
    os.environ["PYTEST_DISABLE_PLUGIN_AUTOLOAD"] = "1"
    seconds = float(sys.argv.pop(1))
    main(seconds)
