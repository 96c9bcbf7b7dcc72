"""`--trust`: programs that a scenario names or carries may run (docs/how-to/share.md)."""

from __future__ import annotations

from typing import Annotated

import typer


def _permit(context: typer.Context, value: bool) -> bool:
    """Permits them until the command ends."""
    if value:
        from aqmlab.simulator.plugin import trust

        context.with_resource(trust.granted())
    return value


Trust = Annotated[
    bool,
    typer.Option(
        "--trust",
        callback=_permit,
        help="Run the programs (disciplines that are not ours) that the file names or carries.",
    ),
]
"""An option of every command that runs what a file says. The command itself need not look at it."""
