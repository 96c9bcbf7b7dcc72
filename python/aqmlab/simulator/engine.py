"""The Python interface of the compiled simulator; other code calls `aqmlab._core` only in processes
of its own."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING

from aqmlab.errors import EngineError, FaultError, SpecError

from . import network_tests
from .capture import ARRIVAL, Capture
from .forms import (
    Catalogue,
    Draft,
    Entry,
    Learned,
    Look,
    Resolved,
    Scenario,
    Schema,
    TraceShown,
    Trials,
    Variable,
)
from .plugin import source
from .renamed import Summary

if TYPE_CHECKING:
    import numpy as np
    import pyarrow as pa

    from aqmlab import _core as _core_module

    from .plugin.process import Remote

Progress = Callable[[float], bool]
Watch = tuple[Callable[[Look], object], float]
"""A function that receives snapshots of a running simulation, and the width of its bins in
seconds."""


class Cancelled(Exception):
    """A run was stopped through its progress callback."""


@dataclass(frozen=True)
class Version:
    """The version of the simulator that computed a result."""

    version: str
    build: str
    """A hash of the simulator's sources: results of equal builds are equal."""
    commit: str
    profile: str

    def __str__(self) -> str:
        return f"{self.version} (build {self.build})"


@dataclass(frozen=True)
class Outcome:
    """The result of a finished run: summary and tables."""

    summary: Summary
    tables: Mapping[str, pa.Table]


Simulate = Callable[..., Outcome]
"""`simulate`, or a function with equal arguments and result that runs a scenario in another way."""


def _core() -> ModuleType:
    try:
        from aqmlab import _core
    except ImportError as error:
        raise EngineError(
            f"the compiled simulator is missing ({error}): build it with `make run`"
        ) from error
    return _core


def _text(scenario: Draft) -> str:
    """A scenario as JSON for the simulator, with network tests expanded into traffic groups."""
    return json.dumps(network_tests.expand(scenario))


@contextmanager
def _requested(scenario: Draft | None = None) -> Iterator[ModuleType | Remote]:
    """The compiled simulator; its exceptions become errors of `aqmlab.errors`. For a scenario with
    a user's own programs it is a proxy of another process, so that their code never runs in this
    one."""
    core = _core()
    own = source.tables(scenario) if scenario is not None else []
    if own:
        from .plugin.process import Remote

        yield Remote(own)
        return
    try:
        yield core
    except core.Cancelled as stop:
        raise Cancelled from stop
    except core.ScenarioError as error:
        raise SpecError(str(error)) from error
    except core.Fault as fault:
        raise FaultError(str(fault)) from fault
    except core.DisciplineError as error:
        raise SpecError(str(error)) from error


def simulate(
    scenario: Draft,
    progress: Progress | None = None,
    capture: Capture | None = None,
    watch: Watch | None = None,
) -> Outcome:
    """Runs one scenario; Python's global lock is released meanwhile, so threads run in parallel.

    A `capture` is written while the run goes on. `watch`, for runs without a capture, receives
    snapshots of the run (docs/tab.md), with queues in bins of the given width in seconds.

    Adds the numbers of the machine to the summary: `wall_s`, `cpu_s` and `data_packets_per_wall_s`.
    They are no part of the fingerprint.
    """
    text = _text(scenario)
    began, busy = time.perf_counter(), time.thread_time()
    with _requested(scenario) as core:
        raw: _core_module.RawResult
        if watch is not None:
            show, bin_s = watch
            raw = core.run(text, progress, None, (lambda look: show(json.loads(look)), bin_s))
        elif capture is None:
            raw = core.run(text, progress)
        else:
            with capture.writing() as write:
                pcap = (write, list(capture.ports), capture.at == ARRIVAL)
                raw = core.run(text, progress, pcap)
    wall = time.perf_counter() - began
    done = outcome(raw)
    packets = done.summary.get("data_packets")
    done.summary["wall_s"] = wall
    # CPU time is that of the calling thread, which computes the run, except with a user's own code.
    done.summary["cpu_s"] = None if source.tables(scenario) else time.thread_time() - busy
    done.summary["data_packets_per_wall_s"] = packets / wall if packets and wall > 0 else None
    return done


