"""The processes of a live run: `python -m aqmlab.live.part run|users|check|hold FILE [OUT]`.

Each calls one function of the compiled module, or (`hold`) waits until the supervisor has ended,
which closes its standard input. No large modules are imported, since a process that makes its own
user namespace must have a single thread.
"""

from __future__ import annotations

import contextlib
import json
import os
import signal
import sys
import tempfile
from pathlib import Path
from typing import Any

from aqmlab import _core

from . import raw


def main(words: list[str]) -> int:
    """Carries out the command line; an error is one line on standard error, or in the result."""
    what, *paths = words
    try:
        if what == "hold":
            # Ctrl-C is meant for the program in the foreground.
            signal.signal(signal.SIGINT, signal.SIG_IGN)
            sys.stdin.buffer.read()
        elif what == "users":
            _core.live_users(Path(paths[0]).read_text("utf-8"))
        elif what == "check":
            Path(paths[0]).write_text(_core.live_check(), "utf-8")
        else:
            _keep_to_oneself()
            answer = _core.live_run(Path(paths[0]).read_text("utf-8"))
            _hand_out(Path(paths[1]), dict(answer))
    except (_core.LiveError, _core.ScenarioError, _core.Fault) as error:
        if what == "users":
            print(error, file=sys.stderr)
        else:
            described = json.dumps({"error": str(error)}) + "\n"
            Path(paths[-1]).write_text(described, "utf-8")
        return 1
    return 0


def _keep_to_oneself() -> None:
    """Marks inherited files as not inheritable, so that only programs that need them get them."""
    for number in map(int, os.listdir("/proc/self/fd")):  # noqa: PTH208
        if number > 2:
            with contextlib.suppress(OSError):
                os.set_inheritable(number, False)


def _hand_out(path: Path, answer: dict[str, Any]) -> None:
    """Writes the result of a run, or an error if the disk is full."""
    try:
        raw.write(path, answer)
    except OSError as error:
        os.truncate(path, 0)  # frees the space of the incomplete result for the error
        reason = (error.strerror or str(error)).lower()
        raise _core.LiveError(
            f"what it measured cannot be written to {tempfile.gettempdir()} ({reason}): "
            "make room there, or name another folder in TMPDIR"
        ) from error


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
