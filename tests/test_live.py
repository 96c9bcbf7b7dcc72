"""Live runs: real TCP through our own router, in namespaces where they can be made."""

from __future__ import annotations

import json
import os
import shlex
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import pytest
from live_runs import WEB

from aqmlab.simulator.capture import Capture

SCENARIO = """
duration = "20 s"
[network]
rtt = "20 ms"
[[link]]
rate = "10 Mbit/s"
forward = {{ aqm = "{aqm}" }}
[[traffic]]
app = "bulk"
flows = 1
tcp = "linux"
"""
SHORT = 20_000
"""Bytes: more than a folder's own files have, less than the facts of two seconds of web users."""
BULK = """
import socket, sys, threading, time
def serve():
    listener = socket.create_server(("", 5001), family=socket.AF_INET)
    while True:
        peer, _ = listener.accept()
        peer.sendall(bytes(1 << 20))
        peer.close()
if sys.argv[1] == "serve":
    serve()
for _ in range(100):
    try:
        peer = socket.create_connection(("10.128.0.3", 5001), timeout=1)
        break
    except ConnectionRefusedError:
        time.sleep(0.05)
total = 0
while piece := peer.recv(1 << 16):
    total += len(piece)
assert total == 1 << 20, total
"""


NAP = "import time; time.sleep(60) # a long nap"


def _folder(tmp_path: Path, aqm: str = "droptail") -> Path:
    (tmp_path / "s.toml").write_text(SCENARIO.format(aqm=aqm), "utf-8")
    (tmp_path / "bulk.py").write_text(BULK, "utf-8")
    return tmp_path


def _bulk(folder: Path, role: str) -> list[str]:
    return [sys.executable, str(folder / "bulk.py"), role]


def _live(folder: Path):
    from aqmlab.live.run import How, Program
    from aqmlab.pipeline import command

    program = Program(_bulk(folder, "fetch"), with_users=False)
    how = How(program=program, servers=[_bulk(folder, "serve")])
    done = command.carry_out(str(folder / "s.toml"), out=folder / "out", jobs=1, simulate=how)
    assert done.result is not None
    return done.result


@pytest.mark.parametrize("aqm", ["droptail", "fq_codel"])
def test_a_program_s_bytes_cross_the_queue(namespaces, tmp_path, aqm):
    result = _live(_folder(tmp_path, aqm))
    summary = result.runs[0].summary
    live = summary["live"]
    assert live["commands"][-1]["code"] == 0
    assert summary["ports"]["bottleneck.forward"]["departure_bytes"] > 1 << 20
    assert live["dropped_elsewhere"] == 0
    assert live["replayed"] > 700
    assert not [flag for flag in live["flags"] if "simulator" in flag]
    assert {"queue", "seconds"} <= set(result.runs[0].tables())


def test_users_of_a_scenario_send_over_ipv6(namespaces, tmp_path):
    from aqmlab.live.run import How

    path = tmp_path / "six.pcap"
    scenario = {
        "duration": "3 s",
        "network": {"rtt": "10 ms"},
        "link": [{"rate": "5 Mbit/s"}],
        "traffic": [{"app": "bulk", "flows": 2, "tcp": "linux"}],
    }
    outcome = How(ipv6=True)(scenario, capture=Capture(path))
    assert outcome.summary["departure_bytes"] > 500_000
    assert outcome.summary["live"]["dropped_elsewhere"] == 0
    first = path.read_bytes()[24 + 16 :]
    assert first[0] >> 4 == 6


def _descendants() -> set[str]:
    """Command lines of processes that belong to live runs."""
    found = set()
    for place in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            words = place.read_bytes().split(b"\0")
        except OSError:
            continue
        if any(b"aqmlab.live.part" in w or b"bulk.py" in w or b"a long nap" in w for w in words):
            found.add(place.parent.name)
    return found


