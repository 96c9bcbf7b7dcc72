"""Many short runs of one program, each in a fork of a process that has loaded the program once.

A run costs a fork and not an interpreter's start, and no state passes from one run to the next,
since each fork ends with its run. The program's access is restricted (`narrow`), since it is
evaluated and may be the result of a search. No restriction within Python holds against a program
that attacks its process; it only prevents that a clock, a file or a random number is used by
accident or by a plain call. `python -m aqmlab.simulator.plugin.herd N` serves the connection N;
`Herd` is its parent."""

from __future__ import annotations

import json
import os
import resource
import select
import signal
import sys
import time
from array import array
from collections.abc import Mapping
from multiprocessing.connection import Connection
from typing import TYPE_CHECKING, Any

from aqmlab import _core
from aqmlab.errors import SpecError

from . import loading, narrow, wire

if TYPE_CHECKING:
    from aqmlab._core import Registry

PATIENCE_S = 20.0
"""Longest time of a run, in seconds; runs of an evaluation take some milliseconds."""
CPU_S = 20
"""CPU seconds of a run, after which the kernel ends it."""
CODES = {"|u1": "B", "<u2": "H", "<u4": "I", "<u8": "Q", "<f8": "d"}
"""Types of a table's columns as `array` names them."""
TRACE = ("time_ns", "event", "kind", "again", "bytes")
"""Columns of the packet trace that are returned, if the run records one."""


def flows(raw: Mapping[str, Any]) -> list[tuple[str, float]]:
    """Group and goodput (bit/s) of each long flow of a run."""
    columns = {
        name: array(CODES[kind], data)
        for name, kind, data in raw["tables"].get("flows", {"columns": []})["columns"]
        if kind in CODES and name in ("group", "goodput_bits_per_s")
    }
    if len(columns) < 2:
        return []
    pairs = zip(columns["group"], columns["goodput_bits_per_s"], strict=True)
    return [(raw["groups"][int(group)], rate) for group, rate in pairs]


def trace(raw: Mapping[str, Any]) -> dict[str, list[int]]:
    """The packet trace of a run at its recorded queue, with a list for each column."""
    return {
        name: array(CODES[kind], data).tolist()
        for name, kind, data in raw["tables"]["trace"]["columns"]
        if name in TRACE
    }


def run(text: str, registry: Registry) -> bytes:
    """The result of a run as JSON: its summary, flows and trace, or an error."""
    try:
        raw = _core.run(text, registry=registry)
        answer = {"summary": json.loads(raw["summary"]), "flows": flows(raw)}
        if "trace" in raw["tables"]:
            answer["trace"] = trace(raw)
    except (_core.ScenarioError, _core.DisciplineError, SpecError) as error:
        answer = {"failed": str(error)}
    return json.dumps(answer).encode()


def copied(text: str, registry: Registry) -> bytes:
    """The result of a run that is computed in a fork of this process."""
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            os.close(reader)
            resource.setrlimit(resource.RLIMIT_CPU, (CPU_S, CPU_S))
            resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
            narrow.system_calls()
            answer = run(text, registry)
            while answer:
                answer = answer[os.write(writer, answer) :]
        finally:
            os._exit(0)
    os.close(writer)
    try:
        return _awaited(child, reader)
    finally:
        os.close(reader)


def _awaited(child: int, reader: int) -> bytes:
    until, pieces = time.monotonic() + PATIENCE_S, []
    while True:
        left = until - time.monotonic()
        if left <= 0 or not select.select([reader], [], [], left)[0]:
            os.kill(child, signal.SIGKILL)
            os.waitpid(child, 0)
            return _sentence(f"a run has not come back for {PATIENCE_S:g} s")
        piece = os.read(reader, 1 << 16)
        if not piece:
            break
        pieces.append(piece)
    _, status = os.waitpid(child, 0)
    if os.WIFSIGNALED(status):
        number = signal.Signals(os.WTERMSIG(status))
        return _sentence(f"it crashed ({number.name}) while it ran")
    return b"".join(pieces) or _sentence("it ended its process while it ran")


def _sentence(why: str) -> bytes:
    return json.dumps({"failed": why}).encode()


def serve(connection: Connection) -> None:
    """Loads the programs of the first message, then runs one scenario after the other."""
    tables = wire.receive(connection)
    own_output = os.open(os.devnull, os.O_WRONLY)
    os.dup2(own_output, 1)
    try:
        narrow.modules(loading)
        registry, _ = loading.registry_of(_core, tables)
    except (SpecError, _core.ScenarioError) as error:
        wire.send(connection, {"failed": str(error)})
        return
    wire.send(connection, {"ready": True})
    while True:
        try:
            text = wire.receive(connection)
        except (EOFError, OSError):
            return
        connection.send_bytes(copied(text, registry))


if __name__ == "__main__":
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent ends this process
    serve(Connection(int(sys.argv[1])))
