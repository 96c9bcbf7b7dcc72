"""Whatever part of a live run is killed, in whatever order: nothing of the run is left."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

SCENARIO = """
duration = "120 s"
[network]
rtt = "20 ms"
[[link]]
rate = "2 Mbit/s"
[[traffic]]
app = "bulk"
flows = 1
tcp = "linux"
"""
NAP = "import subprocess, sys, time; subprocess.Popen([sys.executable, '-c', 'import time; "
NAP += "time.sleep(100) # a nap of its own'], start_new_session=True); time.sleep(100)"
PATIENCE_S = 30
"""Seconds: for a busy machine; much less than the scenario."""
PARTS = ("command", "supervisor", "hold", "users-clients", "users-servers")
KILLS = [
    *[(part, signal.SIGKILL) for part in PARTS],
    ("command", signal.SIGTERM),
    ("command", signal.SIGHUP),
    ("supervisor", signal.SIGTERM),
    ("users-clients", signal.SIGTERM),
]
ORDERS = [PARTS, PARTS[::-1], ("supervisor", "command"), ("hold", "command", "supervisor")]


class Started:
    """A live run under way, and what was there before it."""

    def __init__(self, folder: Path, *words: str) -> None:
        self.folder, self.drafts = folder, folder / "drafts"
        self.drafts.mkdir()
        (folder / "s.toml").write_text(SCENARIO, "utf-8")
        self.before = of_live_runs()
        self.devices = names_of_devices()
        self.command = subprocess.Popen(
            [sys.executable, "-m", "aqmlab", "live", "s.toml", "--pcap", "p.pcap", *words],
            cwd=folder,
            env={**os.environ, "TMPDIR": str(self.drafts)},
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            # Where tests run under nohup, SIGHUP is ignored, and a command would keep to that.
            preexec_fn=lambda: signal.signal(signal.SIGHUP, signal.SIG_DFL),
        )

    def left(self) -> set[str]:
        """Its processes, known by the folder of drafts in their environment.

        Of one that has another user namespace only root may read that: it is taken for one of
        this run if it was not there before.
        """
        known = {pid: environment_of(pid) for pid in of_live_runs()}
        own = {pid for pid, found in known.items() if found and str(self.drafts) in found}
        return own | {pid for pid, found in known.items() if found is None} - self.before

    def parts(self, most: int) -> dict[str, int]:
        """The processes by their role, once there are so many."""
        found: dict[str, int] = {}
        for _ in range(600):
            assert self.command.poll() is None, self.command.communicate()
            found = {"command": self.command.pid}
            for pid in self.left():
                words = words_of(pid)
                if "aqmlab.live.part" in words:
                    role = words[words.index("aqmlab.live.part") + 1]
                    found[{"run": "supervisor"}.get(role, role)] = int(pid)
            users = sorted(int(p) for p in self.left() if "users" in words_of(p))
            if len(users) == 2 and found.pop("users", None):
                found |= dict(zip(("users-clients", "users-servers"), users, strict=True))
            if len(found) >= most:
                return found
            time.sleep(0.05)
        raise AssertionError(f"only {found}")

    def kill(self, *kills: tuple[str, int], most: int = len(PARTS)) -> None:
        parts = self.parts(most)
        for part, number in kills:
            try:
                os.kill(parts[part], number)
            except ProcessLookupError:
                assert part != kills[0][0]  # it has ended with one before

    def check_that_nothing_is_left(self) -> float:
        """Seconds until nothing was left."""
        began = time.monotonic()
        try:
            self.command.communicate(timeout=PATIENCE_S)
            while self.left() and time.monotonic() - began < PATIENCE_S:
                time.sleep(0.02)
            took = time.monotonic() - began
            assert not {pid: words_of(pid) for pid in self.left()}
        finally:
            for pid in self.left():
                os.kill(int(pid), signal.SIGKILL)
        assert self.command.returncode != 0
        assert names_of_devices() == self.devices
        assert list(self.drafts.iterdir()) == []
        assert {path.name for path in self.folder.iterdir()} <= {"s.toml", "drafts", "results"}
        return took


def words_of(pid: str | int) -> list[str]:
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes().decode(errors="replace").split("\0")
    except OSError:
        return []


def environment_of(pid: str) -> str | None:
    """None where it may not be read; nothing of a process that has ended."""
    try:
        return Path(f"/proc/{pid}/environ").read_bytes().decode(errors="replace")
    except PermissionError:
        return None
    except OSError:
        return ""


def of_live_runs() -> set[str]:
    """Processes that belong to live runs."""
    ours = ("aqmlab.live.part", "a nap of its own")
    pids = [place.name for place in Path("/proc").glob("[0-9]*")]
    return {pid for pid in pids if any(own in word for own in ours for word in words_of(pid))}


def names_of_devices() -> list[str]:
    lines = Path("/proc/net/dev").read_text().splitlines()
    return [line.split(":")[0].strip() for line in lines if ":" in line]


@pytest.mark.parametrize(("part", "number"), KILLS)
def test_one_part_is_killed(namespaces, tmp_path, part, number):
    run = Started(tmp_path)
    run.kill((part, number))
    run.check_that_nothing_is_left()


@pytest.mark.parametrize("order", ORDERS)
def test_several_parts_are_killed_one_after_the_other(namespaces, tmp_path, order):
    run = Started(tmp_path)
    run.kill(*[(part, signal.SIGKILL) for part in order])
    run.check_that_nothing_is_left()


@pytest.mark.parametrize("part", ["command", "hold"])
def test_a_program_of_one_s_own_and_its_children_end_too(namespaces, tmp_path, part):
    run = Started(tmp_path, "--alone", "--", sys.executable, "-c", NAP)
    for _ in range(600):
        if any("# a nap of its own" in word for p in of_live_runs() for word in words_of(p)):
            break
        time.sleep(0.05)
    run.kill((part, signal.SIGKILL), most=3)
    run.check_that_nothing_is_left()


def test_it_is_killed_as_it_begins(namespaces, tmp_path):
    """Before the kernel knows that the supervisor is to end with the command."""
    run = Started(tmp_path)
    for _ in range(600):
        if run.left():
            break
        time.sleep(0.005)
    run.command.kill()
    run.check_that_nothing_is_left()
