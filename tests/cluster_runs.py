"""A sweep for clusters: the same to the byte, whatever happens to the workers."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from pathlib import Path

from aqmlab.experiment.experiment import load
from aqmlab.pipeline.study import Study

SCENARIO = {
    "duration": "20 s",
    "warmup": "2 s",
    "link": [{"rate": "10 Mbit/s", "forward": "red"}],
    "traffic": [{"app": "bulk", "flows": 4}],
}
SWEPT = {
    "name": "sweep",
    "scenario": SCENARIO | {"duration": "200 s", "traffic": [{"app": "bulk", "flows": 20}]},
    "sweep": {"link.0.forward": ["red", "codel", "droptail"], "seeds": 8},
    "metric": {"queue": {"summary": "queue_mean_packets"}},
    "table": {
        "queues": {"group": "sweep", "title": "Queues", "keys": {"link.0.forward": "discipline"}}
    },
}


def carried_out(out, on=None, source=SWEPT):
    return Study(load(source)).carry_out(out=out, reported=True, on=on)


class Disturbed:
    """A cluster to which something is done after so many runs, however long runs take."""

    def __init__(self, cluster, after: Callable[[int], set[int]], disturb: Callable) -> None:
        self._cluster, self._after, self._disturb = cluster, after, disturb
        self._ended, self._lock = 0, threading.Lock()
        self.times = 0

    def simulate_all(self, scenarios, finish, board, keep):
        after = self._after(len(scenarios))

        def finish_and_disturb(place, outcome):
            with self._lock:
                if self._ended in after:
                    self._disturb()
                    self.times += 1
                self._ended += 1
            return finish(place, outcome)

        return self._cluster.simulate_all(scenarios, finish_and_disturb, board, keep)


def assert_same_bytes(one: Path, other: Path) -> None:
    """Two results folders hold the same."""
    for pattern in ("result.json", "tables/*.csv", "runs/*/*.parquet"):
        files = sorted(one.glob(pattern))
        assert files
        for file in files:
            twin = other / file.relative_to(one)
            assert twin.read_bytes() == file.read_bytes(), twin


def wait_until(true: Callable[[], object]) -> None:
    until = time.monotonic() + 60
    while not true():
        assert time.monotonic() < until
        time.sleep(0.1)
