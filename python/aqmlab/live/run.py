"""Carries out one live run: its programs, its processes, and their results.

The command starts a supervisor and watches it. Only the supervisor makes namespaces and starts the
programs in them, which all end with it: to end a run is to end the supervisor. The kernel ends the
supervisor if the command ends. They pass data by unnamed files.
"""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Required, TypedDict, Unpack

from aqmlab.errors import AqmlabError
from aqmlab.simulator import engine
from aqmlab.simulator.capture import Capture
from aqmlab.simulator.engine import Cancelled, Outcome
from aqmlab.simulator.forms import Draft, Scenario

from . import raw
from .nameless import Nameless, appearing
from .ownership import caller

LOGGED = 500_000
"""Largest number of arrivals of each port that are replayed through the simulator after a run."""
_PATIENCE_S = 120.0
"""Seconds beyond its scenario's duration that a run may take before it is ended."""
_LOOK_S = 0.1


class LiveError(AqmlabError):
    """A live run is impossible, or has failed; the message is one sentence."""


@dataclass(frozen=True)
class Program:
    """A user's own program in a live run."""

    argv: Sequence[str]
    side: str = "clients"
    ends_run: bool = True
    """Whether the run ends with the program."""
    with_users: bool = True
    """Whether the scenario's users run as well."""


class More(TypedDict, total=False):
    """Optional settings of a program of a live run: the user whose rights it has, whether the run
    ends with it, and the files that it inherits."""

    identity: tuple[int, ...] | list[int] | None
    ends_run: bool
    tied: bool
    pair: int
    files: list[int]


class Part(More):
    """A program of a live run, for the supervisor; its errors go to a file or the terminal."""

    name: Required[str]
    side: Required[str]
    argv: Required[list[str]]
    errors: Required[str | None]


class Spec(TypedDict):
    """The specification of a live run for its supervisor."""

    scenario: Scenario
    holder: Part
    parts: list[Part]
    commands: list[Part]
    facts: list[str]
    pcap: str | None
    logged: int


@dataclass(frozen=True)
class How:
    """Options of live runs; calling the object runs a scenario live."""

    ipv6: bool = False
    pairs: int = 1
    """Number of programs of users on each side; more than one if one core is not enough."""
    program: Program | None = None
    servers: Sequence[Sequence[str]] = ()
    """Command lines of programs that are started on the servers' side before the run begins."""

    def __call__(
        self,
        scenario: Draft,
        progress: Callable[[float], bool] | None = None,
        capture: Capture | None = None,
    ) -> Outcome:
        """Runs a scenario live: like `engine.simulate`, but in real time.

        The summary has a group `live` in addition, which shows the limits of the run's validity.
        """
        kept = appearing(capture.path) if capture else contextlib.nullcontext((None, []))
        with Nameless() as files, kept as (draft, numbers):
            spec = self._spec(engine.check(scenario), files, draft)
            began = time.perf_counter()
            how = (progress or (lambda _: True), self.program is None)
            answer = _supervise(spec, files, numbers, *how)
        outcome = engine.outcome(answer)
        outcome.summary["live"] = json.loads(answer["live"])
        outcome.summary["wall_s"] = time.perf_counter() - began
        return outcome

    def _spec(self, scenario: Scenario, files: Nameless, capture: Path | None) -> Spec:
        users = self.program is None or self.program.with_users
        parts = _users(scenario, files, self) if users else []
        own: More = {"identity": caller()}
        parts += [_part(argv[0], "servers", argv, files, **own) for argv in self.servers]
        commands = []
        if self.program is not None:
            one = self.program
            own["ends_run"] = one.ends_run
            commands.append(_part(one.argv[0], one.side, one.argv, None, **own))
        return {
            "scenario": scenario,
            "holder": _part("holder", "clients", [*_PART, "hold"], files, tied=True),
            "parts": parts,
            "commands": commands,
            "facts": [str(files.path(f"{p['name']}.facts")) for p in parts if "pair" in p],
            "pcap": str(capture) if capture else None,
            "logged": LOGGED,
        }


