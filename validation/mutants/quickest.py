"""mutmut with the quickest tests first and the slowest left out.

Usage: python -P quickest.py SECONDS ...

mutmut asks the tests that come by a function in no order, and all of them. Its own words follow
the number of seconds that a test may take; where all take longer, the quickest one is asked.
"""

from __future__ import annotations

import os
import sys
from math import ceil

from mutmut.__main__ import cli
from mutmut.state import state
from mutmut.workers import isolation

CONSTANT_S, TIMES = 60, 40
"""Seconds that any mutant has, and how many times as long as its tests it may take besides."""


def main(slowest_s: float) -> None:
    """Runs mutmut's command line."""
    submit = isolation.ForkServerRunner.submit

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

    isolation.ForkServerRunner.submit = quickest_first
    cli()


if __name__ == "__main__":
    # Each mutant starts pytest anew: without plugins and without rewriting assertions it is quick.
    os.environ["PYTEST_DISABLE_PLUGIN_AUTOLOAD"] = "1"
    seconds = float(sys.argv.pop(1))
    main(seconds)
