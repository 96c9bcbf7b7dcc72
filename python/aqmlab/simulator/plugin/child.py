"""The process in which disciplines of a user's own run: one run, or questions about scenarios.

Whatever such a discipline does, a crash, an endless loop, state in its module, ends with this
process. It is started by `process` with a connection as its only argument.
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
"""How long a call of a discipline may take, and how long it may take to load."""
BUSY_S = 15.0
"""Processor seconds after which the kernel ends a process whose watch has not run meanwhile: a call
that keeps the interpreter's lock stops every other thread of the process."""


CHECKS = ("check_aqm", "check_control")
"""Functions of a registry that report what they do next."""


class Hooks(TypedDict):
    """What the parent wants to be shown: progress, a capture (the ports, whether packets are seen
    on arrival), the run under way in bins of this length (s)."""

    progress: bool
    pcap: tuple[list[str], bool] | None
    watch: float | None


class Child:
    """The other end of a `process.Process`."""

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
        """Answers questions until the parent is gone."""
        threading.Thread(target=self.watch, daemon=True).start()
        while True:
            try:
                function, tables, args, hooks = wire.receive(self.connection)
            except (EOFError, OSError):
                return
            self.answer(function, tables, args, hooks)

    def answer(self, function: str, tables: list[ProgramTable], args: tuple, hooks: Hooks) -> None:
        """One question's answer, or what is wrong."""
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
        """The registry with these disciplines, and their names; each source is run once."""
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
        """Ends the process when a call or loading does not come back, or when the parent no longer
        waits."""
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
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent says when to stop
    Child(Connection(int(sys.argv[1]))).serve()


if __name__ == "__main__":
    main()
