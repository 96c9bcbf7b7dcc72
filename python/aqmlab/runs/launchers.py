"""Starts the workers of a cluster: processes on this machine, jobs of Slurm, or pods of Kubernetes.

Each launcher returns a Dask cluster object, to which a client connects; its workers end with the
`with` block.
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
"""Interval, in seconds, at which ended jobs of Slurm are replaced by new ones."""
LABEL = "dask.org/cluster-name"
"""The label that Dask's operator gives to the Kubernetes resources of a cluster."""
PLAIN_IMAGE = "ghcr.io/dask/dask:"
"""The start of the name of Dask's own image, the default, which does not contain aqmlab."""
IDLE_S = 3600
"""Seconds without work after which Kubernetes removes a cluster, for example if the command was
killed."""


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
    """Settings of a scheduler that is started here: a run may lose more workers than by default
    before it is given up."""
    import dask.config

    return dask.config.set({"distributed.scheduler.allowed-failures": 10})


@contextmanager
def _slurm(jobs: int) -> Iterator[Any]:
    """A cluster of Slurm jobs with one worker each, configured by `jobqueue.slurm` of Dask's
    configuration."""
    jobqueue = extra("dask_jobqueue", "slurm")
    from tornado.ioloop import PeriodicCallback

    settings = "jobqueue.slurm in ~/.config/dask/jobqueue.yaml"
    try:
        # Raises an error for wrong settings before anything starts.
        jobqueue.SLURMCluster.job_cls("")
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
            with contextlib.suppress(OSError, RuntimeError):  # the next call tries again
                await _submit(cluster, jobs)

        requested = PeriodicCallback(again, 1000 * JOBS_S)
        cluster.loop.add_callback(requested.start)
        try:
            yield cluster
        finally:
            requested.stop()


async def _submit(cluster: Any, jobs: int) -> None:
    """Submits jobs until there are as many as requested. Dask forgets a job that has ended, for
    example at its time limit; this replaces it."""
    from distributed.core import Status

    while len(cluster.worker_spec) < jobs:
        cluster.worker_spec.update(cluster.new_worker_spec())
    try:
        await cluster
    finally:
        for name, job in list(cluster.workers.items()):
            if job.job_id is None:  # Slurm did not accept this job
                job.status = Status.failed
                del cluster.workers[name]


def _kubernetes(workers: int) -> Any:
    """A cluster of pods that Dask's operator starts, configured by `kubernetes` of Dask's
    configuration."""
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
    # The specification names the command `dask-scheduler`, which current versions of Dask lack.
    (scheduler,) = described["spec"]["scheduler"]["spec"]["containers"]
    scheduler["args"] = ["dask", "scheduler", *scheduler["args"][1:]]
    say(f"{workers} workers from Kubernetes: kubectl get daskcluster,pods -l {LABEL}={name}")
    try:
        return operator.KubeCluster(custom_cluster_spec=described, quiet=True)
    except Exception as error:
        status = getattr(getattr(error, "response", None), "status_code", None)
        for begun in [one for one in operator.KubeCluster._instances if one.name == name]:
            with contextlib.suppress(Exception):
                if status != 404:  # 404 means that Kubernetes has no such resource
                    begun.close(timeout=10)
            begun.shutdown_on_close = False  # else Dask would shut it down when this process ends
        raise _refused(error, status) from error


def _refused(error: Exception, status: int | None) -> EngineError:
    """The error for a cluster that Kubernetes does not start, with a remedy."""
    remedy = {
        401: "log in (kubectl auth whoami)",
        403: "ask for the right to create DaskClusters in this namespace",
        404: "install the operator of Dask (Helm's dask-kubernetes-operator)",
    }.get(status or 0, "look whether kubectl reaches it and the operator of Dask runs there")
    return EngineError(f"Kubernetes starts no workers ({_first(error)}): {remedy}")


def extra(module: str, on: str) -> Any:
    """Imports a module of the optional dependencies `aqmlab[cluster]`."""
    try:
        return importlib.import_module(module)
    except ModuleNotFoundError as error:
        raise SpecError(f"--on {on} needs Dask: pip install 'aqmlab[cluster]'") from error


def _first(error: BaseException) -> str:
    """The first line of an error's message."""
    return _lines(error)[0].removesuffix(", for example:")


def _last(error: BaseException) -> str:
    """The last line of an error's message; for a failed command this is the command's own
    message."""
    return _lines(error)[-1]


def _lines(error: BaseException) -> list[str]:
    lines = [line.strip() for line in str(error).splitlines()]
    return list(filter(None, lines)) or [type(error).__name__]


STARTED: Mapping[str, Callable[[int], Any]] = {
    "local": _local,
    "slurm": _slurm,
    "kubernetes": _kubernetes,
}
"""The launchers by the word that selects them in `--on`."""


def known() -> str:
    """The forms of `--on` that start workers, for an error message."""
    return ", ".join(f"{kind}:N" for kind in STARTED)
