"""Sweeps on Kubernetes: what its API server is asked for, and what its refusals become."""

from __future__ import annotations

import contextlib
import http.server
import json
import re
import subprocess
import sys
import threading
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import pytest
import tomlkit
from cluster_runs import SWEPT, assert_same_bytes, carried_out, wait_until

pytest.importorskip("dask_kubernetes")

IMAGE = "registry.example/aqmlab:1"
CLUSTERS = "/apis/kubernetes.dask.org/v1/namespaces/lab/daskclusters"


KINDS = [
    {"name": f"{kind.lower()}s", "singularName": kind.lower(), "kind": kind, "namespaced": of_lab}
    for kind, of_lab in (("Node", False), ("Pod", True), ("Service", True))
]
ABOUT = {
    "/version": {"major": "1", "minor": "34", "gitVersion": "v1.34.4"},
    "/api": {"versions": ["v1"]},
    "/api/v1": {"groupVersion": "v1", "resources": KINDS},
    "/apis": {"groups": []},
}
"""What a server says of itself."""


class Server(http.server.ThreadingHTTPServer):
    """So much of an API server and of Dask's operator as a client needs: a resource that is asked
    for becomes a scheduler with its workers, processes of this machine."""

    daemon_threads = True

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        super().__init__(("127.0.0.1", 0), Handler)
        self.requested: list[dict] = []
        self.removed: list[str] = []
        self.refuse: tuple[int, str] | None = None
        self.acts = True
        self.resource: dict | None = None
        self.pods = contextlib.ExitStack()
        self.scheduler_port = self.dashboard_port = 0

    def create(self, resource: dict) -> dict:
        self.requested.append(json.loads(json.dumps(resource)))
        self.resource = resource
        if self.acts:
            self.start(resource["spec"]["worker"]["replicas"])
            resource["status"] = {"phase": "Running"}
        return resource

    def start(self, workers: int) -> None:
        """The processes that pods would be."""
        described = self.folder / "scheduler.json"
        file = ("--scheduler-file", str(described))
        self.run(
            "scheduler", "--host", "127.0.0.1", "--port", "0", "--dashboard-address", ":0", *file
        )
        wait_until(described.exists)
        about = json.loads(described.read_text())
        self.scheduler_port = int(about["address"].rpartition(":")[2])
        self.dashboard_port = about["services"]["dashboard"]
        for _ in range(workers):
            self.run("worker", "--nthreads", "1", "--host", "127.0.0.1", *file)

    def run(self, program: str, *words: str) -> None:
        command = [sys.executable, "-m", f"distributed.cli.dask_{program}", *words]
        process = subprocess.Popen(command, stderr=subprocess.DEVNULL)
        self.pods.callback(process.wait)
        self.pods.callback(process.terminate)

    def delete(self, name: str) -> None:
        self.removed.append(name)
        self.resource = None
        self.pods.close()

    def found(self, path: str, wanted: dict[str, list[str]]) -> dict | None:
        """What a GET answers."""
        if path in ABOUT:
            return ABOUT[path]
        (label,) = wanted.get("labelSelector", ["component=scheduler"])
        known = {
            "/api/v1/nodes": {"status": {"addresses": [{"address": "127.0.0.1"}]}},
            "/api/v1/namespaces/lab/pods": self.pod() if "component=scheduler" in label else None,
            "/api/v1/namespaces/lab/services": self.service(),
            CLUSTERS: self.resource,
        }
        if path in known:
            one = known[path]
            return {"kind": "List", "metadata": {}, "items": [one] if one else []}
        return known.get(path.rpartition("/")[0])

    def pod(self) -> dict | None:
        kinds = ("Ready", "ContainersReady")
        ready = [{"type": kind, "status": "True"} for kind in kinds]
        return self.part("pod", status={"phase": "Running", "conditions": ready})

    def service(self) -> dict | None:
        if self.resource is None:
            return None
        requested = self.resource["spec"]["scheduler"]["service"]
        ports = {"tcp-comm": self.scheduler_port, "http-dashboard": self.dashboard_port}
        named = [{"name": k, "port": v, "nodePort": v} for k, v in ports.items()]
        return self.part("scheduler", spec={**requested, "ports": named})

    def part(self, name: str, **content: dict) -> dict | None:
        """An object that the operator has made of the resource."""
        if self.resource is None:
            return None
        whole = f"{self.resource['metadata']['name']}-{name}"
        return {"metadata": {"name": whole, "namespace": "lab"}, **content}


class Handler(http.server.BaseHTTPRequestHandler):
    server: Server

    def answer(self, code: int, content: dict) -> None:
        described = json.dumps(content).encode()
        self.send_response(code)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(described)))
        self.end_headers()
        self.wfile.write(described)

    def fail(self, code: int, message: str) -> None:
        self.answer(code, {"kind": "Status", "code": code, "message": message})

    def do_GET(self) -> None:
        url = urlsplit(self.path)
        found = self.server.found(url.path.rstrip("/"), parse_qs(url.query))
        if found is None:
            self.fail(404, "the server could not find the requested resource")
        else:
            self.answer(200, found)

    def do_POST(self) -> None:
        content = self.rfile.read(int(self.headers["Content-Length"]))
        if self.server.refuse is not None:
            self.fail(*self.server.refuse)
        elif self.path == CLUSTERS:
            self.answer(201, self.server.create(json.loads(content)))
        else:
            self.fail(404, f"unexpected: {self.path}")

    def do_DELETE(self) -> None:
        self.rfile.read(int(self.headers.get("Content-Length") or 0))
        self.server.delete(self.path.rpartition("/")[2])
        self.answer(200, {"kind": "Status", "status": "Success"})

    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture
