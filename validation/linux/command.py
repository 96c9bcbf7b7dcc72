"""A comparison with the kernel as a command: a table that is printed row by row, and kept."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator
from pathlib import Path

from validation import recorded
from validation.external import there
from validation.linux import machine

Report = Callable[[argparse.Namespace], Iterator[str]]


def main(parser: argparse.ArgumentParser, report: Report) -> int:
    """Prints the report's lines as they come; with `--out` they are recorded there too.

    Returns 0, also where there is no kernel to compare with: that is said in one line.
    """
    parser.add_argument("--out", type=Path, help="folder for the record")
    arguments = parser.parse_args()
    if not there("Linux", machine.kernel):
        return 0
    lines: list[str] = []
    for line in report(arguments):
        print(line, flush=True)
        lines.append(line)
    if arguments.out:
        recorded.record(parser.prog, machine.release(), "\n".join(lines)).keep(arguments.out)
    return 0
