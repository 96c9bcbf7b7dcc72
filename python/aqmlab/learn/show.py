"""The answer to `aqmlab learn` on a console."""

from __future__ import annotations

from typing import TYPE_CHECKING

from . import shares
from .command import Answer

if TYPE_CHECKING:
    from rich.console import Console


def answer(answer: Answer, console: Console) -> None:
    """Prints facts about the capture, its distributions, warnings, and the paths of the written
    files."""
    from rich.table import Table

    facts = Table(show_header=False, box=None, pad_edge=False)
    facts.add_column(style="bold")
    facts.add_column()
    for name, text in shares.facts(answer.header):
        facts.add_row(name, text)
    console.print(facts)
    rows = shares.medians(answer.header)
    if rows:
        from rich import box

        table = Table(box=box.SIMPLE_HEAD)
        table.add_column("")
        for column in ("n", "mean", *(f"{100 * share:g} %" for share in shares.SHARES)):
            table.add_column(column, justify="right")
        for name, cells in rows:
            table.add_row(name, *cells)
        console.print(table)
    for warning in answer.header["warnings"]:
        console.print(f"note: {warning}")
    for path in (answer.model, answer.scenario, answer.page):
        if path is not None:
            console.print(str(path), soft_wrap=True)
