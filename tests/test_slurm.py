"""Sweeps as jobs of Slurm: what is submitted, and a Slurm of one machine where its programs are."""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import socket
import subprocess
import sys
import time
from pathlib import Path

import pytest
from cluster_runs import Disturbed, assert_same_bytes, carried_out, wait_until

from aqmlab.errors import EngineError, SpecError
from aqmlab.runs import cluster

dask = pytest.importorskip("dask")
pytest.importorskip("dask_jobqueue")

PROGRAMS = ("munged", "slurmctld", "slurmd", "sbatch", "scancel", "squeue", "sinfo")
PATH = os.pathsep.join([os.environ.get("PATH", os.defpath), "/usr/sbin", "/usr/local/sbin"])
JOB = {"cores": 1, "memory": "1GB", "interface": "lo", "death-timeout": 30}


def settings(**more):
    """Dask's configuration, as a site writes it."""
    known = dask.config.get("jobqueue.slurm") | JOB | more
    quick = {"distributed.deploy.lost-worker-timeout": "1s"}
    return dask.config.set({"jobqueue.slurm": known} | quick)


# --- what is submitted ------------------------------------------------------------------------


@pytest.fixture
def commands(tmp_path, monkeypatch):
    """Commands of Slurm's names that note what they are given and start nothing."""
    (tmp_path / "bin").mkdir()
    (tmp_path / "jobs").mkdir()
    write(
        tmp_path / "bin" / "sbatch",
        f'cd "{tmp_path}/jobs"',
        "number=1; while ! mkdir $number.taken 2> /dev/null; do number=$((number + 1)); done",
        'cp "$1" $number.sh; echo Submitted batch job $number',
    )
    write(tmp_path / "bin" / "scancel", f'touch "{tmp_path}/jobs/$1.cancelled"')
    monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}{os.pathsep}{os.defpath}")
    return tmp_path


def write(program: Path, *lines: str) -> None:
    program.write_text("\n".join(["#!/bin/sh", *lines, ""]))
    program.chmod(0o755)


def test_a_job_is_one_worker_with_as_many_threads_as_cores(commands):
    with settings(cores=8, memory="16GB", queue="batch", walltime="08:00:00"):
        with cluster.opened("slurm:2"):
            scripts = sorted((commands / "jobs").glob("*.sh"))
            assert [script.name for script in scripts] == ["1.sh", "2.sh"]
            assert not any((commands / "jobs").glob("*.cancelled"))
        described = scripts[0].read_text()
        port = re.search(r"tcp://127\.0\.0\.1:(\d+)", described)
        assert port is not None
        name = re.search(r"--name (\S+-[01]) ", described)
        assert name is not None
        assert described.splitlines() == [
            "#!/usr/bin/env bash",
            "",
            "#SBATCH -J dask-worker",
            "#SBATCH -p batch",
            "#SBATCH -n 1",
            "#SBATCH --cpus-per-task=8",
            "#SBATCH --mem=15G",
            "#SBATCH -t 08:00:00",
            "",
            f"{sys.executable} -m distributed.cli.dask_worker {port[0]} --name {name[1]} "
            "--nthreads 8 --memory-limit 14.90GiB --nanny --death-timeout 30 --interface lo",
        ]
    cancelled = sorted(path.name for path in (commands / "jobs").glob("*.cancelled"))
    assert cancelled == ["1.cancelled", "2.cancelled"]


def test_a_job_that_is_refused_is_one_sentence(commands):
    write(commands / "bin" / "sbatch", "echo sbatch: error: invalid partition: gone >&2", "exit 1")
    refused = r"Slurm takes no job \(sbatch: error: invalid partition: gone\): correct jobqueue\."
    with settings(), pytest.raises(EngineError, match=refused), cluster.opened("slurm:2"):
        pass


def test_a_machine_without_slurm_is_one_sentence(commands):
    (commands / "bin" / "sbatch").unlink()
    refused = r"Slurm takes no job \(.*sbatch.*\): .*give the command where sbatch works"
    with settings(), pytest.raises(EngineError, match=refused), cluster.opened("slurm:2"):
        pass


@pytest.mark.parametrize(
    ("wrong", "sentence"),
    [
        ({"cores": None}, "specify how much cores and memory .*: correct jobqueue.slurm in "),
        ({"memory": "much"}, "'much' as a byte unit: correct jobqueue.slurm in "),
        ({"interface": "none0"}, "'none0' is not a valid network interface"),
    ],
)
def test_settings_that_describe_no_job_are_one_sentence(commands, wrong, sentence):
    with settings(**wrong), pytest.raises(SpecError, match=sentence), cluster.opened("slurm:1"):
        pass


def test_jobs_that_never_run_are_told_of(commands, monkeypatch, capsys):
    monkeypatch.setattr(cluster, "WORKER_S", 0.1)
    described = "no worker of slurm:1 has come for 0 s: runs wait; look whether"
    with settings(), cluster.opened("slurm:1"):
        received = []
        wait_until(
            lambda: received.append(capsys.readouterr().err) or described in "".join(received)
        )


