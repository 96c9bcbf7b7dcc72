"""The commands other than those for experiments: learn from a capture, open the tab, measure the
speed."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from aqmlab.errors import AqmlabError, SpecError
from aqmlab.io import terminal

from .commands import app, placed, print_json
from .options import Fresh, Jobs, Json, On, Out
from .trusting import Trust
from .typed import typed

if TYPE_CHECKING:
    from rich.console import Console


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
    from aqmlab.runs.progress import for_stream

    answer = learn.learn(
        capture, out=out, inside=inside or (), figures=figures, progress=for_stream()
    )
    if json:
        print_json(answer.document())
    else:
        show.answer(answer, terminal.console())


@app.command("from-tc")
def from_tc(
    output: Annotated[
        str,
        typer.Argument(
            help="What `tc -s -d qdisc show` printed, a file with it or /etc/config/sqm, or - to "
            "read it."
        ),
    ],
    rate: Annotated[
        str | None, typer.Option(help="The line's rate, where the output does not give it.")
    ] = None,
    dev: Annotated[
        str | None,
        typer.Option(help="The device whose queue is wanted (default: one that shapes)."),
    ] = None,
    out: Annotated[Path | None, typer.Option(help="The file (default: standard output).")] = None,
    json: Json = False,
) -> None:
    """Make a scenario of a queue that is in use, from what tc prints of it."""
    import sys

    from aqmlab.io.files import whole
    from aqmlab.targets import scenario

    text = sys.stdin.read() if output == "-" else _text_of(output)
    with typed({f'"{rate}" is not a rate': f"--rate {rate}"}):
        made, remarks = scenario.of_output(text, rate, dev)
    if json:
        print_json({"scenario": made, "remarks": remarks})
    elif out is None:
        print(scenario.text(made, remarks), end="")
    else:
        with whole(out) as draft:
            draft.write_text(scenario.text(made, remarks), encoding="utf-8")
        for remark in remarks:
            terminal.say(remark)
        print(terminal.printable(str(out)))


def _text_of(given: str) -> str:
    """The content of a file of this name, or the text itself."""
    is_name = "\n" not in given and len(given) < 1000
    if is_name and Path(given).is_file():
        return Path(given).read_text("utf-8", errors="replace")
    if is_name and not any(word in given for word in ("qdisc", "config queue", "sqm.")):
        raise SpecError(f"{given}: neither a file nor what tc prints, which begins with qdisc")
    return given


@app.command()
def lab(
    results: Annotated[
        Path,
        typer.Argument(
            help="The folder whose results are shown beside it, or a file (.toml) with a scenario "
            "that it opens."
        ),
    ] = Path("results"),
    port: Annotated[
        int, typer.Option(min=0, max=65535, help="Port on 127.0.0.1 (default: a free one).")
    ] = 0,
    browser: Annotated[
        bool, typer.Option("--browser/--no-browser", help="Open it in the browser.")
    ] = True,
    _trust: Trust = False,
) -> None:
    """Open the laboratory in a browser's tab: queues to watch and change, and results to look at.

    It is served on this machine only, until Ctrl-C. A scenario that it opens is run here first, and
    the page says whether its run has the same fingerprint. A congestion control of your own in C or
    Rust that it names must have been built for the tab (make wasm).
    """
    import webbrowser

    from aqmlab.lab import PAGE, link
    from aqmlab.lab.server import Laboratory

    opened, controls = "", []
    if results.suffix == ".toml":
        found, results = link.opened(results), Path("results")
        opened, controls = f"#{found.fragment}", found.controls
    elif results.exists() and not results.is_dir():
        raise SpecError(f"{results}: neither a folder of results nor a scenario (.toml): give one")
    try:
        with Laboratory(PAGE, results, port, controls) as server:
            address = f"{server.address}{opened}"
            print(address, flush=True)
            if browser:
                webbrowser.open(address)
            server.serve_forever()
    except OSError as error:
        raise AqmlabError(f"port {port} cannot be used ({error.strerror}): give another") from error
    except KeyboardInterrupt:
        return


@app.command()
def bench(
    scale: Annotated[
        bool, typer.Option("--scale", help="The cost of a packet over decades of sizes.")
    ] = False,
    instructions: Annotated[
        bool, typer.Option("--instructions", help="With --scale: count instead of time (valgrind).")
    ] = False,
    turns: Annotated[
        bool,
        typer.Option("--turns", help="With --scale: many users beside 3,000, in turns on a core."),
    ] = False,
    largest: Annotated[
        int, typer.Option(min=1, help="With --scale: the largest size that is run.")
    ] = 1_000_000,
    json: Json = False,
) -> None:
    """Measure the simulator's speed and memory on this machine."""
    from aqmlab.bench import scale as curves
    from aqmlab.bench import simulator as bench
    from aqmlab.bench import turns as pairs

    measured: object
    show: Callable[[Console], None]
    if scale and turns:
        measured = of_turns = pairs.measure(largest)
        show = partial(pairs.show, of_turns)
    elif scale:
        measured = of_curves = curves.measure(instructions, largest)
        show = partial(curves.show, of_curves)
    else:
        measured = of_all = bench.measure()
        show = partial(bench.show, of_all)
    if json:
        print_json(measured)
    else:
        show(terminal.console())


@app.command()
def infer(
    name: Annotated[
        str, typer.Argument(help="A study, or a folder with experiment.toml and infer.toml.")
    ],
    quick: Annotated[
        bool, typer.Option("--quick/--full", help="Few and short runs, or as many as it takes.")
    ] = True,
    waves: Annotated[int | None, typer.Option(min=1, help="Most waves.")] = None,
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
    keep: Annotated[
        bool,
        typer.Option(
            "--keep", help="Write the inferred set and the predictions into the study's folder."
        ),
    ] = False,
    on: On = None,
    _trust: Trust = False,
) -> None:
    """Find what a study does not say from its published numbers, and predict the others.

    Run the command again to continue where it was stopped.
    """
    from aqmlab.infer import command, verdicts
    from aqmlab.runs.progress import for_stream

    how = {"out": out, "waves": waves, "overrides": set_ or (), "fresh": fresh, "keep": keep}
    with placed(jobs, on) as where:
        described = command.carry_out(name, quick=quick, progress=for_stream(), **how, **where)
    if json:
        print_json(described)
        return
    for line in verdicts.headline(described):
        print(terminal.printable(line))
    print(terminal.printable(described.get("report", "")))


@app.command()
def schema(
    of: Annotated[
        str, typer.Argument(metavar="scenario|experiment|infer", help="Of which files.")
    ] = "scenario",
    path: Annotated[bool, typer.Option("--path", help="Print where the file lies.")] = False,
) -> None:
    """Print the JSON schema of scenario, experiment or infer files, for editors."""
    from . import schemas

    typer.echo(schemas.place(of) if path else schemas.text(of), nl=path)
