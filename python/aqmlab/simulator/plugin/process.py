"""The compiled simulator in a process of its own, for a user's own disciplines and congestion
controls."""

from __future__ import annotations

import atexit
import codecs
import contextlib
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Sequence
from multiprocessing import Pipe
from pathlib import Path
from typing import IO, Any

from aqmlab.errors import AqmlabError, EngineError, FaultError, SpecError
from aqmlab.io.terminal import printable
from aqmlab.simulator.engine import Cancelled

from ..forms import ProgramTable
from . import trust, wire

Tables = Sequence[ProgramTable]


class DisciplineError(AqmlabError):
    """An error of a user's own program during its run."""


COMMAND = (sys.executable, "-P", "-m", "aqmlab.simulator.plugin.child")
"""The command of a child process; its argument is the file descriptor of the connection."""
PRINTS_S = 1.0
"""Longest wait, in seconds, for a child's remaining output when it ends: its own children may keep
the pipe open."""
_ERRORS = {"scenario": SpecError, "discipline": DisciplineError, "fault": FaultError}


class Process:
    """A child process that answers one request at a time."""

    def __init__(self) -> None:
        self.connection, other = Pipe()
        command = [*COMMAND, str(other.fileno())]
        try:
            self.child = subprocess.Popen(
                command,
                pass_fds=[other.fileno()],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                env=child_environment(),
            )
        except OSError as error:
            reason = (error.strerror or str(error)).lower()
            raise EngineError(
                f"{sys.executable} cannot be started ({reason}): a discipline of one's own runs in "
                "a process of its own"
            ) from error
        finally:
            other.close()
        self.prints = threading.Thread(target=_show, args=(self.child.stdout,), daemon=True)
        self.prints.start()

    def ask(
        self,
        function: str,
        tables: Tables,
        *args: object,
        progress: Callable[[float], bool] | None = None,
        pcap: tuple[Callable[[bytes], object], list[str], bool] | None = None,
        watch: tuple[Callable[[str], object], float] | None = None,
    ) -> Any:
        """Calls a function of the compiled simulator in the child and returns its result. Programs
        without permission are refused here, so that no path around the check exists."""
        trust.require(tables)
        hooks = {
            "progress": progress is not None,
            "pcap": pcap[1:] if pcap else None,
            "watch": watch[1] if watch else None,
        }
        try:
            wire.send(self.connection, (function, list(map(dict, tables)), args, hooks))
        except (BrokenPipeError, ConnectionResetError):
            raise self._crashed(tables) from None
        at = 0.0
        while True:
            message = self._next(tables, progress, at)
            match message:
                case ["progress", int() | float() as at]:
                    self._go_on(progress, at)
                case ["progress", str() as what] if function.startswith("check_"):
                    self._go_on(progress, what)
                case ["pcap", bytes() as data] if pcap:
                    pcap[0](data)
                case ["watch", str() as look] if watch:
                    watch[0](look)
                case ["done", answer]:
                    return answer
                case ["failed", str() as kind, str() as sentence] if kind in _ERRORS:
                    raise _ERRORS[kind](sentence)
                case _:
                    raise _garbled(tables)

    def _next(self, tables: Tables, progress: Callable[[float], bool] | None, at: float) -> Any:
        """The next message; meanwhile `progress` decides whether to go on."""
        try:
            while not self.connection.poll(0.2):
                self._go_on(progress, at)
            return wire.receive(self.connection)
        except (EOFError, ConnectionResetError):
            raise self._crashed(tables) from None
        except (wire.Garbled, OSError) as error:
            raise _garbled(tables) from error

    def _go_on(self, progress: Callable[[Any], bool] | None, at: float | str) -> None:
        if progress is not None and not progress(at):
            raise Cancelled

    def _crashed(self, tables: Tables) -> DisciplineError:
        """The error for a child that ended without an answer, with the reason."""
        code = self.child.wait()
        names = _names(tables)
        if code == -signal.SIGPROF:
            return DisciplineError(
                f"{names}: a call has not come back and lets nothing else run: look for a loop "
                "without end"
            )
        if code < 0:
            number = signal.Signals(-code)
            described = (signal.strsignal(number) or "a signal").lower()
            how = f"crashed ({number.name}, {described})"
        else:
            how = f"ended its process (exit code {code})"
        return DisciplineError(
            f"{names} {how} while it ran: look for the call with `aqmlab check-aqm` (a congestion "
            "control: check-cc)"
        )

    def end(self) -> None:
        """Kills the child process."""
        self.child.kill()
        self.child.wait()
        self.connection.close()
        self.prints.join(PRINTS_S)

    @property
    def is_over(self) -> bool:
        """Whether the child process has ended by itself."""
        return self.child.poll() is not None


def _names(tables: Tables) -> str:
    return " or ".join(str(table.get("file")) for table in tables)


def _garbled(tables: Tables) -> DisciplineError:
    return DisciplineError(
        f"{_names(tables)}: its process has answered with what is no answer: leave the files that "
        "the process inherits alone"
    )


def _show(stream: IO[bytes]) -> None:
    """Copies a program's output to standard error, so that standard output holds only the answer of
    a command. Control characters are replaced, so that they cannot affect the terminal."""
    decoder = codecs.getincrementaldecoder("utf-8")("backslashreplace")
    with stream:
        while piece := stream.readline(1 << 16):
            text = printable(decoder.decode(piece), keep="\n\t")
            with contextlib.suppress(OSError, ValueError, AttributeError):
                sys.stderr.write(text)
                sys.stderr.flush()


def child_environment() -> dict[str, str]:
    """The environment of a child, with a module path on which it finds this package."""
    return os.environ | {"PYTHONPATH": _path()}


def _path() -> str:
    here = str(Path(__file__).parents[3])
    return os.pathsep.join([here, *filter(None, [os.environ.get("PYTHONPATH")])])


class Questions:
    """One child for all short requests; each run has a child of its own."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._process: Process | None = None

    def ask(self, function: str, tables: Tables, *args: object) -> Any:
        """Calls a function in the child and returns its result; a child that crashed is replaced at
        the next request."""
        trust.require(tables)  # refuses programs before a process is started
        with self._lock:
            if self._process is None or self._process.is_over:
                self.end()
                self._process = Process()
            try:
                return self._process.ask(function, tables, *args)
            except DisciplineError:
                self.end()
                raise

    def end(self) -> None:
        """Ends the child, if there is one."""
        if self._process is not None:
            self._process.end()
            self._process = None


questions = Questions()
atexit.register(questions.end)


class Remote:
    """A proxy with the functions of `aqmlab._core`, which a child with these programs carries
    out."""

    def __init__(self, tables: Tables) -> None:
        self._tables = tables

    def run(
        self,
        text: str,
        progress: Callable[[float], bool] | None = None,
        pcap: tuple[Callable[[bytes], object], list[str], bool] | None = None,
        watch: tuple[Callable[[str], object], float] | None = None,
    ) -> Any:
        """As `_core.run`, in a new process, so that no run sees module state of another."""
        trust.require(self._tables)
        process = Process()
        try:
            hooks = {"progress": progress, "pcap": pcap, "watch": watch}
            return wire.check_result(process.ask("run", self._tables, text, **hooks))
        except wire.Garbled as error:
            raise _garbled(self._tables) from error
        finally:
            process.end()

    def __getattr__(self, function: str) -> Callable[..., Any]:
        return lambda *args: questions.ask(function, self._tables, *args)
