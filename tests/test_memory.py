"""Memory grows with users and open connections, and with nothing else.

Peak resident memory of a process that imports only the compiled simulator. Pages, not seconds:
repeatable, but only where the operating system tells (Linux).
"""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

pytest.importorskip("aqmlab._core", reason="the compiled simulator is missing: run `make setup`")
pytestmark = pytest.mark.skipif(
    not sys.platform.startswith("linux"), reason="peak memory is read from /proc"
)

CHILD = """
import sys
from aqmlab import _core
_core.run(sys.stdin.read())
peak = next(line for line in open("/proc/self/status") if line.startswith("VmHWM"))
print(int(peak.split()[1]) * 1024)
"""


def peak_bytes(users: int, duration: str, rate: str = "10 Mbit/s", app: str = "web") -> int:
    scenario = {
        "duration": duration,
        "link": [{"rate": rate, "forward": {"aqm": "droptail", "limit": 120}}],
        "traffic": [{"app": app, "users": users, "start": "stationary", "tcp": "freebsd-2.2.8"}],
        "record": {"samples": False, "responses": False},
    }
    done = subprocess.run(
        [sys.executable, "-c", CHILD],
        input=json.dumps(scenario),
        capture_output=True,
        text=True,
        check=True,
    )
    return int(done.stdout)


@pytest.mark.parametrize(("app", "most"), [("web", 200), ("unc", 400)])
def test_an_idle_user_takes_little(app, most):
    # Some of 200,000 are awake by then: a fiftieth is allowed for their connections.
    few, many = peak_bytes(1_000, "1 us", app=app), peak_bytes(201_000, "1 us", app=app)
    assert (many - few) / 200_000 <= 1.02 * most


def test_memory_does_not_grow_with_simulated_time():
    # At 65 % load the number of open connections is steady; what still grows is one counter for
    # each simulated second and series, and the response times of the summary (8 bytes each).
    short, long = peak_bytes(2_000, "60 s"), peak_bytes(2_000, "600 s")
    responses = 70 * 540
    assert long - short < 540 * 8 * 20 + 2 * 8 * responses + 2**20
