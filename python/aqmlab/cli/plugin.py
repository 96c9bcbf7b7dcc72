"""The commands about disciplines of one's own: begin one, check one."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from aqmlab.errors import AqmlabError, SpecError
from aqmlab.experiment import examples
from aqmlab.io import terminal
from aqmlab.io.terminal import printable

from . import completion
from .commands import Json, app, print_json


@app.command("check-aqm")
def check_aqm(
    name: Annotated[
        str, typer.Argument(metavar="FILE[:CLASS]", help="A discipline in Python or a library.")
    ],
    vectors: Annotated[
        Path | None, typer.Option(help="Also write its test vectors to this file.")
    ] = None,
    json: Json = False,
) -> None:
    """Check a discipline of your own: the laws that ours obey, random calls, test vectors."""
    from aqmlab.simulator.plugin import checking

    report = checking.check(name)
    broken = [check for check in report["checks"] if check["broken"]]
    if json:
        print_json({key: value for key, value in report.items() if key != "vectors"})
    else:
        for line in _lines(report):
            print(printable(line))
    if vectors is not None:
        checking.write_vectors(report, vectors)
    if broken:
        described = ", ".join(check["name"] for check in broken)
        raise AqmlabError(
            f"{report['name']} breaks {len(broken)} of its checks ({described}): mend it"
        )


def _lines(report: dict[str, Any]) -> list[str]:
    """The report for people."""
    lines = [f"{report['name']}, {report['sets']} sets of parameters"]
    for check in report["checks"]:
        broken = check["broken"]
        lines.append(f"  {'BROKEN' if broken else 'ok':<7} {check['name']:<13} {check['says']}")
        if broken:
            under = " ".join(f"{k}={v}" for k, v in (broken["parameters"] or {}).items())
            lines.append(f"          {broken['why']}" + (f" (with {under})" if under else ""))
    sent, dropped, marked = (report["happened"][k] for k in ("sent", "dropped", "marked"))
    lines.append(f"  random calls: {sent} packets sent, {dropped} dropped, {marked} marks")
    return lines


@app.command()
def new(
    kind: Annotated[str, typer.Argument(help="scenario: a file; aqm: a queue discipline.")],
    name: Annotated[
        str,
        typer.Argument(help="The file; of a discipline its name (a-z, digits, underscores)."),
    ],
    source: Annotated[
        str | None,
        typer.Option(
            "--from",
            metavar="EXAMPLE",
            help="Of a scenario: the example that it begins with (default: home-line).",
            autocompletion=completion.examples,
        ),
    ] = None,
    lang: Annotated[str, typer.Option(help="Of a discipline: python, c or rust.")] = "python",
    out: Annotated[
        Path | None, typer.Option(help="Of a discipline: the folder (default: the name).")
    ] = None,
) -> None:
    """Begin a scenario or a discipline of your own.

    A scenario is a copy of an example with comments. A discipline is a folder that builds, tests
    itself and draws its page.
    """
    if kind == "scenario":
        file = Path(name) if name.endswith(".toml") else Path(f"{name}.toml")
        examples.begin(file, source or "home-line")
        print(printable(str(file)))
        terminal.say(f"run it with aqmlab run {file}")
        return
    from aqmlab.simulator.plugin import starting

    if kind != "aqm":
        raise SpecError(
            f'"{kind}" cannot be begun: write aqmlab new scenario FILE or aqmlab new aqm NAME'
        )
    if source is not None:
        raise SpecError("--from is of scenarios: leave it out")
    for path in starting.write(name, lang, out or Path(name)):
        print(printable(str(path)))
    terminal.say(f"begin with {out or Path(name)}/README.md")
