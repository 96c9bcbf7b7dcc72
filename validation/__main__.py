"""Every comparison with another program, one after the other.

Usage: python -m validation [--all]
Within the hour on two cores: of the comparisons that take longest every second to eighth case
(`SHARES`), to see whether both programs still agree; what has been recorded stays. --all runs every
case, records it, and writes the page of what they showed: half a day of a core with the kernels.
What is not installed here is named in one line and left out; what has been run is not run again.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

from validation import page
from validation.linux.l4s import SLOTS

SHARES = {"linux": 4, "linux.older": 4, "linux.mq": 2, "linux.l4s": 8}
"""The first of each group of cases of this size, without --all; of all others every case."""

NEW = ["--first", "10001"]
"""Seeds of the series that plans have set; what was run before has others."""


def _plan(name: str) -> list[str]:
    return ["--plan", str(Path(__file__).parent / "linux" / name), *NEW]


SERIES = {
    "linux": [_plan("linux.toml")],
    "linux.l4s": [_plan("l4s.toml"), ["--keep", "--only", SLOTS]],
}
"""With --all, the runs of each record, one command after the other; of all others one command."""


def commands(whole: bool) -> Iterator[list[str]]:
    """The parts of the page, in its order."""
    for part in page.PARTS:
        command = [sys.executable, "-m", f"validation.{part}"]
        if whole:
            for series in SERIES.get(part, [[]]):
                yield [*command, *series, "--out", str(page.RECORDS / part)]
        else:
            yield [*command, *(["--every", str(SHARES[part])] if part in SHARES else [])]


def main() -> int:
    """Runs them; the first that fails ends it."""
    whole = "--all" in sys.argv[1:]
    for command in commands(whole):
        if code := subprocess.run(command, check=False).returncode:
            return code
    return page.main([]) if whole else 0


if __name__ == "__main__":
    raise SystemExit(main())
