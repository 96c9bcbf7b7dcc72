"""A comparison with the kernel as a command: a table that is printed row by row, and kept."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator
from pathlib import Path

from validation.external import Missing
from validation.linux import machine

Report = Callable[[argparse.Namespace], Iterator[str]]


def main(parser: argparse.ArgumentParser, kept: str, report: Report) -> int:
    """Prints the report's lines as they come; with `--out` they are kept there as `kept` too.

    Returns 0, also where there is no kernel to compare with: that is said in one line.
    """
    parser.add_argument("--out", type=Path, help=f"folder for {kept}")
    arguments = parser.parse_args()
    try:
        machine.kernel()
    except Missing as missing:
        print(f"no comparison with Linux: {missing}")
        return 0
    lines: list[str] = []
    for line in report(arguments):
        print(line, flush=True)
        lines.append(line)
    if arguments.out:
        arguments.out.mkdir(parents=True, exist_ok=True)
        (arguments.out / kept).write_text("\n".join(lines) + "\n")
    return 0
