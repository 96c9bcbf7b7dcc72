"""Sweeps on a cluster: the same to the byte, whatever happens to its workers."""

from __future__ import annotations

import contextlib
import os
import random
import signal
from dataclasses import replace

import pytest
from cluster_runs import SCENARIO, Disturbed, assert_same_bytes, carried_out, wait_until

import aqmlab
from aqmlab.advise import advice, situation
from aqmlab.errors import EngineError, SpecError, StoreError
from aqmlab.experiment.experiment import load
from aqmlab.pipeline import sharing
from aqmlab.pipeline.study import Study
from aqmlab.runs import cluster
from aqmlab.runs.progress import Progress
from aqmlab.simulator import engine

distributed = pytest.importorskip("distributed")

ENDLESS = SCENARIO | {"duration": "300 h", "record": {"samples": False}}
KILLS = 3


@pytest.fixture(scope="module")
def there():
    with cluster.opened("local:2") as found:
        yield found


def test_workers_that_are_killed_at_random_change_no_byte(real_core, tmp_path, there):
    chance, killed = random.Random(1), []

    def kill() -> None:
        def pids():
            workers = there._client.cluster.workers.values()
            return [one.pid for one in workers if one.pid and one.pid not in killed]

        wait_until(pids)
        killed.append(chance.choice(pids()))
        os.kill(killed[-1], signal.SIGKILL)

    carried_out(tmp_path / "threads")
    # The last runs are left in peace: when a run is kept, some later ones may have ended.
    on = Disturbed(there, lambda runs: set(chance.sample(range(runs // 2), KILLS)), kill)
    done = carried_out(tmp_path / "cluster", on)
    assert on.times == KILLS
    assert not any(run.cached for run in done.runs)
    assert_same_bytes(tmp_path / "threads", tmp_path / "cluster")


class Sends:
    """A cluster, and of each run the tables that were to be kept and those that came."""

    def __init__(self, cluster) -> None:
        self._cluster = cluster
        self.came: list = []

    def simulate_all(self, scenarios, finish, board, keep):
        def noted(place, outcome):
            self.came.append((keep[place], outcome.tables))
            return finish(place, outcome)

        return self._cluster.simulate_all(scenarios, noted, board, keep)


def test_only_tables_that_are_kept_come_back(real_core, tmp_path, there):
    shown = Sends(there)
    how = {"quick": True, "parts": ["edge-bulk", "traces"], "settings": {"seeds": 1, "looks": (1,)}}
    study = Study(load("harsh-red"))
    here = study.carry_out(out=tmp_path / "threads", **how)
    done = study.carry_out(out=tmp_path / "cluster", on=shown, **how)
    assert len(shown.came) == len(done.runs) > 20
    for keep, tables in shown.came:
        assert {name for name in tables if holds(tables, name)} == keep < set(tables)
    assert {keep for keep, _ in shown.came} == {frozenset(), frozenset({"queue", "trace"})}
    for run, same in zip(done.runs, here.runs, strict=True):
        assert run.tables() == same.tables()
        assert run.stored.kept() == same.stored.kept()
        assert all(run.table(name).equals(same.table(name)) for name in run.stored.kept())


def holds(tables, name: str) -> bool:
    with contextlib.suppress(KeyError):
        return bool(tables.content(name))
    return False


def test_a_run_that_is_kept_nowhere_has_its_tables(real_core, there):
    (run,) = Study(load(SCENARIO, seed=3)).carry_out(on=there).runs
    (same,) = Study(load(SCENARIO, seed=3)).carry_out().runs
    assert run.summary["fingerprint"] == same.summary["fingerprint"]
    assert run.tables() == same.tables()
    assert all(run.table(name).equals(same.table(name)) for name in run.tables())


def test_a_worker_of_another_version_is_refused_in_one_sentence(real_core, there, monkeypatch):
    ours = engine.version()
    monkeypatch.setattr(cluster.engine, "version", lambda: replace(ours, build="another"))
    with pytest.raises(EngineError, match=r"the worker at tcp://\S+ has aqmlab .* is needed: "):
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


def test_a_scheduler_that_does_not_answer_is_one_sentence(monkeypatch, capsys):
    import dask

    monkeypatch.setattr(cluster, "SILENCE_S", 0.05)
    with (
        dask.config.set({"distributed.comm.timeouts.connect": "500ms"}),
        pytest.raises(EngineError, match=r"no Dask scheduler answers at tcp://127\.0\.0\.1:9"),
        cluster.opened("tcp://127.0.0.1:9"),
    ):
        pass
    waits = "no answer from tcp://127.0.0.1:9 yet, which may take up to 500ms; Ctrl-C ends"
    assert waits in capsys.readouterr().err


def test_jobs_and_looks_into_runs_are_of_this_machine(aqmlab_command):
    for more in (("--jobs", 2), ("--watch",), ("--pcap", "a.pcap")):
        refused = aqmlab_command("run", "a.toml", "--on", "local:2", *more)
        assert refused.returncode == 2
        assert "leave out --on" in refused.stderr


def test_a_result_is_reproduced_there(real_core, tmp_path, there):
    shown = Sends(there)
    aqmlab.run(SCENARIO, seeds=2, out=tmp_path)
    assert sharing.reproduce(tmp_path, on=shown).same
    assert len(shown.came) == 2 and not any(holds(came, "queue") for _, came in shown.came)


def test_advice_is_raced_there(real_core, there):
    line = situation.of_words("4/1 Mbit/s", None, "household", None)
    wish = advice.Wish(line, "pages fast", ["codel"], advice.Rounds((1, 2), 1))
    shown = Sends(there)
    assert advice.advise(wish, on=shown) == advice.advise(wish)
    assert shown.came
