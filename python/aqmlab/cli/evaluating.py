"""`aqmlab evaluate`: a score card of a queue or congestion control."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, cast

import typer

from aqmlab.errors import AqmlabError
from aqmlab.io import terminal
from aqmlab.io.terminal import printable

from .commands import app, print_json
from .options import Jobs, Json
from .trusting import Trust

if TYPE_CHECKING:
    from aqmlab.evaluate.evaluation import Card

SETS = ("train", "public", "held-out")


@app.command()
def evaluate(
    name: Annotated[
        str,
        typer.Argument(
            metavar="FILE[:CLASS]|NAME", help="A queue or congestion control of your own, or ours."
        ),
    ],
    sets: Annotated[
        str, typer.Option("--set", help="train, public, held-out, or several with commas.")
    ] = "train,public",
    seed: Annotated[
        int | None, typer.Option(help="Of the held-out set, which it adds: any number.")
    ] = None,
    size: Annotated[
        int | None, typer.Option(min=2, help="At most this number of scenarios of each set.")
    ] = None,
    laws: Annotated[bool, typer.Option("--laws/--no-laws", help="Check the laws first.")] = True,
    jobs: Jobs = None,
    json: Json = False,
    _trust: Trust = False,
) -> None:
    """Score a queue or congestion control over fixed scenarios, paired against the best of ours."""
    from aqmlab.evaluate import evaluation

    chosen = [one.strip() for one in sets.split(",") if one.strip()]
    if seed is not None and "held-out" not in chosen:
        chosen.append("held-out")
    for one in chosen:
        if one not in SETS:
            raise AqmlabError(f'there is no set "{one}": choose from {", ".join(SETS)}')
    notify = (lambda _: None) if json else terminal.say
    how: dict[str, Any] = {"seed": seed, "size": size, "jobs": jobs, "checked": laws}
    card = evaluation.evaluate(name, sets=chosen, notify=notify, **how)
    if json:
        print_json(card)
    else:
        for line in _lines(card):
            print(printable(line))
    if not card["valid"]:
        raise AqmlabError(f"{card['name']}: {_why_invalid(card)}")


def _why_invalid(card: Card) -> str:
    if card["laws"]:
        broken = ", ".join(row["name"] for row in card["laws"])
        return f"it breaks laws ({broken}), so its scores do not count: mend it"
    return (
        "its runs differ when they are repeated, so its scores do not count: use no clock, no file "
        "and no random number but those that are handed in"
    )


def _lines(card: Card) -> list[str]:
    lines = [f"{card['name']}, scenarios of version {card['version']}"]
    for name, one in card["sets"].items():
        lines.append(f"{name}: {one['scenarios']} scenarios, score {_spread(one['score'])}")
        lines += [f"  {grade:<10} {value:.3f}" for grade, value in one["grades"].items()]
        if one["failed"]:
            first = one["failed"][0]
            lines.append(f"  {len(one['failed'])} runs failed: {first['scenario']}: {first['why']}")
        for rival, beside in one["beside"].items():
            best = ", the best of ours" if rival == one["best_of_ours"] else ""
            lines.append(
                f"  less {rival}{best}: {_spread(beside['difference'], sign=True)}; better in "
                f"{beside['better_in']:.0%}"
            )
    return lines


def _spread(values: list[float | None], *, sign: bool = False) -> str:
    form = "+.4f" if sign else ".4f"
    mean, low, high = (format(cast(float, value), form) for value in values)
    return f"{mean} ({low} to {high})"