def kubernetes(tmp_path):
    with Server(tmp_path) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield server
        server.pods.close()
        server.shutdown()


@pytest.fixture
def swept(aqmlab_command):
    """The command that carries out the sweep on such a cluster, as its user gives it."""
    folder = aqmlab_command.folder
    (folder / "sweep.toml").write_text(
        tomlkit.dumps(SWEPT | {"sweep": SWEPT["sweep"] | {"seeds": 2}})
    )

    def run(port: int, image: str = IMAGE):
        context = {"cluster": "c", "user": "u", "namespace": "lab"}
        content = {
            "apiVersion": "v1",
            "kind": "Config",
            "current-context": "k",
            "contexts": [{"name": "k", "context": context}],
            "clusters": [{"name": "c", "cluster": {"server": f"http://127.0.0.1:{port}"}}],
            "users": [{"name": "u", "user": {"token": "t"}}],
        }
        (folder / "kubeconfig").write_text(json.dumps(content))
        return aqmlab_command(
            *("run", "sweep.toml", "--report", "--json", "--out", "pods", "--on", "kubernetes:2"),
            KUBECONFIG=str(folder / "kubeconfig"),
            DASK_KUBERNETES__IMAGE=image,
            DASK_KUBERNETES__ENV="{'SITE': 'x'}",
            DASK_KUBERNETES__RESOURCES="{'limits': {'cpu': '4', 'memory': '8Gi'}}",
            DASK_KUBERNETES__SCHEDULER_SERVICE_TYPE="NodePort",
            DASK_KUBERNETES__RESOURCE_TIMEOUT="1",
        )

    return run


def test_pods_of_the_named_image_do_the_runs_and_are_removed(tmp_path, kubernetes, swept):
    done = swept(kubernetes.server_port)
    carried_out(tmp_path / "threads", source=tmp_path / "sweep.toml")
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["name"] == "sweep"
    assert_same_bytes(tmp_path / "threads", tmp_path / "pods")
    (requested,) = kubernetes.requested
    name, spec = requested["metadata"]["name"], requested["spec"]
    assert requested["metadata"] == {"name": name, "namespace": "lab"}
    assert (requested["apiVersion"], requested["kind"]) == ("kubernetes.dask.org/v1", "DaskCluster")
    # Two commands of one namespace share no cluster.
    assert kubernetes.removed == [name] and re.fullmatch("aqmlab-[0-9a-f]{8}", name)
    assert spec["worker"]["replicas"] == 2
    assert spec["idleTimeout"] == 3600
    for part in ("worker", "scheduler"):
        (container,) = spec[part]["spec"]["containers"]
        assert container["image"] == IMAGE
        assert container["args"][:2] == ["dask", part]
        assert container["env"] == [{"name": "SITE", "value": "x"}]
        assert container["resources"] == {"limits": {"cpu": "4", "memory": "8Gi"}}
    assert spec["scheduler"]["service"]["type"] == "NodePort"
    assert f"kubectl get daskcluster,pods -l dask.org/cluster-name={name}" in done.stderr


@pytest.mark.parametrize(
    ("refusal", "sentence"),
    [
        ((404, "no such resource"), "(no such resource): install the operator of Dask"),
        ((403, "it is forbidden"), "(it is forbidden): ask for the right to create DaskClusters"),
    ],
)
def test_a_refusal_is_one_sentence(kubernetes, swept, refusal, sentence):
    kubernetes.refuse = refusal
    assert f"Kubernetes starts no workers {sentence}" in last_of_two(swept(kubernetes.server_port))


def test_an_operator_that_does_not_act_is_one_sentence_and_nothing_is_left(kubernetes, swept):
    kubernetes.acts = False
    described = last_of_two(swept(kubernetes.server_port))
    assert "is the Dask Operator running" in described
    assert "look whether kubectl reaches it and the operator of Dask runs there" in described
    assert kubernetes.removed == [kubernetes.requested[0]["metadata"]["name"]]


def test_a_server_that_does_not_answer_is_one_sentence(swept):
    described = last_of_two(swept(9))
    assert (
        "Kubernetes starts no workers (" in described
        and "look whether kubectl reaches it" in described
    )


def last_of_two(done) -> str:
    """The sentence after the one that says what Kubernetes is asked for; nothing else is said."""
    assert (done.returncode, done.stdout) == (2, "")
    asks, described = done.stderr.splitlines()
    assert "asks Kubernetes for 2 workers" in asks
    return described


def test_an_image_without_aqmlab_is_refused_before_pods_are_asked_for(kubernetes, swept):
    refused = swept(kubernetes.server_port, "ghcr.io/dask/dask:latest")
    assert refused.returncode == 2
    assert "image ghcr.io/dask/dask:latest has no aqmlab in it: name one that has" in refused.stderr
    assert refused.stderr.count("\n") == 1 and kubernetes.requested == []
