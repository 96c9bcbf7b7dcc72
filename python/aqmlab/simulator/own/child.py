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
from collections.abc import Mapping
from multiprocessing.connection import Connection
from typing import Any

from aqmlab import _core
from aqmlab.errors import SpecError

from .loading import registry_of

PATIENCE_S = 10.0
"""How long a call of a discipline may take."""


class Child:
    """The other end of a `process.Process`."""

    def __init__(self, connection: Connection) -> None:
        self.connection = connection
        self.sending = threading.Lock()
        self.registries: dict[str, tuple[Any, list[str]]] = {}
        self.registry: Any = None
        self.names = ""

    def send(self, *message: Any) -> None:
        """Tells the parent something."""
        with self.sending:
            self.connection.send(message)

    def serve(self) -> None:
        """Answers questions until there is nobody to ask."""
        threading.Thread(target=self.watch, daemon=True).start()
        while True:
            try:
                function, tables, args, hooks = self.connection.recv()
            except (EOFError, OSError):
                return
            self.answer(function, tables, args, hooks)

    def answer(
        self, function: str, tables: list[Mapping[str, Any]], args: tuple, hooks: dict[str, Any]
    ) -> None:
        """One question's answer, or what is wrong."""
        self.names = " or ".join(table["file"] for table in tables)
        try:
            registry, names = self.of(tables)
            if function == "describe":
                self.send("done", registry.describe(names[0]))
                return
            if function == "check_aqm":
                tell = self.told(hooks)["progress"]
                self.send("done", registry.check_aqm(args[0] if args else names[0], tell))
                return
            self.send(
                "done", getattr(_core, function)(*args, **self.told(hooks), registry=registry)
            )
        except (SpecError, _core.ScenarioError) as error:
            self.send("failed", "scenario", str(error))
        except _core.DisciplineError as error:
            self.send("failed", "discipline", str(error))
        except _core.Fault as error:
            self.send("failed", "fault", str(error))

    def of(self, tables: list[Mapping[str, Any]]) -> tuple[Any, list[str]]:
        """The registry with these disciplines, and their names; each source is run once."""
        key = json.dumps(tables, sort_keys=True)
        if key not in self.registries:
            self.registries[key] = registry_of(_core, tables)
        self.registry = self.registries[key][0]
        return self.registries[key]

    def told(self, hooks: Mapping[str, Any]) -> dict[str, Any]:
        """The simulator's callbacks, which tell the parent."""
        found: dict[str, Any] = {}
        if hooks.get("progress"):
            found["progress"] = lambda at: self.send("progress", at) or True
        if hooks.get("pcap") is not None:
            found["pcap"] = (lambda data: self.send("pcap", data), *hooks["pcap"])
        if hooks.get("watch") is not None:
            found["watch"] = (lambda look: self.send("watch", look), hooks["watch"])
        return found

    def watch(self) -> None:
        """Ends the process when a call does not come back, or when nobody waits any more."""
        parent, seen, since = os.getppid(), None, time.monotonic()
        while os.getppid() == parent:
            time.sleep(0.25)
            count = self.registry.pulse() if self.registry is not None else 0
            if count % 2 == 0 or count != seen:
                seen, since = count, time.monotonic()
            elif time.monotonic() - since > PATIENCE_S:
                self.send(
                    "failed",
                    "discipline",
                    f"{self.names}: a call has not come back for {PATIENCE_S:g} s: look for a loop "
                    "without end",
                )
                break
        os._exit(1)


def main() -> None:
    """Serves the connection that the command line names."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent says when to stop
    Child(Connection(int(sys.argv[1]))).serve()


if __name__ == "__main__":
    main()
