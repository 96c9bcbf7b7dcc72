"""Commands on results folders: draw from one, put one into a file, run one again."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from aqmlab.errors import SpecError
from aqmlab.io import terminal
from aqmlab.io.terminal import printable

from .commands import app, placed, print_json
from .options import Jobs, Json, On
from .trusting import Trust

_WITH_MEASURE = ("lines", "heatmap")


@app.command()
def plot(
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="A results folder.")],
    kind: Annotated[str, typer.Argument(help="trace, cdf, tail, lines or heatmap.")],
    measure: Annotated[
        str | None, typer.Argument(help="Of lines and heatmap: what is drawn (list measures).")
    ] = None,
    x: Annotated[str | None, typer.Option(help="The axis that is drawn along.")] = None,
    y: Annotated[str | None, typer.Option(help="Of a heatmap: the other axis.")] = None,
    by: Annotated[str | None, typer.Option(help="The axis with a curve for each value.")] = None,
    port: Annotated[str | None, typer.Option(help="Of trace: the queue (line.forward).")] = None,
    out: Annotated[
        Path | None, typer.Option(help="The picture, .svg or .png (default: DIR-KIND.svg).")
    ] = None,
) -> None:
    """Draw a figure of what a results folder holds; nothing is run but what is damaged."""
    import aqmlab
    from aqmlab import figures
    from aqmlab.figures.plots import KINDS
    from aqmlab.io.files import whole

    if kind not in KINDS:
        raise SpecError(f'no kind "{kind}": give {", ".join(KINDS[:-1])} or {KINDS[-1]}')
    if (kind in _WITH_MEASURE) != (measure is not None):
        want = "give a measure, for example response_p50_s" if measure is None else "leave it out"
        raise SpecError(f"{kind} and the measure {measure or ''}: {want}".replace(" :", ":"))
    given = {"x": x, "y": y, "by": by, "port": port}
    requested = {name: value for name, value in given.items() if value is not None}
    draw = getattr(aqmlab.load(folder).plot, kind)
    try:
        axes = draw(measure, **requested) if measure is not None else draw(**requested)
    except TypeError as error:
        raise SpecError(f"{kind} takes no --{_unknown(requested, draw)}: leave it out") from error
    path = out or Path(f"{folder.resolve().name}-{kind}.svg")
    if path.suffix not in (".svg", ".png"):
        raise SpecError(f"{path} is neither .svg nor .png: give one of them")
    with whole(path) as draft:
        if path.suffix == ".png":
            draft.write_bytes(figures.to_png(axes.figure))
        else:
            draft.write_text(figures.to_svg(axes.figure), encoding="utf-8")
    print(printable(str(path)))


def _unknown(requested: dict[str, str], draw: object) -> str:
    from inspect import signature

    return next((name for name in requested if name not in signature(draw).parameters), "x")  # type: ignore[arg-type]


@app.command()
def export(
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="A results folder.")],
    out: Annotated[Path | None, typer.Option(help="The file (default: DIR.aqm).")] = None,
    tables: Annotated[
        bool, typer.Option("--tables", help="Also put the runs' tables in, not only summaries.")
    ] = False,
) -> None:
    """Put a results folder into one .aqm file, which others can check and run again."""
    from aqmlab.pipeline import sharing

    path = out or Path(f"{folder.resolve().name}{sharing.SUFFIX}")
    print(printable(str(sharing.export(folder, path, tables=tables))))
    for remark in sharing.programs(folder):
        terminal.say(remark)


@app.command()
def reproduce(
    source: Annotated[
        Path, typer.Argument(help="An .aqm file, a results folder, or its manifest.json.")
    ],
    jobs: Jobs = None,
    most: Annotated[
        int | None, typer.Option(min=1, help="Only this many runs, the shortest first.")
    ] = None,
    json: Json = False,
    on: On = None,
    _trust: Trust = False,
) -> None:
    """Run a result again and say whether it comes out as before, and where not.

    The exit code is 0 if it does and 1 if not. Nothing of the file is believed or kept. Programs
    that it carries run with --trust only.
    """
    from aqmlab.pipeline import sharing
    from aqmlab.runs.progress import for_stream

    with placed(jobs, on) as where:
        found = sharing.reproduce(source, most=most, progress=for_stream(), **where)
    if json:
        print_json(found.document())
    else:
        for line in found.lines():
            print(printable(line))
    sys.stdout.flush()
    if not found.same:
        raise typer.Exit(1)