def test_nothing_is_left_behind_when_the_supervisor_is_killed(namespaces, tmp_path):
    folder = _folder(tmp_path)
    before = _descendants()
    devices = Path("/proc/net/dev").read_text()
    words = [sys.executable, "-m", "aqmlab", "live", "s.toml", "--alone", "--server"]
    server = " ".join(_bulk(folder, "serve"))
    # It starts something itself, which nobody knows of.
    start = f"subprocess.Popen([{sys.executable!r}, '-c', {NAP!r}], start_new_session=True)"
    nap = f"import subprocess, time; {start}; time.sleep(60)"
    sleeper = [sys.executable, "-c", nap]
    command = subprocess.Popen(
        [*words, server, "--", *sleeper], cwd=folder, stderr=subprocess.PIPE, text=True
    )
    supervisor = _wait_for_supervisor(command)
    os.kill(supervisor, signal.SIGKILL)
    _, said = command.communicate(timeout=60)
    assert command.returncode not in (0, None)
    assert "live run failed" in said
    for _ in range(100):
        if not _descendants() - before:
            break
        time.sleep(0.1)
    assert not _descendants() - before
    assert _names(Path("/proc/net/dev").read_text()) == _names(devices)


def _names(devices: str) -> list[str]:
    return [line.split(":")[0].strip() for line in devices.splitlines() if ":" in line]


def _wait_for_supervisor(command: subprocess.Popen) -> int:
    """The process that the command starts, once it has started the program behind the link."""
    for _ in range(600):
        children = Path(f"/proc/{command.pid}/task/{command.pid}/children")
        tasks = Path(f"/proc/{command.pid}/task").glob("*/children")
        mine = [pid for place in tasks for pid in place.read_text().split()]
        for pid in mine:
            grand = Path(f"/proc/{pid}/task/{pid}/children")
            if grand.is_file() and len(grand.read_text().split()) >= 3:
                return int(pid)
        assert command.poll() is None, (children, command.communicate())
        time.sleep(0.1)
    raise AssertionError("the supervisor has started nothing")


def test_what_a_simulation_alone_can_do_is_refused_in_a_sentence(tmp_path):
    from aqmlab.errors import AqmlabError
    from aqmlab.live.run import How

    if sys.platform != "linux":
        pytest.skip("live runs need Linux")
    scenario = {
        "duration": "1 s",
        "link": [{"rate": "1 Mbit/s"}],
        "traffic": [{"app": "bulk", "flows": 1, "tcp": "linux", "script": [{"drop": [3]}]}],
    }
    with pytest.raises(AqmlabError, match="script"):
        How()(scenario)


def test_a_result_crosses_processes_whole(tmp_path):
    from aqmlab.live import raw

    tables = {
        "queue": {"columns": [("a", "<u4", b"\1\0\0\0\n"), ("b", "<u4", b"")], "every_s": (0, 1)}
    }
    described = {"summary": json.dumps({"x": 1}), "groups": ["g"], "live": "{}", "tables": tables}
    raw.write(tmp_path / "answer", described)
    found = raw.read(tmp_path / "answer")
    assert found["tables"]["queue"]["columns"] == tables["queue"]["columns"]
    assert found["summary"] == described["summary"]


NOBODY: dict[str, Any] = {"user": 65534, "group": 65534, "extra_groups": []}
PACKAGE = Path(__file__).parent.parent / "python"


@pytest.fixture
def nobody():
    """A folder of the user nobody, where that user can run this Python."""
    if sys.platform != "linux" or os.geteuid() != 0:
        pytest.skip("only root can try what nobody may")
    with tempfile.TemporaryDirectory() as folder:
        os.chown(folder, 65534, 65534)
        environment = {"PYTHONPATH": str(PACKAGE), "TMPDIR": folder, "HOME": folder}
        how = {"env": environment, "cwd": folder, **NOBODY}
        try:
            words = [sys.executable, "-c", "import aqmlab._core, aqmlab.cli"]
            subprocess.run(words, stderr=subprocess.DEVNULL, check=True, **how)
        except (OSError, subprocess.CalledProcessError):
            pytest.skip("this Python's files are root's alone")
        answer = Path(folder, "answer")
        words = [sys.executable, "-m", "aqmlab.live.part", "check", str(answer)]
        subprocess.run(words, timeout=60, check=True, **how)
        needs = json.loads(answer.read_text())["needs"]
        if not needs[0]["ok"]:
            pytest.skip(needs[0]["found"])
        yield Path(folder), how, needs


def test_without_root_a_user_namespace_does(nobody):
    """Whoever may make user namespaces needs no root; here root gives its rights away first."""
    _, _, needs = nobody
    assert needs[0]["found"] == "a user namespace of one's own"
    assert all(need["ok"] for need in needs), needs


