"""Runs on a cluster of machines, through Dask (docs/cluster.md).

A worker gets a scenario and simulates it; it returns the files that a results folder keeps, and
only the process that runs the experiment writes that folder. So workers need no common disk, and a
run that is lost with its worker or repeated does no harm: a run's result is equal to the bit on
every worker.
"""

from __future__ import annotations

import contextlib
import threading
import time
import uuid
from collections import deque
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar

from aqmlab.errors import AqmlabError, EngineError, SpecError
from aqmlab.io.terminal import say
from aqmlab.simulator import engine
from aqmlab.simulator.engine import Outcome, Scenario
from aqmlab.simulator.plugin import trust

from . import launchers
from .progress import Progress
from .run_files import Packed

if TYPE_CHECKING:
    from distributed import Client

T = TypeVar("T")

AHEAD = 3
"""Tasks submitted per thread of the cluster, so that no thread waits for its next task."""
TASK_S = 0.25
"""Total duration, in seconds, of short runs that are submitted as one task: it is long compared
with the overhead of a task (some ms)."""
LOOK_S = 1.0
"""Interval, in seconds, at which a run reports its progress, and a client counts the workers."""
SAVERS = 2
"""Number of threads that write finished runs to the folder; one may wait for the disk meanwhile."""
LOSSES = 3
"""How many workers may be lost with one run before the run is given up, in addition to the
scheduler's own `allowed-failures`: a run that exhausts the memory of one worker does so on the
next."""
WORKER_S = 60.0
"""Time without any worker after which a warning is printed, s."""
SILENCE_S = 2.0
"""Time without an answer of the scheduler after which a warning is printed, s."""


class Cluster:
    """The workers of a Dask scheduler, on which simulations run."""

    def __init__(self, client: Client, name: str) -> None:
        self._client = client
        self._name = name

    def simulate_all(
        self,
        scenarios: Sequence[Scenario],
        finish: Callable[[int, Outcome], T],
        board: Progress,
        keep: Sequence[Collection[str] | None] | None = None,
    ) -> list[T]:
        """Simulates every scenario; `finish` is called once for each, in a thread of this process,
        with the tables that `keep` names of it (None: all).

        The first error, or Ctrl-C, stops the other runs at their next report of progress, and is
        then raised.
        """
        batch = _Batch(self._client, self._name, scenarios, board, keep)
        saved: dict[int, Future[T]] = {}
        failed: list[Future[T]] = []
        room = threading.Semaphore(AHEAD * SAVERS)  # limits the number of finished runs in memory

        def note(place: int, future: Future[T]) -> None:
            room.release()
            if future.exception() is not None:
                failed.append(future)
                batch.stop()
            else:
                board.finish(place)

        with ThreadPoolExecutor(SAVERS, thread_name_prefix="aqmlab") as savers, batch.followed():
            for place, outcome in batch.outcomes():
                room.acquire()
                saved[place] = savers.submit(finish, place, outcome)
                saved[place].add_done_callback(partial(note, place))
            return [one.result() for one in failed or map(saved.get, range(len(scenarios))) if one]