def outcome(raw: _core_module.RawResult) -> Outcome:
    """The result of a simulated or live run: summary and tables."""
    tables = {name: _table(table, raw["groups"]) for name, table in raw["tables"].items()}
    return Outcome(json.loads(raw["summary"], object_hook=Summary), tables)


class World:
    """A simulation that is advanced in steps, and can be observed and changed between them
    (docs/gym.md).

    Its scenario may name the discipline `agent`, whose probability `p` the caller sets. A user's
    own disciplines and controls run in this process.
    """

    def __init__(self, scenario: Draft) -> None:
        own = source.tables(scenario)
        with _requested() as core:
            registry = None
            if own:
                from .plugin import loading, trust

                trust.require(own)
                registry, _ = loading.registry_of(_core(), own)
            self._world: _core_module.World = core.World(_text(scenario), registry)

    def advance(self, seconds: float, port: str) -> tuple[bool, list[float]]:
        """Advances the simulation. Returns whether the run is over, and eight numbers of `port`:
        backlog in packets and bytes; and since the last call packets arrived, packets departed,
        their bytes, the sum of their queueing delays (s), packets dropped and packets marked."""
        with _requested():
            return self._world.advance(seconds, port)

    def set(self, port: str, name: str, value: float) -> None:
        """Changes a parameter of the discipline of `port` from now on."""
        with _requested():
            self._world.set(port, name, value)

    def now(self) -> tuple[float, int]:
        """The simulated time in seconds, and the number of events so far."""
        return self._world.now()


def _table(raw: _core_module.RawTable, groups: Sequence[str]) -> pa.Table:
    """A table from its columns' bytes, without copying. Equally spaced rows get a column `time_s`;
    rows of traffic groups have the group's index, and get a column with its name."""
    import numpy as np
    import pyarrow as pa

    columns = {name: np.frombuffer(data, dtype=kind) for name, kind, data in raw["columns"]}
    if raw["every_s"] is not None:
        start, step = raw["every_s"]
        rows = len(next(iter(columns.values()))) if columns else 0
        columns = {"time_s": start + step * np.arange(rows), **columns}
    arrays: dict[str, pa.Array] = {}
    for name, column in columns.items():
        arrays[name] = _array(column)
        if name == "group":
            arrays["group_name"] = pa.DictionaryArray.from_arrays(arrays[name], _texts(groups))
    return pa.table(arrays)


def _array(column: np.ndarray) -> pa.Array:
    """A column without copying. `pa.array` is not used, since it imports pandas if that is
    installed."""
    import pyarrow as pa

    buffers = [None, pa.py_buffer(column)]
    return pa.Array.from_buffers(pa.from_numpy_dtype(column.dtype), len(column), buffers)


def _texts(texts: Sequence[str]) -> pa.Array:
    """A column of texts, without `pa.array`."""
    import numpy as np
    import pyarrow as pa

    encoded = [text.encode() for text in texts]
    ends = np.cumsum([0, *map(len, encoded)], dtype=np.int32)
    buffers = [None, pa.py_buffer(ends), pa.py_buffer(b"".join(encoded))]
    return pa.Array.from_buffers(pa.string(), len(texts), buffers)


def check(scenario: Draft) -> Scenario:
    """The scenario with every default filled in; a mistake in it is a [`SpecError`]."""
    with _requested(scenario) as core:
        return json.loads(core.check(_text(scenario)))


def estimate(scenario: Draft) -> float | None:
    """Expected IP bytes per user and second of the traffic that is given by its load."""
    with _requested(scenario) as core:
        return core.estimate(_text(scenario))


def memory(scenario: Draft) -> tuple[int, int | None]:
    """The least memory that a run needs, in bytes, and the free memory (None if unknown)."""
    with _requested(scenario) as core:
        least, free = core.memory(_text(scenario))
        return least, free


def resolve(scenario: Draft) -> Resolved:
    """The resolved scenario: `links` and `groups` with names, ports, directions, rates in bit/s;
    `machines` and the recorded `queues`. (`crates/sim/src/setup/resolved.rs` describes each
    key.)"""
    with _requested(scenario) as core:
        return json.loads(core.resolve(_text(scenario)))


