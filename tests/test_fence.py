"""What a program that is judged may not reach, however it tries: Linux's filter of system calls."""

from __future__ import annotations

import json
import platform
import subprocess
import sys

import pytest

PROBE = """
import ctypes, json, sys
from aqmlab.simulator.plugin import narrow

libc = ctypes.CDLL(None, use_errno=True)
libc.syscall.restype = ctypes.c_long

def called(number, arguments):
    room = ctypes.create_string_buffer(256)  # zeros, so that no sleep lasts
    given = [room if a == "room" else a.encode() if isinstance(a, str) else a for a in arguments]
    result = libc.syscall(number, *given)
    return ctypes.get_errno() if result < 0 else 0

calls = json.loads(sys.argv[1])
fenced = narrow.system_calls() if sys.argv[2] == "fenced" else True
print(json.dumps({name: called(*call) for name, call in calls.items()} if fenced else None))
"""
HERE, NOWHERE, CURRENT = "/dev/null", "/nowhere/at/all", -100
REFUSED = {
    "open": (2, [HERE, 0]),
    "openat": (257, [CURRENT, HERE, 0]),
    "openat2": (437, [CURRENT, HERE, "room", 24]),
    "creat": (85, [NOWHERE, 0]),
    "socket": (41, [2, 1, 0]),
    "accept4": (288, [0, 0, 0, 0]),
    "time": (201, [0]),
    "clone3": (435, [0, 0]),
    "execve": (59, [NOWHERE, 0, 0]),
    "execveat": (322, [CURRENT, NOWHERE, 0, 0, 0]),
    "kill": (62, [0x3FFFFFFF, 0]),
    "ptrace": (101, [16, 0x3FFFFFFF, 0, 0]),
    "io_uring_setup": (425, [0, "room"]),
    "clock_gettime": (228, [1, "room"]),
    "gettimeofday": (96, ["room", 0]),
    "nanosleep": (35, ["room", 0]),
    "clock_nanosleep": (230, [1, 0, "room", 0]),
    "getpid of the x32 interface": (0x40000000 + 39, []),
}
"""x86-64's numbers of calls that open files, connect, start programs or read a clock."""
ALLOWED = {"getpid": (39, []), "getppid": (110, [])}
EPERM = 1


def errors(mode: str) -> dict[str, int] | None:
    """The error number of each call in a process of its own; 0 where it worked."""
    calls = json.dumps(REFUSED | ALLOWED)
    command = [sys.executable, "-c", PROBE, calls, mode]
    return json.loads(
        subprocess.run(command, capture_output=True, text=True, check=True, timeout=60).stdout
    )


@pytest.mark.skipif(
    not (sys.platform == "linux" and platform.machine() == "x86_64"),
    reason="the numbers are x86-64's",
)
def test_calls_that_reach_out_are_refused():
    found = errors("fenced")
    if found is None:
        pytest.skip("this kernel lends no seccomp filter")
    assert {name: number for name, number in found.items() if number != EPERM} == dict.fromkeys(
        ALLOWED, 0
    )
    # Without the filter the harmless ones of them work.
    free = errors("free")
    assert free is not None
    assert free["open"] == free["clock_gettime"] == free["nanosleep"] == 0
