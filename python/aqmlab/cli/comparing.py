"""`aqmlab compare`: another simulator's runs, or measurements, next to ours."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from aqmlab.errors import AqmlabError
from aqmlab.io import terminal

from .commands import app, print_json
from .options import Json

if TYPE_CHECKING:
    from aqmlab.pipeline.comparing import Comparison, Row
    from aqmlab.tables.result import Result


@app.command()
def compare(
    folder: Annotated[
        Path,
        typer.Argument(metavar="FOLDER", help="A results folder of ours (or last, after theirs)."),
    ],
    files: Annotated[
        list[Path],
        typer.Argument(
            metavar="FILE...",
            help="Theirs: a CSV of measures with a line for each run, traces of time and value, or "
            "what Flent, iperf3 -J, goresponsiveness or networkQuality -c wrote.",
        ),
    ],
    measure: Annotated[
        str, typer.Option(metavar="MEASURE", help="What a trace is of (`aqmlab list measures`).")
    ] = "queue_time_mean_packets",
    margin: Annotated[
        str, typer.Option(metavar="SHARE", help="A difference that does not matter, of theirs.")
    ] = "10 %",
    variant: Annotated[
        str | None,
        typer.Option(metavar="LABEL", help="Which variant of a sweep of ours, by its label."),
    ] = None,
    json: Json = False,
) -> None:
    """Compare runs with somebody else's numbers: equivalent, different or inconclusive.

    Two one-sided tests at 95 %: equivalent if the interval of the difference lies within the
    margin, different if it lies outside.
    """
    from aqmlab.pipeline import comparing, comparing_measured
    from aqmlab.pipeline.result import load
    from aqmlab.tables import measured_file

    if folder.is_file() and files[-1].is_dir():
        folder, files = files[-1], [folder, *files[:-1]]
    ours = _one_variant(load(folder), variant)
    if all(map(measured_file.is_measured, files)):
        found = comparing_measured.compare(ours, files, margin)
    else:
        found = comparing.compare(ours, files, measure, margin)
    print_json(found.document()) if json else _show(found)


@app.command()
def flent(
    folder: Annotated[
        Path, typer.Argument(metavar="FOLDER", help="Finished runs of a test of Flent's.")
    ],
    out: Annotated[
        Path | None, typer.Option(help="Folder to write to (default: the results folder).")
    ] = None,
) -> None:
    """Write the runs of a test such as rrul as files that Flent opens and plots.

    One file of each run, NAME-seed1.flent.gz; of a sweep with the variant in its name.
    """
    from aqmlab.pipeline.result import load
    from aqmlab.tables import flent_file

    result = load(folder)
    several = len(result.labels) > 1
    for run in result.runs:
        variant = f"-{run.variant + 1}" if several else ""
        name = f"{result.name}{variant}-seed{run.seed}.flent.gz"
        print(flent_file.write(run, (out or folder) / name, run.label or result.name))


def _one_variant(ours: Result, label: str | None) -> Result:
    """The runs of the variant with that label; without a label there must be one variant only."""
    if label is not None:
        return replace(ours, runs=ours.variant(label))
    if len(ours.labels) > 1:
        raise AqmlabError(
            f"{ours.name} has {len(ours.labels)} variants: choose one with --variant "
            f"({'; '.join(ours.labels)})"
        )
    return ours


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
