"""`aqmlab advise`: a queue for one line."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from aqmlab.errors import SpecError
from aqmlab.io import terminal

from .commands import app, placed, print_json
from .options import Fresh, Jobs, Json, On
from .trusting import Trust
from .typed import typed

if TYPE_CHECKING:
    from rich.console import Console

    from aqmlab.advise.situation import Situation
    from aqmlab.report.advice import Answer, Shown


Rate = Annotated[
    str | None, typer.Option(metavar="DOWN[/UP]", help="The line's rates, e.g. 50/10Mbit/s.")
]
Access = Annotated[
    str | None, typer.Option(help="The kind of line (`aqmlab list access`): dsl, lte, …")
]
Users = Annotated[str, typer.Option(help="Who uses it: household, office or phone.")]
Objective = Annotated[
    str | None,
    typer.Option(
        help="What is wanted (docs/advice.md): terms, separated by commas (default: calls ok, "
        "pages fast, or what the users have)."
    ),
]
Scenario = Annotated[
    Path | None, typer.Option(help="In place of rate, access and users: a scenario (TOML).")
]
Pcap = Annotated[
    Path | None, typer.Option(help="In place of users: a capture of the line's traffic.")
]
Place = Annotated[
    str | None,
    typer.Option(help="Where the queue can be put: router (shapes before the line) or line."),
]
Both = Annotated[
    bool,
    typer.Option("--both", help="Of a scenario or capture: set the queues of both directions."),
]
Discipline = Annotated[
    list[str] | None,
    typer.Option(help="Race only this one, with its settings; may be repeated."),
]
Quick = Annotated[
    bool, typer.Option("--quick/--full", help="Fewer seeds: within two minutes at home.")
]
Engine = Annotated[
    str, typer.Option(help="race, or optuna: then search between the settings as well.")
]
Target = Annotated[
    list[str] | None,
    typer.Option(
        help="Commands for this system (tc, openwrt, …); may be repeated. What the first cannot "
        "run is not advised."
    ),
]
Device = Annotated[
    str, typer.Option("--dev", help="The router's device towards the line, such as eth0.")
]
OutFolder = Annotated[Path | None, typer.Option(help="Results folder (default: results/advice).")]


@app.command()
def advise(
    rate: Rate = None,
    access: Access = None,
    users: Users = "household",
    objective: Objective = None,
    scenario: Scenario = None,
    pcap: Pcap = None,
    place: Place = None,
    both: Both = False,
    discipline: Discipline = None,
    quick: Quick = True,
    seed: Annotated[int, typer.Option(min=0, help="The first seed.")] = 1,
    engine: Engine = "race",
    target: Target = None,
    dev: Device = "DEV",
    out: OutFolder = None,
    json: Json = False,
    jobs: Jobs = None,
    fresh: Fresh = False,
    on: On = None,
    _trust: Trust = False,
) -> None:
    """Advise a queue for a line: race disciplines for the objective, and print the commands to
    type.

    Run the command again to continue where it was stopped.
    """
    from aqmlab.advise import advice
    from aqmlab.runs.progress import for_stream
    from aqmlab.targets import TARGETS

    wanted = tuple(target or ("tc",))
    for name in wanted:
        if name not in TARGETS:
            raise SpecError(f'no system "{name}" (known: {", ".join(TARGETS)})')
    if not re.fullmatch(r"[\w.@-]{1,15}", dev):
        raise SpecError(
            f'"{terminal.printable(dev)}" is no name of a device: give one such as eth0 '
            "(`ip link` lists them)"
        )
    if engine not in ("race", "optuna"):
        raise SpecError(f'no engine "{engine}": give race or optuna')
    folder = out or Path("results") / "advice"
    wish = advice.Wish(
        _situation(rate, access, users, scenario, pcap, place, both, folder),
        objective,
        tuple(discipline or ()),
        advice.QUICK if quick else advice.FULL,
        seed,
        engine,
        commands=wanted,
        device=dev,
    )
    with placed(jobs, on) as where:
        answer = advice.advise(wish, out=folder, fresh=fresh, progress=for_stream(), **where)
    print_json(answer) if json else show(answer, terminal.console())


def _situation(
    rate: str | None,
    access: str | None,
    users: str,
    scenario: Path | None,
    pcap: Path | None,
    place: str | None,
    both: bool,
    folder: Path,
) -> Situation:
    """The line that is meant; it must be given in exactly one way."""
    from aqmlab.advise import situation

    ways = ("forward", "reverse") if both else ("forward",)
    described = {"rate": rate, "scenario": scenario, "pcap": pcap}
    given = [word for word, value in described.items() if value is not None]
    if given == ["rate"]:
        assert rate is not None
        words = {"rate": f"--rate {rate}", "reverse_rate": f"--rate {rate}"}
        words |= {"access": f"--access {access}"}
        with typed({f"link.0.{field}": option for field, option in words.items()}):
            return situation.of_words(rate, access, users, place)
    if scenario is not None and given == ["scenario"]:
        return situation.of_file(scenario, place, ways)
    if pcap is not None and "scenario" not in given:
        from aqmlab import learn
        from aqmlab.learn import command as learning

        folder.mkdir(parents=True, exist_ok=True)
        learned = learn.learn(pcap, out=folder.parent / f"{pcap.name}{learning.SUFFIX}")
        if learned.scenario is None:
            raise SpecError(f"{pcap} holds no connection to replay: give a longer capture")
        found = situation.of_file(learned.scenario, place, ways)
        return found if rate is None else situation.at_rate(found, rate, access)
    if len(given) > 1:
        both_given = " and ".join(f"--{word}" for word in given)
        raise SpecError(f"{both_given} say two lines: give one of them")
    raise SpecError("say which line: --rate 50/10Mbit/s, or --scenario FILE, or --pcap FILE")


def show(answer: Answer, console: Console) -> None:
    """The answer in short; the page has all of it."""
    from rich import box
    from rich.table import Table
    from rich.text import Text

    from aqmlab.report.advice import described

    console.print(Text.assemble("advised: ", (answer["advised"], "bold")))
    console.print(Text(f"for {answer['question']['line']}: {answer['question']['objective']}"))
    console.print(Text(answer["sentence"]))
    bare: Shown = {"scale": 1, "digits": 3}
    race = Table(
        title="score from 0 to 1, 95 % intervals", title_justify="left", box=box.SIMPLE_HEAD
    )
    for head in ("", "score", "behind the best", "", "seeds"):
        race.add_column(head, justify="left" if not head else "right")
    for place in answer["places"]:
        behind = described(place["behind"], bare) if place["final"] else ""
        name = ", ".join([place["name"], *place["also"]])
        score = described(place["score"], bare)
        race.add_row(name, score, behind, place["standing"], str(place["seeds"]))
    console.print(race)
    today = Table(title="what today's queue costs", title_justify="left", box=box.SIMPLE_HEAD)
    for head in ("", "today", "advised", "difference", ""):
        today.add_column(head, justify="right")
    for row in answer["present"]:
        numbers = (described(row[key], row) for key in ("today", "advised"))
        today.add_row(row["title"], *numbers, described(row["difference"], row, "+"), row["unit"])
    console.print(today)
    _show_dependence(answer, console)
    for target in answer["commands"]:
        _show_commands(target, answer["advised"], console)
    if "folder" in answer:
        console.print(Text(f"{answer['folder']}/report.html", "dim"))


def _show_dependence(answer: Answer, console: Console) -> None:
    """How the scores change with a setting, with the people and with the line."""
    from rich import box
    from rich.table import Table

    from aqmlab.report.advice import change

    if answer["parameters"]:
        title = f"{answer['discipline']} with one other setting"
        table = Table(title=title, title_justify="left", box=box.SIMPLE_HEAD)
        table.add_column("setting")
        table.add_column("score changes by", justify="right")
        for effect in answer["parameters"]:
            table.add_row(effect["what"], change(effect))
        console.print(table)
    if answer["surroundings"]:
        title = "scores if the people or the line are not as said"
        table = Table(title=title, title_justify="left", box=box.SIMPLE_HEAD)
        table.add_column("")
        for effect in answer["surroundings"][0]["effects"]:
            table.add_column(effect["candidate"], justify="right")
        for case in answer["surroundings"]:
            scores = (f"{effect['score']:.3f}" for effect in case["effects"])
            table.add_row(case["what"], *scores)
        console.print(table)


def _show_commands(target: Mapping[str, Any], advised: str, console: Console) -> None:
    """All that is typed at one system, with a comment before each block."""
    from rich.text import Text

    from aqmlab.targets import plan

    other = target["advised"] not in (None, advised)
    name = f"{target['target']}: {target['advised']}" if other else target["target"]
    console.print(Text(name, "bold"))
    for block in target["blocks"]:
        console.print(Text(f"# {block['for']}", "dim"), soft_wrap=True)
        for line in block["lines"]:
            console.print(Text(line), soft_wrap=True)
    if not target["blocks"] and not target["lost"]:
        console.print("nothing to type: today's queue stays")
    for sentence in target["lost"]:
        console.print(Text(f"- {sentence}"))
    for sentence in target["pitfalls"]:
        if sentence.startswith(plan.UNDO):
            console.print(Text(f"# {sentence}"), soft_wrap=True)
