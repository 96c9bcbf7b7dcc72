"""The commands about disciplines of one's own: begin one, check one."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from aqmlab.errors import AqmlabError, SpecError
from aqmlab.io import terminal
from aqmlab.io.terminal import printable

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
    from aqmlab.simulator.own import checking

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
        told = ", ".join(check["name"] for check in broken)
        raise AqmlabError(f"{report['name']} breaks {len(broken)} of its checks ({told}): mend it")


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
    kind: Annotated[str, typer.Argument(help="aqm: a queue discipline.")],
    name: Annotated[str, typer.Argument(help="Its name: small letters, digits, underscores.")],
    lang: Annotated[str, typer.Option(help="python, c or rust.")] = "python",
    out: Annotated[Path | None, typer.Option(help="The folder (default: the name).")] = None,
) -> None:
    """Begin a discipline of your own: a folder that builds, tests itself and draws its page."""
    from aqmlab.simulator.own import starting

    if kind != "aqm":
        raise SpecError(f'"{kind}" cannot be begun: write aqmlab new aqm {name}')
    for path in starting.write(name, lang, out or Path(name)):
        print(printable(str(path)))
    terminal.say(f"begin with {out or Path(name)}/README.md")