def test_a_whole_run_needs_no_root(nobody):
    folder, how, _ = nobody
    _folder(folder)
    words = [sys.executable, "-m", "aqmlab", "live", "s.toml", "--json", "--out", "out"]
    words += ["--alone", "--server", shlex.join(_bulk(folder, "serve")), "--"]
    described = subprocess.run(
        [*words, *_bulk(folder, "fetch")], timeout=120, check=True, stdout=subprocess.PIPE, **how
    )
    run = json.loads(described.stdout)["runs"][0]
    live = run.get("summary", run)["live"]
    assert live["replayed"] > 700
    assert live["dropped_elsewhere"] == 0
    assert (folder / "out" / "manifest.json").stat().st_uid == 65534


def test_the_router_says_how_it_was_scheduled(namespaces, tmp_path):
    from aqmlab.live import run

    found = {need["name"]: need["found"] for need in run.check()["needs"]}
    live = _live(_folder(tmp_path)).runs[0].summary["live"]["scheduling"]
    allowed = found["real-time scheduling"].startswith("allowed")
    assert (live["real_time"] is not None) is allowed
    assert (live["refused"] is None) is allowed


def test_a_full_disk_is_a_sentence_and_keeps_what_was_finished(namespaces, tmp_path):
    """A limit on the length of files stands for a disk that becomes full with the second run."""
    (tmp_path / "s.toml").write_text(WEB, "utf-8")
    words = [sys.executable, "-m", "aqmlab", "live", "s.toml", "--out", "out", "--seeds"]
    how: dict[str, Any] = {"cwd": tmp_path, "timeout": 120, "stderr": subprocess.PIPE, "text": True}
    drafts = tmp_path / "drafts"
    drafts.mkdir()
    how["env"] = {**os.environ, "TMPDIR": str(drafts)}
    subprocess.run([*words, "1"], check=True, **how)
    kept = sorted(path.name for path in (tmp_path / "out" / "runs").iterdir())
    limit = f"import resource as r; r.setrlimit(r.RLIMIT_FSIZE, ({SHORT}, {SHORT}))"
    code = f"{limit}; import runpy; runpy.run_module('aqmlab', run_name='__main__')"
    full = subprocess.run([sys.executable, "-c", code, *words[3:], "2"], check=False, **how)
    last = full.stderr.strip().splitlines()[-1]
    assert full.returncode not in (0, 4), full.stderr
    assert "file too large" in last.lower(), full.stderr
    assert "internal error" not in last
    assert sorted(path.name for path in (tmp_path / "out" / "runs").iterdir()) == kept
    assert not list(drafts.iterdir())


def test_an_answer_that_cannot_be_written_leaves_a_sentence(tmp_path, monkeypatch):
    from aqmlab import _core
    from aqmlab.live import part, raw

    def full(path: Path, answer: dict[str, Any]) -> None:
        path.write_bytes(b"half")
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(_core, "live_run", lambda text: {}, raising=False)
    monkeypatch.setattr(raw, "write", full)
    (tmp_path / "spec.json").write_text("{}")
    assert part.main(["run", str(tmp_path / "spec.json"), str(tmp_path / "answer")]) == 1
    said = json.loads((tmp_path / "answer").read_text())["error"]
    assert "(no space left on device)" in said
    assert "TMPDIR" in said


def test_results_belong_to_who_called_sudo(tmp_path, monkeypatch):
    from aqmlab.live.ownership import caller, given_to_caller

    if sys.platform != "linux" or os.geteuid() != 0:
        pytest.skip("only root has results to give away")
    monkeypatch.delenv("SUDO_UID", raising=False)
    assert caller() is None
    monkeypatch.setenv("SUDO_UID", "65534")
    monkeypatch.setenv("SUDO_GID", "65533")
    others = tmp_path / "others"
    others.write_text("not mine")
    place = tmp_path / "results" / "run"
    with pytest.raises(KeyError), given_to_caller(place):
        place.mkdir(parents=True)
        (place / "table").write_text("1")
        (place / "link").symlink_to(others)
        raise KeyError
    for path in (place.parent, place, place / "table"):
        assert (path.stat().st_uid, path.stat().st_gid) == (65534, 65533)
    assert others.stat().st_uid == 0
    assert tmp_path.stat().st_uid == 0
