"""Commands of the tests in processes that have imported everything: a fork of one that did it once.

Half of the time of a short command goes into imports. Each command is a process of its own all the
same, with its folder, its variables and its standard streams. A test starts a new interpreter where
it sets variables, some of which are read during an import, and on systems other than Linux, where a
process with libraries such as these may not survive a fork. The commands of documents run in a
shell; there `aqmlab` is tests/forked_command.py, which does all this for the installed wheel.
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
import socket
import subprocess
import sys
import tempfile
import traceback
from pathlib import Path
from typing import Any, NoReturn

import forked_command

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
    """A process that forks, of one interpreter, started when the first command needs it."""

    def __init__(self, interpreter: Path | str = sys.executable) -> None:
        self._interpreter = str(interpreter)
        self._process: subprocess.Popen[str] | None = None
        self._folder: tempfile.TemporaryDirectory[str] | None = None

    def socket(self, environment: dict[str, str]) -> Path:
        """The socket that orders go to (tests/forked_command.py). `environment` is that of the
        process, whose imports read some of it."""
        folder = self._folder = self._folder or tempfile.TemporaryDirectory()
        path = Path(folder.name, "socket")
        if self._process is None:
            Path(folder.name, "environment").write_text(json.dumps(environment), "utf-8")
            self._process = subprocess.Popen(
                [self._interpreter, __file__, str(path)],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                env=environment,
                text=True,
                start_new_session=True,
            )
            assert self._process.stdout
            assert self._process.stdout.readline(), "the process that forks has ended"
        return path

    def run(
        self, program: list[str], words: list[str], folder: Path, environment: dict[str, str]
    ) -> subprocess.CompletedProcess[str]:
        """Runs a program, `-m MODULE` or a file, with its arguments; waits for it."""
        path = self.socket(environment)
        arguments = [sys.executable, *program, *words]
        with tempfile.TemporaryDirectory() as streams, open(os.devnull) as nothing:  # noqa: PTH123
            out, err = Path(streams, "out"), Path(streams, "err")
            with out.open("w") as to, err.open("w") as errors:
                three = [nothing.fileno(), to.fileno(), errors.fileno()]
                order = forked_command.order(program, words, str(folder), environment)
                with forked_command.Running(str(path), order, three) as running:
                    try:
                        code = running.ended(MOST_SECONDS)
                    except TimeoutError:
                        os.kill(running.process, signal.SIGKILL)
                        raise subprocess.TimeoutExpired(arguments, MOST_SECONDS) from None
            return subprocess.CompletedProcess(arguments, code, out.read_text(), err.read_text())

    def close(self) -> None:
        """Ends the process."""
        if self._process is not None:
            self._process.communicate()
        if self._folder is not None:
            self._folder.cleanup()


def _serve(place: str) -> None:
    """Forks a process for each order that comes to a socket, until the standard input ends."""
    with socket.socket(socket.AF_UNIX) as door:
        door.bind(place)
        door.listen(64)
        print("ready", flush=True)
        while sys.stdin not in select.select([sys.stdin, door], [], [])[0]:
            client, _ = door.accept()
            if os.fork() == 0:
                door.close()
                _wait_for(client)
            client.close()
            with contextlib.suppress(ChildProcessError):
                while os.waitpid(-1, os.WNOHANG)[0]:
                    pass


def _wait_for(client: socket.socket) -> NoReturn:
    """Forks the process of one order; answers with its number and then with its exit code."""
    with contextlib.suppress(BaseException):
        order, streams = forked_command.received(client)
        child = os.fork()
        if child == 0:
            _obey(order, streams)
        forked_command.send(client, child)
        _, status = os.waitpid(child, 0)
        forked_command.send(client, os.waitstatus_to_exitcode(status))
    os._exit(0)


def _obey(order: dict[str, Any], streams: list[int]) -> NoReturn:
    """Becomes the program of an order, to its end."""
    for number, stream in enumerate(streams):
        os.dup2(stream, number)
    # The former objects know what kind of files they were made for.
    sys.stdin = sys.__stdin__ = _opened(0, "r")
    sys.stdout = sys.__stdout__ = _opened(1, "w")
    sys.stderr = sys.__stderr__ = _opened(2, "w", "backslashreplace")
    os.closerange(3, 256)
    os.environ.clear()
    os.environ.update(order["environment"])
    os.chdir(order["folder"])
    with contextlib.suppress(BaseException):
        _code(order["program"], order["words"])
    os._exit(70)


def _opened(number: int, mode: str, errors: str | None = None) -> Any:
    """A standard stream as an interpreter opens it."""
    stream = os.fdopen(number, mode, errors=errors, closefd=False)
    if number == 2:
        stream.reconfigure(line_buffering=True)
    return stream


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


def _main(place: str) -> None:
    from aqmlab.cli import room

    room.check()
    for name in LOADED:
        with contextlib.suppress(ImportError):  # the command that needs it says so
            importlib.import_module(name)
    _serve(place)


if __name__ == "__main__":
    _main(sys.argv[1])
