"""The processes of a live run: `python -m aqmlab.live.part run|users|check|hold FILE [OUT]`.

Each calls one function of the compiled module, or (`hold`) waits to be ended. Nothing heavy is
imported: a process that makes its own user namespace must have a single thread.
"""

from __future__ import annotations

import json
import signal
import sys
from pathlib import Path

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
            raw.write(Path(paths[1]), dict(_core.live_run(Path(paths[0]).read_text("utf-8"))))
    except (_core.LiveError, _core.ScenarioError, _core.Fault) as error:
        if what == "users":
            print(error, file=sys.stderr)
        else:
            told = json.dumps({"error": str(error)}) + "\n"
            Path(paths[-1]).write_text(told, "utf-8")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