class _Batch:
    """Runs of a batch that have been submitted to the cluster."""

    def __init__(
        self,
        client: Client,
        name: str,
        scenarios: Sequence[Scenario],
        board: Progress,
        keep: Sequence[Collection[str] | None] | None,
    ) -> None:
        self._client, self._name = client, name
        self._scenarios, self._board = scenarios, board
        self._keep = keep or [None] * len(scenarios)
        self._id = uuid.uuid4().hex
        version = engine.version()
        self._version = (version.version, version.build)
        self._tasks: dict[Any, tuple[int, ...]] = {}
        self._losses: dict[tuple[int, ...], int] = {}
        self._done, self._took_s = 0, 0.0
        self._room, self._requested = 0, -LOOK_S
        self._started: set[int] = set()
        self._ended: set[int] = set()
        self._stopped = False

    def outcomes(self) -> Iterator[tuple[int, Outcome]]:
        """The runs in the order in which they end, each once."""
        from distributed import as_completed

        waiting = deque(range(len(self._scenarios)))
        running = as_completed(loop=self._client.loop, with_results=True, raise_errors=False)
        self._hand_out(waiting, running)
        for future, result in running:
            if self._stopped:
                return
            places = self._tasks.pop(future)
            if future.status != "finished":
                self._again(places, future.status, result, running)
            else:
                for place, outcome in zip(places, result, strict=True):
                    took_s = outcome.summary["wall_s"]
                    self._done, self._took_s = self._done + 1, self._took_s + took_s
                    self._start(place, took_s)
                    self._ended.add(place)
                    yield place, outcome
            self._hand_out(waiting, running)

    def stop(self) -> None:
        """Cancels all submitted tasks and ends `outcomes`."""
        self._stopped = True
        with contextlib.suppress(Exception):  # the scheduler may have ended
            self._client.cancel(list(self._tasks))

    def _hand_out(self, waiting: deque[int], running: Any) -> None:
        """Submits further tasks up to the limit of `AHEAD` per thread; the last tasks are single
        runs."""
        now = time.monotonic()
        if now - self._requested >= LOOK_S:
            self._room, self._requested = AHEAD * max(1, threads(self._client)), now
        while waiting and len(self._tasks) < self._room:
            short = TASK_S * self._done / self._took_s if self._took_s > 0 else 1
            many = max(1, min(round(short), len(waiting) // self._room))
            self._submit(tuple(waiting.popleft() for _ in range(many)), running)

    def _submit(self, places: tuple[int, ...], running: Any) -> None:
        lost = self._losses.get(places, 0)
        future = self._client.submit(
            simulate,
            {place: (dict(self._scenarios[place]), self._keep[place]) for place in places},
            self._version,
            self._id,
            key=f"aqmlab-{self._id}-{places[0]}-{lost}",
            pure=False,
        )
        self._tasks[future] = places
        running.add(future)

    def _again(self, places: tuple[int, ...], status: str, why: Any, running: Any) -> None:
        """Handles runs that did not end: an error of the run is raised; a run lost with its worker
        is submitted again, at most `LOSSES` times."""
        from distributed import KilledWorker

        if status in ("cancelled", "lost"):
            raise EngineError(
                f"the scheduler of {self._name} is gone: start it and give the same command again"
            )
        _, error, _ = why
        if not isinstance(error, KilledWorker):
            raise described(error, self._name) from error
        self._losses[places] = self._losses.get(places, 0) + 1
        if self._losses[places] > LOSSES:
            raise EngineError(
                f"a run was lost with every worker of {self._name} that tried it: give workers "
                "more memory, or look into their logs"
            ) from error
        self._submit(places, running)

    @contextmanager
    def followed(self) -> Iterator[None]:
        """Progress is shown while the context is open; at its end the remaining tasks are
        cancelled."""
        self._client.subscribe_topic(self._id, self._on_event)
        try:
            yield
        finally:
            with contextlib.suppress(Exception):
                self._client.unsubscribe_topic(self._id)
            self.stop()

    def _on_event(self, event: tuple[float, tuple[int, float]]) -> None:
        """Called when a worker has reported the progress of a run."""
        _, (place, simulated_s) = event
        if place not in self._ended:
            self._start(place, LOOK_S)
            self._board.advance(place, simulated_s)

    def _start(self, place: int, ago_s: float) -> None:
        if place not in self._started:
            self._started.add(place)
            self._board.start(place, ago_s)


def simulate(
    runs: Mapping[int, tuple[Scenario, Collection[str] | None]],
    version: tuple[str, str],
    topic: str,
) -> list[Outcome]:
    """The task of a worker: it simulates scenarios and returns their files, if its version is the
    requested one. Progress is reported on `topic` under each run's number."""
    from distributed import get_worker

    mine, worker = engine.version(), get_worker()
    if (mine.version, mine.build) != version:
        raise EngineError(
            f"the worker at {worker.address} has aqmlab {mine} and {version[0]} (build "
            f"{version[1]}) is needed: install that version on every machine"
        )
    key, reported_s = worker.get_current_task(), time.monotonic()

    def report(place: int, simulated_s: float) -> bool:
        nonlocal reported_s
        now = time.monotonic()
        if now - reported_s < LOOK_S:
            return True
        reported_s = now
        worker.log_event(topic, (place, simulated_s))
        # After a cancellation the task still exists, but no client wants its result.
        task = worker.state.tasks.get(key)
        return task is not None and task.state == "executing"

    done = []
    for place, (scenario, keep) in runs.items():
        # The scenario's programs were permitted on the machine of the command.
        trust.permit_run(scenario)
        outcome = engine.simulate(scenario, partial(report, place))
        done.append(Outcome(outcome.summary, Packed.of(outcome.tables, keep)))
    return done


def threads(client: Client) -> int:
    """How many runs the cluster can simulate at a time."""
    known: Any = client.nthreads()
    return sum(known.values())


def described(error: BaseException, name: str) -> BaseException:
    """The error of a worker; one that is not aqmlab's own becomes one sentence."""
    if isinstance(error, AqmlabError):
        return error
    if isinstance(error, ModuleNotFoundError) or "deserializ" in str(error):
        return EngineError(
            f"a worker of {name} has no such aqmlab ({error}): install the same on every machine"
        )
    return EngineError(f"a worker of {name} failed ({type(error).__name__}: {error})")


# --- where the workers are --------------------------------------------------------------------


@contextmanager
def opened(on: str) -> Iterator[Cluster]:
    """The cluster that `--on` names: `tcp://HOST:PORT`, `local:N`, `slurm:N` or `kubernetes:N`."""
    kind, _, rest = on.partition(":")
    start = launchers.STARTED.get(kind)
    if start is None and kind not in ("tcp", "tls", "ws", "wss"):
        raise SpecError(
            f'no cluster "{on}": give tcp://HOST:PORT of a Dask scheduler, or {launchers.known()}'
        )
    if start is not None and not (rest.isdecimal() and int(rest) > 0):
        raise SpecError(f'--on {on}: give the number of workers, for example "{kind}:4"')
    distributed = launchers.extra("distributed", on)
    with contextlib.ExitStack() as open_:
        address = on if start is None else open_.enter_context(start(int(rest)))
        try:
            with _later(SILENCE_S, lambda: say(_waits(on))):
                made = distributed.Client(address, set_as_default=False)
            client = open_.enter_context(made)
        except (OSError, ValueError) as error:
            raise EngineError(
                f"no Dask scheduler answers at {on}: start one (`dask scheduler`), or give its "
                "address as it prints it"
            ) from error
        many = threads(client)
        there = f"{many} at a time" if many else "no worker yet, runs begin with the first"
        say(f"runs on {on}: {there}; dashboard {client.dashboard_link}")
        if not many:
            open_.enter_context(_missed(client, on))
        yield Cluster(client, on)


def _waits(on: str) -> str:
    from dask.config import get

    longest = get("distributed.comm.timeouts.connect")
    return f"no answer from {on} yet, which may take up to {longest}; Ctrl-C ends the wait"


@contextmanager
def _later(after_s: float, notify: Callable[[], object]) -> Iterator[None]:
    """Calls `notify` unless the context ends before `after_s`."""
    timer = threading.Timer(after_s, notify)
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()


@contextmanager
def _missed(client: Client, on: str) -> Iterator[None]:
    """Prints a line if no worker connects for a long time."""

    def notify() -> None:
        with contextlib.suppress(Exception):  # the cluster may be shutting down
            if not threads(client):
                say(
                    f"no worker of {on} has come for {WORKER_S:.0f} s: runs wait; look whether its "
                    "jobs or pods wait or have failed, and into their logs"
                )

    with _later(WORKER_S, notify):
        yield