def _users(scenario: Scenario, files: Nameless, how: How) -> list[Part]:
    """The programs that act as the scenario's users, for both sides."""
    parts = []
    for pair in range(how.pairs):
        for side in ("clients", "servers"):
            name = f"users-{side}-{pair}"
            task = {
                "scenario": scenario,
                "side": side,
                "pair": [pair, how.pairs],
                "ipv6": how.ipv6,
                "log": str(files.path(f"{name}.facts")),
            }
            files.path(f"{name}.json").write_text(json.dumps(task), "utf-8")
            argv = [*_PART, "users", str(files.path(f"{name}.json"))]
            given = [files.number(f"{name}.{kind}") for kind in ("json", "facts")]
            parts.append(_part(name, side, argv, files, pair=pair, files=given))
    return parts


_PART = (sys.executable, "-m", "aqmlab.live.part")


def _part(
    name: str, side: str, argv: Sequence[str], store: Nameless | None, **more: Unpack[More]
) -> Part:
    """A program for the supervisor; without a store of files its error output goes to the
    terminal."""
    errors = str(store.path(f"errors-{len(store.numbers)}")) if store else None
    return {"name": name, "side": side, "argv": list(argv), "errors": errors, **more}


def _supervise(
    spec: Spec,
    files: Nameless,
    numbers: Sequence[int],
    progress: Callable[[float], bool],
    alone: bool,
) -> Any:
    """Starts the supervisor, waits for it, and returns its result."""
    given, answer, said = (files.path(name) for name in ("spec", "answer", "supervisor.errors"))
    given.write_text(json.dumps(spec), "utf-8")
    duration = spec["scenario"].get("duration", "")
    duration_s = engine.quantity(duration, "time") if isinstance(duration, str) else duration
    with said.open("wb") as errors:
        quiet: dict[str, Any] = {"stdin": subprocess.DEVNULL, "stdout": subprocess.DEVNULL}
        # A user's own program uses the terminal, and gets its Ctrl-C.
        how = {**quiet, "stderr": errors, "start_new_session": True} if alone else {}
        how["pass_fds"] = [*files.numbers, *numbers]
        words = [*_PART, "run", str(given), str(answer)]
        process = subprocess.Popen(words, env=_environment(), **how)
        try:
            _watch(process, duration_s, progress, patient=not alone)
        finally:
            process.kill()
            process.wait()
    found = raw.read(answer)
    if "tables" not in found:
        last = said.read_text("utf-8", "replace").strip().splitlines()[-1:] if alone else []
        why = found.get("error") or " ".join(last) or f"it ended with {process.returncode}"
        raise LiveError(f"the live run failed: {why}")
    return found


def _environment() -> dict[str, str]:
    """The environment of a process that ends with this one (`end_with_parent` in crates/live)."""
    return {**os.environ, "AQMLAB_LIVE_PARENT": str(os.getpid())}


def _watch(
    process: subprocess.Popen[str],
    duration_s: float,
    progress: Callable[[float], bool],
    patient: bool,
) -> None:
    began = time.monotonic()
    while process.poll() is None:
        try:
            time.sleep(_LOOK_S)
        except KeyboardInterrupt:
            if patient:
                continue  # Ctrl-C is meant for the program in the foreground
            raise
        spent = time.monotonic() - began
        if not progress(min(spent, duration_s)):
            raise Cancelled
        if spent > duration_s + _PATIENCE_S:
            raise LiveError(
                f"the live run did not end {_PATIENCE_S:.0f} s after its time: it was ended"
            )


def check() -> dict[str, Any]:
    """The requirements of a live run, whether this machine meets each, and the machine's limits."""
    with Nameless() as files:
        answer = files.path("answer")
        how: dict[str, Any] = {"pass_fds": files.numbers, "env": _environment(), "timeout": 60.0}
        subprocess.run([*_PART, "check", str(answer)], check=False, **how)
        found = raw.read(answer)
    if "needs" not in found:
        raise LiveError(found.get("error") or "the check of this machine has failed")
    return found
