"""The command that holds live runs against simulated ones."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from aqmlab.io import terminal

from .commands import print_json
from .live import Set, app
from .options import Fresh, Json
from .trusting import Trust

if TYPE_CHECKING:
    from aqmlab.pipeline.parity import Parity

USUAL_SEEDS = 3
"""Replications of each kind where neither the file nor the user says."""


@app.command()
def parity(
    scenario: Annotated[Path, typer.Argument(help="A scenario, or an experiment with a sweep.")],
    set_: Set = None,
    seeds: Annotated[
        int | None, typer.Option(min=2, help="Replications of each kind (3, or as the file says).")
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(help="Folder of results (default: results/<name>-parity)."),
    ] = None,
    json: Json = False,
    fresh: Fresh = False,
    _trust: Trust = False,
) -> None:
    """Run a scenario in the simulator and on real TCP stacks, and compare every figure.

    Both get the end systems of this machine's kernel, equal users and equal seeds. A figure
    is equivalent if its difference, with its 95 % interval, lies within the margin that is shown.
    """
    from aqmlab.experiment.experiment import load
    from aqmlab.live.ownership import given_to_caller
    from aqmlab.pipeline import parity as comparing
    from aqmlab.pipeline import registry
    from aqmlab.runs.progress import for_stream

    given: dict[str, Any] = {"overrides": set_ or (), "seeds": seeds}
    experiment = load(str(scenario), **given)
    if experiment.swept and comparing.replications(experiment) < 2:
        given["seeds"] = USUAL_SEEDS
        experiment = load(str(scenario), **given)
    usual = registry.default_folder(experiment.name, False)
    folder = out or usual.with_name(f"{usual.name}-parity")
    with given_to_caller(folder):
        found = comparing.run(experiment, out=folder, fresh=fresh, progress=for_stream)
    if json:
        print_json(found.document())
    else:
        _show(found)


def _show(found: Parity) -> None:
    from rich.table import Table

    from aqmlab.pipeline.parity import HEAD, cells

    table = Table(*HEAD)
    for row in found.rows:
        table.add_row(*cells(row))
    terminal.console().print(table)
    counts = ", ".join(f"{count} {verdict}" for verdict, count in found.counts().items())
    terminal.say(f"{found.runs} runs of each kind: {counts}")
    for note in found.notes:
        terminal.say(f"note: {note}")
    if found.folder is not None:
        terminal.say(f"results: {found.folder}")
