"""One live run: its programs, its processes, and what they hand out.

The command starts a supervisor and watches it. The supervisor alone makes namespaces and starts
what runs in them, and all of them end with it: to end a run is to end the supervisor.
"""

from __future__ import annotations

import contextlib
import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from aqmlab.errors import AqmlabError
from aqmlab.io import files
from aqmlab.simulator import engine
from aqmlab.simulator.capture import Capture
from aqmlab.simulator.engine import Cancelled, Outcome, Scenario

from . import raw
from .ownership import caller, given_to_caller

LOGGED = 500_000
"""Arrivals of each port that are replayed through the simulator after a run."""
_PATIENCE_S = 120.0
"""How much longer than its scenario a run may take before it is ended."""
_LOOK_S = 0.1


class LiveError(AqmlabError):
    """A live run cannot be, or has failed: one sentence."""


@dataclass(frozen=True)
class Program:
    """A program of the user's own."""

    argv: Sequence[str]
    side: str = "clients"
    ends_run: bool = True
    """Whether the run is over when it ends."""
    with_users: bool = True
    """Whether the scenario's users run as well."""


@dataclass(frozen=True)
class How:
    """How a scenario is run live."""

    ipv6: bool = False
    pairs: int = 1
    """Programs of users on each side; more than one where a core is not enough."""
    program: Program | None = None
    servers: Sequence[Sequence[str]] = ()
    """Programs on the servers' side that are there before the run begins."""

    def __call__(
        self,
        scenario: Scenario,
        progress: Callable[[float], bool] | None = None,
        capture: Capture | None = None,
    ) -> Outcome:
        """Runs a scenario live: what `engine.simulate` does in simulated time, in real time.

        The summary has a group `live` in addition: how far the run can be believed.
        """
        kept = files.whole(capture.path.absolute()) if capture else contextlib.nullcontext()
        with tempfile.TemporaryDirectory(prefix="aqmlab-live-") as name, kept as draft:
            folder = Path(name)
            with given_to_caller(folder):
                pass  # its programs write into it
            spec = self._spec(engine.check(scenario), folder, draft)
            began = time.perf_counter()
            answer = _supervise(spec, folder, progress or (lambda _: True), self.program is None)
        outcome = engine.outcome(answer)
        outcome.summary["live"] = json.loads(answer["live"])
        outcome.summary["wall_s"] = time.perf_counter() - began
        return outcome

    def _spec(self, scenario: Any, folder: Path, capture: Path | None) -> dict[str, Any]:
        users = self.program is None or self.program.with_users
        parts = _users(scenario, folder, self) if users else []
        own: dict[str, Any] = {"identity": caller()}
        parts += [_part(argv[0], "servers", argv, folder, **own) for argv in self.servers]
        commands = []
        if self.program is not None:
            one = self.program
            own["ends_run"] = one.ends_run
            commands.append(_part(one.argv[0], one.side, one.argv, None, **own))
        return {
            "scenario": scenario,
            "holder": _part("holder", "clients", [*_PART, "hold"], folder),
            "parts": parts,
            "commands": commands,
            "facts": [str(folder / f"{part['name']}.facts") for part in parts if "pair" in part],
            "pcap": str(capture) if capture else None,
            "logged": LOGGED,
        }


def _users(scenario: Any, folder: Path, how: How) -> list[dict[str, Any]]:
    """The programs of users of both sides."""
    parts = []
    for pair in range(how.pairs):
        for side in ("clients", "servers"):
            name = f"users-{side}-{pair}"
            task = {
                "scenario": scenario,
                "side": side,
                "pair": [pair, how.pairs],
                "ipv6": how.ipv6,
                "log": str(folder / f"{name}.facts"),
            }
            (folder / f"{name}.json").write_text(json.dumps(task), "utf-8")
            argv = [*_PART, "users", str(folder / f"{name}.json")]
            parts.append(_part(name, side, argv, folder, pair=pair))
    return parts


_PART = (sys.executable, "-m", "aqmlab.live.part")


def _part(
    name: str, side: str, argv: Sequence[str], folder: Path | None, **more: Any
) -> dict[str, Any]:
    """A program for the supervisor; without a folder it talks to the terminal."""
    errors = str(folder / f"{Path(name).name}.errors") if folder else None
    return {"name": name, "side": side, "argv": list(argv), "errors": errors, **more}


def _supervise(
    spec: Mapping[str, Any], folder: Path, progress: Callable[[float], bool], alone: bool
) -> Any:
    """Starts the supervisor, waits for it, and reads what it hands out."""
    given, answer = folder / "spec.json", folder / "answer"
    given.write_text(json.dumps(spec), "utf-8")
    said = folder / "supervisor.errors"
    duration = spec["scenario"]["duration"]
    duration_s = engine.quantity(duration, "time") if isinstance(duration, str) else duration
    with said.open("wb") as errors:
        quiet: dict[str, Any] = {"stdin": subprocess.DEVNULL, "stdout": subprocess.DEVNULL}
        # # A program of the user's own talks to the terminal, and gets its Ctrl-C.
        how = {**quiet, "stderr": errors, "start_new_session": True} if alone else {}
        process = subprocess.Popen([*_PART, "run", str(given), str(answer)], **how)
        try:
            _watch(process, duration_s, progress, patient=not alone)
        finally:
            process.kill()
            process.wait()
    found = raw.read(answer) if answer.is_file() else {}
    if "tables" not in found:
        last = said.read_text("utf-8", "replace").strip().splitlines()[-1:] if alone else []
        why = found.get("error") or " ".join(last) or f"it ended with {process.returncode}"
        raise LiveError(f"the live run failed: {why}")
    return found


def _watch(
    process: subprocess.Popen[Any],
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
                continue  # it was meant for the program in the foreground
            raise
        spent = time.monotonic() - began
        if not progress(min(spent, duration_s)):
            raise Cancelled
        if spent > duration_s + _PATIENCE_S:
            raise LiveError(
                f"the live run did not end {_PATIENCE_S:.0f} s after its time: it was ended"
            )


def check() -> dict[str, Any]:
    """What a live run needs of this machine and what was found, with the machine's limits."""
    with tempfile.TemporaryDirectory(prefix="aqmlab-live-") as name:
        answer = Path(name) / "answer"
        subprocess.run([*_PART, "check", str(answer)], check=False, timeout=60.0)
        found = raw.read(answer) if answer.is_file() else {}
    if "needs" not in found:
        raise LiveError(found.get("error") or "the check of this machine has failed")
    return found
