"""Shared fixtures."""

from __future__ import annotations

import hashlib
import importlib
import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import forked
import hypothesis
import pytest

import wheel
from aqmlab.experiment import plan
from aqmlab.experiment.experiment import load
from aqmlab.experiment.plan import Plan

HERE = Path(__file__).parent

# No test fails because the machine is slow: a first example may import a library.
hypothesis.settings.register_profile("aqmlab", deadline=None)
hypothesis.settings.load_profile("aqmlab")


LONGEST = (
    "how_to",
    "transcriptions",
    "matching",
    "killed",
    "documents",
    "studies",
    "browser",
    "real",
    "tasks",
    "report",
    "infer",
    "cluster",
)
"""Files of tests that take longest, begun first: one begun last leaves the other cores idle."""


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """The longest files first; the others in their order."""
    place = {f"test_{name}": number for number, name in enumerate(LONGEST)}
    items.sort(key=lambda item: place.get(item.path.stem, len(LONGEST)))


def base_scenario(**changes) -> dict:
    """A complete small scenario that both the double and the simulator accept."""
    return {
        "name": "small",
        "duration": "20 s",
        "warmup": "5 s",
        "network": {"clients": 7, "servers": 7, "rtt": "40 ms"},
        "link": [
            {
                "name": "bottleneck",
                "rate": "10 Mbit/s",
                "forward": {"aqm": "droptail", "limit": 60},
                "reverse": {"aqm": "droptail", "limit": 50},
            }
        ],
        "traffic": [{"app": "web", "model": "mah-fit", "users": 700}],
        **changes,
    }


SCENARIO_TOML = """
duration = "20 s"
warmup = "5 s"
network = { clients = 7, servers = 7, rtt = "40 ms" }
[[link]]
name = "bottleneck"
rate = "10 Mbit/s"
forward = { aqm = "droptail", limit = 60 }
reverse = { aqm = "droptail", limit = 50 }
[[traffic]]
app = "web"
model = "mah-fit"
users = 700
"""


@pytest.fixture(autouse=True, scope="session")
def _own_memory(tmp_path_factory, worker_id) -> Iterator[None]:
    """What tests permit is remembered in a folder of theirs, not in the user's. All tests share
    matplotlib's list of fonts, which a process that draws would make again in an empty cache."""
    base = tmp_path_factory.getbasetemp()
    fonts = (base if worker_id == "master" else base.parent) / "matplotlib"
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_DATA_HOME", str(tmp_path_factory.mktemp("data")))
        patch.setenv("MPLCONFIGDIR", str(fonts))
        yield


@pytest.fixture(autouse=True)
def _own_cache(request, tmp_path_factory, monkeypatch) -> None:
    """What a test computes for later is in a folder of its own, which is made when it is needed."""
    name = hashlib.blake2b(request.node.nodeid.encode(), digest_size=8).hexdigest()
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path_factory.getbasetemp() / "caches" / name))


@pytest.fixture
def scenario() -> dict:
    return base_scenario()


@pytest.fixture
def toml_file(tmp_path) -> Path:
    path = tmp_path / "small.toml"
    path.write_text(SCENARIO_TOML)
    return path


def planned(source: Any, **how: Any) -> Plan:
    """The plan of a scenario or a sweep, loads not yet users."""
    experiment = load(source, **how)
    settings = experiment.setting(quick=False)
    return plan.make(experiment, settings, lambda *_: {}, experiment.group)


@pytest.fixture
def fake(monkeypatch):
    """The test double behind `aqmlab.engine`."""
    import fake_core
    from aqmlab.simulator import engine

    monkeypatch.setattr(engine, "_core", lambda: fake_core)
    monkeypatch.setattr(fake_core, "VERSION", dict(fake_core.VERSION))
    return fake_core


@pytest.fixture(scope="session")
def real_core():
    """The compiled simulator. `make test` builds it first and then insists on it."""
    if "AQMLAB_TEST_REAL" in os.environ:
        return importlib.import_module("aqmlab._core")
    return pytest.importorskip("aqmlab._core")


@pytest.fixture
def trial(real_core: ModuleType) -> Callable[..., list[dict]]:
    """Carries out a trial; its calls, each with the whole inner state after it."""

    def run(name: str, arrivals: list[dict], seed: int = 1, **parameters: object) -> list[dict]:
        request = {"discipline": name, "parameters": parameters, "seed": seed, "arrivals": arrivals}
        (case,) = json.loads(real_core.trial(json.dumps(request)))["cases"]
        state, calls = dict(case.get("state", {})), []
        for call in case["calls"]:
            state |= call.get("state", {})
            calls.append({"events": [], "draws": [], **call, "state": dict(state)})
        return calls

    return run


FORKING = forked.Parent()


@pytest.fixture(autouse=True, scope="session")
def _forking() -> Iterator[None]:
    yield
    FORKING.close()


