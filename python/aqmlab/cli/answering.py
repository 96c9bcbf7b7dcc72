"""How the command `aqmlab` ends: exit codes, and mistakes in one line on standard error."""

from __future__ import annotations

import errno
import os
import sys
import traceback
import warnings
from pathlib import Path
from typing import Any

import typer
from typer.exceptions import TyperException

from aqmlab.errors import AqmlabError, FaultError, Renamed, fitting
from aqmlab.io import terminal

from . import advising, breaking, comparing, evaluating, plugin, room, sharing
from .parity import app  # with the commands of `commands`, `tools` and `live`


def main(arguments: list[str] | None = None) -> None:
    """Runs the command; mistakes are one line on standard error and a non-zero exit code."""
    there = terminal.open_streams()
    _note_former_names()
    code = _code(sys.argv[1:] if arguments is None else arguments)
    if not there and code == 0:
        code = _complain(f"standard output is closed: {_LOST}", 2)
    sys.exit(code)


def _note_former_names() -> None:
    """The warning that a name is a former one is printed as one line on standard error; other
    warnings are unchanged."""
    usual, said = warnings.showwarning, set[str]()

    def show(message: Warning | str, category: type[Warning], *place: Any, **more: Any) -> None:
        if not issubclass(category, Renamed):
            usual(message, category, *place, **more)
        elif str(message) not in said:
            said.add(str(message))
            terminal.say(str(message))

    warnings.showwarning = show


_LOST = "what was to be printed is lost, give the command again with another output"


def _code(arguments: list[str]) -> int:
    try:
        code = app(args=arguments, prog_name="aqmlab", standalone_mode=False)
        sys.stdout.flush()
        return code if isinstance(code, int) else 0
    except AqmlabError as error:
        return _complain(str(error), error.exit_code)
    except TyperException as error:
        context = getattr(error, "ctx", None)
        hint = f"`{context.command_path if context else 'aqmlab'} --help` shows what there is"
        return _complain(f"{error.format_message().rstrip('.')}; {hint}", 2)
    except (KeyboardInterrupt, typer.Abort):
        return _complain("stopped", 130)
    except (BrokenPipeError, SystemExit) as stop:
        if isinstance(stop, SystemExit) and not isinstance(stop.__context__, OSError):
            # The request of a shell's completion has been answered.
            return stop.code if isinstance(stop.code, int) else 0
        # The reader (`head`) has gone: typer and rich then want to exit.
        terminal.abandon_output()
        return 141
    except Exception as error:
        terminal.abandon_output()
        limited = isinstance(error, _OF_LIBRARIES) and room.address_space() is not None
        known = isinstance(error, OSError | MemoryError) or limited
        return _complain(_unforeseen(error), 2 if known else FaultError.exit_code)


def _unforeseen(error: Exception) -> str:
    """The sentence for an error that no other code has handled."""
    if isinstance(error, OSError):
        reason = (error.strerror or str(error)).lower()
        if error.filename is None:
            return f"standard output cannot be written ({reason}): {_LOST}"
        full = error.errno in (errno.ENOSPC, errno.EDQUOT)
        remedy = "make room, or choose another place" if full else "make it readable and writable"
        return f"{os.fsdecode(error.filename)}: {reason}: {remedy}"
    if isinstance(error, MemoryError):
        return (
            "there is not enough memory: make the scenario smaller or run fewer at a time (--jobs)"
        )
    if DEBUG in os.environ:
        raise error
    if (allowed := room.address_space()) is not None and isinstance(error, _OF_LIBRARIES):
        # Libraries fail in many ways when memory is short; Polars warns and continues.
        return (
            f"a library failed in {allowed >> 20} MiB of address space ({type(error).__name__}: "
            f"{error}): allow more, for example ulimit -v 4000000"
        )
    places = traceback.extract_tb(error.__traceback__)
    place = f"{Path(places[-1].filename).name}:{places[-1].lineno}" if places else "nowhere"
    described = f"{type(error).__name__} at {place}: {error}".rstrip(": ")
    return f"internal error ({described}): please report it, with what {DEBUG}=1 shows in addition"


_OF_LIBRARIES = (ImportError, NameError, RuntimeError, SystemError)
"""The exceptions that libraries raise when memory is short."""
COMMANDS = (advising, breaking, comparing, evaluating, plugin, sharing)
"""The files that add their commands by being imported."""
DEBUG = "AQMLAB_DEBUG"
"""The environment variable that shows an internal error in full."""


def _complain(message: str, code: int) -> int:
    terminal.say(" ".join(fitting(message).split()))
    return code
