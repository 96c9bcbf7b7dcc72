"""The commands of live runs."""

from __future__ import annotations

import os
import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypedDict

import typer

from aqmlab.errors import SpecError
from aqmlab.io import terminal

from .commands import print_json
from .options import Fresh, Json, Out
from .tools import app
from .trusting import Trust

if TYPE_CHECKING:
    from aqmlab.experiment.experiment import Experiment
    from aqmlab.live.run import How

Servers = Annotated[
    list[str] | None,
    typer.Option(
        "--server",
        metavar="COMMAND",
        help='A program on the servers\' side, there before the run begins ("iperf3 -s").',
    ),
]
IPv6 = Annotated[bool, typer.Option("--ipv6", help="IPv6 instead of IPv4.")]
Set = Annotated[
    list[str] | None,
    typer.Option("--set", metavar="PATH=VALUE", help="Change a field, by its dotted path."),
]


@app.command()
def live(
    scenario: Annotated[
        Path | None, typer.Argument(help="A scenario (.toml); none with --check.")
    ] = None,
    command: Annotated[
        list[str] | None,
        typer.Argument(metavar="[-- COMMAND ...]", help="A program to run behind the link."),
    ] = None,
    set_: Set = None,
    seed: Annotated[int | None, typer.Option(min=0, help="Run once, with this seed.")] = None,
    seeds: Annotated[
        int | None, typer.Option(min=1, help="Run this many replications, one after the other.")
    ] = None,
    out: Out = None,
    json: Json = False,
    fresh: Fresh = False,
    pcap: Annotated[
        Path | None, typer.Option(help="Write what leaves the link, for Wireshark (.pcap).")
    ] = None,
    report: Annotated[
        bool, typer.Option("--report", help="Also write a report with tables and figures.")
    ] = False,
    ipv6: IPv6 = False,
    programs: Annotated[
        int, typer.Option(min=1, max=64, help="Programs of users on each side, for more cores.")
    ] = 1,
    alone: Annotated[
        bool, typer.Option("--alone", help="COMMAND without the scenario's users beside it.")
    ] = False,
    servers: Servers = None,
    check: Annotated[
        bool, typer.Option("--check", help="Say what a live run needs and finds here.")
    ] = False,
    _trust: Trust = False,
) -> None:
    """Run a scenario on real TCP stacks, in network namespaces of its own, in real time.

    The queues are the simulator's, the packets the Linux kernel's. With -- COMMAND any program runs
    behind the link, and the run ends with it.
    """
    from aqmlab.live.run import How, Program

    if check:
        _check(json)
        return
    if scenario is None:
        raise SpecError("give a scenario, or --check to see what a live run needs")
    program = Program(tuple(command), with_users=not alone) if command else None
    how = How(
        ipv6=ipv6,
        pairs=programs,
        program=program,
        servers=[shlex.split(words) for words in servers or ()],
    )
    given = {"overrides": set_ or (), "seed": seed, "seeds": seeds}
    _run(scenario, how, given, json, out, fresh, pcap, report)


@app.command()
def shell(
    scenario: Annotated[Path, typer.Argument(help="A scenario (.toml).")],
    side: Annotated[str, typer.Option(help="clients or servers.")] = "clients",
    users: Annotated[
        bool, typer.Option("--users", help="With the scenario's users beside it.")
    ] = False,
    set_: Set = None,
    servers: Servers = None,
    out: Out = None,
    _trust: Trust = False,
) -> None:
    """Open a shell behind the link of a scenario; the link is there as long as the shell.

    Machines of the clients' side are 10.0.0.1 and on, of the servers' side 10.128.0.1 and on.
    """
    from aqmlab.experiment.experiment import load
    from aqmlab.live.run import How, Program

    if side not in ("clients", "servers"):
        raise SpecError(f'--side "{side}" is none: give clients or servers')
    program = Program((os.environ.get("SHELL", "/bin/sh"),), side=side, with_users=users)
    how = How(program=program, servers=[shlex.split(words) for words in servers or ()])
    given = {"overrides": set_ or (), "seeds": 1}
    if several := _several(load(str(scenario), **given)):
        terminal.say(several)
    _run(scenario, how, given, json=False, out=out)


def _several(experiment: Experiment) -> str | None:
    """A sentence if a sweep has several variants: a shell is opened for each of them."""
    axes = [axis for group in experiment.group for axis in group.axes]
    if all(len(axis.variants) == 1 for axis in axes):
        return None
    names = " x ".join(", ".join(one.name for one in axis.variants) for axis in axes)
    return (
        f"a shell opens for each variant in turn ({names}), the next when one ends: "
        "a scenario without a sweep has one"
    )