class Command:
    """The command `aqmlab` as a process, with the double or the simulator behind it."""

    def __init__(self, folder: Path, program: list[str]) -> None:
        self.folder, self.program = folder, program

    def arguments(self, *words: object) -> list[str]:
        return [sys.executable, *self.program, *map(str, words)]

    def environment(self, **variables: str) -> dict[str, str]:
        return {**os.environ, "PYTHONPATH": str(HERE.parent / "python"), **variables}

    def start(self, *words: object, **variables: str) -> subprocess.Popen[str]:
        return subprocess.Popen(
            self.arguments(*words),
            cwd=self.folder,
            env=self.environment(**variables),
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    def __call__(self, *words: object, **variables: str) -> subprocess.CompletedProcess[str]:
        """Runs the command: in a fork, but for variables and options of an interpreter."""
        if forked.may_run(self.program) and not variables:
            texts = [str(word) for word in words]
            return FORKING.run(self.program, texts, self.folder, self.environment())
        return subprocess.run(
            self.arguments(*words),
            cwd=self.folder,
            env=self.environment(**variables),
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )


@pytest.fixture
def command(tmp_path) -> Command:
    """`aqmlab` with the double behind it, run in an empty folder."""
    return Command(tmp_path, [str(HERE / "fake_core.py")])


@pytest.fixture
def aqmlab_command(tmp_path, real_core) -> Command:
    """`aqmlab` itself, run in an empty folder."""
    return Command(tmp_path, ["-m", "aqmlab"])


@pytest.fixture(scope="session")
def programs(real_core, tmp_path_factory, worker_id) -> tuple[Path, dict[str, str]]:
    """Where `aqmlab` and `python3` are, and their environment: the wheel's, or else ours."""
    ours = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    base = tmp_path_factory.getbasetemp()
    if there := wheel.given():
        shared = base if worker_id == "master" else base.parent
        return wheel.installed(there, shared / "wheel"), ours
    folder = tmp_path_factory.mktemp("bin")
    for name, words in (("aqmlab", f"{sys.executable} -m aqmlab"), ("python3", sys.executable)):
        (folder / name).write_text(f'#!/bin/sh\nexec {words} "$@"\n')
        (folder / name).chmod(0o755)
    return folder, ours | {"PYTHONPATH": str(HERE.parent / "python")}


@pytest.fixture(scope="session")
def of_shells(programs, tmp_path_factory, worker_id) -> Iterator[dict[str, str]]:
    """The variables of shells in which `aqmlab` is that of `programs`, forked where it can be."""
    place, environment = programs
    base = tmp_path_factory.getbasetemp()
    path = f"{place}{os.pathsep}{os.environ['PATH']}"
    environment = environment | {
        "PATH": path,
        "XDG_CACHE_HOME": str((base if worker_id == "master" else base.parent) / "cache"),
        "MPLBACKEND": "agg",
    }
    if sys.platform != "linux":
        yield environment
        return
    given = wheel.given() is not None
    python = str(place / "python") if given else sys.executable
    program = str(place / "aqmlab") if given else "-m aqmlab"
    parent = forked.Parent(python)
    ahead = tmp_path_factory.mktemp("ahead")
    (ahead / "aqmlab").write_text(
        f"#!/bin/sh\nexec {python} -S {HERE / 'forked_command.py'} "
        f'{parent.socket(environment)} {program} -- "$@"\n'
    )
    (ahead / "aqmlab").chmod(0o755)
    yield environment | {"PATH": f"{ahead}{os.pathsep}{path}"}
    parent.close()


@pytest.fixture
def shell(of_shells, tmp_path):
    """Runs lines of a shell in an empty folder."""
    folder = tmp_path / "work"
    folder.mkdir()

    def run(lines: str) -> str:
        answer = subprocess.run(
            ["bash", "-euo", "pipefail", "-c", lines],
            cwd=folder,
            env=of_shells,
            capture_output=True,
            text=True,
            timeout=600,
            check=False,
        )
        assert answer.returncode == 0, f"{lines}\n{answer.stdout}\n{answer.stderr}"
        return answer.stdout

    run.folder = folder  # pyright: ignore[reportFunctionMemberAccess]
    return run


def no_live_runs() -> str:
    """Why live runs cannot be tried here; empty if they can."""
    if sys.platform != "linux":
        return "live runs need Linux"
    from aqmlab.errors import AqmlabError
    from aqmlab.live import run

    try:
        lacking = [need["found"] for need in run.check()["needs"] if not need["ok"]]
    except AqmlabError as error:
        return str(error)
    return "; ".join(lacking)


@pytest.fixture(scope="session")
def namespaces() -> None:
    why = no_live_runs()
    if why:
        pytest.skip(f"no live runs here: {why}")
