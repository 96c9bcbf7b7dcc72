"""The process in which a user's own disciplines run: for one run, or for requests about scenarios.

A discipline's crash, endless loop or module state ends with this process. It is started by
`process` with a connection as its only argument.
"""

from __future__ import annotations

import json
import os
import signal
import sys
import threading
import time
from multiprocessing.connection import Connection
from typing import TYPE_CHECKING, TypedDict

from aqmlab import _core
from aqmlab.errors import SpecError

from ..forms import ProgramTable
from . import wire
from .loading import registry_of

if TYPE_CHECKING:
    from aqmlab._core import Registry

PATIENCE_S = 10.0
"""Longest time, in seconds, of a call of a discipline and of loading it."""
BUSY_S = 15.0
"""CPU seconds after which the kernel ends a process whose watchdog thread has not run: a call that
keeps the interpreter's lock stops all other threads of the process."""


CHECKS = ("check_aqm", "check_control")
"""Functions of a registry that report the name of each check before it begins."""


class Hooks(TypedDict):
    """The callbacks that the parent requests: progress, a capture (ports, and whether packets are
    captured on arrival), snapshots of the run with bins of this width (s)."""

    progress: bool
    pcap: tuple[list[str], bool] | None
    watch: float | None


class Child:
    """The child's end of a `process.Process`: answers its requests."""

    def __init__(self, connection: Connection) -> None:
        self.connection = connection
        self.sending = threading.Lock()
        self.registries: dict[str, tuple[Registry, list[str]]] = {}
        self.registry: Registry | None = None
        self.loading = 0
        """A count that is odd while a source is loaded."""
        self.names = ""

    def send(self, *message: object) -> None:
        """Sends the parent a message."""
        with self.sending:
            wire.send(self.connection, message)

    def serve(self) -> None:
        """Answers requests until the parent is gone."""
        threading.Thread(target=self.watch, daemon=True).start()
        while True:
            try:
                function, tables, args, hooks = wire.receive(self.connection)
            except (EOFError, OSError):
                return
            self.answer(function, tables, args, hooks)

    def answer(self, function: str, tables: list[ProgramTable], args: tuple, hooks: Hooks) -> None:
        """Sends the answer to one request, or an error."""
        self.names = " or ".join(table["file"] for table in tables)
        try:
            registry, names = self.of(tables)
            if function == "describe":
                self.send("done", registry.describe(names[0]))
                return
            if function in CHECKS:
                notify = self.described(hooks)["progress"]
                check = getattr(registry, function)
                self.send("done", check(args[0] if args else names[0], notify))
                return
            self.send(
                "done", getattr(_core, function)(*args, **self.described(hooks), registry=registry)
            )
        except (SpecError, _core.ScenarioError) as error:
            self.send("failed", "scenario", str(error))
        except _core.DisciplineError as error:
            self.send("failed", "discipline", str(error))
        except _core.Fault as error:
            self.send("failed", "fault", str(error))

    def of(self, tables: list[ProgramTable]) -> tuple[Registry, list[str]]:
        """The registry with these programs, and their names; each set of programs is loaded only
        once."""
        key = json.dumps(tables, sort_keys=True)
        if key not in self.registries:
            self.loading += 1
            try:
                self.registries[key] = registry_of(_core, tables)
            finally:
                self.loading += 1
        self.registry = self.registries[key][0]
        return self.registries[key]

    def described(self, hooks: Hooks) -> dict[str, object]:
        """The simulator's callbacks, which report to the parent."""
        found: dict[str, object] = {}
        if hooks.get("progress"):
            found["progress"] = lambda at: self.send("progress", at) or True
        if (pcap := hooks.get("pcap")) is not None:
            found["pcap"] = (lambda data: self.send("pcap", data), *pcap)
        if hooks.get("watch") is not None:
            found["watch"] = (lambda look: self.send("watch", look), hooks["watch"])
        return found

    def watch(self) -> None:
        """The watchdog: ends the process if a call or loading does not return, or if the parent is
        gone."""
        parent, seen, since = os.getppid(), None, time.monotonic()
        while os.getppid() == parent:
            if hasattr(signal, "setitimer"):
                signal.setitimer(signal.ITIMER_PROF, BUSY_S)  # SIGPROF ends the process
            time.sleep(0.25)
            calls = self.registry.pulse() if self.registry is not None else 0
            lasts = "loading it" if self.loading % 2 else "a call" if calls % 2 else None
            if lasts is None or (calls, self.loading) != seen:
                seen, since = (calls, self.loading), time.monotonic()
            elif time.monotonic() - since > PATIENCE_S:
                self.send(
                    "failed",
                    "discipline",
                    f"{self.names}: {lasts} has not come back for {PATIENCE_S:g} s: look for a "
                    "loop without end",
                )
                break
        os._exit(1)


def main() -> None:
    """Serves the connection that the command line names."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent ends this process
    Child(Connection(int(sys.argv[1]))).serve()


if __name__ == "__main__":
    main()
