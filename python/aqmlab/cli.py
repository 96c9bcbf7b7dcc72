"""The command `aqmlab`."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Annotated, Any

import typer
from typer.exceptions import TyperException

from aqmlab.errors import AqmlabError, Interrupted, SpecError

app = typer.Typer(
    name="aqmlab",
    help="A laboratory for active queue management: queues, TCP and web users, simulated fast.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)

Json = Annotated[bool, typer.Option("--json", help="Print one JSON document and nothing else.")]
Jobs = Annotated[int | None, typer.Option(min=1, help="Runs at a time (default: all cores).")]
Fresh = Annotated[bool, typer.Option("--fresh", help="Discard what the folder holds.")]
Out = Annotated[Path | None, typer.Option(help="Results folder (default: results/<name>).")]


@app.command()
def run(
    scenario: Annotated[Path, typer.Argument(help="A scenario or an experiment (TOML).")],
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
) -> None:
    """Run a scenario; with --seeds or a sweep, many of them on all cores.

    The same command again continues where it was stopped.
    """
    from aqmlab import runner, show, spec
    from aqmlab.capture import Capture
    from aqmlab.progress import for_stream

    if seed is not None and seeds is not None:
        raise SpecError("--seed and --seeds exclude each other: give one of them")
    if pcap is None and (pcap_port or pcap_at != "departure"):
        raise SpecError(
            "--pcap-port and --pcap-at say what a capture holds: give --pcap with a file"
        )
    capture = Capture(pcap, tuple(pcap_port or ()), pcap_at) if pcap is not None else None
    experiment = spec.load(scenario, overrides=set_ or (), seed=seed, seeds=seeds)
    folder = out if out is not None else runner.default_folder(experiment)
    result = runner.run_experiment(
        experiment, out=folder, fresh=fresh, jobs=jobs, progress=for_stream(), capture=capture
    )
    if json:
        _print_json(show.document(result))
    else:
        show.result(result, _console())


@app.command("list")
def list_(
    kind: Annotated[
        str | None,
        typer.Argument(help="Only this kind: aqm, tcp, traffic, scenario or studies."),
    ] = None,
    json: Json = False,
) -> None:
    """List queue disciplines, TCP profiles and congestion controls, traffic models, sections of a
    scenario and studies."""
    from aqmlab import reference

    found = reference.select(kind)
    if json:
        _print_json(found)
    else:
        reference.show_list(found, _console())


@app.command()
def describe(
    name: Annotated[
        str,
        typer.Argument(help="A name that `aqmlab list` shows, a traffic model or a table (CSV)."),
    ],
    settings: Annotated[
        list[str] | None,
        typer.Argument(metavar="[FIELD=VALUE]...", help="Fields to set, e.g. profile=ns2."),
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
) -> None:
    """Explain one of them: what it is, its fields, ranges, defaults and sources.

    With fields set, the values that a queue discipline then uses.
    """
    from aqmlab import distributions, reference

    if out is not None and not plot:
        raise AqmlabError("--out names a picture: give --plot beside it")
    table = Path(name) if name.endswith(distributions.SUFFIX) else None
    if table is None:
        entry = reference.described(name, settings or (), rate)
    else:
        entry = {"name": name, "kind": "table"}
    variables = distributions.of_file(table) if table else distributions.of_entry(entry)
    if plot and not variables:
        raise AqmlabError(
            f"{name} draws from no distribution: give a traffic model such as mah, or a table (CSV)"
        )
    if json:
        described = {**entry, "variables": variables} if variables else entry
        _print_json(described)
    else:
        reference.show_entry(entry, _console())
        if variables:
            distributions.show(variables, _console())
    if plot:
        stem = table.with_suffix("") if table else Path(name.rpartition("/")[2])
        path = distributions.plot(variables, name, out or stem.with_name(f"{stem.name}.svg"))
        print(path, file=sys.stderr if json else sys.stdout)


@app.command()
def study(
    name: Annotated[
        str,
        typer.Argument(help="A name that `aqmlab study list` shows; all; list: show their parts."),
    ],
    quick: Annotated[
        bool, typer.Option("--quick/--full", help="Two minutes, or the paper's run lengths.")
    ] = True,
    part: Annotated[
        list[str] | None, typer.Option("--part", help="Only this part; may be repeated.")
    ] = None,
    figure: Annotated[
        str | None, typer.Option("--figure", help="Only what this figure needs, and the figure.")
    ] = None,
    out: Out = None,
    json: Json = False,
    jobs: Jobs = None,
    fresh: Fresh = False,
    refresh: Annotated[
        bool, typer.Option("--refresh", help="Discard the folder only if another version wrote it.")
    ] = False,
) -> None:
    """Repeat a published study (or all of them) and write its report.

    The same command again continues where it was stopped.
    """
    from aqmlab.studies import registry

    if name == "list":
        if part or figure or out:
            raise SpecError("`study list` shows every study: leave out --part, --figure and --out")
        if json:
            _print_json(registry.names())
        else:
            registry.show(_console())
        return
    if figure is not None and (part or name == registry.ALL):
        raise SpecError("--figure draws one figure of one study: leave out --part and `all`")
    chosen = registry.STUDIES if name == registry.ALL else (name,)
    # Before anything is discarded.
    for each in chosen:
        registry.check_parts(each, part if name != registry.ALL else None)
    if name == registry.ALL and part:
        raise SpecError("--part names a part of one study: give its name in place of `all`")
    answers = []
    for each in chosen:
        folder = _study_folder(each, quick, out, within=name == registry.ALL)
        answer = _study(each, quick, part, figure, folder, jobs, fresh, refresh)
        answers.append(answer)
        if not json:
            _print_study(answer, folder)
    if name == registry.ALL:
        from aqmlab.report import index

        print(
            index.write(out or registry.RESULTS, answers), file=sys.stderr if json else sys.stdout
        )
    if json:
        _print_json(answers if name == registry.ALL else answers[0])


def _study_folder(name: str, quick: bool, out: Path | None, *, within: bool) -> Path:
    """Where a study goes; all of them go into folders of their own within the one given."""
    from aqmlab.studies import registry

    usual = registry.default_folder(name, quick)
    if out is None:
        return usual
    return out / usual.name if within else out


def _study(
    name: str,
    quick: bool,
    part: list[str] | None,
    figure: str | None,
    folder: Path,
    jobs: int | None,
    fresh: bool,
    refresh: bool,
) -> dict[str, Any]:
    from aqmlab.progress import for_stream
    from aqmlab.store import Store
    from aqmlab.studies import registry

    if fresh or (refresh and Store.is_stale(folder)):
        Store.open(folder, fresh=True)
    usual: dict[str, Any] = {
        "quick": quick,
        "out": folder,
        "progress": for_stream(),
        "jobs": jobs,
    }
    try:
        if figure is not None:
            return {"figure": str(registry.draw(name, figure, **usual))}
        return registry.run(name, parts=part or None, **usual)
    except KeyboardInterrupt:
        raise Interrupted(
            f"stopped: finished runs are kept in {folder}, give the same command again to resume"
        ) from None


@app.command()
def claims(
    study: Annotated[
        list[str] | None, typer.Option("--study", help="Only this study; may be repeated.")
    ] = None,
    run: Annotated[
        bool, typer.Option("--run", help="First run the quick study where there are no results.")
    ] = False,
    out: Annotated[
        Path | None, typer.Option(help="Results folder of the one study that is named.")
    ] = None,
    json: Json = False,
    jobs: Jobs = None,
) -> None:
    """Say of every published claim whether it holds here, with the evidence.

    Reads the results of `aqmlab study`, the full ones where there are some, else the quick ones.
    """
    from aqmlab.studies import registry
    from aqmlab.studies.claims import show

    chosen = study or list(registry.STUDIES)
    if out is not None and len(chosen) != 1:
        raise SpecError("--out is the folder of one study: name it with --study")
    if out is not None and not run and not (out / "result.json").is_file():
        raise AqmlabError(
            f"{out} has no result.json: give a folder in which `aqmlab study` has finished, "
            "or --run"
        )
    rows = []
    for name in chosen:
        if run and not registry.has_results(name, out):
            folder = out or registry.default_folder(name, True)
            _study(name, True, None, None, folder, jobs, False, True)
        rows += registry.score_card(name, out)
    if json:
        _print_json(rows)
    else:
        show.score_card(rows, _console())


@app.command()
def learn(
    capture: Annotated[Path, typer.Argument(help="A packet capture: pcap, pcapng, also as .gz.")],
    out: Annotated[
        Path | None,
        typer.Option(help="The model (default: beside the capture, <name>.traffic.jsonl)."),
    ] = None,
    inside: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NETWORK",
            help="Addresses of one side of the link, e.g. 10.0.0.0/8; may be repeated.",
        ),
    ] = None,
    figures: Annotated[
        bool, typer.Option("--figures", help="Also write a page that shows what was seen.")
    ] = False,
    json: Json = False,
) -> None:
    """Learn a traffic model from a packet capture, and write a scenario that replays it.

    No address and no payload gets into the model.
    """
    from aqmlab import learn
    from aqmlab.learn import show
    from aqmlab.progress import for_stream

    answer = learn.learn(
        capture, out=out, inside=inside or (), figures=figures, progress=for_stream()
    )
    if json:
        _print_json(answer.document())
    else:
        show.answer(answer, _console())


@app.command()
def report(
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="A results folder of a study.")],
) -> None:
    """Write report.html from a study's results folder again."""
    from aqmlab.report import write

    if not folder.is_dir():
        raise AqmlabError(f"{folder}: no such folder; give a results folder of `aqmlab study`")
    print(write(folder))


