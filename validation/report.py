"""A comparison as a command whose table is printed row by row, and recorded with `--out`."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator
from pathlib import Path

from validation import recorded
from validation.external import there

Report = Callable[[argparse.Namespace], Iterator[str]]


def main(
    parser: argparse.ArgumentParser,
    report: Report,
    program: str,
    needs: Callable[[], object],
    release: Callable[[], str],
) -> int:
    """Prints the report's lines as they come. `needs` raises Missing where the other program is
    not there: one line says that, and the answer is 0 too; `release` says which one it is."""
    parser.add_argument("--out", type=Path, help="folder for the record")
    arguments = parser.parse_args()
    if not there(program, needs):
        return 0
    lines: list[str] = []
    for line in report(arguments):
        print(line, flush=True)
        lines.append(line)
    if arguments.out:
        recorded.record(parser.prog, release(), "\n".join(lines)).keep(arguments.out)
    return 0
