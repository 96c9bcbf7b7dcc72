"""Carries out many short runs in parallel: with a user's own program in child processes, else in
this process."""

from __future__ import annotations

import json
import subprocess
import sys
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from multiprocessing import Pipe
from typing import TypedDict, cast

from aqmlab.errors import SpecError
from aqmlab.simulator import engine

from ..forms import Draft, ProgramTable
from ..renamed import Numbers
from . import source, trust, wire
from .herd import TRACE
from .process import DisciplineError, child_environment


class Answer(TypedDict, total=False):
    """The result of a run for an evaluation: its summary, `flows` (pairs of group and goodput in
    bit/s) and, if it was recorded, `trace` (columns of the packet trace); or `failed` with a
    sentence."""

    summary: Numbers
    flows: list[tuple[str, float]]
    trace: dict[str, list[int]]
    failed: str


class Herd:
    """A process that has loaded programs once, and runs each scenario in a fork of itself."""

    def __init__(self, tables: Sequence[ProgramTable]) -> None:
        trust.require(tables)
        self._names = " or ".join(str(table["file"]) for table in tables)
        self._connection, other = Pipe()
        command = [sys.executable, "-P", "-m", "aqmlab.simulator.plugin.herd", str(other.fileno())]
        self._process = subprocess.Popen(
            command,
            pass_fds=[other.fileno()],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            env=child_environment(),
        )
        other.close()
        wire.send(self._connection, list(map(dict, tables)))
        if "failed" in (answer := self._received()):
            self.end()
            raise SpecError(str(answer["failed"]))

    def run(self, scenario: Draft) -> Answer:
        """The result of a run of the scenario."""
        wire.send(self._connection, json.dumps(scenario))
        try:
            answer = json.loads(self._connection.recv_bytes())
        except (EOFError, OSError, ValueError) as error:
            raise DisciplineError(f"{self._names}: its process has ended while it ran") from error
        return (
            cast(Answer, answer) if isinstance(answer, dict) else {"failed": "its answer is none"}
        )

    def _received(self) -> Answer:
        if not self._connection.poll(30):
            return {"failed": f"{self._names}: loading it has not come back for 30 s"}
        try:
            return wire.receive(self._connection)
        except (EOFError, OSError, wire.Garbled):
            return {"failed": f"{self._names}: its process has ended while it was loaded"}

    def end(self) -> None:
        """Kills the process."""
        self._process.kill()
        self._process.wait()
        self._connection.close()


def ours(scenario: Draft) -> Answer:
    """The result of a run in this process, for scenarios without a user's own programs."""
    done = engine.simulate(scenario)
    table = done.tables.get("flows")
    flows: list[tuple[str, float]] = []
    if table is not None and "group_name" in table.column_names:
        rates = table["goodput_bits_per_s"].to_pylist()
        flows = list(zip(table["group_name"].to_pylist(), rates, strict=True))
    answer: Answer = {"summary": done.summary, "flows": flows}
    if "trace" in done.tables:
        packets = done.tables["trace"]
        answer["trace"] = {name: packets[name].to_pylist() for name in TRACE}
    return answer


def carry_out(
    scenarios: Sequence[Draft],
    jobs: int = 1,
    run_ours: Callable[[Draft], Answer] = ours,
) -> list[Answer]:
    """The results of the scenarios, in their order; all of them must name the same programs.
    `run_ours` is used if they name none."""
    tables = source.tables(scenarios[0]) if scenarios else []
    workers = max(1, jobs)
    herds = [Herd(tables) for _ in range(workers)] if tables else []
    free = threading.local()
    waiting = list(herds)

    def one(scenario: Draft) -> Answer:
        if not tables:
            return run_ours(scenario)
        if not hasattr(free, "herd"):
            free.herd = waiting.pop()
        return free.herd.run(scenario)

    try:
        with ThreadPoolExecutor(workers) as pool:
            return list(pool.map(one, scenarios))
    finally:
        for herd in herds:
            herd.end()