def trial(request: Draft) -> Trials:
    """One discipline before a line, without end systems. The result is one case in the format of
    `vectors/README.md`: every call of the discipline, its random numbers and its actions.

    `request` has the key `discipline` and, with their defaults in brackets, `parameters` ({}),
    `line_bits_per_s` (10 000 000), `seed` (1) and `title`. Packets are random, drawn by `packets`
    (60), `flows` (7), `load` (1: around the line's rate) and `headers` (False: no code points,
    hosts and acknowledgements), or listed in `arrivals` as {"at_ns", "packet"} in order of time. A
    mistake in it is a [`SpecError`].
    """
    with _requested() as core:
        return json.loads(core.trial(json.dumps(request)))


def catalogue() -> Catalogue:
    """Every AQM, TCP profile and traffic model with its fields, and the scenario's sections.

    It returns one object every time: take a copy before changing it.
    """
    return _catalogue(_core().catalogue)


def schema() -> Schema:
    """The JSON schema (draft 2020-12) of scenario files, made from the simulator's own tables, with
    the forms of a user's own disciplines added.

    Its `$defs` are for schemas that build on it: `scenario` requires no key, since missing ones may
    come from another file.
    """
    made = json.loads(_core().schema())
    made["$defs"]["queue"]["oneOf"] += source.SCHEMA
    made["$defs"]["congestion"]["oneOf"] += source.CONTROL_SCHEMA
    traffic = made["$defs"]["traffic"]
    traffic["oneOf"] += network_tests.schema(traffic)
    return made


def application(name: object) -> Entry | None:
    """The catalogue's entry of an application; None if there is none of that name."""
    return next((entry for entry in catalogue()["traffic"] if entry["name"] == name), None)


@cache
def _catalogue(ask: Callable[[], str]) -> Catalogue:
    found: Catalogue = json.loads(ask())
    if "traffic" in found:
        found["traffic"] += network_tests.entries()
    return found


def variables(model: str) -> list[Variable]:
    """The variables of a traffic model: name, unit, mean, quantiles and curve of each."""
    with _requested() as core:
        return json.loads(core.variables(model))


def table(name: str, text: str, unit: str) -> Variable:
    """A description of the distribution in a table's text, in the form of `variables`."""
    with _requested() as core:
        return json.loads(core.table_of(name, text, unit))


def trace(text: str) -> TraceShown:
    """The facts about a trace from its text: `format`, `rows`, `lasts_s`, `series`."""
    with _requested() as core:
        return json.loads(core.trace_shown(text))


def overload(name: str) -> _core_module.Overload:
    """Fifty flows that overload a discipline steadily: the workload for measurements of its
    cost."""
    with _requested() as core:
        return core.Overload(name)


def learner(inside: Sequence[tuple[bytes, int]] = ()) -> _core_module.Learner:
    """A reader of packet captures; `inside` are addresses of one side of the link, as 16 bytes of
    IPv6 and the number of common bits.
    """
    return _core().Learner(list(inside))


def feed(learner: _core_module.Learner, chunk: bytes, path: Path) -> None:
    """Passes the next bytes of a capture to a reader; raises a [`SpecError`] if they are no
    capture."""
    try:
        with _requested():
            learner.feed(chunk)
    except _core().CaptureError as error:
        raise SpecError(f"{path}: {error}") from error


def finish(learner: _core_module.Learner, path: Path) -> Learned:
    """The result of a reader after the last bytes; raises a [`SpecError`] if the capture is too
    short."""
    try:
        with _requested():
            return json.loads(learner.finish())
    except _core().CaptureError as error:
        raise SpecError(f"{path}: {error}") from error


def quantity(text: str, unit: str) -> float:
    """The value of a written quantity in base units, by the grammar and bounds of scenarios.

    `unit` is its kind, `time` (seconds), `rate` (bit/s) or empty (a number or a share).
    """
    with _requested() as core:
        return core.quantity(text, unit)


def version() -> Version:
    """Version, build, commit and build profile of the simulator."""
    return _version(_core().version())


@cache
def _version(text: str) -> Version:
    known = json.loads(text)
    return Version(known["version"], known["build"], known["commit"], known["profile"])
