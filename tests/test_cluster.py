"""Sweeps on a cluster: the same to the byte, whatever happens to its workers."""

from __future__ import annotations

import os
import random
import signal
import threading
import time
from dataclasses import replace

import pytest

from aqmlab.errors import EngineError, SpecError, StoreError
from aqmlab.experiment.experiment import load
from aqmlab.pipeline.study import Study
from aqmlab.runs import cluster
from aqmlab.runs.progress import Progress
from aqmlab.simulator import engine

distributed = pytest.importorskip("distributed")

SCENARIO = {
    "duration": "20 s",
    "warmup": "2 s",
    "link": [{"rate": "10 Mbit/s", "forward": "red"}],
    "traffic": [{"app": "bulk", "flows": 4}],
}
ENDLESS = SCENARIO | {"duration": "300 h", "record": {"samples": False}}
KILLS = 3


@pytest.fixture(scope="module")
def there():
    with cluster.opened("local:2") as found:
        yield found


SWEPT = {
    "name": "sweep",
    "scenario": SCENARIO | {"duration": "200 s", "traffic": [{"app": "bulk", "flows": 20}]},
    "sweep": {"link.0.forward": ["red", "codel", "droptail"], "seeds": 8},
    "metric": {"queue": {"summary": "queue_mean_packets"}},
    "table": {
        "queues": {"group": "sweep", "title": "Queues", "keys": {"link.0.forward": "discipline"}}
    },
}


def carried_out(out, on=None):
    return Study(load(SWEPT)).carry_out(out=out, reported=True, on=on)


class Killed:
    """A cluster, one of whose workers is killed after every run of some, however long runs take;
    it starts others in their place."""

    def __init__(self, cluster, chance: random.Random) -> None:
        self._cluster, self._chance = cluster, chance
        self._ended, self._lock = 0, threading.Lock()
        self.killed: list[int] = []

    def simulate_all(self, scenarios, finish, board):
        # The last runs are left in peace: when a run is kept, some later ones may have ended.
        after = self._chance.sample(range(len(scenarios) // 2), KILLS)

        def finish_and_kill(place, outcome):
            with self._lock:
                if self._ended in after:
                    self.kill()
                self._ended += 1
            return finish(place, outcome)

        return self._cluster.simulate_all(scenarios, finish_and_kill, board)

    def kill(self) -> None:
        def pids():
            workers = self._cluster._client.cluster.workers.values()
            return [one.pid for one in workers if one.pid and one.pid not in self.killed]

        wait_until(pids)
        self.killed.append(self._chance.choice(pids()))
        os.kill(self.killed[-1], signal.SIGKILL)


def test_workers_that_are_killed_at_random_change_no_byte(real_core, tmp_path, there):
    carried_out(tmp_path / "threads")
    killed = Killed(there, random.Random(1))
    done = carried_out(tmp_path / "cluster", killed)
    assert len(killed.killed) == KILLS
    assert not any(run.cached for run in done.runs)
    for pattern in ("result.json", "tables/*.csv", "runs/*/*.parquet"):
        files = sorted((tmp_path / "threads").glob(pattern))
        assert files
        for file in files:
            other = tmp_path / "cluster" / file.relative_to(tmp_path / "threads")
            assert other.read_bytes() == file.read_bytes(), other


def test_a_run_that_is_kept_nowhere_has_its_tables(real_core, there):
    (run,) = Study(load(SCENARIO, seed=3)).carry_out(on=there).runs
    (same,) = Study(load(SCENARIO, seed=3)).carry_out().runs
    assert run.summary["fingerprint"] == same.summary["fingerprint"]
    assert run.tables() == same.tables()
    assert all(run.table(name).equals(same.table(name)) for name in run.tables())


def test_a_worker_of_another_version_is_refused_in_one_sentence(real_core, there, monkeypatch):
    ours = engine.version()
    monkeypatch.setattr(cluster.engine, "version", lambda: replace(ours, build="another"))
    with pytest.raises(EngineError, match=r"the worker at tcp://\S+ has aqmlab .* was asked for: "):
        there.simulate_all([SCENARIO], lambda *_: None, Progress())


def test_a_mistake_that_a_worker_finds_is_told_as_ours_are(real_core, there):
    with pytest.raises(SpecError, match="duration"):
        there.simulate_all([SCENARIO | {"duration": "1 mile"}], lambda *_: None, Progress())


def test_what_is_left_is_called_back_when_a_run_cannot_be_written(real_core, there):
    def finish(*_: object) -> None:
        wait_until(lambda: any(there._client.run(busy).values()))
        raise StoreError("no room")

    board = Progress()
    board.begin("runs", [1.0, 1.0])
    with pytest.raises(StoreError, match="no room"):
        there.simulate_all([SCENARIO, ENDLESS], finish, board)
    wait_until(lambda: not any(there._client.run(busy).values()))


def busy(dask_worker) -> bool:
    return any(
        task.state in ("executing", "cancelled") for task in dask_worker.state.tasks.values()
    )


def wait_until(true) -> None:
    until = time.monotonic() + 60
    while not true():
        assert time.monotonic() < until
        time.sleep(0.1)


@pytest.mark.parametrize(
    ("on", "sentence"),
    [
        ("slurm", 'give the number of workers, for example "slurm:4"'),
        ("local:0", 'give the number of workers, for example "local:4"'),
        ("here", 'no cluster "here": give tcp://HOST:PORT of a Dask scheduler, or local:N'),
    ],
)
def test_words_that_name_no_cluster(on, sentence):
    with pytest.raises(SpecError, match=sentence), cluster.opened(on):
        pass


def test_a_scheduler_that_does_not_answer_is_one_sentence():
    import dask

    with (
        dask.config.set({"distributed.comm.timeouts.connect": "500ms"}),
        pytest.raises(EngineError, match=r"no Dask scheduler answers at tcp://127\.0\.0\.1:9"),
        cluster.opened("tcp://127.0.0.1:9"),
    ):
        pass


def test_jobs_and_looks_into_runs_are_of_this_machine(aqmlab_command):
    for more in (("--jobs", 2), ("--watch",), ("--pcap", "a.pcap")):
        refused = aqmlab_command("run", "a.toml", "--on", "local:2", *more)
        assert refused.returncode == 2
        assert "leave out --on" in refused.stderr
