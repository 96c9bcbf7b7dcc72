"""Measures the CPU time of commands that only print, for `aqmlab bench`."""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
from typing import TYPE_CHECKING, TypedDict

if TYPE_CHECKING:
    from rich.table import Table

PRINTING = ("--version", "--help", "list", "describe red", "study list", "claims")
"""Commands that start no simulation."""
BAR_S = 0.3
"""Time in seconds above which a person notices a pause."""
REPEATS = 5
_NOTHING = [sys.executable, "-c", "pass"]


class CommandCost(TypedDict):
    """CPU time of a command, also as a multiple of that of a Python that does nothing."""

    command: str
    cpu_s: float
    times_python: float | None
    bar_s: float
    within_bar: bool


def measure() -> list[CommandCost]:
    """CPU time of each command, and as a multiple of that of a Python that does nothing.

    Medians of repeats. Each command alternates with the Python that does nothing, so that the ratio
    is meaningful on a machine that others use too.
    """
    return [_measured(command) for command in PRINTING]


def _measured(command: str) -> CommandCost:
    costs, ratios = [], []
    for _ in range(REPEATS):
        nothing = _cpu_s(_NOTHING)
        costs.append(_cpu_s([sys.executable, "-m", "aqmlab", *command.split()]))
        ratios.append(costs[-1] / nothing if nothing > 0 else None)
    known = [ratio for ratio in ratios if ratio is not None]
    cost = statistics.median(costs)
    return {
        "command": f"aqmlab {command}",
        "cpu_s": cost,
        "times_python": statistics.median(known) if known else None,
        "bar_s": BAR_S,
        "within_bar": cost <= BAR_S,
    }


def _cpu_s(arguments: list[str]) -> float:
    """CPU seconds of a child process, whose output is discarded."""
    before = os.times()
    subprocess.run(arguments, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False)
    after = os.times()
    user = after.children_user - before.children_user
    return user + after.children_system - before.children_system


def table(measured: list[CommandCost]) -> Table:
    """The measured times as a table for the console."""
    from rich.table import Table

    shown = Table()
    shown.add_column("a command that only prints")
    for title in ("CPU s", "times `python -c pass`", "bar, s", ""):
        shown.add_column(title, justify="right")
    for one in measured:
        ratio = one["times_python"]
        shown.add_row(
            one["command"],
            f"{one['cpu_s']:.2f}",
            "-" if ratio is None else f"{ratio:.0f}",
            str(one["bar_s"]),
            "ok" if one["within_bar"] else "over",
        )
    return shown
