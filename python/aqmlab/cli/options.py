"""Options and arguments that several commands of `aqmlab` have."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from . import completion

Json = Annotated[bool, typer.Option("--json", help="Print one JSON document and nothing else.")]
Jobs = Annotated[int | None, typer.Option(min=1, help="Runs at a time (default: all cores).")]
On = Annotated[
    str | None,
    typer.Option(
        "--on",
        metavar="tcp://HOST:PORT|slurm:N|kubernetes:N|local:N",
        help="Run on a cluster, through Dask (docs/cluster.md).",
    ),
]
Fresh = Annotated[bool, typer.Option("--fresh", help="Discard what the folder holds.")]
Aqm = Annotated[
    list[str] | None,
    typer.Option(
        "--aqm",
        "--cc",
        metavar="FILE[:CLASS]",
        help="A discipline (--cc: congestion control) of your own beside those of the experiment; "
        "may be repeated.",
    ),
]
Out = Annotated[Path | None, typer.Option(help="Results folder (default: results/<name>).")]
Study = Annotated[
    str,
    typer.Argument(
        help="A name that `aqmlab study list` shows; all; list: show their parts.",
        autocompletion=completion.study_words,
    ),
]
Quick = Annotated[
    bool,
    typer.Option(
        "--quick/--full", help="Short runs (about two minutes on two free cores), or the paper's."
    ),
]
Part = Annotated[list[str] | None, typer.Option("--part", help="Only this part; may be repeated.")]
Figure = Annotated[
    str | None, typer.Option("--figure", help="Only what this figure needs, and the figure.")
]
Refresh = Annotated[
    bool, typer.Option("--refresh", help="Discard the folder only if another version wrote it.")
]
Live = Annotated[
    bool, typer.Option("--live", help="Also run some cells on real TCP stacks, in real time.")
]
