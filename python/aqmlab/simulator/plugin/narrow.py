"""Restricts a program under evaluation to some modules, no files, and few system calls."""

from __future__ import annotations

import builtins
import contextlib
import ctypes
import platform
import sys
from types import ModuleType
from typing import Any

MODULES = (
    "__future__",
    "abc",
    "aqmlab",
    "array",
    "bisect",
    "cmath",
    "collections",
    "copy",
    "dataclasses",
    "decimal",
    "enum",
    "fractions",
    "functools",
    "heapq",
    "itertools",
    "math",
    "numbers",
    "operator",
    "statistics",
    "string",
    "types",
    "typing",
)
"""Modules that a program may import: they give no access to clocks or the system."""
WITHOUT = ("open", "input", "exec", "eval", "compile", "__import__", "breakpoint")
"""Built-in functions that are refused or replaced."""


class Fence(ModuleType):
    """The module `aqmlab` of a restricted program, with only the base classes of programs."""


def _fence() -> ModuleType:
    from . import control, discipline

    fence = Fence("aqmlab")
    names = ("PASS", "SIGNAL", "SIGNAL_FORCED", "DROP", "DROP_FORCED")
    for name in (*names, "Discipline", "discipline", "parameter"):
        setattr(fence, name, getattr(discipline, name))
    fence.CongestionControl = control.CongestionControl  # type: ignore[attr-defined]
    return fence


def modules(loading: Any) -> None:
    """Restricts the built-in functions and modules of all sources that `loading` runs from now
    on."""
    fence = _fence()

    def imported(name: str, *args: Any, **kwargs: Any) -> Any:
        top = name.partition(".")[0]
        if top not in MODULES:
            raise ImportError(
                f"{top} is not within reach while a program is judged; it may import "
                f"{', '.join(MODULES)}"
            )
        return fence if top == "aqmlab" else builtins.__import__(name, *args, **kwargs)

    def refused(*_: Any, **__: Any) -> Any:
        raise PermissionError("files are out of reach while a program is judged")

    for name in MODULES:  # imports modules while files can still be opened
        if name != "aqmlab":
            __import__(name)
    kept = {name: value for name, value in vars(builtins).items() if name not in WITHOUT}
    loading.BUILTINS = {**kept, "__import__": imported, "open": refused}


_PR_SET_NO_NEW_PRIVS, _PR_SET_SECCOMP, _FILTER = 38, 22, 2
_ALLOW, _REFUSE = 0x7FFF0000, 0x00050001
"""Return values of the filter: SECCOMP_RET_ALLOW, and SECCOMP_RET_ERRNO with EPERM."""
_FILES_AND_PROGRAMS = (
    (2, 257, 437, 85, 41, 42, 43, 288, 49, 56, 57, 58, 435, 59, 322, 62, 101, 425),
    (56, 437, 198, 203, 202, 242, 200, 220, 435, 221, 281, 129, 117, 425),
)
_CLOCKS = ((228, 96, 201, 35, 230), (113, 169, 101, 115))
_CALLS = {
    "x86_64": (0xC000003E, (*_FILES_AND_PROGRAMS[0], *_CLOCKS[0])),
    "aarch64": (0xC00000B7, (*_FILES_AND_PROGRAMS[1], *_CLOCKS[1])),
}
"""For each machine its number in <linux/audit.h>, and the numbers of the system calls that are
refused: open, openat, openat2, creat, socket, connect, accept, accept4, bind, clone, fork, vfork,
clone3, execve, execveat, kill, ptrace, io_uring_setup, clock_gettime, gettimeofday, time, nanosleep
and clock_nanosleep. (A clock that the kernel maps into processes, the vDSO, needs no call: runs
that use it differ when they are repeated.)"""
_OTHER_INTERFACE = 0x40000000
"""The first number of system calls of x86-64's x32 interface, all of which are refused."""


class _Instruction(ctypes.Structure):
    _fields_ = (
        ("code", ctypes.c_ushort),
        ("jt", ctypes.c_ubyte),
        ("jf", ctypes.c_ubyte),
        ("k", ctypes.c_uint),
    )


class _Program(ctypes.Structure):
    _fields_ = (("length", ctypes.c_ushort), ("filter", ctypes.POINTER(_Instruction)))


def system_calls() -> bool:
    """Installs a filter of Linux' seccomp(2) that refuses system calls which open files, connect,
    start programs or read a clock. Returns whether it is installed."""
    machine = _CALLS.get(platform.machine())
    if not sys.platform.startswith("linux") or machine is None:
        return False
    arch, refused = machine
    load, equal, at_least, answer = 0x20, 0x15, 0x35, 0x06
    steps = [(load, 0, 0, 4), (equal, 1, 0, arch), (answer, 0, 0, _ALLOW), (load, 0, 0, 0)]
    steps.append((at_least, len(refused) + 1, 0, _OTHER_INTERFACE))
    for place, number in enumerate(refused):
        steps.append((equal, len(refused) - place, 0, number))
    steps += [(answer, 0, 0, _ALLOW), (answer, 0, 0, _REFUSE)]
    instructions = (_Instruction * len(steps))(*(_Instruction(*step) for step in steps))
    program = _Program(len(steps), instructions)
    with contextlib.suppress(OSError, AttributeError):
        libc = ctypes.CDLL(None, use_errno=True)
        if libc.prctl(_PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0:
            return libc.prctl(_PR_SET_SECCOMP, _FILTER, ctypes.byref(program), 0, 0) == 0
    return False
