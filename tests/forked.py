"""Commands of the tests in processes that have imported everything: a fork of one that did it once.

Half of the time of a short command goes into imports. Each command is a process of its own all the
same, with its folder, its variables and its standard streams. A test starts a new interpreter where
it sets variables, some of which are read during an import, and on systems other than Linux, where a
process with libraries such as these may not survive a fork.
"""

from __future__ import annotations

import atexit
import contextlib
import importlib
import json
import os
import runpy
import select
import signal
import subprocess
import sys
import tempfile
import traceback
from pathlib import Path
from typing import IO, Any, NoReturn

LOADED = (
    "aqmlab._core",
    "aqmlab.cli.answering",
    "aqmlab.cli.commands",
    "aqmlab.figures",
    "aqmlab.infer.two_sets",
    "aqmlab.pipeline.command",
    "aqmlab.pipeline.outcome",
    "aqmlab.report",
    "matplotlib.backends.backend_agg",
    "matplotlib.backends.backend_svg",
    "matplotlib.figure",
    "polars",
)
"""What most commands import, in the end."""

MOST_SECONDS = 120
"""Longest time that a command may take."""


def may_run(program: list[str]) -> bool:
    """Whether a fork can be this program: a module or a file, without options of Python."""
    named = program[0] == "-m" or program[0].endswith(".py")
    return sys.platform == "linux" and named


class Parent:
    """The process that forks, started when the first command needs it."""

    def __init__(self) -> None:
        self._process: subprocess.Popen[str] | None = None

    def run(
        self, program: list[str], words: list[str], folder: Path, environment: dict[str, str]
    ) -> subprocess.CompletedProcess[str]:
        """Runs a program, `-m MODULE` or a file, with its arguments; waits for it."""
        process = self._process = self._process or _started()
        assert process.stdin and process.stdout
        with tempfile.TemporaryDirectory() as streams:
            out, err = Path(streams, "out"), Path(streams, "err")
            order = {
                "program": program,
                "words": words,
                "folder": str(folder),
                "environment": environment,
                "streams": [str(out), str(err)],
            }
            print(json.dumps(order), file=process.stdin, flush=True)
            arguments = [sys.executable, *program, *words]
            if not select.select([process.stdout], [], [], MOST_SECONDS)[0]:
                os.killpg(process.pid, signal.SIGKILL)
                self._process = None
                raise subprocess.TimeoutExpired(arguments, MOST_SECONDS)
            answer = process.stdout.readline()
            assert answer, "the process that forks has ended"
            code = int(answer)
            return subprocess.CompletedProcess(arguments, code, out.read_text(), err.read_text())

    def close(self) -> None:
        """Ends the process."""
        if self._process is not None:
            self._process.communicate()


def _started() -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, __file__],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )


def _serve(orders: IO[str], answers: IO[str]) -> None:
    """Forks a process for each order, one after the other; answers with its exit code."""
    for line in orders:
        child = os.fork()
        if child == 0:
            _obey(json.loads(line))
        _, status = os.waitpid(child, 0)
        print(os.waitstatus_to_exitcode(status), file=answers, flush=True)


def _obey(order: dict[str, Any]) -> NoReturn:
    """Becomes the program of an order, to its end."""
    nothing = os.open(os.devnull, os.O_RDONLY)
    streams = [os.open(path, os.O_WRONLY | os.O_CREAT) for path in order["streams"]]
    for number, stream in enumerate([nothing, *streams]):
        os.dup2(stream, number)
    os.closerange(3, 256)
    os.environ.clear()
    os.environ.update(order["environment"])
    os.chdir(order["folder"])
    with contextlib.suppress(BaseException):
        _code(order["program"], order["words"])
    os._exit(70)


def _code(program: list[str], words: list[str]) -> NoReturn:
    try:
        if program[0] == "-m":
            sys.argv, sys.path[0] = [program[1], *words], str(Path.cwd())
            runpy.run_module(program[1], run_name="__main__", alter_sys=True)
        else:
            sys.argv, sys.path[0] = [program[0], *words], str(Path(program[0]).parent)
            runpy.run_path(program[0], run_name="__main__")
        code: object = 0
    except SystemExit as end:
        code = end.code
    except BaseException:
        traceback.print_exc()
        code = 1
    if code is not None and not isinstance(code, int):
        print(code, file=sys.stderr)
        code = 1
    atexit._run_exitfuncs()
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code or 0)


def _main() -> None:
    from aqmlab.cli import room

    room.check()
    for name in LOADED:
        with contextlib.suppress(ImportError):  # the command that needs it says so
            importlib.import_module(name)
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    _serve(sys.stdin, answers)


if __name__ == "__main__":
    _main()
