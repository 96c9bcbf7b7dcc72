"""The processes of a live run: `python -m aqmlab.live.part run|users|check|hold FILE [OUT]`.

Each calls one function of the compiled module, or (`hold`) waits to be ended. Nothing heavy is
imported: a process that makes its own user namespace must have a single thread.
"""

from __future__ import annotations

import json
import signal
import sys
from pathlib import Path
from typing import Any

from aqmlab import _core

from . import raw


def main(words: list[str]) -> int:
    """Does what the words say; a mistake is one line on standard error, or in the result."""
    what, *paths = words
    try:
        if what == "hold":
            signal.pause()
        elif what == "users":
            _core.live_users(Path(paths[0]).read_text("utf-8"))
        elif what == "check":
            Path(paths[0]).write_text(_core.live_check(), "utf-8")
        else:
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


def _hand_out(path: Path, answer: dict[str, Any]) -> None:
    """Writes what a run measured; on a full disk a sentence in its place."""
    try:
        raw.write(path, answer)
    except OSError as error:
        path.unlink(missing_ok=True)  # half of it is none, and the sentence needs room
        reason = (error.strerror or str(error)).lower()
        raise _core.LiveError(
            f"what it measured cannot be written to {path.parent.parent} ({reason}): "
            "make room there, or name another folder in TMPDIR"
        ) from error


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