def test_a_job_that_ended_is_submitted_again_and_a_refusal_is_of_a_moment(commands, monkeypatch):
    monkeypatch.setattr(cluster, "JOBS_S", 0.1)
    jobs = commands / "jobs"
    with settings(), cluster.opened("slurm:1") as there:
        known = there._client.cluster.workers
        (lost,) = known
        write(commands / "bin" / "sbatch", f'touch "{jobs}/asked"', "exit 1")
        known.pop(lost)  # as Dask does when the worker of a job is gone
        wait_until((jobs / "asked").exists)
        write(commands / "bin" / "sbatch", f'cp "$1" "{jobs}/2.sh"; echo job 2')
        wait_until(lambda: lost in known and known[lost].job_id == "2")
    assert (jobs / "2.cancelled").exists()


# --- a Slurm of this machine ------------------------------------------------------------------


@pytest.fixture(scope="module")
def slurm(tmp_path_factory):
    """Its programs as processes of this user, on loopback; gives the folder of their files."""
    if missing := [name for name in PROGRAMS if shutil.which(name, path=PATH) is None]:
        pytest.skip(f"no Slurm here: {', '.join(missing)}")
    home, host = tmp_path_factory.mktemp("slurm"), socket.gethostname().split(".")[0]
    (home / "state").mkdir()
    (home / "key").write_bytes(os.urandom(128))
    (home / "key").chmod(0o400)
    user = subprocess.check_output(["id", "-un"], text=True).strip()
    control, node = free_ports()
    (home / "slurm.conf").write_text(
        f"""
ClusterName=aqmlab
SlurmctldHost={host}(127.0.0.1)
SlurmctldPort={control}
SlurmdPort={node}
SlurmUser={user}
SlurmdUser={user}
AuthType=auth/munge
AuthInfo=socket={home}/munge
StateSaveLocation={home}/state
SlurmdSpoolDir={home}/spool
SlurmctldPidFile={home}/slurmctld.pid
SlurmdPidFile={home}/slurmd.pid
SlurmctldLogFile={home}/slurmctld.log
SlurmdLogFile={home}/slurmd.log
SlurmdParameters=config_overrides
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SwitchType=switch/none
MpiDefault=none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
ReturnToService=2
KillWait=1
MailProg=/bin/true
NodeName={host} NodeAddr=127.0.0.1 CPUs=2 Sockets=1 CoresPerSocket=2 RealMemory=2048
PartitionName=main Nodes=ALL Default=YES State=UP
"""
    )
    daemons = (
        ["munged", "--foreground", "--force", f"--key-file={home}/key", f"--socket={home}/munge"]
        + [f"--{file}-file={home}/munged.{file}" for file in ("pid", "log", "seed")],
        ["slurmctld", "-D"],
        ["slurmd", "-D"],
    )
    with contextlib.ExitStack() as open_, pytest.MonkeyPatch.context() as patch:
        patch.setenv("PATH", PATH)
        patch.setenv("SLURM_CONF", str(home / "slurm.conf"))
        patch.setattr(cluster, "JOBS_S", 0.5)
        for daemon in daemons:
            open_.enter_context(running(daemon, home))
        until = time.monotonic() + 30
        while requested("sinfo", "-h", "-o", "%t") != "idle":
            if time.monotonic() > until:
                pytest.skip("Slurm does not start here")
            time.sleep(0.2)
        with settings(**{"log-directory": str(home)}):
            yield home


def free_ports() -> tuple[int, int]:
    with socket.socket() as one, socket.socket() as other:
        one.bind(("127.0.0.1", 0))
        other.bind(("127.0.0.1", 0))
        return one.getsockname()[1], other.getsockname()[1]


@contextlib.contextmanager
def running(command: list[str], home: Path):
    with (home / f"{command[0]}.out").open("w") as out:
        process = subprocess.Popen(command, stdout=out, stderr=out)
        try:
            yield
        finally:
            process.terminate()
            process.wait()


def requested(*command: str) -> str:
    return subprocess.run(command, capture_output=True, text=True).stdout.strip()


def test_jobs_that_are_cancelled_change_no_byte(real_core, tmp_path, slurm):
    """Every job of the sweep is cancelled in its middle; only others can bring it to its end."""
    gone: list[str] = []

    def cancel() -> None:
        gone.extend(requested("squeue", "-h", "-o", "%i").split())
        subprocess.run(["scancel", *gone], check=True)

    carried_out(tmp_path / "threads")
    with cluster.opened("slurm:2") as there:
        on = Disturbed(there, lambda runs: {runs // 4}, cancel)
        done = carried_out(tmp_path / "slurm", on)
        again = carried_out(tmp_path / "slurm", there)
    assert on.times == 1 and len(gone) == 2
    assert not any(run.cached for run in done.runs)
    assert all(run.cached for run in again.runs)
    assert_same_bytes(tmp_path / "threads", tmp_path / "slurm")
    wait_until(lambda: requested("squeue", "-h") == "")
