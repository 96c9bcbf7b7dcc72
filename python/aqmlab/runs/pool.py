"""Simulates many scenarios on all cores, or on a cluster.

Threads suffice to use all cores, since the simulator releases Python's global interpreter lock.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Collection, Hashable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from queue import Empty, SimpleQueue
from typing import TYPE_CHECKING, TypeVar

from aqmlab.errors import SpecError
from aqmlab.experiment.spec import length_s
from aqmlab.simulator import engine
from aqmlab.simulator.capture import Capture
from aqmlab.simulator.engine import Outcome, Scenario, Simulate

from .progress import Progress

if TYPE_CHECKING:
    from .cluster import Cluster

T = TypeVar("T")


def cores() -> int:
    """The cores this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0)) or 1
    return os.cpu_count() or 1


def simulate_all(
    scenarios: Sequence[Scenario],
    finish: Callable[[int, Outcome], T],
    *,
    title: str = "runs",
    jobs: int | None = None,
    progress: Progress | None = None,
    already: int = 0,
    captures: Sequence[Capture | None] | None = None,
    kinds: Sequence[Hashable] | None = None,
    simulate: Simulate | None = None,
    on: Cluster | None = None,
    keep: Sequence[Collection[str] | None] | None = None,
) -> list[T]:
    """Simulates every scenario; `finish(index, outcome)` is called in the worker thread.

    `simulate` replaces the simulator's function, for example for live runs; arguments and result
    are the same as there. The runs use the cores of this machine, or those of a cluster (`on`).

    `captures` and `kinds`, if given, have one entry for each scenario; runs of one kind take about
    equal time. `keep` has the names of the tables of each run that `finish` needs (None: all);
    others are not returned from a cluster.

    The first error, or Ctrl-C, stops the other runs at their next report of progress (every half
    percent of a run) and is then raised; what `finish` has stored stays stored.
    """
    board = progress or Progress()
    workers = min(jobs or cores(), len(scenarios))
    if on is None:
        check_memory(scenarios, workers, kinds)
    board.begin(title, [length_s(scenario) for scenario in scenarios], already, kinds=kinds)
    try:
        if on is not None:
            return on.simulate_all(scenarios, finish, board, keep)
        run = simulate or engine.simulate
        return _in_threads(scenarios, finish, board, max(workers, 1), captures, run)
    finally:
        board.end()


def _in_threads(
    scenarios: Sequence[Scenario],
    finish: Callable[[int, Outcome], T],
    board: Progress,
    workers: int,
    captures: Sequence[Capture | None] | None,
    simulate: Simulate,
) -> list[T]:
    stop = threading.Event()

    def work(index: int) -> T:
        def report(simulated_s: float) -> bool:
            board.advance(index, simulated_s)
            return not stop.is_set()

        if stop.is_set():
            raise engine.Cancelled
        board.start(index)
        capture = captures[index] if captures else None
        watched = {"watch": board.watch(index)} if board.watch and not capture else {}
        result = finish(index, simulate(scenarios[index], report, capture, **watched))
        board.finish(index)
        return result

    pool = ThreadPoolExecutor(max_workers=workers, thread_name_prefix="aqmlab")
    try:
        futures = [pool.submit(work, index) for index in range(len(scenarios))]
        _wait(futures)
        return [future.result() for future in futures]
    except BaseException:
        stop.set()
        raise
    finally:
        pool.shutdown(wait=True, cancel_futures=True)


def check_memory(
    scenarios: Sequence[Scenario], workers: int, kinds: Sequence[Hashable] | None = None
) -> None:
    """Refuses more runs at a time than fit into the free memory, which a run's own check cannot
    see.

    Runs of one kind need about equal memory. A run that does not fit alone fails when it starts.
    """
    if workers < 2:
        return
    names = kinds if kinds is not None else range(len(scenarios))
    known: dict[Hashable, int] = {}
    free: int | None = None
    for name, scenario in zip(names, scenarios, strict=True):
        if name not in known:
            known[name], free = engine.memory(scenario)
            if free is None:
                return
    largest = sorted((known[name] for name in names), reverse=True)[:workers]
    if free is None or sum(largest) <= free or largest[0] > free:
        return
    fit = max(n for n in range(1, workers) if sum(largest[:n]) <= free)
    raise SpecError(
        f"{workers} runs at a time need at least {sum(largest) / 1e9:.1f} GB of memory and "
        f"{free / 1e9:.1f} GB are free: run {fit} at a time (--jobs {fit})"
    )


def _wait(futures: Sequence[Future[T]]) -> None:
    """Waits for all, or raises the first error; wakes up now and then so that Ctrl-C is seen.

    Each future puts itself into a queue when it is done: `concurrent.futures.wait` scans all of
    them on every call, which with tens of thousands of short runs costs more than the runs.
    """
    done: SimpleQueue[Future[T]] = SimpleQueue()
    for future in futures:
        future.add_done_callback(done.put)
    for _ in futures:
        _next(done).result()


def _next(done: SimpleQueue[Future[T]]) -> Future[T]:
    while True:
        try:
            return done.get(timeout=0.2)
        except Empty:
            continue
