"""`aqmlab compare`: another simulator's runs, or measurements, next to ours."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from aqmlab.io import terminal

from .commands import Json, app, print_json

if TYPE_CHECKING:
    from aqmlab.pipeline.comparing import Comparison, Row


@app.command()
def compare(
    folder: Annotated[Path, typer.Argument(metavar="FOLDER", help="A results folder of ours.")],
    files: Annotated[
        list[Path],
        typer.Argument(
            metavar="FILE...",
            help="Theirs: a CSV of measures with a line for each run, or traces of time and value.",
        ),
    ],
    measure: Annotated[
        str, typer.Option(metavar="MEASURE", help="What a trace is of (`aqmlab list measures`).")
    ] = "queue_time_mean_packets",
    margin: Annotated[
        str, typer.Option(metavar="SHARE", help="A difference that does not matter, of theirs.")
    ] = "10 %",
    json: Json = False,
) -> None:
    """Compare runs with somebody else's numbers: equivalent, different or inconclusive.

    Two one-sided tests at 95 %: equivalent if the interval of the difference lies within the
    margin, different if it lies outside.
    """
    from aqmlab.pipeline import comparing
    from aqmlab.pipeline.result import load

    found = comparing.compare(load(folder), files, measure, margin)
    print_json(found.document()) if json else _show(found)


def _show(found: Comparison) -> None:
    from .show import grid

    first = found.rows[0]
    title = (
        f"means ± half 95 % interval of {first.runs[0]} runs of ours and {first.runs[1]} of theirs"
    )
    table = grid(["ours", "theirs", "ours / theirs", "margin", "verdict"], title)
    for row in found.rows:
        name = f"{row.title}, {row.unit}" if row.unit else row.title
        ratio = f"{row.ours / row.theirs:.3f}" if row.theirs else "-"
        ours, theirs = _cell(row, "ours"), _cell(row, "theirs")
        table.add_row(name, ours, theirs, ratio, f"± {row.margin:.4g}", row.verdict)
    terminal.console().print(table)
    for note in found.notes:
        terminal.say(f"note: {note}")


def _cell(row: Row, whose: str) -> str:
    half = getattr(row, f"{whose}_half")
    return f"{getattr(row, whose):.4g}" + (f" ± {half:.2g}" if half is not None else "")
