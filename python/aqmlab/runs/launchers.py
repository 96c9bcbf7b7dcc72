"""Where the workers of a cluster come from: processes here, jobs of Slurm, pods of Kubernetes.

Each launcher gives what a Dask client connects to, and ends its workers with the `with` block.
"""

from __future__ import annotations

import contextlib
import importlib
import logging
import uuid
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from aqmlab.errors import EngineError, SpecError
from aqmlab.io.terminal import say

JOBS_S = 5.0
"""How often it is looked whether jobs of Slurm have ended and others take their place."""
LABEL = "dask.org/cluster-name"
"""The label by which Kubernetes knows what belongs to a cluster of Dask."""
PLAIN_IMAGE = "ghcr.io/dask/dask:"
"""Dask's own, which Dask starts if no other is named."""
IDLE_S = 3600
"""After so long without work Kubernetes removes a cluster whose command was killed."""


def _local(workers: int) -> Any:
    from distributed import LocalCluster

    with _patient():
        return LocalCluster(
            n_workers=workers,
            threads_per_worker=1,
            dashboard_address=":0",
            silence_logs=logging.CRITICAL,
        )


def _patient() -> Any:
    """Settings of a scheduler of ours: who tried a run before it died says nothing of the run."""
    import dask.config

    return dask.config.set({"distributed.scheduler.allowed-failures": 10})


@contextmanager
def _slurm(jobs: int) -> Iterator[Any]:
    """Jobs of Slurm, a worker each, as `jobqueue.slurm` in Dask's configuration describes it."""
    jobqueue = extra("dask_jobqueue", "slurm")
    from tornado.ioloop import PeriodicCallback

    settings = "jobqueue.slurm in ~/.config/dask/jobqueue.yaml"
    try:
        jobqueue.SLURMCluster.job_cls("")  # finds mistakes before there is half a cluster
        with _patient():
            cluster = jobqueue.SLURMCluster(processes=1, silence_logs=logging.CRITICAL)
    except (ValueError, RuntimeError) as error:
        raise SpecError(f"--on slurm: {_first(error)}: correct {settings}") from error
    with cluster:
        try:
            cluster.sync(_submit, cluster, jobs)
        except (OSError, RuntimeError) as error:
            raise EngineError(
                f"Slurm takes no job ({_last(error)}): correct {settings}, or give the command "
                "where sbatch works"
            ) from error

        async def again() -> None:
            with contextlib.suppress(OSError, RuntimeError):  # temporary: it is tried again
                await _submit(cluster, jobs)

        requested = PeriodicCallback(again, 1000 * JOBS_S)
        cluster.loop.add_callback(requested.start)
        try:
            yield cluster
        finally:
            requested.stop()


async def _submit(cluster: Any, jobs: int) -> None:
    """As many jobs as were requested. Dask forgets one that has ended, at its time limit for
    example, and submits another only here."""
    from distributed.core import Status

    while len(cluster.worker_spec) < jobs:
        cluster.worker_spec.update(cluster.new_worker_spec())
    try:
        await cluster
    finally:
        for name, job in list(cluster.workers.items()):
            if job.job_id is None:  # was not taken
                job.status = Status.failed
                del cluster.workers[name]


def _kubernetes(workers: int) -> Any:
    """Pods that the operator of Dask starts, as `kubernetes` in Dask's configuration describes
    them."""
    operator = extra("dask_kubernetes.operator", "kubernetes")
    import dask.config

    keys = ("image", "env", "resources", "scheduler-service-type")
    given = {key.replace("-", "_"): dask.config.get(f"kubernetes.{key}") for key in keys}
    if given["image"].startswith(PLAIN_IMAGE):
        raise SpecError(
            f"--on kubernetes: the image {given['image']} has no aqmlab in it: name one that has "
            "this version by DASK_KUBERNETES__IMAGE"
        )
    logging.getLogger("dask_kubernetes").setLevel(logging.CRITICAL)
    name = f"aqmlab-{uuid.uuid4().hex[:8]}"
    described = operator.make_cluster_spec(
        name=name,
        n_workers=workers,
        idle_timeout=IDLE_S,
        worker_command="dask worker",
        **given,
    )
    # The names of commands that are written there have left Dask's package.
    (scheduler,) = described["spec"]["scheduler"]["spec"]["containers"]
    scheduler["args"] = ["dask", "scheduler", *scheduler["args"][1:]]
    say(f"{workers} workers from Kubernetes: kubectl get daskcluster,pods -l {LABEL}={name}")
    try:
        return operator.KubeCluster(custom_cluster_spec=described, quiet=True)
    except Exception as error:
        status = getattr(getattr(error, "response", None), "status_code", None)
        for begun in [one for one in operator.KubeCluster._instances if one.name == name]:
            with contextlib.suppress(Exception):
                if status != 404:  # no such resource at all
                    begun.close(timeout=10)
            begun.shutdown_on_close = False  # by Dask, when this process ends
        raise _refused(error, status) from error


def _refused(error: Exception, status: int | None) -> EngineError:
    """Why Kubernetes starts no cluster."""
    remedy = {
        401: "log in (kubectl auth whoami)",
        403: "ask for the right to create DaskClusters in this namespace",
        404: "install the operator of Dask (Helm's dask-kubernetes-operator)",
    }.get(status or 0, "look whether kubectl reaches it and the operator of Dask runs there")
    return EngineError(f"Kubernetes starts no workers ({_first(error)}): {remedy}")


def extra(module: str, on: str) -> Any:
    """A module of the extra `aqmlab[cluster]`."""
    try:
        return importlib.import_module(module)
    except ModuleNotFoundError as error:
        raise SpecError(f"--on {on} needs Dask: pip install 'aqmlab[cluster]'") from error


def _first(error: BaseException) -> str:
    """The first line of what an error says."""
    return _lines(error)[0].removesuffix(", for example:")


def _last(error: BaseException) -> str:
    """The last one: of a command that failed, its own words."""
    return _lines(error)[-1]


def _lines(error: BaseException) -> list[str]:
    lines = [line.strip() for line in str(error).splitlines()]
    return list(filter(None, lines)) or [type(error).__name__]


STARTED: Mapping[str, Callable[[int], Any]] = {
    "local": _local,
    "slurm": _slurm,
    "kubernetes": _kubernetes,
}
"""Who starts workers, by the word of `--on`."""


def known() -> str:
    """The words that start workers, for a sentence."""
    return ", ".join(f"{kind}:N" for kind in STARTED)
