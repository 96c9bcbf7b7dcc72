"""The commands beside experiments: learn from a capture, open the tab, measure the speed."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from aqmlab.errors import AqmlabError
from aqmlab.io import terminal

from .commands import Json, app, print_json


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
        typer.Argument(help="What `tc -s -d qdisc show` printed, a file with it, or - to read it."),
    ],
    rate: Annotated[
        str | None, typer.Option(help="The line's rate, where the output does not tell it.")
    ] = None,
    out: Annotated[Path | None, typer.Option(help="The file (default: standard output).")] = None,
    json: Json = False,
) -> None:
    """Make a scenario of a queue that is in use, from what tc prints of it."""
    import sys

    from aqmlab.io.files import whole
    from aqmlab.targets import scenario

    text = sys.stdin.read() if output == "-" else output
    if "\n" not in text and len(text) < 1000 and "qdisc" not in text:
        text = Path(text).read_text("utf-8")
    made, remarks = scenario.of_output(text, rate)
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


@app.command()
def lab(
    results: Annotated[
        Path, typer.Argument(help="The folder whose results are shown beside it.")
    ] = Path("results"),
    port: Annotated[
        int, typer.Option(min=0, max=65535, help="Port on 127.0.0.1 (default: a free one).")
    ] = 0,
    browser: Annotated[
        bool, typer.Option("--browser/--no-browser", help="Open it in the browser.")
    ] = True,
) -> None:
    """Open the laboratory in a browser's tab: queues to watch and change, and results to look at.

    It is served on this machine only, until Ctrl-C.
    """
    import webbrowser

    from aqmlab.lab import PAGE
    from aqmlab.lab.server import Laboratory

    try:
        with Laboratory(PAGE, results, port) as server:
            print(server.address, flush=True)
            if browser:
                webbrowser.open(server.address)
            server.serve_forever()
    except OSError as error:
        raise AqmlabError(f"port {port} cannot be used ({error.strerror}): give another") from error
    except KeyboardInterrupt:
        return


@app.command()
def bench(json: Json = False) -> None:
    """Measure the simulator's speed and memory on this machine."""
    from aqmlab.bench import simulator as bench

    measured = bench.measure()
    if json:
        print_json(measured)
    else:
        bench.show(measured, terminal.console())
