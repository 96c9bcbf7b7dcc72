"""What network tests in a run say, for human eyes, with the truth beside it."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from aqmlab.tables import network_tests

from .show import grid

if TYPE_CHECKING:
    from rich.console import Console

    from aqmlab.runs.laboratory import FinishedRun
    from aqmlab.tables.result import Result

PINGS = ("rtt_p50_s", "rtt_p95_s", "rtt_p99_s", "rtt_max_s")


def show(result: Result, console: Console) -> None:
    """A table of what the tests say and one of round trips, a row for each run of the first
    seed."""
    firsts = [result.variant(number)[0] for number in range(len(result.labels))]
    _show_said(result, firsts, console)
    _show_pings(result, firsts, console)


def _show_said(result: Result, runs: list[FinishedRun], console: Console) -> None:
    found = [network_tests.said(run) for run in runs]
    names = list(dict.fromkeys(name for one in found if one is not None for name in one.own))
    names = [name for name in names if not name.endswith(("_iqm_s", "_p95_s"))]
    if not names:
        return
    labels = [label or result.name for label in result.labels]
    table = grid(labels, f"what the test says (seed {runs[0].seed})")
    for name in names:
        cells = [_cell(name, one.own.get(name)) if one is not None else "-" for one in found]
        table.add_row(_title(name), *cells)
    for port in found[0].truth if found[0] is not None else ():
        for key in network_tests.TRUTH:
            cells = [
                _cell(key, one.truth.get(port, {}).get(key)) if one is not None else "-"
                for one in found
            ]
            table.add_row(f"truth: {port} {_title(key)}", *cells)
    console.print(table)


def _title(name: str) -> str:
    """A name with its unit as it is shown."""
    for end, unit in (("_bits_per_s", "Mbit/s"), ("_s", "ms")):
        if name.endswith(end):
            return f"{name.removesuffix(end).replace('_', ' ')}, {unit}"
    return name


def _cell(name: str, value: float | str | None) -> str:
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return "-"
    if isinstance(value, str):
        return value
    scale = 1e-6 if name.endswith("_bits_per_s") else 1e3 if name.endswith("_s") else 1.0
    return f"{value * scale:,.1f}" if scale != 1.0 else f"{value:,.0f}"


def _show_pings(result: Result, runs: list[FinishedRun], console: Console) -> None:
    columns = [f"{name.split('_')[1]} ms" for name in PINGS]
    table = grid([*columns, "unanswered %"], f"round trips of pings (seed {runs[0].seed})")
    rows = 0
    for label, run in zip(result.labels, runs, strict=True):
        for name, ping in run.summary.get("ping", {}).items():
            cells = [_cell(key, ping.get(key)) for key in PINGS]
            lost = ping.get("unanswered_share")
            cells.append("-" if lost is None else f"{100 * lost:.2f}")
            table.add_row(f"{label}: {name}" if label else name, *cells)
            rows += 1
    if rows:
        console.print(table)
