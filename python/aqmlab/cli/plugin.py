"""The commands about disciplines and congestion controls of one's own: begin one, check one."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from aqmlab.errors import AqmlabError, SpecError
from aqmlab.experiment import examples
from aqmlab.io import terminal
from aqmlab.io.terminal import printable
from aqmlab.simulator.plugin.report import Report

from . import completion
from .commands import app, print_json
from .options import Json


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
    if json:
        print_json({key: value for key, value in report.items() if key != "vectors"})
    else:
        _print(_lines(report))
    if vectors is not None:
        checking.write_vectors(report, vectors)
    _refuse(report)


@app.command("check-cc")
def check_cc(
    name: Annotated[
        str,
        typer.Argument(
            metavar="FILE[:CLASS]|NAME",
            help="A congestion control in Python or a library, or one of ours.",
        ),
    ],
    json: Json = False,
) -> None:
    """Check a congestion control of your own: the laws that ours obey, calls and connections."""
    from aqmlab.simulator.plugin import checking

    report = checking.check_control(name)
    if json:
        print_json(report)
    else:
        _print(_lines_of_control(report))
    _refuse(report)


def _print(lines: list[str]) -> None:
    for line in lines:
        print(printable(line))


def _refuse(report: Report) -> None:
    """Ends the command with an error if a check is broken."""
    broken = [check["name"] for check in report["checks"] if check["broken"]]
    if broken:
        raise AqmlabError(
            f"{report['name']} breaks {len(broken)} of its checks ({', '.join(broken)}): mend it"
        )


def _lines_of_control(report: Report) -> list[str]:
    lines = [f"{report['name']}, {report['sets']} sets of parameters", *_checks(report)]
    for one in report["information"]:
        beside = f" (reno {one['reno']:.1f})" if one["reno"] else ""
        lines.append(f"  {one['name']}: {one['value']:.2f}{beside}")
    return lines


def _lines(report: Report) -> list[str]:
    """The report for people."""
    lines = [f"{report['name']}, {report['sets']} sets of parameters", *_checks(report)]
    sent, dropped, marked = (report["happened"][k] for k in ("sent", "dropped", "marked"))
    lines.append(f"  random calls: {sent} packets sent, {dropped} dropped, {marked} marks")
    return lines


def _checks(report: Report) -> list[str]:
    lines = []
    for check in report["checks"]:
        broken = check["broken"]
        lines.append(f"  {'BROKEN' if broken else 'ok':<7} {check['name']:<13} {check['says']}")
        if broken:
            under = " ".join(f"{k}={v}" for k, v in (broken["parameters"] or {}).items())
            lines.append(f"          {broken['why']}" + (f" (with {under})" if under else ""))
    return lines


@app.command()
def new(
    kind: Annotated[
        str, typer.Argument(help="scenario: a file; aqm: a queue; cc: a congestion control.")
    ],
    name: Annotated[
        str,
        typer.Argument(help="The file; of a queue or control its name (a-z, digits, underscores)."),
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
    lang: Annotated[str, typer.Option(help="Of a queue or control: python, c or rust.")] = "python",
    out: Annotated[
        Path | None, typer.Option(help="Of a queue or control: the folder (default: the name).")
    ] = None,
) -> None:
    """Begin a scenario, a discipline or a congestion control of your own.

    A scenario is a copy of an example with comments. A discipline or control is a folder that
    builds and tests itself."""
    if kind == "scenario":
        file = Path(name) if name.endswith(".toml") else Path(f"{name}.toml")
        examples.begin(file, source or "home-line")
        print(printable(str(file)))
        terminal.say(f"run it with aqmlab run {file}")
        return
    from aqmlab.simulator.plugin import starting

    if kind not in starting.KINDS:
        raise SpecError(
            f'"{kind}" cannot be begun: write aqmlab new scenario FILE, aqmlab new aqm NAME or '
            "aqmlab new cc NAME"
        )
    if source is not None:
        raise SpecError("--from is of scenarios: leave it out")
    for path in starting.write(name, lang, out or Path(name), kind):
        print(printable(str(path)))
    terminal.say(f"begin with {out or Path(name)}/README.md")
