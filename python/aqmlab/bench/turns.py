"""Measures the ratio of packets per CPU second with many users and with few: `aqmlab bench --scale
--turns`.

On a machine that others use too, two measurements minutes apart differ by a factor of two. So both
simulations are set up first, each in a process of its own, and then continue in turns of a quarter
of a second of CPU on one core. Other load on the machine thus slows both equally.
"""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, TypedDict

from aqmlab.errors import AqmlabError

from . import scale, simulator

if TYPE_CHECKING:
    from rich.console import Console

FEW = 3_000
"""Number of users in the smaller simulation."""
TURN_S = 0.25
"""CPU seconds for which one simulation runs before the other one continues."""
SKIPPED_S = 0.3
"""Simulated seconds of the larger simulation before measurements begin, while caches and the queue
fill."""
SIMULATED_S = 5.0
"""Simulated seconds of the larger simulation, with those before the measurements."""
STEP_PACKETS = 10_000
"""Packets between two readings of the CPU clock, approximately."""
BAR = 0.5
PROFILES = ("plain", "freebsd-2.2.8", "linux")

_PORT = "bottleneck.forward"
_CHILD = """
import json, sys, time
sys.path.insert(0, sys.argv[1])
from aqmlab import _core
world = _core.World(sys.stdin.readline())
step = float(sys.argv[2])
print(flush=True)
for turn in sys.stdin:
    began, packets, over, spent = time.process_time(), 0, False, 0
    while spent < float(turn) and not over:
        over, seen = world.advance(step, sys.argv[3])
        packets += seen[3]
        spent = time.process_time() - began
    print(json.dumps([packets / spent, world.now()[0], over]), flush=True)
"""


class _World:
    """A simulation of web users in a process of its own, which is set up and advances on
    command."""

    def __init__(self, users: int, profile: str, duration_s: float, core: int | None) -> None:
        self.name = f"{users:,} users, {profile}"
        scenario = {"duration": f"{duration_s} s", "seed": 1, **scale.web(users, profile)}
        step_s = STEP_PACKETS / (users * scale.DATA_PER_USER_S)
        package = str(Path(__file__).resolve().parents[1])
        self._child = subprocess.Popen(
            [sys.executable, "-c", _CHILD, package, str(step_s), _PORT],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        if core is not None:
            os.sched_setaffinity(self._child.pid, {core})
        try:
            self._ask(json.dumps({"name": self.name, **scenario}))
        except AqmlabError:
            self.__exit__()
            raise

    def _ask(self, line: str) -> str:
        assert self._child.stdin is not None and self._child.stdout is not None
        self._child.stdin.write(line + "\n")
        self._child.stdin.flush()
        answer = self._child.stdout.readline()
        if not answer:
            assert self._child.stderr is not None
            reason = (self._child.stderr.read().strip().splitlines() or ["no message"])[-1]
            raise AqmlabError(f"benchmark {self.name} failed ({reason}): check the build")
        return answer

    def turn(self) -> tuple[float, float, bool]:
        """Simulates for one turn: packets per CPU second, simulated time in s, whether the run has
        ended."""
        packets_per_s, now_s, over = json.loads(self._ask(str(TURN_S)))
        return packets_per_s, now_s, over

    def __enter__(self) -> _World:
        return self

    def __exit__(self, *_: object) -> None:
        self._child.kill()
        self._child.communicate()


def _rounds(profile: str, many: int) -> Iterator[tuple[float, float]]:
    """Yields for each pair of turns the packets per CPU second of the simulation with `FEW` users
    and of that with `many`."""
    core = max(os.sched_getaffinity(0)) if hasattr(os, "sched_setaffinity") else None
    # The smaller simulation must not end first. In equal CPU time it covers about many/FEW times as
    # much simulated time as the larger one, or more if its packets cost less: hence the factor 100.
    endless = 100 * SIMULATED_S * many / FEW
    with (
        _World(FEW, profile, endless, core) as small,
        _World(many, profile, SIMULATED_S, core) as large,
    ):
        small.turn()
        over = False
        while not over:
            few, _, _ = small.turn()
            packets_per_s, now_s, over = large.turn()
            if now_s > SKIPPED_S and not over:
                yield few, packets_per_s


class Compared(TypedDict):
    """The comparison of few and many users: the packets per CPU second of both, and the ratio of
    many to few users, as median and quartiles over the pairs of turns."""

    packets_per_s: dict[str, float]
    turns: int
    ratio: float
    quartiles: list[float]
    within_bar: bool


class OfProfile(Compared):
    """The comparison of few and many users whose end systems have one TCP profile."""

    profile: str


class Turns(TypedDict):
    """The document of `aqmlab bench --scale --turns --json`."""

    few: int
    many: int
    profiles: list[OfProfile]
    bar: float
    machine: str


def measure(many: int) -> Turns:
    """Measures `many` users and 3,000 in turn; the document of `aqmlab bench --scale --turns
    --json`."""
    if many <= FEW:
        raise AqmlabError(f"--largest {many} is no more than {FEW} users: give a larger one")
    return {
        "few": FEW,
        "many": many,
        "profiles": [{"profile": profile, **_compare(profile, many)} for profile in PROFILES],
        "bar": BAR,
        "machine": simulator.machine(),
    }


def _compare(profile: str, many: int) -> Compared:
    rounds = list(_rounds(profile, many))
    if len(rounds) < 2:
        raise AqmlabError(f"{many} users were simulated in a turn or two: give a larger --largest")
    ratios = [large / small for small, large in rounds]
    quarter, ratio, three_quarters = statistics.quantiles(ratios, n=4)
    return {
        "packets_per_s": {"few": statistics.median(few for few, _ in rounds)}
        | {"many": statistics.median(many for _, many in rounds)},
        "turns": len(rounds),
        "ratio": ratio,
        "quartiles": [quarter, three_quarters],
        "within_bar": ratio >= BAR,
    }


def show(measured: Turns, console: Console) -> None:
    """Prints the measurements, also for `docs/performance.md`: a table in Markdown."""
    from rich import box
    from rich.table import Table

    table = Table(box=box.MARKDOWN)
    titles = (f"{measured[of]:,} users, packets/s" for of in ("few", "many"))
    for title in ("end systems", *titles, "ratio (quartiles of the turns)", "bar", ""):
        table.add_column(title, justify="right")
    for row in measured["profiles"]:
        low, high = row["quartiles"]
        table.add_row(
            row["profile"],
            *(f"{rate:,.0f}" for rate in row["packets_per_s"].values()),
            f"{row['ratio']:.2f} ({low:.2f}, {high:.2f})",
            f"{measured['bar']}",
            "ok" if row["within_bar"] else "below the bar",
        )
    console.print(table)
    console.print(f"in turns of {TURN_S} s of CPU on one core; {measured['machine']}")