def _run(
    scenario: Path,
    how: How,
    given: dict[str, Any],
    json: bool,
    out: Path | None = None,
    fresh: bool = False,
    pcap: Path | None = None,
    report: bool = False,
) -> None:
    """Runs it, and says what came out: as of a simulated run, then how far it can be believed."""
    from aqmlab.experiment.experiment import load
    from aqmlab.live.ownership import given_to_caller
    from aqmlab.pipeline import command, registry
    from aqmlab.runs.progress import Progress, for_stream
    from aqmlab.simulator.capture import Capture

    from . import as_json, show

    if out is None:
        usual = registry.default_folder(load(str(scenario), **given).name, False)
        out = usual.with_name(f"{usual.name}-live")
    with given_to_caller(out, *([pcap] if pcap else [])):
        done = command.carry_out(
            str(scenario),
            given=given,
            out=out,
            fresh=fresh or how.program is not None,
            report=report,
            capture=Capture(pcap) if pcap else None,
            progress=Progress() if how.program else for_stream(),
            jobs=1,
            simulate=how,
        )
    assert done.result is not None
    if json:
        print_json(as_json.document(done.result))
        return
    show.result(done.result, terminal.console())
    for run in done.result.runs:
        _account(run.summary["live"])
    if done.page:
        command.notify(done)


class Scheduling(TypedDict):
    """How the router was scheduled; `refused` says why not in real time."""

    real_time: int | None
    refused: str | None
    locked_memory: bool


class Account(TypedDict):
    """How far a live run can be believed (docs/live.md)."""

    lateness_p50_s: float
    lateness_p99_s: float
    lateness_max_s: float
    packets: int
    cpu_share: float
    users_cpu_share: dict[str, float | None]
    scheduling: Scheduling
    dropped_elsewhere: int
    replayed: int
    missing: list[str]
    flags: list[str]
    commands: list[dict[str, Any]]


def _account(live: Account) -> None:
    late = (live["lateness_p50_s"], live["lateness_p99_s"], live["lateness_max_s"])
    p50, p99, most = (1e3 * seconds for seconds in late)
    terminal.say(
        f"router: {live['packets']} packets, late by {p50:.3f} ms (median), "
        f"{p99:.3f} ms (p99), {most:.2f} ms (most), "
        f"{100 * live['cpu_share']:.0f} % of a core{_users_share(live)}, "
        f"{_precedence(live['scheduling'])}; "
        f"{live['dropped_elsewhere']} packets lost but in queues; "
        f"{live['replayed']} decisions replayed by the simulator"
    )
    for sentence in (*live["missing"], *live["flags"]):
        terminal.say(f"note: {sentence}")
    for command in live["commands"]:
        if command["code"]:
            terminal.say(f"note: {command['name']} ended with exit code {command['code']}")


def _users_share(live: Account) -> str:
    """What users' programs took; nothing where there were none."""
    shares = [share for share in live["users_cpu_share"].values() if share is not None]
    said = " and ".join(f"{100 * share:.1f} %" for share in shares)
    return f" (users {said})" if said else ""


def _precedence(scheduling: Scheduling) -> str:
    """The router's scheduling priority in words: with real-time priority other programs do not
    delay it."""
    if scheduling["real_time"] is None:
        return f"ordinary scheduling (real-time: {scheduling['refused']})"
    locked = "locked" if scheduling["locked_memory"] else "not locked"
    return f"real-time priority {scheduling['real_time']}, memory {locked}"


def _check(json: bool) -> None:
    """What a live run needs, a line each, and the machine's limits."""
    from aqmlab.live import run as live_run

    found = live_run.check()
    if json:
        print_json(found)
        return
    for need in found["needs"]:
        print(f"{'ok     ' if need['ok'] else 'MISSING'} {need['name']}: {need['found']}")
    limits = found["limits"]
    if limits["packets_per_s"]:
        print(f"limit   {limits['packets_per_s'] / 1e3:.0f} thousand packets a second each way")
    late = (1e6 * limits[f"lateness_{name}_s"] for name in ("p50", "p99", "max"))
    print(
        "limit   the timer is late by {:.0f} us (median), {:.0f} (p99), {:.0f} (most)".format(*late)
    )
