"""The commands of `aqmlab`: their options, and the functions that they call."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, cast

import typer

from aqmlab.errors import AqmlabError, SpecError, fitting
from aqmlab.io import terminal
from aqmlab.io.terminal import printable

from . import completion, unknowns
from .framework import App
from .options import Aqm, Figure, Fresh, Jobs, Json, Live, On, Out, Part, Quick, Refresh, Study
from .trusting import Trust
from .typed import typed

if TYPE_CHECKING:
    from aqmlab.tables.document import Line

app = App()


@app.callback(invoke_without_command=True)
def _aqmlab(
    context: typer.Context,
    version: Annotated[
        bool, typer.Option("--version", help="Print the version and the simulator's build.")
    ] = False,
) -> None:
    """A laboratory for active queue management: queues, TCP and web users, simulated fast."""
    if version:
        from aqmlab.simulator import engine

        print("aqmlab", engine.version())
        raise typer.Exit
    if context.invoked_subcommand is None:
        print(context.get_help(), end="")


@app.command()
def run(
    scenario: Annotated[
        Path,
        typer.Argument(
            help="A scenario or an experiment (TOML), the folder of a study, or example:NAME.",
            autocompletion=completion.examples_to_run,
        ),
    ],
    seed: Annotated[int | None, typer.Option(min=0, help="Run once, with this seed.")] = None,
    seeds: Annotated[int | None, typer.Option(min=1, help="Run this many replications.")] = None,
    set_: Annotated[
        list[str] | None,
        typer.Option(
            "--set", metavar="PATH=VALUE", help="Change a field, e.g. link.0.rate=5Mbit/s."
        ),
    ] = None,
    out: Out = None,
    json: Json = False,
    jobs: Jobs = None,
    fresh: Fresh = False,
    pcap: Annotated[
        Path | None,
        typer.Option(help="Write what crosses the first link, for Wireshark (.pcap)."),
    ] = None,
    pcap_port: Annotated[
        list[str] | None,
        typer.Option(metavar="LINK.DIRECTION", help="Capture this port; may be repeated."),
    ] = None,
    pcap_at: Annotated[
        str, typer.Option(help="departure: what crossed; arrival: before the queue may drop it.")
    ] = "departure",
    watch: Annotated[
        bool, typer.Option("--watch", help="Draw queue, throughput and losses meanwhile.")
    ] = False,
    aqm: Aqm = None,
    report: Annotated[
        bool, typer.Option("--report", help="Also write a report with tables and figures.")
    ] = False,
    on: On = None,
    _trust: Trust = False,
) -> None:
    """Run a scenario; with --seeds or a sweep, many of them on all cores.

    A file that has groups, or says what to show, is always reported, as by `aqmlab study
    --full`. Run the command again to continue where it was stopped.
    """
    twice = seed is not None and seeds is not None
    _refuse(twice, "--seed and --seeds exclude each other: give one of them")
    capture = _capture(pcap, pcap_port, pcap_at, watch)
    looked_into = on is not None and (watch or capture is not None)
    _refuse(looked_into, "--watch and --pcap look into runs of this machine: leave out --on")
    given = {"overrides": set_ or (), "seed": seed, "seeds": seeds, "aqm": aqm or ()}
    how = {"out": out, "fresh": fresh, "capture": capture, "report": report}
    ports = {"capture": f"--pcap-port {' --pcap-port '.join(pcap_port or ())}"}
    with placed(jobs, on) as where, typed(ports):
        document = _carry_out(str(scenario), json, given=given, watch=watch, **how, **where)
    if json:
        print_json(document)


@contextmanager
def placed(jobs: int | None, on: str | None) -> Iterator[dict[str, Any]]:
    """Where runs happen: on `jobs` cores of this machine, or on a cluster."""
    _refuse(jobs is not None and on is not None, "--jobs is of this machine: leave out --on")
    if on is None:
        yield {"jobs": jobs}
        return
    from aqmlab.runs import cluster

    with cluster.opened(on) as there:
        yield {"on": there}


def _carry_out(
    name: str,
    json: bool,
    *,
    watch: bool = False,
    by: Callable[..., Any] | None = None,
    **how: Any,
) -> Any:
    """Runs one experiment and prints its result for people; with `json` it returns the result as a
    document, which the caller prints."""
    from aqmlab.pipeline import command
    from aqmlab.runs.progress import for_stream
    from aqmlab.runs.screen import Screen

    from . import as_json, show

    carry_out = by or command.carry_out
    done = carry_out(name, progress=Screen(sys.stderr) if watch else for_stream(), **how)
    if done.result is None or not done.experiment.swept:
        document = done.document()
        if not json:
            command.notify(done)
        return document
    if not json:
        show.result(done.result, terminal.console())
        if done.page:
            command.notify(done)
    _say_all(done.result.remarks)
    if not json:
        return None  # it is long where there are many links, and nobody reads it
    return as_json.document(done.result) | ({"report": str(done.page)} if done.page else {})


def _capture(file: Path | None, ports: list[str] | None, at: str, watch: bool) -> Any:
    """What is written for Wireshark, if anything."""
    from aqmlab.simulator.capture import Capture

    idle = file is None and bool(ports or at != "departure")
    _refuse(idle, "--pcap-port and --pcap-at say what a capture holds: give --pcap with a file")
    both = watch and file is not None
    _refuse(both, "--watch and --pcap exclude each other: give one of them")
    return Capture(file, tuple(ports or ()), at) if file is not None else None


def _say_all(remarks: Sequence[str]) -> None:
    for remark in remarks:
        terminal.say(" ".join(fitting(remark).split()))


def _refuse(wrong: bool, sentence: str) -> None:
    if wrong:
        raise SpecError(sentence)


@app.command("list")
def list_(
    kind: Annotated[
        str | None,
        typer.Argument(
            help="Only this kind: aqm, tcp, congestion, traffic, access, effects, measures, "
            "scores, scenario, studies or examples.",
            autocompletion=completion.kinds,
        ),
    ] = None,
    json: Json = False,
) -> None:
    """List queue disciplines, TCP profiles, congestion controls, traffic models, kinds of access,
    effects of a link, measures, scores, sections of a scenario, studies and examples."""
    from aqmlab.io import plain

    from . import reference

    found = reference.select(kind, whole=json)
    print_json(found) if json else reference.show_list(found, plain.paper())


@app.command()
def describe(
    name: Annotated[
        str,
        typer.Argument(
            help="A name that `aqmlab list` shows, a traffic model or a table (CSV).",
            autocompletion=completion.names,
        ),
    ],
    settings: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[FIELD=VALUE]...",
            help="Fields to set, e.g. profile=ns2; the file after `trace`.",
        ),
    ] = None,
    rate: Annotated[
        str, typer.Option(help="The line behind the queue, where defaults depend on it.")
    ] = "10 Mbit/s",
    json: Json = False,
    plot: Annotated[
        bool, typer.Option("--plot", help="Draw the distributions of a traffic model or a table.")
    ] = False,
    out: Annotated[
        Path | None,
        typer.Option(help="The picture, .svg or .png (default: the name or beside the table)."),
    ] = None,
    tc: Annotated[bool, typer.Option("--tc", help="The commands of Linux.")] = False,
    openwrt: Annotated[bool, typer.Option("--openwrt", help="The lines of OpenWrt.")] = False,
    freebsd: Annotated[bool, typer.Option("--freebsd", help="The commands of FreeBSD.")] = False,
    cisco: Annotated[bool, typer.Option("--cisco", help="The lines of Cisco IOS.")] = False,
    ns3: Annotated[bool, typer.Option("--ns3", help="The attributes of ns-3.")] = False,
    _trust: Trust = False,
) -> None:
    """Explain one of them: what it is, its fields, ranges, defaults and sources. `trace FILE` draws
    a recorded line.

    With fields set, the values that a queue discipline then uses. With --tc and its sisters the
    commands by which a real system has this queue; NAME may then be a scenario's queue
    (home.toml:link.0.reverse).
    """
    if out is not None and not plot:
        raise AqmlabError("--out names a picture: give --plot beside it")
    flags = {"tc": tc, "openwrt": openwrt, "freebsd": freebsd, "cisco": cisco, "ns3": ns3}
    if wanted := [target for target, given in flags.items() if given]:
        from . import translations

        translations.answer(name, settings or [], rate, wanted, json)
    else:
        from . import describing

        describing.answer(name, settings or (), rate, json, plot, out)


@app.command()
def study(
    name: Study,
    quick: Quick = True,
    part: Part = None,
    figure: Figure = None,
    aqm: Aqm = None,
    out: Out = None,
    json: Json = False,
    jobs: Jobs = None,
    fresh: Fresh = False,
    refresh: Refresh = False,
    set_: unknowns.Set = None,
    assume: unknowns.Assume = None,
    live: Live = False,
    on: On = None,
    _trust: Trust = False,
) -> None:
    """Repeat a published study (or all of them), or run an experiment, and write its report.

    Run the command again to continue where it was stopped.
    """
    from aqmlab.pipeline import registry

    if name == "list":
        if part or figure or out:
            raise SpecError("`study list` shows every study: leave out --part, --figure and --out")
        print_json(registry.names()) if json else registry.show(terminal.console())
        return
    every = name == registry.ALL
    changed = every and (set_ is not None or assume is not None)
    _refuse(changed, "--set and --assume are of one study: give its name in place of `all`")
    if live and (every or part or figure):
        raise SpecError("--live adds to the report of one study: leave out --part and --figure")
    from aqmlab.pipeline import command

    names = command.chosen(name, part, figure)
    given = {"aqm": aqm or ()}
    what = {"report": True, "quick": quick, "part": part, "figure": figure, "given": given}
    how = {"out": out, "within": every, "fresh": fresh, "refresh": refresh}
    with placed(jobs, on) as where:
        how |= unknowns.how(set_, assume, part)
        answers = [_carry_out(each, json, **what, **how, **where) for each in names]
    if live:
        from aqmlab.pipeline import live_study

        live_study.add_to(name, quick, out)
    if every:
        from aqmlab.report import index

        page = index.write(out or registry.RESULTS, answers)
        print(printable(str(page)), file=sys.stderr if json else sys.stdout)
    if json:
        print_json(answers if every else answers[0])


@app.command()
def claims(
    study: Annotated[
        list[str] | None,
        typer.Option(
            "--study",
            help="Only this study; may be repeated.",
            autocompletion=completion.studies,
        ),
    ] = None,
    run: Annotated[
        bool, typer.Option("--run", help="First run the quick study where there are no results.")
    ] = False,
    out: Annotated[
        Path | None, typer.Option(help="Results folder of the one study that is named.")
    ] = None,
    json: Json = False,
    jobs: Jobs = None,
    _trust: Trust = False,
) -> None:
    """Say of every published claim whether it holds here, with the evidence.

    Reads the results of `aqmlab study`, the full ones where there are some, else the quick ones.
    """
    from aqmlab.pipeline import command, registry

    from . import score_card as show

    rows = []
    for name in command.with_claims(study, out, run):
        if run and not registry.has_results(name, out):
            from aqmlab.infer import two_sets

            two_sets.carry_out(name, quick=True, report=True, out=out, jobs=jobs, refresh=True)
        rows += registry.score_card(name, out)
    if json:
        print_json(rows)
        return
    coloured = sys.stdout.isatty() and "NO_COLOR" not in os.environ
    for line in show.lines(list(map(_printable, rows)), coloured):
        print(line)


def _printable(row: Line) -> Line:
    shown = {key: printable(row[key]) for key in ("study", "id", "claim", "why")}
    return cast("Line", {**row, **shown})


@app.command()
def report(
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="A results folder.")],
) -> None:
    """Write report.html of a results folder; of a study, or of one that has it already, again."""
    from aqmlab.pipeline import run_folder
    from aqmlab.report import write

    if not folder.is_dir():
        raise AqmlabError(f"{folder}: no such folder; give a results folder")
    again = (folder / "result.json").exists() or not (folder / "manifest.json").exists()
    print(printable(str(write(folder) if again else run_folder.report(folder))))


def print_json(content: object) -> None:
    """One document, and nothing else, on standard output."""
    from . import as_json

    print(as_json.to_json(content))
