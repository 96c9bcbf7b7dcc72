"""`aqmlab break`: an adversary looks for the scenario in which a promise is broken."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from aqmlab.errors import Interrupted
from aqmlab.io import terminal
from aqmlab.io.terminal import printable

from .commands import app, print_json
from .options import Jobs, Json
from .trusting import Trust

if TYPE_CHECKING:
    from aqmlab.adversary.search import Tried


@app.command("break")
def break_(
    name: Annotated[
        str,
        typer.Argument(
            metavar="NAME|FILE[:CLASS]", help="A queue or congestion control, ours or your own."
        ),
    ],
    promise: Annotated[
        list[str] | None,
        typer.Option(
            help='What it promises: "p99 delay < 30 ms", "use > 0.5", "starvation > 0.1", '
            '"recovery < 50 round trips".'
        ),
    ] = None,
    fix: Annotated[
        str, typer.Option(help="What it must not change: outage,pulse,control=prague.")
    ] = "",
    trials: Annotated[int, typer.Option(min=24, help="Scenarios for each promise at most.")] = 600,
    seed: Annotated[int, typer.Option(help="Of the search.")] = 1,
    out: Annotated[
        Path | None, typer.Option(help="The file for the scenario (default: none).")
    ] = None,
    jobs: Jobs = None,
    json: Json = False,
    _trust: Trust = False,
) -> None:
    """Search for the smallest scenario in which a queue or control breaks what it promises."""
    from aqmlab.adversary import attack, finding

    say = (lambda _: None) if json else terminal.say
    searched: dict[str, int] = {}

    def progress(words: str, done: int, best: Tried) -> None:
        searched[words] = done
        value = "nothing" if best.value is None else f"{best.value:.4g}"
        say(f"{words}: {done} scenarios, at worst {value}")

    left = [one.strip() for one in fix.split(",") if one.strip()]
    results: list[dict[str, Any]] = []
    try:
        for result in attack.attack(name, promise or [], trials, seed, jobs, left, progress):
            if isinstance(result, finding.Finding):
                results.append(result.document())
                text = finding.lines(result)
                if out is not None:
                    place = _place(out, len(results))
                    finding.write(result, place)
                    text.append(f"  {place}")
            else:
                words, done = result
                results.append({"promise": words, "broken": False, "trials": done})
                text = [f'{name} keeps "{words}" in {done} scenarios']
            if not json:
                print("\n".join(map(printable, text)))
    except KeyboardInterrupt:
        if json:
            print_json(results)
        raise Interrupted(_partial(searched, len(results))) from None
    if json:
        print_json(results)


def _partial(searched: Mapping[str, int], ended: int) -> str:
    """The sentence of a stopped search: promises before the last one are answered, the last one is
    open."""
    before = f"; {ended} promise{'s are' if ended > 1 else ' is'} answered above" if ended else ""
    where = "the search had not ended"
    for words in list(searched)[ended:]:
        where = f'the search for "{words}" had not ended after {searched[words]} scenarios'
    return (
        f"stopped: {where} and says nothing yet{before}; "
        "nothing of it is kept: give the same command again, perhaps with fewer --trials"
    )


def _place(out: Path, number: int) -> Path:
    return out if number == 1 else out.with_stem(f"{out.stem}-{number}")