@app.command()
def bench(json: Json = False) -> None:
    """Measure the simulator's speed and memory on this machine."""
    from aqmlab import bench

    measured = bench.measure()
    if json:
        _print_json(measured)
    else:
        bench.show(measured, _console())


def _print_study(answer: dict[str, Any], folder: Path) -> None:
    for line in answer.get("lines", []):
        print(line)
    print(answer.get("figure") or answer.get("report", folder / "report.html"))


def _console() -> Any:
    from rich.console import Console

    # A file or a pipe is not cut off at 80 columns.
    width = None if sys.stdout.isatty() or "COLUMNS" in os.environ else 160
    # What is printed is text of users and of the catalogue: brackets and colons are meant.
    return Console(highlight=False, markup=False, emoji=False, width=width)


def _print_json(content: Any) -> None:
    from aqmlab import show

    print(show.to_json(content))


def main(arguments: list[str] | None = None) -> None:
    """Runs the command; mistakes are one line on standard error and a non-zero exit code."""
    sys.exit(_code(sys.argv[1:] if arguments is None else arguments))


def _code(arguments: list[str]) -> int:
    try:
        code = app(args=arguments, prog_name="aqmlab", standalone_mode=False)
        sys.stdout.flush()
        return code if isinstance(code, int) else 0
    except AqmlabError as error:
        return _complain(str(error), error.exit_code)
    except TyperException as error:
        hint = "`aqmlab --help` shows what there is"
        return _complain(f"{error.format_message().rstrip('.')}; {hint}", 2)
    except (KeyboardInterrupt, typer.Abort):
        return _complain("stopped", 130)
    except (BrokenPipeError, SystemExit):
        # The reader (`head`) has gone: typer and rich then want to exit. Keep Python from
        # complaining about it at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 141


def _complain(message: str, code: int) -> int:
    print("aqmlab:", " ".join(message.split()), file=sys.stderr)
    return code
